/** The shown conversation: the transcript, with followed runs replaced by their live state. */
import type { RunEvent } from "../../gateway/client/client.ts";
import type { HistoryMessage } from "../../gateway/protocol/history-message.ts";
import type { HistoryEntry, WaitingMessage } from "../../gateway/protocol/protocol.ts";
import { runsOfHistory } from "./history-runs.ts";
import { foldRun, isOver, newRun, type RunView } from "./run-view.ts";
import type { SentImage } from "./sent-image.ts";

export interface Conversation {
  readonly sessionKey: string;
  readonly status: "loading" | "ready" | "failed";
  readonly entries: readonly HistoryEntry[];
  /** Whether there are earlier messages. */
  readonly hasMore: boolean;
  /** The runs of the entries. */
  readonly past: readonly RunView[];
  /** Runs with live events, in the order of their start. */
  readonly live: ReadonlyMap<string, RunView>;
  /** Accepted messages that are not in a run yet, from any client. */
  readonly waiting: readonly WaitingMessage[];
}

export function newConversation(sessionKey: string): Conversation {
  const status = "loading";
  return {
    sessionKey,
    status,
    entries: [],
    hasMore: false,
    past: [],
    live: new Map(),
    waiting: [],
  };
}

export interface HistoryPage {
  readonly messages: readonly HistoryEntry[];
  readonly hasMore: boolean;
  readonly waiting: readonly WaitingMessage[];
}

/** Replaces the last messages. Keeps earlier ones if the new ones connect to them. */
export function withHistory(
  conversation: Conversation,
  { messages, hasMore, waiting }: HistoryPage,
): Conversation {
  const { entries } = conversation;
  const whole = withoutCuts(messages, entries);
  const join = entries.findIndex(({ id }) => id === messages[0]?.id);
  const all = join > 0 ? [...entries.slice(0, join), ...whole] : whole;
  return {
    ...withEntries(conversation, all),
    hasMore: join > 0 ? conversation.hasMore : hasMore,
    waiting,
  };
}

/**
 * Adds the messages before the entry `before`. Ignores them if that entry is no longer the first.
 */
export function withEarlier(
  conversation: Conversation,
  { messages, hasMore }: HistoryPage,
  before: string,
): Conversation {
  if (conversation.entries[0]?.id !== before) return conversation;
  return { ...withEntries(conversation, [...messages, ...conversation.entries]), hasMore };
}

/** Replaces a message that the history had cut. */
export function withMessage(
  conversation: Conversation,
  id: string,
  message: HistoryMessage,
): Conversation {
  const index = conversation.entries.findIndex((entry) => entry.id === id);
  const entry = conversation.entries[index];
  if (entry === undefined) return conversation;
  const { truncated: _, ...rest } = entry;
  return withEntries(conversation, conversation.entries.with(index, { ...rest, message }));
}

/** Keeps messages that were already loaded whole. */
function withoutCuts(
  messages: readonly HistoryEntry[],
  known: readonly HistoryEntry[],
): readonly HistoryEntry[] {
  const whole = new Map(known.flatMap((one) => (one.truncated ? [] : [[one.id, one] as const])));
  return messages.map((one) => (one.truncated && whole.get(one.id)) ?? one);
}

function withEntries(conversation: Conversation, entries: readonly HistoryEntry[]): Conversation {
  return { ...conversation, status: "ready", entries, past: runsOfHistory(entries) };
}

export function withEvent(
  conversation: Conversation,
  frame: RunEvent,
  calls: ReadonlyMap<string, string>,
  images: readonly SentImage[] = [],
): Conversation {
  // A snapshot of a queued run is empty.
  if (frame.event === "chat.snapshot" && frame.data.state === "queued") return conversation;
  const waiting = withoutArrived(conversation.waiting, frame);
  if (frame.event === "chat.queued") {
    const { runId: _, sessionKey: _of, seq: _at, ...message } = frame.data;
    return { ...conversation, waiting: [...waiting, message] };
  }
  const { runId } = frame.data;
  const after = foldRun(conversation.live.get(runId) ?? newRun(runId), frame, calls, images);
  return { ...conversation, live: new Map(conversation.live).set(runId, after), waiting };
}

/** Removes messages that an event shows to be in the run, or to be cancelled. */
function withoutArrived(
  waiting: readonly WaitingMessage[],
  { event, data }: RunEvent,
): readonly WaitingMessage[] {
  if (waiting.length === 0) return waiting;
  // The first event of a run shows that the server has accepted its message.
  const gone = new Set([data.runId]);
  if ((event === "chat.user" || event === "chat.queued") && data.messageId !== undefined)
    gone.add(data.messageId);
  if (event === "chat.snapshot")
    for (const block of data.blocks)
      if (block.type === "user" && block.messageId !== undefined) gone.add(block.messageId);
  const left = waiting.filter(({ messageId }) => !gone.has(messageId));
  return left.length === waiting.length ? waiting : left;
}

/** Marks a run that the server no longer knows as interrupted. */
export function withLost(conversation: Conversation, runId: string): Conversation {
  const run = conversation.live.get(runId);
  if (run === undefined || isOver(run)) return conversation;
  return {
    ...conversation,
    live: new Map(conversation.live).set(runId, { ...run, state: "interrupted" }),
  };
}

/**
 * Returns all runs in order, each once. For a run joined late, earlier turns come from the
 * transcript.
 */
export function runsOf({ past, live }: Conversation): RunView[] {
  const known = new Set(past.map(({ runId }) => runId));
  const shown = past.map((run) => {
    const followed = live.get(run.runId);
    if (followed === undefined) return run;
    const own = new Set(followed.turns.map(({ turn }) => turn));
    const earlier = run.turns.filter(({ turn }) => !own.has(turn));
    return earlier.length === 0
      ? followed
      : { ...followed, turns: [...earlier, ...followed.turns] };
  });
  return [...shown, ...[...live.values()].filter(({ runId }) => !known.has(runId))];
}

/** Returns the active run. */
export function currentRun({ live }: Conversation): RunView | undefined {
  return [...live.values()].find(({ state }) => state === "running");
}
