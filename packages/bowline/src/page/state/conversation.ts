/** The session that is shown: what its transcript holds, and in its place, of runs that are followed, what they say. */
import type { RunEvent } from "../../gateway/client.ts";
import type { HistoryEntry, RunInfo } from "../../gateway/protocol.ts";
import { runsOfHistory } from "./history-runs.ts";
import { foldRun, isOver, newRun, withImages, type RunView } from "./run-view.ts";
import type { SentImage } from "./sent-image.ts";

export interface Conversation {
  readonly sessionKey: string;
  readonly status: "loading" | "ready" | "failed";
  readonly entries: readonly HistoryEntry[];
  /** Whether there are earlier messages. */
  readonly hasMore: boolean;
  /** What the entries come to. */
  readonly past: readonly RunView[];
  /** Runs whose events came, in the order in which they began. */
  readonly live: ReadonlyMap<string, RunView>;
  /** Runs that wait, of whoever. */
  readonly queued: readonly string[];
}

export function newConversation(sessionKey: string): Conversation {
  const status = "loading";
  return { sessionKey, status, entries: [], hasMore: false, past: [], live: new Map(), queued: [] };
}

export interface HistoryPage {
  readonly messages: readonly HistoryEntry[];
  readonly hasMore: boolean;
}

/** The last messages, anew. Earlier ones that were there already stay, if these join on to them. */
export function withHistory(conversation: Conversation, { messages, hasMore }: HistoryPage): Conversation {
  const { entries } = conversation;
  const join = entries.findIndex(({ id }) => id === messages[0]?.id);
  const all = join > 0 ? [...entries.slice(0, join), ...messages] : messages;
  return { ...withEntries(conversation, all), hasMore: join > 0 ? conversation.hasMore : hasMore };
}

export function withEarlier(conversation: Conversation, { messages, hasMore }: HistoryPage): Conversation {
  return { ...withEntries(conversation, [...messages, ...conversation.entries]), hasMore };
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
  const { runId } = frame.data;
  const before = conversation.live.get(runId);
  const after = foldRun(before ?? newRun(runId), frame, calls, images);
  const isIn = after.blocks.length > 0 || after.notices.length > 0 || isOver(after);
  const queued =
    isIn && conversation.queued.includes(runId) ? without(conversation.queued, runId) : conversation.queued;
  return { ...conversation, live: new Map(conversation.live).set(runId, after), queued };
}

/** What the server says of the session's runs. */
export function withRuns(conversation: Conversation, runs: readonly RunInfo[]): Conversation {
  const queued = runs.flatMap(({ runId, state }) => (state === "queued" ? [runId] : []));
  return { ...conversation, queued };
}

/** A run that nobody knows any more. */
export function withLost(conversation: Conversation, runId: string): Conversation {
  const run = conversation.live.get(runId);
  if (run === undefined || isOver(run)) return conversation;
  return { ...conversation, live: new Map(conversation.live).set(runId, { ...run, state: "interrupted" }) };
}

/** In order, each once. What is only in the transcript is taken from there: images, and of earlier turns, what they cost. */
export function runsOf({ past, live }: Conversation): RunView[] {
  const known = new Set(past.map(({ runId }) => runId));
  const shown = past.map((run) => {
    const followed = live.get(run.runId);
    if (followed === undefined) return run;
    const own = new Set(followed.turns.map(({ turn }) => turn));
    const earlier = run.turns.filter(({ turn }) => !own.has(turn));
    const blocks = withImages(followed.blocks, run.blocks);
    if (earlier.length === 0 && blocks === followed.blocks) return followed;
    return { ...followed, blocks, turns: [...earlier, ...followed.turns] };
  });
  return [...shown, ...[...live.values()].filter(({ runId }) => !known.has(runId))];
}

/** The run that goes on. */
export function currentRun({ live }: Conversation): RunView | undefined {
  return [...live.values()].find(({ state }) => state === "running");
}

function without(ids: readonly string[], id: string): string[] {
  return ids.filter((other) => other !== id);
}
