/** Converts an accepted message that is not in its transcript yet for clients. */
import { mediaOf } from "../protocol/images.ts";
import type { PendingMessage } from "./pending.ts";
import type { WaitingMessage } from "../protocol/protocol.ts";
import type { SecretFilter } from "../../secrets.ts";

/**
 * `kind` is the current kind of the message, which may differ from the kind in which it was sent.
 */
export function toWaiting(
  { id: messageId, text, attachments }: PendingMessage,
  kind: WaitingMessage["kind"],
  filter: SecretFilter,
): WaitingMessage {
  const media = filter.value(mediaOf(attachments));
  return { messageId, kind, text: filter.text(text), ...media };
}
