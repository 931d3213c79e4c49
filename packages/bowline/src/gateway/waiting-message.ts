/** What clients are told of a message that is accepted and not in its transcript yet. */
import { imagesOf } from "./attachments.ts";
import type { Lane } from "./lane.ts";
import type { PendingMessage } from "./pending.ts";
import type { WaitingMessage } from "./protocol.ts";
import type { SecretFilter } from "./secrets.ts";

/** `kind` is what it waits as now, which may be another than what it came as. */
export function toWaiting(
  { id: messageId, text, attachments }: PendingMessage,
  kind: WaitingMessage["kind"],
  filter: SecretFilter,
): WaitingMessage {
  const images = imagesOf(attachments);
  return { messageId, kind, text: filter.text(text), ...(images !== undefined && { images }) };
}

/** All of a session, in the order in which they go in. */
export function waitingIn({ current, held, waiting }: Lane, filter: SecretFilter): WaitingMessage[] {
  return [
    ...(current?.waiting ?? []).map(({ pending }) => toWaiting(pending, pending.kind, filter)),
    ...held.map(({ pending }) => toWaiting(pending, "held", filter)),
    ...waiting.flatMap(({ first }) => (first === undefined ? [] : [toWaiting(first.pending, "send", filter)])),
  ];
}
