/**
 * A compacted transcript: what is kept of it as data, and the messages that a request gets instead
 * of the whole.
 */
import { messageText, type UserMessage } from "../../llm/message.ts";
import type { AgentMessage } from "../contract/agent-message.ts";
import { lastUserIndex, SUMMARY_LEAD_IN } from "./cut.ts";
import { shortenResult } from "./shorten.ts";

/**
 * JSON-safe. The first three can be told from a session's `compaction` entry; the others make up
 * for what it does not say.
 */
export interface CompactionState {
  /** Stands in for the messages before `firstKeptIndex`; empty when no model wrote any. */
  readonly summary: string;
  /** The first message that is still sent whole, counted in the whole transcript. */
  readonly firstKeptIndex: number;
  /**
   * How long the transcript was at the compaction: usage reported before is of a request that is no
   * longer sent.
   */
  readonly messageCount: number;
  /** What a request was estimated at, right after. */
  readonly tokensAfter?: number;
  /**
   * From here to `firstKeptIndex` messages were left out and are not in the summary; the next one
   * takes them in.
   */
  readonly droppedFrom?: number;
  /** Tool results older than `messageCount` are cut down to this. */
  readonly maxResultTokens?: number;
  /** Tells what the summary is of, so that it is not taken for that of another conversation. */
  readonly mark?: string;
  /** When the compaction was, in milliseconds since the epoch. */
  readonly timestamp?: number;
}

/**
 * What stands for the first `messageCount` messages: the last user message if it is among the older
 * ones, the summary, and the rest. It does not change until the next compaction, so that requests
 * grow at their end only and a server's prompt cache holds.
 */
export function compactedView(
  messages: readonly AgentMessage[],
  state: CompactionState,
): AgentMessage[] {
  const { firstKeptIndex: first, messageCount, maxResultTokens } = state;
  const before = messages.slice(0, messageCount);
  const user = lastUserIndex(before);
  const kept = before.slice(first).map((message) => {
    if (maxResultTokens === undefined || message.role !== "toolResult") return message;
    return shortenResult(message, maxResultTokens);
  });
  if (first === 0) return kept;
  return [...(user < first ? before.slice(user, user + 1) : []), summaryMessage(state), ...kept];
}

/** The text that stands in: the summary, and how much is left out without one. */
export function standInText({
  summary,
  firstKeptIndex,
  droppedFrom = firstKeptIndex,
}: CompactionState): string {
  const left = firstKeptIndex - droppedFrom;
  const note =
    left > 0
      ? `(${left} messages that came ${summary === "" ? "" : "after it and "}before this were left out.)`
      : "";
  return [summary, note].filter((text) => text !== "").join("\n\n");
}

function summaryMessage(state: CompactionState): UserMessage {
  const text = `${SUMMARY_LEAD_IN}\n\n${standInText(state)}`;
  return { role: "user", content: text, timestamp: state.timestamp ?? 0 };
}

/** Tells the messages before `index` from others, cheaply: by the first and the last of them. */
export function markOf(messages: readonly AgentMessage[], index: number): string {
  return index === 0 ? "" : [messages[0], messages[index - 1]].map(signOf).join(", ");
}

function signOf(message: AgentMessage | undefined): string {
  const { role, timestamp, content } = { ...message } as {
    role?: string;
    timestamp?: number;
    content?: unknown;
  };
  const isText = typeof content === "string" || Array.isArray(content);
  return `${role} ${timestamp} ${isText ? messageText({ content }).length : ""}`;
}
