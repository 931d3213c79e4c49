/**
 * The size of a conversation in tokens: the usage that the server reported, plus an estimate of
 * later messages.
 */
import {
  isCut,
  type AssistantContent,
  type FileContent,
  type ImageContent,
  type UserContent,
} from "../../llm/message.ts";
import type { AgentMessage } from "../contract/agent-message.ts";

/**
 * Tokens counted for an image: those of a large one. Smaller images cost less, but the size is not
 * known before the request.
 */
export const IMAGE_TOKENS = 1600;
/** Tokens of a message in addition to its content: its role and delimiters. */
const MESSAGE_TOKENS = 4;

export type TokenEstimate = (value: AgentMessage | string) => number;

/**
 * Estimates tokens without a tokenizer. Counts 0.25 tokens per ASCII character, 0.5 for other
 * alphabets, 1 for Chinese, Japanese, Korean and emoji, and {@link IMAGE_TOKENS} for an image. A
 * file counts by its size. The error is below 10 % for English prose and code. JSON with many hashes is underestimated by a
 * third, base64 by more than half. Runs in linear time.
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
 * Returns the tokens of a request of these messages. This is the last reported usage of one call
 * (input, output and cache) plus an estimate of the messages after it. Without a report, everything
 * is estimated, without the system prompt and the tools. Reads no further back than the last
 * report.
 */
export function contextTokens(
  messages: readonly AgentMessage[],
  estimate: TokenEstimate = estimateTokens,
): number {
  return tokensSince(messages, 0, estimate).tokens;
}

/**
 * Counts tokens from a message on. `reported` says whether `tokens` covers the whole request or
 * only these messages.
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

/** Returns a memoised estimate: each message is estimated once, because messages do not change. */
export function rememberEstimates(estimate: TokenEstimate): TokenEstimate {
  const known = new WeakMap<AgentMessage, number>();
  return (message) => {
    if (typeof message === "string") return estimate(message);
    const tokens = known.get(message) ?? estimate(message);
    known.set(message, tokens);
    return tokens;
  };
}

/** Returns the sum of the estimates. */
export function sumTokens(messages: readonly AgentMessage[], estimate: TokenEstimate): number {
  let tokens = 0;
  for (const message of messages) tokens += estimate(message);
  return tokens;
}

/**
 * Returns the reported tokens of the context up to and including this message. Zero counts as not
 * reported, because servers that do not count send zero.
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
  if (part.type === "image" || part.type === "file") return mediaTokens(part);
  if (part.type === "source") return 0; // never sent
  if (part.type !== "toolCall") return jsonTokens(part); // a part of a provider or an application
  return (
    textTokens(part.name) +
    (part.argumentsText ? textTokens(part.argumentsText) : jsonTokens(part.arguments))
  );
}

/**
 * Returns the tokens of an image or a file. Of a file only the size is known: text has 4 bytes a
 * token, PDFs, audio and video some hundred.
 */
export function mediaTokens({ type, mimeType, data = "" }: ImageContent | FileContent): number {
  if (type === "image") return IMAGE_TOKENS;
  return IMAGE_TOKENS + Math.ceil(data.length / (/^text|json$/.test(mimeType) ? 5 : 250));
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
