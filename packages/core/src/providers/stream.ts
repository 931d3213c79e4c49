/** Joins a protocol to the transport: one model call with its retries, as a stream that always ends with `done` or `error`. */
import { randomId, sleep, systemClock } from "../clock.ts";
import { BowlineError, callHook, toBowlineError, toErrorInfo } from "../errors.ts";
import type { AssistantMessageEvent } from "../llm/event.ts";
import type { AssistantMessage, Context } from "../llm/message.ts";
import type { AssistantMessageEventStream, Model, StreamOptions } from "../llm/model.ts";
import { EventStream } from "../llm/stream.ts";
import { costOf } from "../llm/usage.ts";
import { backoffMs } from "../transport/retry.ts";
import { postForStream, type ChunkVerdict, type PostRequest } from "../transport/request.ts";
import { createStreamDecoder, type DecoderOptions, type StreamDecoder } from "./decoder.ts";
import type { Protocol } from "./protocol.ts";

type Push = (batch: readonly AssistantMessageEvent[]) => void;

/** What reads the bytes of one answer, as {@link StreamDecoder} does. */
type Decoder = Pick<StreamDecoder, "message" | "started" | "ended" | "failure" | "push" | "end" | "fail">;

/** One kind of model call: how it is asked, and what reads the answer. */
export interface Wire extends Pick<Protocol, "encode"> {
  createDecoder(model: Model, options: DecoderOptions): Decoder;
}

export const DEFAULT_TIMEOUTS = { firstByteMs: 600_000, idleMs: 120_000, progressMs: 300_000 };

/** The protocol as a stream function. Never throws or rejects: every failure is the stream's last event. */
export function createStreamFn(
  protocol: Protocol,
): (model: Model, context: Context, options?: StreamOptions) => AssistantMessageEventStream {
  const wire: Wire = { ...protocol, createDecoder: (model, facts) => createStreamDecoder(protocol, model, facts) };
  return (model, context, options = {}) => streamWire(wire, model, context, options);
}

/** One model call. Never throws or rejects: every failure is the stream's last event. */
export function streamWire(
  wire: Wire,
  model: Model,
  context: Context,
  options: StreamOptions,
): AssistantMessageEventStream {
  return new EventStream((push, left) => call(wire, model, context, options, push, left));
}

async function call(
  wire: Wire,
  model: Model,
  context: Context,
  options: StreamOptions,
  push: Push,
  left: AbortSignal,
): Promise<AssistantMessage> {
  const { clock = systemClock, createId = randomId, random = Math.random } = options;
  const { maxRetries = 2, maxRetryDelayMs = 60_000 } = options;
  const signal = options.signal === undefined ? left : AbortSignal.any([options.signal, left]);
  const toolNames = (context.tools ?? []).map((tool) => tool.name);
  const request = prepare(wire, model, context, options);
  for (let attempt = 1; ; attempt++) {
    const decoder = wire.createDecoder(model, {
      timestamp: clock.now(),
      attempt,
      toolNames,
      createId: () => `call_${createId().replaceAll("-", "").slice(0, 24)}`, // OpenAI takes 40 characters (Q119)
    });
    const error = await attemptOnce(decoder, request, model, { ...options, clock, signal }, push);
    if (error === undefined) return decoder.message;
    const delay = backoffMs(attempt, error.retryAfterMs, random());
    const tooLong = maxRetryDelayMs > 0 && delay > maxRetryDelayMs;
    const shown = decoder.started && options.retryAfterOutput !== true;
    if (shown || !error.retryable || attempt > maxRetries || signal.aborted || tooLong) {
      push(decoder.fail(tooLong && error.retryable ? refuseWait(error, delay) : error));
      return decoder.message;
    }
    if (decoder.started) push([{ type: "message_retract", attempt, contentIndex: 0, error: toErrorInfo(error) }]);
    push([{ type: "request_retry", attempt, delayMs: delay, error: toErrorInfo(error) }]);
    await sleep(clock, delay, signal);
  }
}

/** The request is made once, for all tries; a failure is kept so that it ends the stream rather than throwing. */
async function prepare(wire: Wire, model: Model, context: Context, options: StreamOptions): Promise<PostRequest> {
  const request = wire.encode(model, context, options);
  const body = { ...request.body, ...options.extraBody };
  const replaced = await callHook("onPayload", () => options.onPayload?.(body, model));
  return { ...request, body: (replaced as Record<string, unknown> | undefined) ?? body };
}

/** One try. Returns what went wrong, or undefined after `done`. */
async function attemptOnce(
  decoder: Decoder,
  prepared: Promise<PostRequest>,
  model: Model,
  options: StreamOptions & { readonly clock: NonNullable<StreamOptions["clock"]>; readonly signal: AbortSignal },
  push: Push,
): Promise<BowlineError | undefined> {
  const { clock, signal, onResponse, fetch = globalThis.fetch } = options;
  const emit = (events: AssistantMessageEvent[]): ChunkVerdict => {
    if (decoder.ended) addCost(decoder.message, model);
    push(events);
    if (decoder.ended || decoder.failure !== undefined) return "complete";
    return events.length > 0 ? "progress" : "alive";
  };
  try {
    await postForStream(await prepared, {
      ...DEFAULT_TIMEOUTS,
      ...options.timeouts,
      fetch,
      clock,
      signal,
      onResponse: (response) => callHook("onResponse", () => onResponse?.(response, model)),
      onChunk: (chunk) => emit(decoder.push(chunk)),
    });
    emit(decoder.end());
    return decoder.failure;
  } catch (error) {
    return redact(toBowlineError(error, "internal_error"), options.apiKey);
  }
}

function addCost(message: AssistantMessage, model: Model): void {
  if (message.usage.cost !== undefined || model.cost === undefined) return;
  const cost = costOf(message.usage, model.cost);
  if (cost !== undefined) message.usage.cost = cost;
}

function refuseWait(error: BowlineError, delay: number): BowlineError {
  const message = `${error.message} (the server asks to wait ${Math.ceil(delay / 1000)} s)`;
  return new BowlineError(error.code, message, { ...toErrorInfo(error), cause: error });
}

/** Servers quote the key they refuse; it must not travel on. */
function redact(error: BowlineError, apiKey: string | undefined): BowlineError {
  const secret = apiKey?.trim() ?? "";
  if (secret === "" || !error.message.includes(secret)) return error;
  return new BowlineError(error.code, error.message.replaceAll(secret, "[key]"), { ...toErrorInfo(error) });
}
