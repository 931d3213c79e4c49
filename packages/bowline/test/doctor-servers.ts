/**
 * Loopback model servers with a model that follows instructions, and the deviations of real
 * servers.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Json = Record<string, unknown>;

export interface Refusal {
  readonly status: number;
  readonly body: Json | string;
}

/** How a server deviates from the reference. */
export interface Oddities {
  /** Checks each chat request first. */
  readonly refuse?: (body: Json, request: IncomingMessage) => Refusal | undefined;
  /** Makes the response body from the chunks. Default: a standard event stream. */
  readonly write?: (chunks: readonly Json[], response: ServerResponse) => void;
  /** Changes the chunks of a response. */
  readonly chunks?: (chunks: Json[], body: Json) => Json[];
  /** The response to `GET /models`. Default: one model, `local-1`. */
  readonly models?: Refusal;
}

export interface ChatServer extends AsyncDisposable {
  readonly baseUrl: string;
  readonly bodies: readonly Json[];
}

interface WireCall {
  readonly name: string;
  readonly args: Json;
}

export async function chatServer(oddities: Oddities = {}): Promise<ChatServer> {
  const bodies: Json[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (piece: string) => (text += piece));
    request.on("end", () => answer(oddities, request, response, text, bodies));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    bodies,
    [Symbol.asyncDispose]: () => close(server),
  };
}

function answer(
  oddities: Oddities,
  request: IncomingMessage,
  response: ServerResponse,
  text: string,
  bodies: Json[],
): void {
  if (request.method === "GET") {
    send(
      response,
      oddities.models ?? { status: 200, body: { object: "list", data: [{ id: "local-1" }] } },
    );
    return;
  }
  const body = JSON.parse(text) as Json;
  bodies.push(body);
  const refusal = oddities.refuse?.(body, request) ?? refuseByTheBook(body);
  if (refusal !== undefined) return send(response, refusal);
  const chunks = oddities.chunks?.(chunksOf(body), body) ?? chunksOf(body);
  (oddities.write ?? eventStream())(chunks, response);
}

function refuseByTheBook({ model, messages, max_tokens: limit }: Json): Refusal | undefined {
  const refused = (status: number, message: string): Refusal => ({
    status,
    body: { error: { message } },
  });
  if (model !== "local-1") return refused(404, `The model ${String(model)} does not exist.`);
  if (!Array.isArray(messages)) return refused(400, "messages is no list");
  if (Number(limit) > 32_768)
    return refused(400, "This model's maximum context length is 32768 tokens.");
  return undefined;
}

export function send(response: ServerResponse, { status, body }: Refusal): void {
  const isText = typeof body === "string";
  response.writeHead(status, { "content-type": isText ? "text/html" : "application/json" });
  response.end(isText ? body : JSON.stringify(body));
}

/** Writes events with `field` before each payload and `end` after each line. */
export function eventStream(field = "data: ", end = "\n"): NonNullable<Oddities["write"]> {
  return (chunks, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const chunk of [...chunks.map((value) => JSON.stringify(value)), "[DONE]"])
      response.write(`${field}${chunk}${end}${end}`);
    response.end();
  };
}

