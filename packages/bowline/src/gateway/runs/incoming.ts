/** A user's message on its way into a transcript. */
import { messageText, type UserMessage } from "@bowline/core";
import type { SessionMessage } from "@bowline/core/session";
import { contentOf } from "./attachments.ts";
import type { PendingMessage } from "./pending.ts";

export interface Incoming {
  readonly pending: PendingMessage;
  readonly message: UserMessage;
  /**
   * It was to begin a run, which failed before the transcript had it. On the disk it is as it was:
   * the next process begins the run.
   */
  readonly hasFailed?: true;
}

export function incomingOf(pending: PendingMessage): Incoming {
  const { id: messageId, kind, text, timestamp, attachments } = pending;
  // By this one that went into a run is known when it is sent again; one that began a run is known
  // by that.
  const name = kind !== "send" && { messageId };
  const message: UserMessage = {
    role: "user",
    content: contentOf(text, attachments),
    timestamp,
    ...name,
  };
  return { pending, message };
}

/** A run's own message that waits for the next one, or to be sent again. */
export function failedOf({ pending }: Incoming): Incoming {
  return { ...incomingOf({ ...pending, kind: "held" }), hasFailed: true };
}

/** By which a message is found again in a log: no two of a session have the same. */
export function sameness(message: SessionMessage): string {
  const { timestamp } = message as Partial<UserMessage>;
  return JSON.stringify([
    message.role,
    timestamp,
    message.role === "user" && messageText(message as UserMessage),
  ]);
}
