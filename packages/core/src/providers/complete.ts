/**
 * One answer, whole: for a classification, an extraction, a title, where nobody watches it come.
 */
import { systemClock } from "../clock.ts";
import { toBowlineError } from "../errors.ts";
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

/**
 * Asks the model once, retries included, and resolves to the final message. Never rejects: what
 * went wrong is the message's `stopReason` (`error` or `aborted`) and `error`, beside what came
 * until then. Tools are declared and not run.
 */
export async function complete(
  model: Model,
  context: Context,
  options: StreamOptions = {},
  streamFn: StreamFn = streamByProtocol,
): Promise<AssistantMessage> {
  let partial: AssistantMessage | undefined;
  try {
    for await (const batch of batchesOf(await streamFn(model, context, options))) {
      for (const event of batch) {
        if (isTerminal(event)) return messageOf(event);
        partial = event.partial ?? applyEvent(partial, event);
      }
    }
    throw truncated();
  } catch (error) {
    const { clock = systemClock } = options;
    const empty = emptyMessage(originOf(model, clock.now()));
    return Object.assign(
      partial ?? empty,
      failureOf(toBowlineError(error, "stream_function_failed")),
    );
  }
}
