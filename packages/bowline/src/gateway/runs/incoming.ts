/** A user's message that is not in a transcript yet. */
import { messageText, type UserMessage } from "@bowline/core";
import type { SessionMessage } from "@bowline/core/session";
import { contentOf } from "./attachments.ts";
import type { PendingMessage } from "./pending.ts";

export interface Incoming {
  readonly pending: PendingMessage;
  readonly message: UserMessage;
  /**
   * True if the message began a run that failed before the transcript had the message. Its file is
   * unchanged, so the next process begins the run.
   */
  readonly hasFailed?: true;
}

export function incomingOf(pending: PendingMessage): Incoming {
  const { id: messageId, kind, text, timestamp, attachments } = pending;
  // Marks a message that joined a running run, so that a resent one is recognised. A message that
  // began a run is recognised by the run's id.
  const name = kind !== "send" && { messageId };
  const message: UserMessage = {
    role: "user",
    content: contentOf(text, attachments),
    timestamp,
    ...name,
  };
  return { pending, message };
}

/** Returns the message of a failed run. It waits for the next run, or until a client resends it. */
export function failedOf({ pending }: Incoming): Incoming {
  return { ...incomingOf({ ...pending, kind: "held" }), hasFailed: true };
}

/** Returns the key that identifies a message in a session's log. It is unique within a session. */
export function sameness(message: SessionMessage): string {
  const { timestamp } = message as Partial<UserMessage>;
  return JSON.stringify([
    message.role,
    timestamp,
    message.role === "user" && messageText(message as UserMessage),
  ]);
}
