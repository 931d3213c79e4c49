/**
 * A minimal server to compare with: `ws` and a list of subscribers. It sends the same words at the
 * same pace in the same frames, also as server-sent events. It has no stores, agents, ordering,
 * limits or resumption, and cuts off slow readers.
 */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocketServer, type WebSocket } from "ws";
import { defaultLimits } from "../../src/gateway/protocol/limits.ts";
import { answerParent } from "../gateway/forked.ts";
import { startMeter } from "../gateway/meter.ts";
import { stamp, wordOf, type Shape } from "./shape.ts";

const [options] = process.argv.slice(2);
if (options !== undefined) await serve((JSON.parse(options) as { readonly shape: Shape }).shape);

interface Request {
  readonly id?: string;
  readonly method?: string;
  readonly params: {
    readonly sessionKey: string;
    readonly message: string;
    readonly idempotencyKey: string;
  };
}

async function serve({ deltas, paceMs }: Shape): Promise<void> {
  const http = createServer((request, response) => read(request.url ?? "", response));
  const server = new WebSocketServer({ server: http });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  /** The text so far of active runs, for readers over HTTP. */
  const runs = new Map<string, { said: string; readonly readers: Set<ServerResponse> }>();
  const followers = new Map<string, Set<WebSocket>>();
  const measure = startMeter();
  server.on("connection", (socket) => {
    socket.on("error", () => {}); // "close" follows
    socket.on("close", () => {
      for (const all of followers.values()) all.delete(socket);
    });
    socket.on("message", (data: Buffer) => {
      const { id, method, params } = JSON.parse(data.toString()) as Request;
      if (method === undefined) return socket.send('{"type":"auth","ok":true}');
      const { sessionKey, message, idempotencyKey: runId } = params;
      followers.set(sessionKey, (followers.get(sessionKey) ?? new Set()).add(socket));
      socket.send(JSON.stringify({ id, result: { runId } }));
      if (method === "chat.send") void run(sessionKey, runId, message);
    });
  });
  answerParent({ port: () => (http.address() as AddressInfo).port, measure });

  async function run(sessionKey: string, runId: string, message: string): Promise<void> {
    const [label = "", width = "40"] = message.split(" ");
    const from = performance.now();
    runs.set(runId, { said: "", readers: new Set() });
    for (let seq = 0; seq < deltas; seq++) {
      await sleep(Math.max(0, from + seq * paceMs - performance.now()));
      const text = wordOf(label, seq, stamp(), Number(width));
      publish("chat.delta", { runId, sessionKey, seq, turn: 0, text });
    }
    publish("chat.final", { runId, sessionKey, seq: deltas, usage: {}, stopReason: "stop" });
    for (const reader of runs.get(runId)?.readers ?? []) reader.end();
    runs.delete(runId);
  }

  function read(url: string, response: ServerResponse): void {
    const wanted = runs.get(decodeURIComponent(url.split("/")[3] ?? ""));
    if (wanted === undefined) return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": "text/event-stream" }).write(wanted.said);
    wanted.readers.add(response);
  }

  function publish(
    event: string,
    data: { runId: string; sessionKey: string; seq: number; [field: string]: unknown },
  ): void {
    const frame = JSON.stringify({ event, data });
    for (const socket of followers.get(data.sessionKey) ?? []) {
      if (socket.bufferedAmount > defaultLimits.maxBufferedBytes) socket.terminate();
      else socket.send(frame);
    }
    const followed = runs.get(data.runId);
    if (followed === undefined) return;
    const text = `id: ${data.seq}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
    followed.said += text;
    for (const reader of followed.readers) reader.write(text);
  }
}
