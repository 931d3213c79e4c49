/** A server over HTTP, in plain JSON-RPC, that misbehaves as a test tells it. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface HttpRequest {
  readonly id: number;
  readonly method: string;
  readonly params: { readonly name?: string; readonly arguments?: Record<string, unknown> };
}

export type Call = (
  response: ServerResponse,
  request: HttpRequest,
  received: IncomingMessage,
) => unknown;

export interface HttpServer extends AsyncDisposable {
  readonly url: string;
  /** The methods that were asked for, in order. */
  readonly methods: string[];
  /** The sessions that the server knows. It answers others with 404. */
  readonly sessions: Set<string>;
}

/** Serves a tool for each call of the table. */
export async function serveHttp(calls: Readonly<Record<string, Call>>): Promise<HttpServer> {
  const methods: string[] = [];
  const sessions = new Set<string>();
  const server = createServer((received, response) => {
    let body = "";
    received.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    received.on("end", () => {
      if (received.method !== "POST") return response.writeHead(405).end();
      const request = JSON.parse(body) as HttpRequest;
      methods.push(request.method);
      const session = received.headers["mcp-session-id"];
      if (session !== undefined && !sessions.has(String(session)))
        return json(response, request, {}, 404);
      answer(response, request, received);
    });
  });
  const answer = (
    response: ServerResponse,
    request: HttpRequest,
    received: IncomingMessage,
  ): unknown => {
    switch (request.method) {
      case "initialize": {
        const session = crypto.randomUUID();
        sessions.add(session);
        response.setHeader("mcp-session-id", session);
        return json(response, request, {
          protocolVersion: "2025-11-25",
          capabilities: { tools: {} },
          serverInfo: { name: "http", version: "1" },
        });
      }
      case "tools/list": {
        const tools = Object.keys(calls).map((name) => ({ name, inputSchema: { type: "object" } }));
        return json(response, request, { tools });
      }
      case "tools/call":
        return calls[request.params.name ?? ""]?.(response, request, received);
      default:
        if (request.id === undefined) return response.writeHead(202).end();
        return response.writeHead(400).end("unknown method");
    }
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    methods,
    sessions,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Answers a request with JSON. */
export function json(
  response: ServerResponse,
  { id }: HttpRequest,
  result: unknown,
  status = 200,
): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
}
