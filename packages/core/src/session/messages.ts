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
 * Returns what a model sees: the last compaction's summary as a user message, the messages that it
 * kept, and all later ones. Reads no further back than the first kept entry.
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
  return [...earlier, ...(summary === "" ? [] : standIn), ...kept, ...messagesOf(path.slice(end))];
}

/** Returns a message from before a compaction in the form in which it is sent since. */
function asSent(message: SessionMessage, maxResultTokens: number | undefined): SessionMessage {
  if (message.role === "toolResult" && maxResultTokens !== undefined) {
    return shortenResult(message as ToolResultMessage, maxResultTokens);
  }
  // The reported usage is of a request that is no longer sent, and would trigger another compaction
  // at once.
  return message.role === "assistant" ? ({ ...message, usage: {} } as SessionMessage) : message;
}

function messagesOf(path: readonly AnyEntry[]): MessageEntry[] {
  const messages = path.filter(isKnownEntry).filter((entry) => entry.type === "message");
  return messages.map(({ id, message }) => ({ id, message }));
}
