/**
 * A strict model server on loopback. It checks path, headers and body of each request, refuses an
 * invalid one with a 400 that says why, and otherwise streams its scripted turns in the events of
 * its protocol.
 */
import type { IncomingMessage } from "node:http";
import { checkChatRequest, checkMessagesRequest } from "@bowline/core/testing";
import { loopback, type Handler, type Loopback } from "./loopback.ts";

type Json = Record<string, unknown>;

/** The output of the model in one turn. */
export interface ScriptedTurn {
  readonly thinking?: string;
  readonly text?: string;
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly args: object }[];
}

export type StrictApi = "openai-chat" | "anthropic-messages";

export interface StrictServer extends AsyncDisposable {
  /** The base URL for a model of this protocol. */
  readonly baseUrl: string;
  /** Returns the request bodies so far, parsed. */
  readonly bodies: () => Json[];
  /** Every invalid request so far. Each was also refused with a 400. */
  readonly problems: readonly string[];
}

/** Answers the first request with the first turn, and so on. An extra request is a problem. */
export async function strictServer(
  api: StrictApi,
  ...script: readonly ScriptedTurn[]
): Promise<StrictServer> {
  const wire = wires[api];
  const problems: string[] = [];
  let asked = 0;
  const handler: Handler = (response, request, body) => {
    const turn = script[asked++];
    const found = [...checkTransport(request, wire), ...checkBody(body, wire)];
    if (turn === undefined)
      found.push(`request ${asked} of ${script.length}: the script has no answer`);
    problems.push(...found);
    if (found.length > 0 || turn === undefined) {
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify(wire.refusal(found.join("; "))));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of wire.events(turn, asked)) response.write(event);
    response.end();
  };
  const server: Loopback = await loopback(handler);
  return {
    baseUrl: server.baseUrl,
    bodies: () => server.requests.map(({ body }) => JSON.parse(body) as Json),
    problems,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Returns the events of a turn in this protocol. `number` counts the answers from 1. */
export function eventsOf(api: StrictApi, turn: ScriptedTurn, number: number): string[] {
  return wires[api].events(turn, number);
}

interface Wire {
  readonly path: string;
  /** Required headers and their patterns. */
  readonly headers: Readonly<Record<string, RegExp>>;
  readonly check: (body: unknown) => string[];
  readonly refusal: (message: string) => Json;
  readonly events: (turn: ScriptedTurn, number: number) => string[];
}

const wires: Readonly<Record<StrictApi, Wire>> = {
  "openai-chat": {
    path: "/v1/chat/completions",
    headers: { authorization: /^Bearer \S+$/ },
    check: checkChatRequest,
    refusal: (message) => ({
      error: { message, type: "invalid_request_error", param: null, code: null },
    }),
    events: chatEvents,
  },
  "anthropic-messages": {
    path: "/v1/messages",
    headers: { "x-api-key": /^\S+$/, "anthropic-version": /^2023-06-01$/ },
    check: checkMessagesRequest,
    refusal: (message) => ({ type: "error", error: { type: "invalid_request_error", message } }),
    events: messagesEvents,
  },
};

function checkTransport(request: IncomingMessage, wire: Wire): string[] {
  const problems: string[] = [];
  if (request.method !== "POST" || request.url !== wire.path)
    problems.push(`no ${request.method} ${request.url} here`);
  const wanted = {
    "content-type": /^application\/json/,
    accept: /text\/event-stream/,
    ...wire.headers,
  };
  for (const [name, pattern] of Object.entries(wanted)) {
    const value = request.headers[name];
    if (typeof value !== "string" || !pattern.test(value))
      problems.push(`the header ${name} is ${String(value)}`);
  }
  return problems;
}

function checkBody(body: string, wire: Wire): string[] {
  try {
    return wire.check(JSON.parse(body));
  } catch (error) {
    return [`the body is no JSON: ${(error as Error).message}`];
  }
}

/** Splits into pieces of three characters, as a model streams. */
function pieces(text: string): string[] {
  return text.match(/.{1,3}/gsu) ?? [];
}

function chatEvents(
  { thinking = "", text = "", calls = [] }: ScriptedTurn,
  number: number,
): string[] {
  const chunk = (delta: Json, reason: string | null = null): Json => ({
    id: `chatcmpl-${number}`,
    object: "chat.completion.chunk",
    created: 0,
    model: "strict-1",
    choices: [{ index: 0, delta, finish_reason: reason }],
  });
  const usage = {
    prompt_tokens: 10 * number,
    completion_tokens: number,
    total_tokens: 11 * number,
  };
  return [
    chunk({ role: "assistant", content: "" }),
    ...pieces(thinking).map((reasoning_content) => chunk({ reasoning_content })),
    ...pieces(text).map((content) => chunk({ content })),
    ...calls.flatMap(({ id, name, args }, index) => [
      chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
      ...pieces(JSON.stringify(args)).map((piece) =>
        chunk({ tool_calls: [{ index, function: { arguments: piece } }] }),
      ),
    ]),
    chunk({}, calls.length > 0 ? "tool_calls" : "stop"),
    { ...chunk({}), choices: [], usage },
    "[DONE]",
  ].map((data) => `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`);
}

function messagesEvents(
  { thinking = "", text = "", calls = [] }: ScriptedTurn,
  number: number,
): string[] {
  const blocks: { readonly start: Json; readonly deltas: Json[] }[] = [];
  if (thinking !== "") {
    const deltas = pieces(thinking).map((piece): Json => ({
      type: "thinking_delta",
      thinking: piece,
    }));
    deltas.push({ type: "signature_delta", signature: `signature-${number}` });
    blocks.push({ start: { type: "thinking", thinking: "", signature: "" }, deltas });
  }
  if (text !== "") {
    const deltas = pieces(text).map((piece): Json => ({ type: "text_delta", text: piece }));
    blocks.push({ start: { type: "text", text: "" }, deltas });
  }
  for (const { id, name, args } of calls) {
    const deltas = pieces(JSON.stringify(args)).map((piece): Json => ({
      type: "input_json_delta",
      partial_json: piece,
    }));
    blocks.push({ start: { type: "tool_use", id, name, input: {} }, deltas });
  }
  const reason = calls.length > 0 ? "tool_use" : "end_turn";
  const message = {
    id: `msg_${number}`,
    type: "message",
    role: "assistant",
    model: "strict-1",
    content: [],
  };
  const events: (Json & { type: string })[] = [
    {
      type: "message_start",
      message: { ...message, usage: { input_tokens: 10 * number, output_tokens: 1 } },
    },
    { type: "ping" },
    ...blocks.flatMap(({ start, deltas }, index) => [
      { type: "content_block_start", index, content_block: start },
      ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ]),
    {
      type: "message_delta",
      delta: { stop_reason: reason, stop_sequence: null },
      usage: { output_tokens: number },
    },
    { type: "message_stop" },
  ];
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}
