/**
 * Makes requests smaller without a model: pure functions of the transcript, for `transformContext`.
 * Calls keep their results, the last user message stays, and notes replace removed content. A
 * change near a request's beginning invalidates the server's prompt cache. So old content is
 * removed in batches, when `keep + batch` items exist.
 */
import { BowlineError } from "../../errors.ts";
import type { AssistantContent, UserContent } from "../../llm/message.ts";
import type { AgentMessage } from "../contract/agent-message.ts";
import { cutPoints, lastPointUpTo, lastUserIndex } from "./cut.ts";
import { mediaNote, shortenResult } from "./shorten.ts";

export interface PruneOptions {
  /**
   * Number of newest items that stay unchanged. Default: 10 results with `shortenToolResults`, 2
   * images with `dropImages`.
   */
  readonly keep?: number | undefined;
  /** Number of items removed at a time, oldest first. Default: `keep`, at least 1. */
  readonly batch?: number | undefined;
}

/**
 * Keeps the last `turns` turns, everything after them, and the last user message. A turn is one
 * model call with its tools and the messages before it. Throws `invalid_argument` for `turns` below
 * 1.
 */
export function keepLastTurns(messages: readonly AgentMessage[], turns: number): AgentMessage[] {
  if (!(turns >= 1))
    throw new BowlineError("invalid_argument", `turns must be at least 1, not ${turns}.`);
  let left = turns;
  let start = messages.findLastIndex(({ role }) => role === "assistant" && --left < 1);
  while (start > 0 && !/^(?:assistant|toolResult)$/.test(messages[start - 1]?.role ?? "")) start--;
  const cut = lastPointUpTo(cutPoints(messages), start, 0);
  const user = lastUserIndex(messages);
  return [...(user < cut ? messages.slice(user, user + 1) : []), ...messages.slice(cut)];
}

/**
 * Shortens old tool results to `maxTokens` each: their beginning and end. With the default 0, only
 * a note with the original length remains. `keep` counts results; default 10.
 */
export function shortenToolResults(
  messages: readonly AgentMessage[],
  { keep = 10, batch, maxTokens = 0 }: PruneOptions & { readonly maxTokens?: number } = {},
): AgentMessage[] {
  const total = messages.filter(({ role }) => role === "toolResult").length;
  let left = countOld(total, keep, batch);
  return messages.map((message) =>
    message.role === "toolResult" && left-- > 0 ? shortenResult(message, maxTokens) : message,
  );
}

/**
 * Replaces old images in user messages and tool results with a note. `keep` counts images; default
 * 2.
 */
export function dropImages(
  messages: readonly AgentMessage[],
  { keep = 2, batch }: PruneOptions = {},
): AgentMessage[] {
  let left = countOld(
    messages.reduce((sum, message) => sum + countImages(message), 0),
    keep,
    batch,
  );
  return messages.map((message) => {
    if (left <= 0 || countImages(message) === 0) return message;
    const content = (message.content as UserContent[]).map((part): UserContent => {
      if (part.type !== "image" || left-- <= 0) return part;
      return { type: "text", text: mediaNote(part) };
    });
    return { ...message, content };
  });
}

/**
 * Removes thinking from before the last user message, with the signatures that refer to it. Later
 * thinking stays, because servers that sign it require it.
 */
export function dropThinking(messages: readonly AgentMessage[]): AgentMessage[] {
  const user = lastUserIndex(messages);
  return messages.map((message, index) => {
    if (index > user || message.role !== "assistant") return message;
    if (!message.content.some(({ type }) => type === "thinking")) return message;
    return {
      ...message,
      content: message.content.filter(({ type }) => type !== "thinking").map(unsigned),
    };
  });
}

/** Removes provider data from a part, because servers refuse references to removed reasoning. */
// Q193, Q196
function unsigned(part: AssistantContent): AssistantContent {
  if (part.type === "text") return { type: "text", text: part.text };
  if (part.type !== "toolCall") return part;
  const { thoughtSignature: _, ...call } = part;
  return call;
}

function countOld(total: number, keep: number, batch: number = keep): number {
  const step = Math.max(1, batch);
  return Math.floor(Math.max(0, total - keep) / step) * step;
}

function countImages(message: AgentMessage): number {
  if (message.role !== "user" && message.role !== "toolResult") return 0;
  return Array.isArray(message.content)
    ? message.content.filter(({ type }) => type === "image").length
    : 0;
}