/** The standard chunks of the model's answer. */
function chunksOf(body: Json): Json[] {
  const calls = callsFor(body);
  const limit = Number(body.max_tokens ?? body.max_completion_tokens ?? Infinity);
  const words = calls.length > 0 ? [] : textFor(body).split(/(?= )/);
  const cut = words.length > limit;
  const chunk = (delta: Json, finish: string | null = null): Json => ({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    model: "local-1",
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const asked = (body.stream_options as Json | undefined)?.include_usage === true;
  return [
    chunk({ role: "assistant", content: "" }),
    ...words.slice(0, limit).map((content) => chunk({ content })),
    ...calls.flatMap((call, index) =>
      callDeltas(call, index).map((entry) => chunk({ tool_calls: [entry] })),
    ),
    chunk({}, calls.length > 0 ? "tool_calls" : cut ? "length" : "stop"),
    ...(asked
      ? [
          {
            ...chunk({}),
            choices: [],
            usage: { prompt_tokens: 9, completion_tokens: Math.min(words.length, limit) },
          },
        ]
      : []),
  ];
}

/** One delta that opens the call, and one for each half of its arguments. */
function callDeltas({ name, args }: WireCall, index: number): Json[] {
  const text = JSON.stringify(args);
  const middle = Math.ceil(text.length / 2);
  return [
    { index, id: `call_${name}_${index}`, type: "function", function: { name, arguments: "" } },
    { index, function: { arguments: text.slice(0, middle) } },
    ...(middle < text.length ? [{ index, function: { arguments: text.slice(middle) } }] : []),
  ];
}

function callsFor({ messages, tools }: Json): WireCall[] {
  const last = lastOf(messages);
  if (!Array.isArray(tools) || last.role === "tool") return [];
  const asked = textOf(last.content);
  if (asked.includes("Rome?"))
    return ["Oslo", "Rome"].map((city) => ({ name: "weather", args: { city } }));
  if (asked.includes("weather")) return [{ name: "weather", args: { city: "Oslo" } }];
  if (asked.includes("time")) return [{ name: "now", args: {} }];
  if (asked.includes("notes.txt")) return [{ name: "read", args: { path: "notes.txt" } }];
  const travellers = [
    { name: "Ada", age: 36 },
    { name: "Bob", age: 41 },
  ];
  return asked.includes("trip")
    ? [{ name: "book_trip", args: { trip: { from: "Oslo", to: "Rome", travellers } } }]
    : [];
}

function textFor({ messages, response_format: format }: Json): string {
  const last = lastOf(messages);
  if (last.role === "tool") return `It says: ${textOf(last.content)}`;
  if (format !== undefined) return '{"city":"Oslo","degrees":4}';
  if (Array.isArray(last.content)) return "Red.";
  const numbers = /numbers from 1 to (\d+)/.exec(textOf(last.content))?.[1];
  return numbers === undefined
    ? "Yes."
    : Array.from({ length: Number(numbers) }, (_, at) => at + 1).join(" ");
}

function lastOf(messages: unknown): Json {
  return (Array.isArray(messages) ? (messages.at(-1) as Json | undefined) : undefined) ?? {};
}

function textOf(content: unknown): string {
  return typeof content === "string" ? content : JSON.stringify(content ?? "");
}

function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

/** Turns the calls of an answer into text of the model, as servers without a tool parser do. */
export function callsAsText(chunks: Json[]): Json[] {
  const entries = chunks.flatMap((chunk) => entriesOf(chunk));
  if (entries.length === 0) return chunks;
  const first = entries[0]?.function as Json;
  const args = entries.map((entry) => String((entry.function as Json).arguments)).join("");
  const content = `<tool_call>{"name":"${String(first.name)}","arguments":${args}}</tool_call>`;
  return [
    { choices: [{ index: 0, delta: { content }, finish_reason: null }] },
    { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
  ];
}

/**
 * Changes each entry of `tool_calls`. An entry that becomes undefined is removed with its chunk.
 */
export function changeCalls(chunks: Json[], change: (entry: Json) => Json): Json[] {
  return chunks.map((chunk) => {
    const entries = entriesOf(chunk);
    return entries.length === 0 ? chunk : withDelta(chunk, { tool_calls: entries.map(change) });
  });
}

/** Sends each call in one piece, with its arguments as an object. */
export function wholeCalls(chunks: Json[]): Json[] {
  const entries = chunks.flatMap(entriesOf);
  if (entries.length === 0) return chunks;
  const whole = entries
    .filter(({ id }) => id !== undefined)
    .map((opening) => {
      const text = entries
        .filter(({ index }) => index === opening.index)
        .map((entry) => String((entry.function as Json).arguments))
        .join("");
      return {
        ...opening,
        function: { ...(opening.function as Json), arguments: JSON.parse(text) as unknown },
      };
    });
  const [first] = chunks;
  const rest = chunks.filter((chunk, at) => at > 0 && entriesOf(chunk).length === 0);
  return [
    ...(first === undefined ? [] : [first]),
    ...whole.map((entry) => withDelta(first ?? {}, { tool_calls: [entry] })),
    ...rest,
  ];
}

/** Sends the whole answer as one JSON object, as servers without streaming do. */
export function asJson(chunks: readonly Json[], response: ServerResponse): void {
  const deltas = chunks.flatMap((chunk) => choicesOf(chunk).map(({ delta }) => delta as Json));
  const content = deltas
    .map((delta) => (typeof delta.content === "string" ? delta.content : ""))
    .join("");
  const calls = wholeCalls([...chunks])
    .flatMap(entriesOf)
    .map((entry) => {
      const fn = entry.function as Json;
      return { ...entry, function: { ...fn, arguments: JSON.stringify(fn.arguments) } };
    });
  const message = { role: "assistant", content, ...(calls.length > 0 && { tool_calls: calls }) };
  const reason = chunks
    .flatMap(choicesOf)
    .map(({ finish_reason: finish }) => finish)
    .find((finish) => finish !== null);
  const usage = { prompt_tokens: 9, completion_tokens: 3 };
  send(response, {
    status: 200,
    body: {
      object: "chat.completion",
      choices: [{ index: 0, message, finish_reason: reason }],
      usage,
    },
  });
}

export function withFinish(chunk: Json, finish: string): Json {
  return {
    ...chunk,
    choices: choicesOf(chunk).map((choice) => ({ ...choice, finish_reason: finish })),
  };
}

function withDelta(chunk: Json, delta: Json): Json {
  return { ...chunk, choices: [{ index: 0, delta, finish_reason: null }] };
}

function entriesOf(chunk: Json): Json[] {
  const delta = choicesOf(chunk)[0]?.delta as Json | undefined;
  return (delta?.tool_calls as Json[] | undefined) ?? [];
}

function choicesOf({ choices }: Json): Json[] {
  return (choices as Json[] | undefined) ?? [];
}
