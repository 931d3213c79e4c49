/** A user's message on its way into a transcript. */
import type { UserMessage } from "@bowline/core";
import { contentOf } from "./attachments.ts";
import type { PendingMessage } from "./pending.ts";

export interface Incoming {
  readonly pending: PendingMessage;
  readonly message: UserMessage;
}

export function incomingOf(pending: PendingMessage): Incoming {
  const { text, timestamp, attachments } = pending;
  const message: UserMessage = { role: "user", content: contentOf(text, attachments), timestamp };
  return { pending, message };
}
