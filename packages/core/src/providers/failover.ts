/**
 * Another model when one fails for good: on the level of the stream function, so that the loop and
 * every wire stay as they are.
 */
import { systemClock } from "../clock.ts";
import type { ErrorCode } from "../errors.ts";
import {
  isTerminal,
  messageOf,
  type AssistantMessageEvent,
  type ErrorEvent,
} from "../llm/event.ts";
import type { AssistantMessage, Context } from "../llm/message.ts";
import type {
  AssistantMessageEventStream,
  AssistantMessageStream,
  Model,
  StreamFn,
  StreamOptions,
} from "../llm/model.ts";
import { batchesOf, EventStream, truncated } from "../llm/stream.ts";
import { addUsage, billedUsage, type Usage } from "../llm/usage.ts";
import { brokenCall, withDiscardedEnd } from "../llm/wrapped-end.ts";

/**
 * Failures that another model or vendor may not share. A refusal, a filter and a bad request would
 * meet them again.
 */
const defaultKinds: readonly ErrorCode[] = [
  "timeout",
  "connection_failed",
  "authentication_failed",
  "permission_denied",
  "not_found",
  "rate_limited",
  "quota_exceeded",
  "overloaded",
  "server_error",
  "unexpected_response",
  "stream_truncated",
  "stream_corrupt",
  "empty_response",
];

export interface FailoverOptions {
  /** Makes the calls, retries included. */
  readonly streamFn: StreamFn;
  /** Asked in this order when the model of the call fails. */
  readonly models: readonly Model[];
  /** Which failures move on. Default: those that another vendor may not share. */
  readonly kinds?: readonly ErrorCode[] | undefined;
  /**
   * The key of a provider. Without it a key given for the first model goes to models of the same
   * provider only.
   */
  readonly getApiKey?:
    | ((provider: string) => string | undefined | PromiseLike<string | undefined>)
    | undefined;
}

/**
 * A stream function that asks the next model when one has failed for good before any output, and
 * says so with a `model_failover` event. The message names the model that answered, so replay rules
 * hold for what it signed. The last failure is the stream's. A stream function or `getApiKey` that
 * throws fails as a server does, with `stream_function_failed` unless it threw a `BowlineError`; a
 * stream that breaks behind some output rejects.
 */
export function createFailover(
  options: FailoverOptions,
): (model: Model, context: Context, callOptions?: StreamOptions) => AssistantMessageEventStream {
  const { kinds = defaultKinds } = options;
  return (model, context, callOptions = {}) =>
    new EventStream<AssistantMessageEvent, AssistantMessage>((push, signal) => {
      const { clock = systemClock } = callOptions;
      const askFirst = async (
        candidate: Model,
        [next, ...others]: readonly Model[],
        lost: Usage,
      ): Promise<AssistantMessage> => {
        const ask = async (): Promise<AssistantMessageStream> => {
          const { apiKey: _, ...rest } = callOptions;
          const apiKey = await keyFor(candidate, model, callOptions, options);
          return options.streamFn(candidate, context, {
            ...rest,
            signal,
            ...(apiKey !== undefined && { apiKey }),
          });
        };
        const broken = (error: unknown): ErrorEvent => brokenCall(error, candidate, clock.now());
        const failed = await pass(ask, broken, push, next === undefined ? [] : kinds, lost);
        if (next === undefined || failed.message !== undefined)
          return failed.message as AssistantMessage;
        push([failover(candidate, next, failed.event)]);
        return askFirst(next, others, addUsage(lost, billedUsage(failed.event.error)));
      };
      return askFirst(model, options.models, {});
    }, callOptions.signal);
}

/**
 * Passes a stream on. Gives its message, or the failure that is not passed on because another model
 * is to be asked.
 */
async function pass(
  ask: () => Promise<AssistantMessageStream>,
  broken: (error: unknown) => ErrorEvent,
  push: (batch: readonly AssistantMessageEvent[]) => void,
  kinds: readonly ErrorCode[],
  lost: Usage,
): Promise<
  { message: AssistantMessage; event?: undefined } | { message?: undefined; event: ErrorEvent }
> {
  let shown = false;
  const isPassed = ({ error }: ErrorEvent): boolean =>
    shown ||
    error.content.length > 0 ||
    error.error === undefined ||
    !kinds.includes(error.error.code);
  try {
    for await (const batch of batchesOf(await ask())) {
      const last = batch.at(-1);
      if (last?.type === "error" && !isPassed(last)) return { event: last };
      // A start alone shows nothing: it is held back with the rest of a batch that only fails.
      shown ||= batch.some(({ type }) => type !== "request_retry" && type !== "model_failover");
      const end = last && isTerminal(last) ? withDiscardedEnd(last, lost) : undefined;
      push(end ? [...batch.slice(0, -1), end] : batch);
      if (end) return { message: messageOf(end) };
    }
    throw truncated();
  } catch (error) {
    if (shown) throw error; // its reader has what came of it
    const event = broken(error);
    if (!isPassed(event)) return { event };
    const end = withDiscardedEnd(event, lost);
    push([end]);
    return { message: messageOf(end) };
  }
}

async function keyFor(
  candidate: Model,
  first: Model,
  { apiKey }: StreamOptions,
  options: FailoverOptions,
): Promise<string | undefined> {
  return (
    (await options.getApiKey?.(candidate.provider)) ??
    (candidate.provider === first.provider ? apiKey : undefined)
  );
}

function failover(from: Model, to: Model, { attempt, error }: ErrorEvent): AssistantMessageEvent {
  const reason = error.error ?? {
    code: "internal_error" as const,
    message: error.errorMessage ?? "",
    retryable: false,
  };
  const name = ({ provider, id }: Model): { provider: string; model: string } => ({
    provider,
    model: id,
  });
  return { type: "model_failover", attempt, from: name(from), to: name(to), error: reason };
}
