/** Which of the taken messages a run begins with. */
import type { AgentMessage } from "@bowline/core";
import type { InboxMessage } from "@bowline/postgres";
import type { RunInput, WakeInput } from "../wire.ts";
import type { Transcript } from "./transcript.ts";

interface Prompts {
  readonly prompts: readonly AgentMessage[];
  /** Messages for the turns of the run. */
  readonly taken: readonly InboxMessage[];
}

/**
 * Returns the messages that earlier runs left, then the run's own. A run without a message of its own
 * begins with all that were taken. `transcript` learns the ids of those that it returns as prompts.
 */
export function promptsOf(
  input: RunInput | WakeInput,
  taken: readonly InboxMessage[],
  transcript: Transcript,
): Prompts {
  const isOwn = "messageId" in input;
  const first = isOwn ? taken.filter(isHeld) : taken;
  const all = [...first, ...(isOwn ? [{ id: input.messageId, message: input.message }] : [])].map(
    ({ id, message }) => ({ id, message: message as AgentMessage }),
  );
  for (const { id, message } of all) transcript.expect(id, message);
  return {
    prompts: all.map(({ message }) => message),
    taken: isOwn ? taken.filter((message) => !isHeld(message)) : [],
  };
}

function isHeld(message: InboxMessage): boolean {
  return message.isHeld === true;
}
