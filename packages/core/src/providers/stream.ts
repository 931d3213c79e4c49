/**
 * Joins a protocol to the transport: one model call with its retries, as a stream that always ends
 * with `done` or `error`.
 */
import { randomId, sleep, systemClock } from "../clock.ts";
import { BowlineError, callHook, toBowlineError, toErrorInfo } from "../errors.ts";
import { defined, shorten } from "../json-value.ts";
import type { AssistantMessageEvent } from "../llm/event.ts";
import type { AssistantMessage, Context } from "../llm/message.ts";
import type {
  AssistantMessageEventStream,
  Model,
  StreamOptions,
  StreamTimeouts,
} from "../llm/model.ts";
import { EventStream, type Push } from "../llm/stream.ts";
import { costOf } from "../llm/usage.ts";
import { MIN_SECRET_LENGTH, secretsInUrls } from "../transport/redact.ts";
import { backoffMs } from "../transport/retry.ts";
import { postForStream } from "../transport/post.ts";
import type { ChunkVerdict, PostRequest } from "../transport/request.ts";
import { StreamDecoder, type DecoderOptions } from "./decoder.ts";
import type { Protocol } from "./protocol.ts";
import { createSettled, type FindSettled, type Settled } from "./settled.ts";
import { toWireJson } from "./wire-json.ts";

/** What reads the bytes of one answer, as {@link StreamDecoder} does. */
type Decoder = Pick<
  StreamDecoder,
  "message" | "started" | "ended" | "failure" | "push" | "end" | "fail"
>;

/** One kind of model call: how it is asked, and what reads the answer. */
export interface Wire extends Pick<Protocol, "encode" | "asLearned" | "learn"> {
  /** Absent: every request is encoded whole. */
  readonly settled?: FindSettled;
  /** The body as it is sent. */
  stringify(body: unknown): string;
  createDecoder(model: Model, options: DecoderOptions): Decoder;
}

const DEFAULT_TIMEOUTS = { firstByteMs: 600_000, idleMs: 120_000, progressMs: 300_000, totalMs: 0 };

/** The limits on time, all of them: one that is given as undefined is not given. */
export function limitsOf({ timeouts }: StreamOptions): Required<StreamTimeouts> {
  return { ...DEFAULT_TIMEOUTS, ...defined({ ...timeouts }) };
}

/**
 * Answers that are no good are asked for again on a budget of their own: each costs the whole
 * prompt.
 */
const MAX_POOR_ANSWERS = 2;

/** How much is told of what a server said, and how much of it is looked at. */
const MAX_MESSAGE_LENGTH = 600;
const MAX_QUOTE_LENGTH = 10_000;

/**
 * The protocol as a stream function. Never throws or rejects: every failure is the stream's last
 * event.
 */
export function createStreamFn(
  protocol: Protocol,
): (model: Model, context: Context, options?: StreamOptions) => AssistantMessageEventStream {
  const wire: Wire = {
    ...protocol,
    settled: createSettled(protocol),
    stringify: toWireJson,
    createDecoder: (model, facts) => new StreamDecoder(protocol, model, facts),
  };
  return (model, context, options = {}) => streamWire(wire, model, context, options);
}

/** One model call. Never throws or rejects: every failure is the stream's last event. */
export function streamWire(
  wire: Wire,
  model: Model,
  context: Context,
  options: StreamOptions,
): AssistantMessageEventStream {
  return new EventStream(
    (push, signal) => call(wire, model, context, options, push, signal),
    options.signal,
  );
}

