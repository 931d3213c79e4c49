/**
 * Wraps a stream function so that a request is compacted and retried when the server refuses it as
 * too long.
 */
import { systemClock } from "../../clock.ts";
import type { ErrorInfo } from "../../errors.ts";
import {
  isTerminal,
  messageOf,
  type AssistantMessageEvent,
  type DoneEvent,
  type ErrorEvent,
} from "../../llm/event.ts";
import type { Context } from "../../llm/message.ts";
import type { AssistantMessageStream, StreamFn } from "../../llm/model.ts";
import { batchesOf, EventStream, truncated, type Push } from "../../llm/stream.ts";
import { billedUsage, type Usage } from "../../llm/usage.ts";
import { brokenCall, withDiscardedEnd } from "../../llm/wrapped-end.ts";
import type { Compactor } from "./compactor.ts";
import { overflowCodes } from "./summary.ts";

/** Returns the wrapped stream function. Requests of other agents pass through unchanged. */
export function wrapStreamFn(streamFn: StreamFn, compactor: Compactor): StreamFn {
  compactor.expectRequests();
  return (model, context, options) => {
    if (!compactor.owns(options.signal, context.messages)) return streamFn(model, context, options);
    return new EventStream(async (passOn, signal) => {
      let isShown = false;
      let lost: Usage = {};
      const push: Push<AssistantMessageEvent> = (batch, isLast) => {
        isShown ||= batch.some(
          ({ type }) => type !== "start" && type !== "request_retry" && type !== "model_failover",
        );
        passOn(batch, isLast);
      };
      const ask = async (messages: Context["messages"]): Promise<AssistantMessageStream> =>
        streamFn(model, { ...context, messages }, { ...options, signal });
      try {
        const { messages: given, ...about } = context;
        const { signal: _, ...kept } = options;
        const fewer = await compactor.meet(
          { model, streamFn, context: about, options: kept },
          signal,
        );
        const { end, held } = await pass(await ask(fewer ?? given), push);
        if (!held) return messageOf(end);
        lost = billedUsage(messageOf(end));
        isShown = false; // the partial output was retracted
        const again = await compactor.recover(signal);
        if (!again) {
          push(held);
          return messageOf(end);
        }
        push([{ type: "request_retry", attempt: end.attempt, delayMs: 0, error: reasonOf(end) }]);
        return messageOf((await pass(await ask(again), push, lost)).end);
      } catch (error) {
        if (isShown) throw error; // the reader already has output of a broken stream
        // Otherwise the error may be an abort during the summary.
        const { clock = systemClock } = options;
        const event = withDiscardedEnd(brokenCall(error, model, clock.now()), lost);
        push([event]);
        return messageOf(event);
      }
    }, options.signal);
  };
}

/**
 * Forwards a stream. Holds back a final event that says "too long" without output, unless an
 * earlier attempt was already `lost` to it.
 */
async function pass(
  stream: AssistantMessageStream,
  push: Push<AssistantMessageEvent>,
  lost?: Usage,
): Promise<{ end: DoneEvent | ErrorEvent; held?: readonly AssistantMessageEvent[] }> {
  for await (const batch of batchesOf(stream)) {
    const last = batch.at(-1);
    if (!last || !isTerminal(last)) {
      push(batch);
      continue;
    }
    if (!lost && isTooLong(last)) return { end: last, held: batch };
    const end = withDiscardedEnd(last, lost ?? {});
    push([...batch.slice(0, -1), end]);
    return { end };
  }
  throw truncated();
}

/** Some servers send an empty answer with the reason "length" instead of an error. */
// Q244
function isTooLong(end: DoneEvent | ErrorEvent): boolean {
  const { content, error } = messageOf(end);
  if (content.length > 0) return false;
  return end.type === "done"
    ? end.reason === "length"
    : error !== undefined && overflowCodes.has(error.code);
}

function reasonOf(end: DoneEvent | ErrorEvent): ErrorInfo {
  const { error } = messageOf(end);
  return (
    error ?? {
      code: "context_overflow",
      message: "There was no room for an answer.",
      retryable: false,
    }
  );
}
