import { CompletionError, type AssistantMessage } from "@bowline/core";

/** Returns the message of a `complete` call, also when the call fails. */
export async function finalMessage(
  answering: Promise<AssistantMessage>,
): Promise<AssistantMessage> {
  try {
    return await answering;
  } catch (error) {
    if (error instanceof CompletionError) return error.answer;
    throw error;
  }
}
