/** A server that answers a client with scripted frames. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { WebSocket, WebSocketServer } from "ws";
import { GatewayClient } from "../../src/gateway/client/client.ts";
import { errorNumbers } from "../../src/gateway/protocol/frame.ts";
import { within } from "../../../../test/support/within.ts";

export interface Asked {
  readonly id: number;
  readonly method: string;
  readonly params: { readonly runId?: string };
}

/** An event of the run `run` in the session `s`. */
export const seq = (event: string, number: number, more: object = {}): object => ({
  event,
  data: { runId: "run", sessionKey: "s", seq: number, ...more },
});
export const refused = (code: "busy" | "not_found"): object => ({
  error: { code: errorNumbers[code], message: "No.", data: { code, retryable: code === "busy" } },
});
/**
 * A server with one script per connection. For each request it sends the answer, then the events.
 */
export async function serverOf(
  ...connections: readonly (readonly (readonly object[])[])[]
): Promise<Disposable & { readonly client: GatewayClient; readonly asked: Asked[] }> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  const asked: Asked[] = [];
  let connected = 0;
  server.on("connection", (socket) => {
    const answers = [...(connections[connected++] ?? [])];
    socket.on("message", (data: Buffer) => {
      const frame = JSON.parse(data.toString()) as Asked;
      if (!("method" in frame))
        return socket.send(JSON.stringify({ type: "auth", ok: true, limits: {} }));
      asked.push(frame);
      const [answer, ...events] = answers.shift() ?? [];
      if (answer === undefined) return socket.terminate();
      socket.send(JSON.stringify({ id: frame.id, ...answer }));
      for (const event of events) socket.send(JSON.stringify(event));
    });
  });
  const { port } = server.address() as AddressInfo;
  const client = new GatewayClient({
    url: `http://127.0.0.1:${port}`,
    token: "t",
    WebSocket,
    backoff: { firstMs: 1, maxMs: 5 },
  });
  await within("the client is ready", client.ready()); // follows nothing yet, so it sends no requests
  const dispose = (): void => {
    client.close();
    for (const socket of server.clients) socket.terminate();
    server.close();
  };
  return { client, asked, [Symbol.dispose]: dispose };
}

/** Watches the listeners for events that are added from now on, and not removed. */
export function listenersOf(client: GatewayClient): ReadonlySet<unknown> {
  const listening = new Set<unknown>();
  const listen = client.onEvent.bind(client);
  client.onEvent = (listener) => {
    const stop = listen(listener);
    listening.add(listener);
    return () => {
      listening.delete(listener);
      stop();
    };
  };
  return listening;
}
