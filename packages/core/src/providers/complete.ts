/**
 * One answer, whole: for a classification, an extraction, a title, where nobody watches it come.
 */
import { systemClock } from "../clock.ts";
import { BowlineError, toBowlineError } from "../errors.ts";
import {
  applyEvent,
  emptyMessage,
  failureOf,
  isTerminal,
  messageOf,
  originOf,
} from "../llm/event.ts";
import type { AssistantMessage, Context } from "../llm/message.ts";
import type { Model, StreamFn, StreamOptions } from "../llm/model.ts";
import { batchesOf, truncated } from "../llm/stream.ts";
import { streamByProtocol } from "./by-protocol.ts";

/** Why {@link complete} has no answer: the error of the model call. */
export class CompletionError extends BowlineError {
  /** The message of the failed call, with what came of its content, often nothing. */
  readonly answer: AssistantMessage;

  constructor(answer: AssistantMessage, cause?: unknown) {
    const { stopReason, error, errorMessage = "The model call failed." } = answer;
    const code = stopReason === "aborted" ? "aborted" : "stream_function_failed";
    super(error?.code ?? code, errorMessage, { ...error, cause });
    this.answer = answer;
  }
}

/**
 * Asks the model once, retries included, and resolves to the final message. Rejects with
 * {@link CompletionError} when the call failed or was aborted; its `answer` has what came until
 * then. An answer that a token limit cut resolves, with the `stopReason` `length`. Tools are
 * declared and not run.
 */
export async function complete(
  model: Model,
  context: Context,
  options: StreamOptions = {},
  streamFn: StreamFn = streamByProtocol,
): Promise<AssistantMessage> {
  const { answer, cause } = await ask(model, context, options, streamFn);
  const { stopReason } = answer;
  if (stopReason === "error" || stopReason === "aborted") throw new CompletionError(answer, cause);
  return answer;
}

/** Resolves to the final message, and to what was thrown in place of one. */
async function ask(
  model: Model,
  context: Context,
  options: StreamOptions,
  streamFn: StreamFn,
): Promise<{ readonly answer: AssistantMessage; readonly cause?: unknown }> {
  let partial: AssistantMessage | undefined;
  try {
    for await (const batch of batchesOf(await streamFn(model, context, options))) {
      for (const event of batch) {
        if (isTerminal(event)) return { answer: messageOf(event) };
        partial = event.partial ?? applyEvent(partial, event);
      }
    }
    throw truncated();
  } catch (error) {
    const { clock = systemClock } = options;
    const empty = emptyMessage(originOf(model, clock.now()));
    const failure = failureOf(toBowlineError(error, "stream_function_failed"));
    return { answer: Object.assign(partial ?? empty, failure), cause: error };
  }
}
