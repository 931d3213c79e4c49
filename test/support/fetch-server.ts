/**
 * A fetch handler behind a real HTTP server on a free loopback port, as web frameworks mount it.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";

export type FetchHandler = (request: Request) => Response | Promise<Response>;

export interface FetchServer extends AsyncDisposable {
  readonly url: string;
  /** The response bodies so far. */
  readonly bodies: Uint8Array[];
}

export async function serveFetch(handler: FetchHandler): Promise<FetchServer> {
  const bodies: Uint8Array[] = [];
  const server = createServer((incoming, outgoing) => {
    void answer(handler, incoming, outgoing)
      .then((body) => bodies.push(body))
      .catch((error: unknown) => outgoing.destroy(error as Error));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(
  handler: FetchHandler,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<Uint8Array> {
  const gone = new AbortController();
  outgoing.on("close", () => gone.abort());
  const hasBody = incoming.method !== "GET" && incoming.method !== "HEAD";
  const request = new Request(`http://${incoming.headers.host}${incoming.url}`, {
    method: incoming.method ?? "GET",
    headers: new Headers(
      Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
    ),
    signal: gone.signal,
    ...(hasBody && { body: Readable.toWeb(incoming) as ReadableStream, duplex: "half" }),
  });
  const response = await handler(request);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  const chunks: Uint8Array[] = [];
  const reader = response.body?.getReader();
  gone.signal.addEventListener("abort", () => void reader?.cancel().catch(() => {}));
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done || value === undefined) break;
    chunks.push(value);
    if (!outgoing.write(value))
      await once(outgoing, "drain", { signal: gone.signal }).catch(() => {});
  }
  outgoing.end();
  incoming.resume();
  return Buffer.concat(chunks);
}
