/**
 * A compacted transcript: its stored state, and the messages that a request gets instead of the
 * whole transcript.
 */
import { messageText, type UserMessage } from "../../llm/message.ts";
import type { AgentMessage } from "../contract/agent-message.ts";
import { lastUserIndex, SUMMARY_LEAD_IN } from "./cut.ts";
import { shortenResult } from "./shorten.ts";

/**
 * The state of a compaction, JSON-safe. The first three fields can be derived from a session's
 * `compaction` entry; the others cannot.
 */
export interface CompactionState {
  /** Replaces the messages before `firstKeptIndex`. Empty when no model wrote a summary. */
  readonly summary: string;
  /** Index in the whole transcript of the first message that is still sent in full. */
  readonly firstKeptIndex: number;
  /**
   * Length of the transcript at the compaction. Usage reported before it is of a request that is no
   * longer sent.
   */
  readonly messageCount: number;
  /** Estimated tokens of a request right after the compaction. */
  readonly tokensAfter?: number;
  /**
   * Messages from here to `firstKeptIndex` were left out and are not in the summary. The next
   * summary includes them.
   */
  readonly droppedFrom?: number;
  /** Tool results before `messageCount` are shortened to this many tokens. */
  readonly maxResultTokens?: number;
  /**
   * Identifies the summarised messages, so that the summary is not used for another conversation.
   */
  readonly mark?: string;
  /** Time of the compaction, in milliseconds since the epoch. */
  readonly timestamp?: number;
}

/**
 * Returns the messages that replace the first `messageCount` ones: the last user message if it was
 * summarised, the summary, and the rest. They do not change until the next compaction. Requests
 * thus only grow at the end, and the server's prompt cache stays valid.
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

/**
 * Returns the replacement text: the summary, and a note about messages left out without a summary.
 */
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

/** Returns a cheap mark of the messages before `index`, made of the first and the last one. */
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
