import { CompletionError, type AssistantMessage } from "@bowline/core";

/** The message of a call by `complete` that may fail. */
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
