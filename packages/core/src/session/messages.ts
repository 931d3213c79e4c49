/** The transcript that a path of entries holds: all of it, or what a model is shown. */
import { shortenResult } from "../agent/context/shorten.ts";
import type { ToolResultMessage } from "../llm/message.ts";
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
 * What a model is shown: the last compaction's summary as a user's message, what it kept, and what
 * came after. Reads no further back than the first entry that was kept.
 */
export async function contextEntries(read: ReadEntries, at?: string): Promise<MessageEntry[]> {
  let compaction: CompactionEntry | undefined;
  const wanted = new Set<string>();
  const path = await pathTo(read, at, (entry) => {
    if (compaction === undefined && isKnownEntry(entry) && entry.type === "compaction") {
      compaction = entry;
      for (const id of [...(entry.earlierIds ?? []), entry.firstKeptId ?? entry.id]) wanted.add(id);
    }
    wanted.delete(entry.id);
    return compaction !== undefined && wanted.size === 0;
  });
  return compaction === undefined ? messagesOf(path) : compacted(path, compaction);
}

type CompactionEntry = Entry & { readonly type: "compaction" };

function compacted(path: readonly AnyEntry[], compaction: CompactionEntry): MessageEntry[] {
  const { id, summary, timestamp, firstKeptId, earlierIds = [], maxResultTokens } = compaction;
  const end = path.indexOf(compaction);
  // A first kept entry that is not on the path keeps nothing.
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
  return [...earlier, ...(summary === "" ? [] : standIn), ...kept, ...messagesOf(path.slice(end))];
}

/** A message from before a compaction, as it is sent since then. */
function asSent(message: SessionMessage, maxResultTokens: number | undefined): SessionMessage {
  if (message.role === "toolResult" && maxResultTokens !== undefined) {
    return shortenResult(message as ToolResultMessage, maxResultTokens);
  }
  // What was reported is the size of a request that is no longer sent: who counts by it would
  // compact again at once.
  return message.role === "assistant" ? ({ ...message, usage: {} } as SessionMessage) : message;
}

function messagesOf(path: readonly AnyEntry[]): MessageEntry[] {
  const messages = path.filter(isKnownEntry).filter((entry) => entry.type === "message");
  return messages.map(({ id, message }) => ({ id, message }));
}
