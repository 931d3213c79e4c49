/** The messages on a path of entries: all of them, or those that a model sees. */
import { shortenResult } from "../agent/context/shorten.ts";
import type { ToolResultMessage } from "../llm/message.ts";
import { isKnownEntry, type AnyEntry, type Entry, type SessionMessage } from "./entry.ts";
import { pathTo, type ReadEntries } from "./path.ts";

/** A message of the transcript and the id of its entry. A compaction's summary has no entry. */
export interface MessageEntry {
  readonly id: string | undefined;
  readonly message: SessionMessage;
}

/** Returns every message on the path, including compacted ones. */
export async function allMessages(read: ReadEntries, at?: string): Promise<SessionMessage[]> {
  return messagesOf(await pathTo(read, at)).map(({ message }) => message);
}

/**
 * Returns what a model sees: the summary of the compaction in force as a user message, the messages
 * that it kept, and all later ones. Reads no further back than the first kept entry. `without` is
 * the id of a compaction that is taken as undone.
 */
export async function contextEntries(
  read: ReadEntries,
  at?: string,
  without?: string,
): Promise<MessageEntry[]> {
  let compaction: CompactionEntry | undefined;
  const wanted = new Set<string>();
  const undone = new Set<string>(without === undefined ? [] : [without]);
  const path = await pathTo(read, at, (entry) => {
    if (compaction === undefined && isInForce(entry, undone)) {
      compaction = entry;
      for (const id of [...(entry.earlierIds ?? []), entry.firstKeptId ?? entry.id]) wanted.add(id);
    }
    wanted.delete(entry.id);
    return compaction !== undefined && wanted.size === 0;
  });
  return compaction === undefined ? messagesOf(path, undone) : compacted(path, compaction, undone);
}

/** Returns the compaction in force at an entry (default: the last). Undefined if there is none. */
export async function compactionAt(
  read: ReadEntries,
  at?: string,
): Promise<CompactionEntry | undefined> {
  let compaction: CompactionEntry | undefined;
  const undone = new Set<string>();
  await pathTo(read, at, (entry) => {
    if (isInForce(entry, undone)) compaction = entry;
    return compaction !== undefined;
  });
  return compaction;
}

export type CompactionEntry = Entry & { readonly type: "compaction" };

/**
 * Called for each entry of a path, newest first, until it returns true for the compaction in force.
 * Collects those that were undone.
 */
function isInForce(entry: AnyEntry, undone: Set<string>): entry is CompactionEntry {
  if (!isKnownEntry(entry)) return false;
  if (entry.type === "compaction_undo") undone.add(entry.compactionId);
  return entry.type === "compaction" && !undone.has(entry.id);
}

function compacted(
  path: readonly AnyEntry[],
  compaction: CompactionEntry,
  undone: ReadonlySet<string>,
): MessageEntry[] {
  const { id, summary, timestamp, firstKeptId, earlierIds = [], maxResultTokens } = compaction;
  const end = path.indexOf(compaction);
  // If the first kept entry is not on the path, no message is kept.
  const first = path.findIndex((entry) => entry.id === (firstKeptId ?? id));
  const begin = first < 0 ? end : first;
  const earlier = messagesOf(path.slice(0, begin).filter((entry) => earlierIds.includes(entry.id)));
  const standIn: MessageEntry[] = [
    { id: undefined, message: { role: "user", content: summary, timestamp } },
  ];
  const kept = messagesOf(path.slice(begin, end)).map((entry) => ({
    ...entry,
    message: asSent(entry.message, maxResultTokens),
  }));
  const later = messagesOf(path.slice(end), undone);
  return [...earlier, ...(summary === "" ? [] : standIn), ...kept, ...later];
}

/** Returns a message from before a compaction in the form in which it is sent since. */
function asSent(message: SessionMessage, maxResultTokens: number | undefined): SessionMessage {
  if (message.role === "toolResult" && maxResultTokens !== undefined) {
    return shortenResult(message as ToolResultMessage, maxResultTokens);
  }
  return withoutUsage(message);
}

/**
 * Removes the reported usage of an answer, because it is of a request that is no longer sent. It
 * would trigger another compaction at once, or hide that one is needed.
 */
function withoutUsage(message: SessionMessage): SessionMessage {
  return message.role === "assistant" ? ({ ...message, usage: {} } as SessionMessage) : message;
}

/** Returns the messages. Those between an undone compaction and its undo have no usage. */
function messagesOf(
  path: readonly AnyEntry[],
  undone: ReadonlySet<string> = new Set(),
): MessageEntry[] {
  const open = new Set<string>();
  return path.filter(isKnownEntry).flatMap((entry) => {
    if (entry.type === "compaction" && undone.has(entry.id)) open.add(entry.id);
    if (entry.type === "compaction_undo") open.delete(entry.compactionId);
    if (entry.type !== "message") return [];
    const { id, message } = entry;
    return [{ id, message: open.size > 0 ? withoutUsage(message) : message }];
  });
}
