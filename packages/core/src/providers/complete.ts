/**
 * Returns a whole answer, for tasks such as classification, extraction or titles that do not need
 * streaming.
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

/** The error that {@link complete} rejects with. Its code is that of the failed model call. */
export class CompletionError extends BowlineError {
  /** The message of the failed call, with the content received before the failure, often none. */
  readonly answer: AssistantMessage;

  constructor(answer: AssistantMessage, cause?: unknown) {
    const { stopReason, error, errorMessage = "The model call failed." } = answer;
    const code = stopReason === "aborted" ? "aborted" : "stream_function_failed";
    super(error?.code ?? code, errorMessage, { ...error, cause });
    this.answer = answer;
  }
}

/**
 * Calls the model once, including retries, and resolves to the final message. Rejects with {@link
 * CompletionError} if the call failed or was aborted; its `answer` holds the content received until
 * then. An answer that a token limit cut resolves with the `stopReason` `length`. Tools are
 * declared but not run.
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

/** Resolves to the final message, and to the thrown error if there was one. */
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
