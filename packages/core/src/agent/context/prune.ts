/**
 * Makes a request smaller without a model: pure functions of the transcript, for
 * `transformContext`. Calls keep their results, the last user message stays, and what is left out
 * says so. To change a request's beginning makes the server's prompt cache miss, so old content
 * goes in batches: nothing is touched until `keep + batch` of a kind are there.
 */
import { BowlineError } from "../../errors.ts";
import type { AssistantContent, UserContent } from "../../llm/message.ts";
import type { AgentMessage } from "../contract/agent-message.ts";
import { cutPoints, lastPointUpTo, lastUserIndex } from "./cut.ts";
import { imageNote, shortenResult } from "./shorten.ts";

export interface PruneOptions {
  /** The newest that always stay whole. */
  readonly keep?: number | undefined;
  /** How many go at a time, the oldest first. Default: as many as `keep`, at least 1. */
  readonly batch?: number | undefined;
}

/**
 * The last `turns` turns (a turn is one model call with its tools and the messages before it), what
 * came after them, and the last user message. Throws `invalid_argument` for less than one.
 */
export function keepLastTurns(messages: readonly AgentMessage[], turns: number): AgentMessage[] {
  if (!(turns >= 1))
    throw new BowlineError("invalid_argument", `At least one turn is kept, not ${turns}.`);
  let left = turns;
  let start = messages.findLastIndex(({ role }) => role === "assistant" && --left < 1);
  while (start > 0 && !/^(?:assistant|toolResult)$/.test(messages[start - 1]?.role ?? "")) start--;
  const cut = lastPointUpTo(cutPoints(messages), start, 0);
  const user = lastUserIndex(messages);
  return [...(user < cut ? messages.slice(user, user + 1) : []), ...messages.slice(cut)];
}

/**
 * Old tool results cut down to `maxTokens` each: their beginning and end, or with the default 0
 * only a note of how much there was. `keep` counts results; default 10.
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
 * Old images replaced by a note, in user messages and tool results. `keep` counts images; default
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
      return { type: "text", text: imageNote(part.mimeType) };
    });
    return { ...message, content } as AgentMessage;
  });
}

/**
 * Thinking from before the last user message left out, with the signatures that refer to it. What
 * the model thought since is needed by servers that sign it, and stays.
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

/** A part without a provider's data: an id of reasoning that is gone is refused. */
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
