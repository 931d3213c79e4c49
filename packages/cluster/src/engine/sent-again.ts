/** Answers messages that were accepted before, on any gateway. */
import { messageText, type UserMessage } from "@bowline/core";
import { isKnownEntry, type SessionMessage } from "@bowline/core/session";
import type { MessagePlace, PostgresStore } from "@bowline/postgres";
import {
  contentOf,
  GatewayError,
  isMissing,
  type Accepted,
  type OwnedMessage,
} from "bowline/engine";

/** How many entries are searched for a message that a run has. */
const MAX_SEARCHED = 2000;

/** Finds the message with this id. Undefined for one that was not accepted yet. */
export async function findMessage(
  store: PostgresStore,
  sessionKey: string,
  id: string,
): Promise<MessagePlace | undefined> {
  try {
    return await store.durable.findMessage(sessionKey, id);
  } catch (error) {
    if (!isMissing(error)) throw error;
    return undefined;
  }
}

/**
 * Returns the run of a message that was accepted before, or that it waits for one. Rejects with
 * `conflict` if that message had another content.
 */
export async function answerAgain(
  store: PostgresStore,
  { id, place, params }: { id: string; place: MessagePlace; params: OwnedMessage },
): Promise<Accepted> {
  const { sessionKey } = params;
  await assertSame(store, { id, place, params });
  const answer = (runId: string, status: Accepted["result"]["status"]): Accepted => ({
    result: { runId, sessionKey, status },
    start: () => {},
  });
  const open = await store.durable.openRuns({ sessionId: sessionKey });
  // A message for a run in progress has that run until another one takes it.
  const runId = place.runId ?? open[0]?.runId;
  if (runId !== undefined)
    return answer(runId, open.some((run) => run.runId === runId) ? "in_flight" : "finished");
  // Read again: a run may have taken it and have ended since.
  const now = await findMessage(store, sessionKey, id);
  if (now?.runId !== undefined) return answerAgain(store, { id, place: now, params });
  return answer(id, "waiting");
}

/** Rejects with `conflict` if the message was another one. */
async function assertSame(
  store: PostgresStore,
  { id, place, params }: { id: string; place: MessagePlace; params: OwnedMessage },
): Promise<void> {
  const { sessionKey, message, attachments } = params;
  const content = contentOf(message, attachments);
  if (place.state === "pending") {
    const waiting = await store.durable.waiting(sessionKey);
    const before = waiting.find((one) => one.id === id)?.message;
    if (before !== undefined && !isEqual(contentIn(before), content)) throw usedBefore();
    return;
  }
  const before = await storedMessage(store, sessionKey, id);
  if (before !== undefined && messageText(before as UserMessage) !== message) throw usedBefore();
}

async function storedMessage(
  store: PostgresStore,
  sessionKey: string,
  id: string,
): Promise<SessionMessage | undefined> {
  let searched = 0;
  for await (const batch of store.read(sessionKey, { reverse: true, files: false })) {
    for (const entry of batch)
      if (isKnownEntry(entry) && entry.type === "message" && idOf(entry.message) === id)
        return entry.message;
    searched += batch.length;
    if (searched >= MAX_SEARCHED) return undefined;
  }
  return undefined;
}

function idOf(message: SessionMessage): unknown {
  return (message as { readonly messageId?: unknown }).messageId;
}

function contentIn(message: SessionMessage): unknown {
  return (message as { readonly content?: unknown }).content;
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function usedBefore(): GatewayError {
  return new GatewayError("conflict", "This idempotency key was used for another message.");
}
