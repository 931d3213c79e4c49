/**
 * How much of a context window a conversation takes: what the server reported of it, and an
 * estimate of what came since.
 */
import { isCut, type AssistantContent, type UserContent } from "../../llm/message.ts";
import type { AgentMessage } from "../contract/agent-message.ts";

/**
 * Tokens that an image is counted as: a large one. Small ones cost less, and no server says before
 * it is asked.
 */
export const IMAGE_TOKENS = 1600;
/** What a message costs beside its content: its role and the marks around it. */
const MESSAGE_TOKENS = 4;

export type TokenEstimate = (value: AgentMessage | string) => number;

/**
 * An estimate without a tokenizer: a quarter of a token for an ASCII character, half for other
 * alphabets, one for Chinese, Japanese, Korean and emoji; {@link IMAGE_TOKENS} for an image. Within
 * a tenth for English prose and code; a third too low for JSON full of hashes, more than half for
 * base64. Linear, and pure.
 */
export function estimateTokens(value: AgentMessage | string): number {
  if (typeof value === "string") return textTokens(value);
  const { content } = value as { readonly content?: unknown };
  if (typeof content === "string") return MESSAGE_TOKENS + textTokens(content);
  if (!Array.isArray(content)) return MESSAGE_TOKENS + jsonTokens(value);
  let tokens = MESSAGE_TOKENS;
  for (const part of content as (UserContent | AssistantContent)[]) tokens += partTokens(part);
  return tokens;
}

/**
 * The tokens that a request of these messages holds now: the last reported usage (input, output and
 * cache of that one call, never a sum over calls) and an estimate of the messages after it. Without
 * any report it is all estimate, and does not know of the system prompt and the tools. Looks no
 * further back than the report.
 */
export function contextTokens(
  messages: readonly AgentMessage[],
  estimate: TokenEstimate = estimateTokens,
): number {
  return tokensSince(messages, 0, estimate).tokens;
}

/**
 * The same from a message on. `reported` tells whether the figure is of the whole request, or of
 * these messages only.
 */
export function tokensSince(
  messages: readonly AgentMessage[],
  from: number,
  estimate: TokenEstimate,
): { readonly tokens: number; readonly reported: boolean } {
  let tokens = 0;
  for (let index = messages.length - 1; index >= from; index--) {
    const message = messages[index] as AgentMessage;
    const reported = reportedTokens(message, estimate);
    if (reported !== undefined) return { tokens: tokens + reported, reported: true };
    tokens += estimate(message);
  }
  return { tokens, reported: false };
}

/** Messages do not change: each is estimated once. */
export function rememberEstimates(estimate: TokenEstimate): TokenEstimate {
  const known = new WeakMap<AgentMessage, number>();
  return (message) => {
    if (typeof message === "string") return estimate(message);
    const tokens = known.get(message) ?? estimate(message);
    known.set(message, tokens);
    return tokens;
  };
}

/** What all of them are estimated at. */
export function sumTokens(messages: readonly AgentMessage[], estimate: TokenEstimate): number {
  let tokens = 0;
  for (const message of messages) tokens += estimate(message);
  return tokens;
}

/**
 * The context up to and with this message, as its server counted it. Zero is what servers say that
 * do not count.
 */
// Q097
function reportedTokens(message: AgentMessage, estimate: TokenEstimate): number | undefined {
  if (message.role !== "assistant" || isCut(message)) return undefined;
  const { input, output, cacheRead = 0, cacheWrite = 0, totalTokens } = message.usage;
  const prompt = (input ?? 0) + cacheRead + cacheWrite;
  return (prompt > 0 ? prompt + (output ?? estimate(message)) : totalTokens) || undefined;
}

function partTokens(part: UserContent | AssistantContent): number {
  if (part.type === "text") return textTokens(part.text);
  if (part.type === "thinking") return textTokens(part.thinking || (part.thinkingSignature ?? ""));
  if (part.type === "image") return IMAGE_TOKENS;
  if (part.type !== "toolCall") return jsonTokens(part); // a provider's own, or an application's
  return (
    textTokens(part.name) +
    (part.argumentsText ? textTokens(part.argumentsText) : jsonTokens(part.arguments))
  );
}

function jsonTokens(value: unknown): number {
  return textTokens(JSON.stringify(value) ?? "");
}

function textTokens(text: string): number {
  let quarters = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    quarters += unit < 0x80 ? 1 : unit < 0x2e80 ? 2 : 4;
  }
  return Math.ceil(quarters / 4);
}
