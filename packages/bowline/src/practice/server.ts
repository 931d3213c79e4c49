/**
 * Serves the practice model over HTTP on loopback. Everything that a real model needs is in use:
 * sockets, streaming, tools, the loop.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { MODEL, toChunks, toCompletion } from "./chunks.ts";
import type { ChatRequest } from "./chunks.ts";
import { plan } from "./plan.ts";

interface PracticeServerOptions {
  /**
   * Delay after each delta in milliseconds; 0 for none. Default 15, so that a long answer takes
   * about three seconds.
   */
  readonly paceMs?: number;
  /** Default 0: any free port. */
  readonly port?: number;
  /** Waits after a delta. The signal aborts when the client disconnects. Default: a timer. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

export interface PracticeServer {
  /** http://127.0.0.1:PORT/v1 */
  readonly baseUrl: string;
  /** Ends all connections and frees the port. */
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 32 * 1024 * 1024;
const METHODS: Readonly<Record<string, string>> = {
  "/v1/models": "GET",
  "/v1/chat/completions": "POST",
};

export async function startPracticeServer(
  options: PracticeServerOptions = {},
): Promise<PracticeServer> {
  const server = createServer((request, response) => {
    answer(request, response, options).catch((error: unknown) => {
      if (response.headersSent || response.destroyed) response.destroy();
      else sendError(response, 500, "server_error", String(error));
    });
  });
  server.listen(options.port ?? 0, "127.0.0.1");
  await once(server, "listening"); // rejects if the port is in use
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, close };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: PracticeServerOptions,
): Promise<void> {
  const path = request.url?.split("?")[0] ?? "";
  const method = METHODS[path];
  if (method === undefined)
    return sendError(response, 404, "not_found", `There is nothing at ${path}.`);
  if (request.method !== method) {
    response.setHeader("allow", method);
    return sendError(response, 405, "method_not_allowed", `${path} takes ${method} only.`);
  }
  const model = { id: MODEL, object: "model", created: 0, owned_by: "bowline" };
  if (method === "GET") return send(response, 200, { object: "list", data: [model] });
  const body = await readBody(request);
  if (body === undefined)
    return sendError(response, 413, "too_large", `A body has ${MAX_BODY_BYTES} bytes at most.`);
  const chat = toChatRequest(body);
  if (typeof chat === "string") return sendError(response, 400, "invalid_request", chat);
  const reply = plan(chat.tool_choice === "none" ? { messages: chat.messages } : chat);
  // There is no tokenizer; estimate four characters per token.
  const [prompt_tokens, completion_tokens] = [body.length >> 2, JSON.stringify(reply).length >> 2];
  const usage = {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
  };
  const frame = {
    id: `chatcmpl-${crypto.randomUUID()}`,
    created: Math.floor(Date.now() / 1000),
    usage,
  };
  if (chat.stream !== true) return send(response, 200, toCompletion(reply, frame));
  return stream(
    response,
    toChunks(reply, frame, chat.stream_options?.include_usage === true),
    options,
  );
}

/** Stops when the client disconnects, and waits for slow clients. */
async function stream(
  response: ServerResponse,
  chunks: object[],
  options: PracticeServerOptions,
): Promise<void> {
  const { paceMs = 15, wait = (ms, signal) => sleep(ms, undefined, { signal }) } = options;
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  try {
    for (const chunk of chunks) {
      const isFull = !response.write(`data: ${JSON.stringify(chunk)}\n\n`);
      if (isFull) await once(response, "drain", { signal: gone.signal });
      if (paceMs > 0) await wait(paceMs, gone.signal);
    }
    response.end("data: [DONE]\n\n");
  } catch (error) {
    if (!gone.signal.aborted) throw error;
  }
}

/** Returns undefined if the body is too large. Excess data is discarded. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size <= MAX_BODY_BYTES) parts.push(part);
  }
  return size <= MAX_BODY_BYTES ? Buffer.concat(parts).toString() : undefined;
}

/** Returns the request, or a message that says what is wrong with it. */
function toChatRequest(body: string): ChatRequest | string {
  let chat: Partial<ChatRequest> | null;
  try {
    chat = JSON.parse(body) as Partial<ChatRequest> | null;
  } catch {
    return "The body is not JSON.";
  }
  const isMessage = (message: unknown): boolean =>
    typeof (message as { role?: unknown } | null)?.role === "string";
  const isChat =
    Array.isArray(chat?.messages) && chat.messages.length > 0 && chat.messages.every(isMessage);
  if (!isChat) return "`messages` must be a list of messages, each with a role.";
  return Array.isArray(chat?.tools ?? []) ? (chat as ChatRequest) : "`tools` must be a list.";
}

function sendError(response: ServerResponse, status: number, code: string, message: string): void {
  const type = status < 500 ? "invalid_request_error" : "server_error";
  send(response, status, { error: { message, type, param: null, code } });
}

function send(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}
