/** A real HTTP server on a free loopback port, scripted per request. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Handler = (response: ServerResponse, request: IncomingMessage, body: string) => unknown;

export interface Loopback extends AsyncDisposable {
  readonly baseUrl: string;
  readonly requests: {
    readonly url: string;
    readonly headers: IncomingMessage["headers"];
    readonly body: string;
  }[];
  /** Returns the number of open connections. */
  readonly open: () => Promise<number>;
}

/**
 * Answers the first request with the first handler, and so on. The last handler answers all further
 * requests.
 */
export async function loopback(...handlers: readonly Handler[]): Promise<Loopback> {
  const requests: Loopback["requests"] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      const handler = handlers[Math.min(requests.length, handlers.length - 1)] as Handler;
      requests.push({ url: request.url ?? "", headers: request.headers, body });
      handler(response, request, body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    open: () => new Promise((resolve) => server.getConnections((_, count) => resolve(count))),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Answers with an event stream; each chunk is one event's data. */
export function streamed(...chunks: readonly (object | string)[]): Handler {
  return (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const chunk of chunks)
      response.write(`data: ${typeof chunk === "string" ? chunk : JSON.stringify(chunk)}\n\n`);
    response.end();
  };
}

export function failing(
  status: number,
  body: object | string,
  headers: Record<string, string> = {},
): Handler {
  return (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };
}

/** A plain answer on the chat wire. */
export function chatText(text: string): Handler {
  return streamed(
    { choices: [{ index: 0, delta: { content: text }, finish_reason: "stop" }] },
    "[DONE]",
  );
}
