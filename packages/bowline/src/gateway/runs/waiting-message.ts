/** What clients are told of a message that is accepted and not in its transcript yet. */
import { imagesOf } from "../protocol/images.ts";
import type { PendingMessage } from "./pending.ts";
import type { WaitingMessage } from "../protocol/protocol.ts";
import type { SecretFilter } from "../../secrets.ts";

/** `kind` is what it waits as now, which may be another than what it came as. */
export function toWaiting(
  { id: messageId, text, attachments }: PendingMessage,
  kind: WaitingMessage["kind"],
  filter: SecretFilter,
): WaitingMessage {
  const images = imagesOf(attachments);
  return { messageId, kind, text: filter.text(text), ...(images !== undefined && { images }) };
}
