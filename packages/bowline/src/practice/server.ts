/** The practice model on loopback, on the wire of OpenAI's chat completions, so that everything a real model needs is at work. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { plan } from "./plan.ts";
import type { PracticeReply, PracticeRequest, PracticeToolCall } from "./request.ts";

export interface PracticeServerOptions {
  /** Milliseconds between two deltas; 0 is none. Default 15, at which no answer takes more than about four seconds. */
  readonly paceMs?: number;
  /** Default 0: any free port. */
  readonly port?: number;
  /** Waits between two deltas, and stops when the client is gone. Default a timer. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

export interface PracticeServer {
  /** http://127.0.0.1:PORT/v1 */
  readonly baseUrl: string;
  /** Ends all connections and frees the port. */
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 32 * 1024 * 1024;
const MODEL = "practice";
const ROUTES: Readonly<Record<string, string>> = { "/v1/models": "GET", "/v1/chat/completions": "POST" };

interface ChatRequest extends PracticeRequest {
  readonly stream?: unknown;
  readonly stream_options?: { readonly include_usage?: unknown } | null;
  readonly tool_choice?: unknown;
}

export async function startPracticeServer(options: PracticeServerOptions = {}): Promise<PracticeServer> {
  const server = createServer((request, response) => {
    answer(request, response, options).catch((error: unknown) => {
      if (response.headersSent || response.destroyed) response.destroy();
      else sendError(response, 500, "server_error", String(error));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(options.port ?? 0, "127.0.0.1", resolve);
  });
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
  const path = (request.url ?? "/").split("?")[0] ?? "/";
  const method = ROUTES[path];
  if (method === undefined) return sendError(response, 404, "not_found", `There is nothing at ${path}.`);
  if (request.method !== method) {
    response.setHeader("allow", method);
    return sendError(response, 405, "method_not_allowed", `${path} takes ${method} only.`);
  }
  if (method === "GET") {
    return sendJson(response, 200, {
      object: "list",
      data: [{ id: MODEL, object: "model", created: 0, owned_by: "bowline" }],
    });
  }
  const body = await readBody(request);
  if (body === undefined)
    return sendError(response, 413, "request_too_large", `The body exceeds ${MAX_BODY_BYTES} bytes.`);
  const chat = toChatRequest(body);
  if (typeof chat === "string") return sendError(response, 400, "invalid_request", chat);
  const reply = plan(chat.tool_choice === "none" ? { messages: chat.messages } : chat);
  const frame = { id: `chatcmpl-${crypto.randomUUID()}`, created: Math.floor(Date.now() / 1000), model: MODEL };
  const [input, output] = [body.length, JSON.stringify(reply).length].map((length) => Math.ceil(length / 4)) as [
    number,
    number,
  ];
  const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
  const finish_reason = reply.toolCalls.length > 0 ? "tool_calls" : "stop";
  if (chat.stream !== true) {
    const calls = reply.toolCalls.map((call) => toWireCall(call, JSON.stringify(call.arguments)));
    const message = { role: "assistant", content: reply.text, ...(calls.length > 0 ? { tool_calls: calls } : {}) };
    return sendJson(response, 200, {
      ...frame,
      object: "chat.completion",
      choices: [{ index: 0, message, finish_reason }],
      usage,
    });
  }
  const chunk = { ...frame, object: "chat.completion.chunk" };
  const chunks: unknown[] = toDeltas(reply).map((delta) => ({
    ...chunk,
    choices: [{ index: 0, delta, finish_reason: null }],
  }));
  chunks.push({ ...chunk, choices: [{ index: 0, delta: {}, finish_reason }] });
  if (chat.stream_options?.include_usage === true) chunks.push({ ...chunk, choices: [], usage });
  return stream(response, chunks, options);
}

/** Stops when the client disconnects, and waits for a client that reads slowly. */
async function stream(
  response: ServerResponse,
  chunks: readonly unknown[],
  options: PracticeServerOptions,
): Promise<void> {
  const { paceMs = 15, wait = (ms, signal) => sleep(ms, undefined, { signal }) } = options;
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  for (const chunk of chunks) {
    if (gone.signal.aborted) return;
    const isFull = !response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    const next = isFull
      ? once(response, "drain", { signal: gone.signal })
      : paceMs > 0
        ? wait(paceMs, gone.signal)
        : undefined;
    await next?.catch(() => {}); // only the disconnect, which the next round sees
  }
  response.end("data: [DONE]\n\n");
}

/** The role, some words at a time, then each call's name and fragments of its arguments; some 200 deltas at most for the text. */
function toDeltas({ text, toolCalls }: PracticeReply): unknown[] {
  const deltas: unknown[] = [{ role: "assistant", content: "" }];
  const words = text.match(/\s*\S+|\s+$/g) ?? [];
  const step = Math.ceil(words.length / 200);
  for (let at = 0; at < words.length; at += step) deltas.push({ content: words.slice(at, at + step).join("") });
  for (const [index, call] of toolCalls.entries()) {
    const json = JSON.stringify(call.arguments);
    const size = Math.max(12, Math.ceil(json.length / 40));
    deltas.push({ tool_calls: [{ index, ...toWireCall(call, "") }] });
    for (let at = 0; at < json.length; at += size)
      deltas.push({ tool_calls: [{ index, function: { arguments: json.slice(at, at + size) } }] });
  }
  return deltas;
}

function toWireCall({ id, name }: PracticeToolCall, text: string): object {
  return { id, type: "function", function: { name, arguments: text } };
}

/** Undefined if the body is too large; what is too much is not kept. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size <= MAX_BODY_BYTES) parts.push(part);
  }
  return size <= MAX_BODY_BYTES ? Buffer.concat(parts).toString() : undefined;
}

/** The request, or what is wrong with it. */
function toChatRequest(body: string): ChatRequest | string {
  let chat: Partial<ChatRequest> | null;
  try {
    chat = JSON.parse(body) as Partial<ChatRequest> | null;
  } catch {
    return "The body is no JSON.";
  }
  const isMessage = (message: unknown): boolean => typeof (message as { role?: unknown } | null)?.role === "string";
  if (!Array.isArray(chat?.messages) || chat.messages.length === 0 || !chat.messages.every(isMessage))
    return "`messages` has to be a list of messages, each with a role.";
  if (chat.tools !== undefined && !Array.isArray(chat.tools)) return "`tools` has to be a list.";
  return chat as ChatRequest;
}

function sendError(response: ServerResponse, status: number, code: string, message: string): void {
  sendJson(response, status, {
    error: { message, type: status < 500 ? "invalid_request_error" : "server_error", param: null, code },
  });
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}
