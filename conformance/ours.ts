/**
 * Reads a fixture with Bowline: with its decoder, the bytes cut in every way, and with its stream
 * function over loopback.
 */
import { isDeepStrictEqual } from "node:util";
import type { AssistantMessage } from "../packages/core/src/llm/message.ts";
import type { AssistantMessageEvent } from "../packages/core/src/llm/event.ts";
import type { Model, StreamFn } from "../packages/core/src/llm/model.ts";
import { StreamDecoder } from "../packages/core/src/providers/decoder.ts";
import type { Protocol } from "../packages/core/src/providers/protocol.ts";
import { defaultTools, type Fixture, type ProtocolName } from "./fixture.ts";
import { clip, judge, type Outcome, type Verdict } from "./judge.ts";

interface Wire {
  readonly protocol: Protocol;
  readonly stream: StreamFn;
}

/** Bodies shorter than this are cut at every place. */
const EVERY_CUT_BELOW = 4096;
const RANDOM_CUTS = 64;

/** `few`: one byte per chunk and five random cuts, which takes a third of the time. */
type Cuts = "all" | "few";

/** Returns the wire of a protocol, or undefined if Bowline does not have it. */
export async function loadWire(name: ProtocolName): Promise<Wire | undefined> {
  let module: Record<string, unknown>;
  try {
    module = (await import(`../packages/core/src/providers/${name}/index.ts`)) as Record<
      string,
      unknown
    >;
  } catch (error) {
    if ((error as { code?: string }).code !== "ERR_MODULE_NOT_FOUND") throw error;
    return undefined;
  }
  const exported = Object.entries(module);
  const protocol = Object.values(module).find(
    (value) => typeof value === "object" && value !== null && "createReader" in value,
  );
  const stream = exported.find(
    ([key, value]) => key.startsWith("stream") && typeof value === "function",
  )?.[1];
  if (protocol === undefined || stream === undefined) return undefined;
  return { protocol: protocol as Protocol, stream: stream as StreamFn };
}

/** Returns the verdict on one fixture, over all ways of reading it. */
export async function readOurs(
  wire: Wire,
  fixture: Fixture,
  baseUrl: string,
  { cuts = "all" }: { readonly cuts?: Cuts } = {},
): Promise<Verdict> {
  const verdicts = [check(fixture, await overHttp(wire, fixture, baseUrl), "over HTTP")];
  if (isPlainBody(fixture)) {
    const bytes =
      typeof fixture.body === "string" ? new TextEncoder().encode(fixture.body) : fixture.body;
    const whole = decode(wire, fixture, [bytes]);
    verdicts.push(check(fixture, whole.message, "decoded whole"));
    const cut = firstDifferentCut(wire, fixture, whole.events, cutsOf(bytes, cuts));
    if (cut !== undefined) verdicts.push({ faults: [cut], unsafe: false, silent: false });
  }
  // A fault that several ways of reading show is reported once.
  const faults = [...new Set(verdicts.flatMap((verdict) => verdict.faults))];
  return {
    faults,
    unsafe: verdicts.some(({ unsafe }) => unsafe),
    silent: verdicts.some(({ silent }) => silent),
  };
}

/** Returns whether the decoder alone sees everything that a client sees. */
function isPlainBody({ status = 200, after = "close", headers = {} }: Fixture): boolean {
  return (
    status === 200 &&
    after !== "reset" &&
    headers["content-encoding"] === undefined &&
    headers["content-length"] === undefined
  );
}

function modelOf({ protocol }: Fixture, baseUrl: string): Model {
  return {
    id: "m",
    name: "m",
    api: protocol,
    provider: "fixture",
    baseUrl,
    reasoning: true,
    input: ["text"],
  };
}

