/** Converts an accepted message that is not in its transcript yet for clients. */
import type { UserMessage } from "@bowline/core";
import { addedTo, writtenText } from "../protocol/added-text.ts";
import { mediaOf } from "../protocol/images.ts";
import { incomingOf } from "./incoming.ts";
import type { PendingMessage } from "./pending.ts";
import type { WaitingMessage } from "../protocol/protocol.ts";
import type { SecretFilter } from "../../secrets.ts";

/**
 * `kind` is the current kind of the message, which may differ from the kind in which it was sent.
 */
export function toWaiting(
  pending: PendingMessage,
  kind: WaitingMessage["kind"],
  filter: SecretFilter,
): WaitingMessage {
  return waitingMessage(incomingOf(pending).message, { messageId: pending.id, kind, filter });
}

/** Returns a message of a user as clients see it while it waits. */
export function waitingMessage(
  message: UserMessage,
  {
    messageId,
    kind,
    filter,
  }: Pick<WaitingMessage, "messageId" | "kind"> & { readonly filter: SecretFilter },
): WaitingMessage {
  const { content } = message;
  const more = filter.value({ ...mediaOf(content), ...addedTo(content) });
  return { messageId, kind, text: filter.text(writtenText(content)), ...more };
}
