/** The transcript that a path of entries holds: all of it, or what a model is shown. */
import { isKnownEntry, type AnyEntry, type Entry, type SessionMessage } from "./entry.ts";
import { pathTo, type ReadEntries } from "./path.ts";

/** A message of the transcript, and the entry that it is in; a compaction's summary is in none. */
export interface MessageEntry {
  readonly id: string | undefined;
  readonly message: SessionMessage;
}

/** Every message on the path, whatever was compacted. */
export async function allMessages(read: ReadEntries, at?: string): Promise<SessionMessage[]> {
  return messagesOf(await pathTo(read, at)).map(({ message }) => message);
}

/**
 * What a model is shown: the last compaction's summary as a user's message, what it kept, and what came after. Reads no further
 * back than the first entry that was kept.
 */
export async function contextEntries(read: ReadEntries, at?: string): Promise<MessageEntry[]> {
  let compaction: (Entry & { type: "compaction" }) | undefined;
  const path = await pathTo(read, at, (entry) => {
    if (compaction === undefined && isKnownEntry(entry) && entry.type === "compaction") compaction = entry;
    return compaction !== undefined && (compaction.firstKeptId === null || compaction.firstKeptId === entry.id);
  });
  if (compaction === undefined) return messagesOf(path);
  const { summary, timestamp, firstKeptId, id } = compaction;
  // A first kept entry that is not on the path keeps nothing.
  const begin = path.findIndex((entry) => entry.id === firstKeptId);
  const shown = path.slice(begin < 0 ? path.findIndex((entry) => entry.id === id) : begin);
  return [{ id: undefined, message: { role: "user", content: summary, timestamp } }, ...messagesOf(shown)];
}

function messagesOf(path: readonly AnyEntry[]): MessageEntry[] {
  const messages = path.filter(isKnownEntry).filter((entry) => entry.type === "message");
  return messages.map(({ id, message }) => ({ id, message }));
}