function decode(
  { protocol }: Wire,
  fixture: Fixture,
  chunks: readonly Uint8Array[],
): { message: AssistantMessage; events: AssistantMessageEvent[] } {
  const toolNames = fixture.tools ?? defaultTools;
  const decoder = new StreamDecoder(protocol, modelOf(fixture, "http://127.0.0.1"), {
    timestamp: 0,
    toolNames,
  });
  const events = chunks.flatMap((chunk) => decoder.push(chunk));
  events.push(...decoder.end());
  if (decoder.failure !== undefined) events.push(...decoder.fail(decoder.failure));
  return { message: decoder.message, events };
}

/**
 * Checks that any chunking of the bytes gives the same events. Returns the first cut that does not.
 */
function firstDifferentCut(
  wire: Wire,
  fixture: Fixture,
  expected: readonly AssistantMessageEvent[],
  cuts: Iterable<Cut>,
): string | undefined {
  const wanted = JSON.stringify(expected);
  for (const { chunks, name } of cuts)
    if (JSON.stringify(decode(wire, fixture, chunks).events) !== wanted)
      return `other events ${name}`;
  return undefined;
}

interface Cut {
  readonly chunks: readonly Uint8Array[];
  readonly name: string;
}

function* cutsOf(bytes: Uint8Array, cuts: Cuts): Generator<Cut> {
  if (bytes.length < EVERY_CUT_BELOW) {
    const end = cuts === "all" ? bytes.length : 0;
    for (let at = 1; at < end; at++)
      yield { chunks: [bytes.subarray(0, at), bytes.subarray(at)], name: `when cut at byte ${at}` };
    const single = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
    yield { chunks: single, name: "one byte a chunk" };
  }
  // Many cuts of a long body cost time and show nothing new.
  const isLong = bytes.length > 100_000;
  const count = bytes.length < 2 ? 0 : cuts === "few" || isLong ? 5 : RANDOM_CUTS;
  const random = seeded(bytes.length);
  for (let n = 0; n < count; n++) {
    const places = Array.from({ length: 1 + Math.floor(random() * 8) }, () =>
      Math.floor(random() * bytes.length),
    );
    const edges = [0, ...places.toSorted((a, b) => a - b), bytes.length];
    const chunks = edges.slice(1).map((end, index) => bytes.subarray(edges[index], end));
    yield { chunks, name: `when cut at bytes ${places.join(", ")}` };
  }
}

async function overHttp(
  { stream }: Wire,
  fixture: Fixture,
  baseUrl: string,
): Promise<AssistantMessage> {
  const tools = (fixture.tools ?? defaultTools).map((name) => ({
    name,
    description: name,
    parameters: toolSchema,
  }));
  const context = {
    messages: [{ role: "user" as const, content: "Say it.", timestamp: 0 }],
    tools,
  };
  const options = {
    apiKey: "dummy",
    maxRetries: 0,
    maxTokens: 1000,
    signal: AbortSignal.timeout(5000),
  };
  let message: AssistantMessage | undefined;
  for await (const event of await stream(modelOf(fixture, baseUrl), context, options)) {
    if (event.type === "done") message = event.message;
    else if (event.type === "error") message = event.error;
  }
  if (message === undefined) throw new Error("the stream ended without a terminal event");
  return message;
}

const toolSchema = { type: "object", properties: { city: { type: "string" } } };

/** Applies the common checks, and those that apply to Bowline only. */
function check(fixture: Fixture, message: AssistantMessage, way: string): Verdict {
  const verdict = judge(fixture, toOutcome(message));
  const { expect } = fixture;
  const faults = [...verdict.faults];
  const compare = (what: string, actual: unknown, wanted: unknown): void => {
    if (!isDeepStrictEqual(actual, wanted))
      faults.push(`${what} ${show(actual)} for ${show(wanted)}`);
  };
  const failed = message.stopReason === "error" || message.stopReason === "aborted";
  if (expect.ends === "error" && failed && expect.text !== undefined)
    compare("text", textOf(message), expect.text);
  if (expect.thinking !== undefined && !(failed && expect.ends === "done"))
    compare("thinking", thinkingOf(message), expect.thinking);
  if (!failed || expect.ends !== "done") checkDetails(fixture, message, faults, compare);
  if (message.stopReason === "aborted") faults.push(`hung ${way}`);
  if (message.error?.code === "internal_error") faults.push("a defect of ours");
  return { ...verdict, faults };
}

