/**
 * The least that could do the same, to compare with: `ws` and a list of who follows what. It says the same words at the same pace in
 * frames of the same form, and knows nothing of stores, agents, order, limits or coming back; who reads too slowly is cut off.
 */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocketServer, type WebSocket } from "ws";
import { defaultLimits } from "../../src/gateway/limits.ts";
import { answerParent } from "../gateway/forked.ts";
import { startMeter } from "../gateway/meter.ts";
import { stamp, wordOf, type Shape } from "./shape.ts";

const [options] = process.argv.slice(2);
if (options !== undefined) await serve((JSON.parse(options) as { readonly shape: Shape }).shape);

interface Request {
  readonly id?: string;
  readonly method?: string;
  readonly params: { readonly sessionKey: string; readonly message: string; readonly idempotencyKey: string };
}

async function serve({ deltas, paceMs }: Shape): Promise<void> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
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
  answerParent({ port: () => (server.address() as AddressInfo).port, measure });

  async function run(sessionKey: string, runId: string, message: string): Promise<void> {
    const [label = "", width = "40"] = message.split(" ");
    const from = performance.now();
    for (let seq = 0; seq < deltas; seq++) {
      await sleep(Math.max(0, from + seq * paceMs - performance.now()));
      const text = wordOf(label, seq, stamp(), Number(width));
      publish(sessionKey, { event: "chat.delta", data: { runId, sessionKey, seq, turn: 0, text } });
    }
    publish(sessionKey, {
      event: "chat.final",
      data: { runId, sessionKey, seq: deltas, usage: {}, stopReason: "stop" },
    });
  }

  function publish(sessionKey: string, event: unknown): void {
    const frame = JSON.stringify(event);
    for (const socket of followers.get(sessionKey) ?? []) {
      if (socket.bufferedAmount > defaultLimits.maxBufferedBytes) socket.terminate();
      else socket.send(frame);
    }
  }
}