async function call(
  wire: Wire,
  model: Model,
  context: Context,
  options: StreamOptions,
  push: Push<AssistantMessageEvent>,
  signal: AbortSignal,
): Promise<AssistantMessage> {
  const {
    clock = systemClock,
    createId = randomId,
    random = Math.random,
    fetch = globalThis.fetch,
  } = options;
  const {
    maxRetries = 2,
    maxRetryDelayMs = 60_000,
    retryAfterOutput = false,
    onResponse,
  } = options;
  const timeouts = limitsOf(options);
  const begunAt = clock.now();
  const toolNames = (context.tools ?? []).map((tool) => tool.name);
  let asked = wire.asLearned?.(model) ?? model;
  let request: Promise<PostRequest> | undefined;
  let poorAnswers = 0;
  let lessons = 0;
  let fresh = false;
  for (let attempt = 1; ; attempt++) {
    const decoder = wire.createDecoder(model, {
      timestamp: clock.now(),
      attempt,
      toolNames,
      maxEventLength: options.maxEventLength,
      createId: () => `call_${createId().replaceAll("-", "").slice(0, 24)}`, // OpenAI takes 40 characters (Q119)
    });
    const failure = await ask(decoder);
    if (!failure) return decoder.message;
    const error = reworded(
      failure,
      withoutKeys(failure.message, { ...model.headers, ...options.headers, key: options.apiKey }),
    );
    const taught =
      decoder.started || maxRetries === 0 ? undefined : wire.learn?.(model, asked, error);
    const { code, status, retryable, retryAfterMs = 0 } = error;
    // The server is well, the answer was no good: empty, or a call that the model botched (Q092,
    // Q104, Q207).
    const isPoor =
      !taught &&
      (code === "empty_response" ||
        status === 400 ||
        (code === "server_error" && status === undefined));
    const count = isPoor ? ++poorAnswers : attempt - poorAnswers - lessons;
    const budget = isPoor ? Math.min(maxRetries, MAX_POOR_ANSWERS) : maxRetries;
    // A pooled connection that broke says nothing of the server: at once again, on one that is new
    // (Q230).
    const isBroken = code === "connection_failed";
    const delayMs = taught || (isBroken && !fresh) ? 0 : backoffMs(count, error, random());
    fresh ||= isBroken;
    const isTooLong = maxRetryDelayMs > 0 && retryAfterMs > maxRetryDelayMs && retryable;
    const isShown = decoder.started && !retryAfterOutput;
    // A wait that the limit of the whole call would end is not begun: this failure says more
    // (Q235).
    const isLate = timeouts.totalMs > 0 && clock.now() + delayMs - begunAt >= timeouts.totalMs;
    if (taught) {
      lessons++;
      asked = taught;
      request = undefined;
    } else if (
      isShown ||
      !retryable ||
      !(count <= budget) ||
      signal.aborted ||
      isTooLong ||
      isLate
    ) {
      const message = `${error.message} (the server asks to wait ${Math.ceil(retryAfterMs / 1000)} s)`;
      tell(decoder, decoder.fail(isTooLong ? reworded(error, message) : error));
      return decoder.message;
    }
    const failed = { attempt, error: toErrorInfo(error) };
    if (decoder.started) push([{ type: "message_retract", ...failed, contentIndex: 0 }]);
    push([{ type: "request_retry", ...failed, delayMs }]);
    await sleep(clock, delayMs, signal);
  }

  function tell(decoder: Decoder, events: AssistantMessageEvent[]): ChunkVerdict {
    const { ended, message } = decoder;
    const { usage } = message;
    if (ended && model.cost)
      Object.assign(usage, defined({ cost: usage.cost ?? costOf(usage, model.cost) }));
    push(events, ended);
    if (ended || decoder.failure) return "complete";
    return events.length > 0 ? "progress" : "alive";
  }

  /** One try. Returns what went wrong, or undefined after `done`. */
  async function ask(decoder: Decoder): Promise<BowlineError | undefined> {
    try {
      request ??= prepare(wire, asked, context, options);
      await postForStream(await request, {
        ...timeouts,
        begunAt,
        fetch,
        clock,
        signal,
        fresh,
        model: model.id,
        onResponse:
          onResponse && ((response) => callHook("onResponse", () => onResponse(response, model))),
        onChunk: (chunk) => tell(decoder, decoder.push(chunk)),
      });
      tell(decoder, decoder.end());
      return decoder.failure;
    } catch (error) {
      return toBowlineError(error, "internal_error");
    }
  }
}

/** The request, made once for all tries that nothing was learned between. */
async function prepare(
  wire: Wire,
  model: Model,
  context: Context,
  options: StreamOptions,
): Promise<PostRequest> {
  const { onPayload } = options;
  const settled = onPayload ? undefined : wire.settled?.(model, context, options);
  const rest = settled ? { ...context, messages: context.messages.slice(settled.count) } : context;
  const request = wire.encode(model, rest, options, settled !== undefined);
  const body = { ...request.body, ...options.extraBody };
  const replaced = onPayload && (await callHook("onPayload", () => onPayload(body, model)));
  return { ...request, body: settled ? toJson(body, settled) : wire.stringify(replaced ?? body) };
}

/** The body as JSON; what is settled stands before what else its list holds. */
function toJson(body: Record<string, unknown>, { field, text }: Settled): string {
  let json = "";
  for (const key of Object.keys(body)) {
    const value: string | undefined = toWireJson(body[key]);
    if (value === undefined) continue;
    json += `${json ? "," : "{"}${toWireJson(key)}:`;
    json += key === field ? `[${text}${value.slice(1)}` : value;
  }
  return `${json}}`;
}

/**
 * Servers quote the key they refuse; it must not travel on. What they say is cut behind that: the
 * beginning of a key looks like a word.
 */
function withoutKeys(said: string, sent: Record<string, string | undefined>): string {
  let text = said.slice(0, MAX_QUOTE_LENGTH).replace(secretsInUrls, "[key]");
  for (const name in sent) {
    const key = (sent[name] ?? "").replace(/^\w+ /, "").trim();
    if (/auth|key/i.test(name) && key.length >= MIN_SECRET_LENGTH)
      text = text.replaceAll(key, "[key]");
  }
  return shorten(text, MAX_MESSAGE_LENGTH);
}

/** The cause is left behind: it may say what the message no longer does. */
function reworded(error: BowlineError, message: string): BowlineError {
  return new BowlineError(error.code, message, toErrorInfo(error));
}
