/**
 * Fails over to another model. It wraps the stream function, so the loop and the wires need no
 * changes.
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
 * Failures that another model or vendor may not have. Refusals, content filters and bad requests
 * would recur.
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
  /** Makes the calls, including retries. */
  readonly streamFn: StreamFn;
  /** The models to try, in this order, when the call's own model fails. */
  readonly models: readonly Model[];
  /** The error codes that cause a failover. Default: those that another vendor may not have. */
  readonly kinds?: readonly ErrorCode[] | undefined;
  /**
   * Returns the API key for a provider. Without this function, the key of the first model is used
   * for other models of the same provider only.
   */
  readonly getApiKey?:
    | ((provider: string) => string | undefined | PromiseLike<string | undefined>)
    | undefined;
}

/**
 * Returns a stream function that calls the next model when one has failed before any output, after
 * its retries. Each switch emits a `model_failover` event. The message names the model that
 * answered, so signatures are replayed to the right model. If all fail, the stream ends with the
 * last failure. A stream function or `getApiKey` that throws counts as a failure, with
 * `stream_function_failed` unless it threw a `BowlineError`. A stream that breaks after some output
 * rejects.
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
        push(failover(candidate, next, failed));
        return askFirst(next, others, addUsage(lost, billedUsage(failed.event.error)));
      };
      return askFirst(model, options.models, {});
    }, callOptions.signal);
}

/**
 * Forwards a stream. Resolves to its message, or to the failure if another model should be called
 * instead.
 */
async function pass(
  ask: () => Promise<AssistantMessageStream>,
  broken: (error: unknown) => ErrorEvent,
  push: (batch: readonly AssistantMessageEvent[]) => void,
  kinds: readonly ErrorCode[],
  lost: Usage,
): Promise<
  | { message: AssistantMessage; event?: undefined }
  | { message?: undefined; event: ErrorEvent; isBegun: boolean }
> {
  let shown = false;
  /** Whether a start or the progress of a vendor's tool was forwarded, which can be withdrawn. */
  let isBegun = false;
  const isPassed = ({ error }: ErrorEvent): boolean =>
    shown ||
    error.content.length > 0 ||
    error.error === undefined ||
    !kinds.includes(error.error.code);
  try {
    for await (const batch of batchesOf(await ask())) {
      const last = batch.at(-1);
      if (last?.type === "error" && !isPassed(last)) return { event: last, isBegun };
      // A start alone is not output, so it is held back with the rest of a batch that only fails.
      for (const { type } of batch) {
        if (type === "start" || type === "provider_tool") isBegun = true;
        else if (type === "message_retract") isBegun = false;
        else shown ||= type !== "request_retry" && type !== "model_failover";
      }
      const end = last && isTerminal(last) ? withDiscardedEnd(last, lost) : undefined;
      push(end ? [...batch.slice(0, -1), end] : batch);
      if (end) return { message: messageOf(end) };
    }
    throw truncated();
  } catch (error) {
    if (shown) throw error; // its output was already forwarded
    const event = broken(error);
    if (!isPassed(event)) return { event, isBegun };
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

function failover(
  from: Model,
  to: Model,
  { event: { attempt, error }, isBegun }: { event: ErrorEvent; isBegun: boolean },
): AssistantMessageEvent[] {
  const reason = error.error ?? {
    code: "internal_error" as const,
    message: error.errorMessage ?? "",
    retryable: false,
  };
  const name = ({ provider, id }: Model): { provider: string; model: string } => ({
    provider,
    model: id,
  });
  const base = { attempt, error: reason };
  return [
    ...(isBegun ? [{ type: "message_retract", ...base, contentIndex: 0 } as const] : []),
    { type: "model_failover", ...base, from: name(from), to: name(to) },
  ];
}