function checkDetails(
  { expect, tools = defaultTools }: Fixture,
  message: AssistantMessage,
  faults: string[],
  compare: (what: string, actual: unknown, wanted: unknown) => void,
): void {
  const { error, usage } = message;
  if (expect.stopReason !== undefined) compare("stopReason", message.stopReason, expect.stopReason);
  if (expect.rawStopReason !== undefined)
    compare("rawStopReason", message.rawStopReason, expect.rawStopReason);
  for (const [field, value] of Object.entries(expect.usage ?? {}))
    compare(`usage.${field}`, usage[field as keyof typeof usage], value);
  if (expect.refusedCalls !== undefined)
    compare(
      "refused calls",
      callsOf(message).filter((call) => !isRunnable(call, message) || !tools.includes(call.name))
        .length,
      expect.refusedCalls,
    );
  const json = JSON.stringify(message.content) + String(message.responseId);
  for (const kept of expect.keeps ?? [])
    if (!json.includes(kept) && !json.includes(JSON.stringify(kept).slice(1, -1)))
      faults.push(`${kept} was lost`);
  const ids = callsOf(message).map(({ id }) => id);
  if (expect.uniqueIds === true && (new Set(ids).size !== ids.length || ids.includes("")))
    faults.push(`ids ${JSON.stringify(ids)}`);
  if (expect.errorCode?.includes(error?.code ?? "") === false)
    compare("error code", error?.code, expect.errorCode.join(" or "));
  if (error === undefined) return;
  if (expect.errorMessage?.test(error.message) === false)
    faults.push(`message ${clip(error.message)} for ${expect.errorMessage}`);
  if (expect.retryable !== undefined) compare("retryable", error.retryable, expect.retryable);
  if (expect.retryAfterMs !== undefined)
    compare("retryAfterMs", error.retryAfterMs ?? null, expect.retryAfterMs);
}

function toOutcome(message: AssistantMessage): Outcome {
  const failed = message.stopReason === "error" || message.stopReason === "aborted";
  return {
    text: textOf(message),
    calls: callsOf(message)
      .filter((call) => isRunnable(call, message))
      .map(({ name, arguments: args }) => ({ name, arguments: args })),
    refused: callsOf(message).filter((call) => !isRunnable(call, message)).length,
    ended: failed ? "error" : "ok",
    ...(message.error !== undefined && {
      threw: `${message.error.code}: ${message.error.message}`,
    }),
  };
}

/** Formats a value, also one that is not JSON. */
function show(value: unknown): string {
  return value === undefined ? "absent" : clip(JSON.stringify(value));
}

type ToolCall = Extract<AssistantMessage["content"][number], { type: "toolCall" }>;

function callsOf({ content }: AssistantMessage): ToolCall[] {
  return content.filter((part) => part.type === "toolCall");
}

/**
 * Returns whether the agent would run the call: not in a failed or cut answer, not with broken
 * arguments, and not without a name.
 */
function isRunnable(call: ToolCall, { stopReason }: AssistantMessage): boolean {
  return (
    (stopReason === "toolUse" || stopReason === "stop") &&
    call.argumentsError === undefined &&
    call.name !== ""
  );
}

function textOf({ content }: AssistantMessage): string {
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

function thinkingOf({ content }: AssistantMessage): string {
  return content.map((part) => (part.type === "thinking" ? part.thinking : "")).join("");
}

/** Returns a generator of the same numbers on every run. */
function seeded(seed: number): () => number {
  let state = seed + 0x9e3779b9;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5) | 0;
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32;
  };
}
