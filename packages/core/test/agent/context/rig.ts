/**
 * Helpers for the tests of context management: transcripts of turns, a check of requests on two
 * wires, and a model that summarises.
 */
import assert from "node:assert/strict";
import * as fc from "fast-check";
import type { AgentMessage } from "../../../src/agent/index.ts";
import { estimateTokens } from "../../../src/agent/context/tokens.ts";
import { BowlineError } from "../../../src/errors.ts";
import { toolCallsOf, type Context, type Message } from "../../../src/llm/message.ts";
import type { Model, StreamFn } from "../../../src/llm/model.ts";
import type { Usage } from "../../../src/llm/usage.ts";
import { anthropicMessages } from "../../../src/providers/anthropic-messages/index.ts";
import { openaiChat } from "../../../src/providers/openai-chat/index.ts";
import { getModel } from "../../../src/providers/vendors.ts";
import {
  checkChatRequest,
  checkMessagesRequest,
  createScriptedModel,
  scriptedToolCall,
  type ScriptedAnswer,
  type ScriptedModel,
} from "../../../src/testing/index.ts";
import { asRead } from "../../support.ts";
import { transcripts } from "../../providers/transcripts.ts";

const wires = [
  { protocol: openaiChat, model: getModel("openai", "m"), check: checkChatRequest },
  { protocol: anthropicMessages, model: getModel("anthropic", "m"), check: checkMessagesRequest },
] as const;

/** Throws unless the strictest server of each wire accepts these messages. */
export function assertAccepted(messages: readonly AgentMessage[]): void {
  for (const { protocol, model, check } of wires) {
    const context: Context = { messages: [...messages] as Message[] };
    const seeing: Model = { ...model, input: ["text", "image"] };
    assert.deepEqual(check(asRead(protocol.encode(seeing, context, {}).body)), []);
  }
}

export const user = (content: string, timestamp = 1): Message => ({
  role: "user",
  content,
  timestamp,
});

/** A turn with one call and its result. `size` is the length of the result in characters. */
export function turn(number: number, size = 400): Message[] {
  const id = `call_${number}`;
  const call = { type: "toolCall", id, name: "read", arguments: { number } } as const;
  const origin = { api: "openai-chat", provider: "openai", model: "m" };
  return [
    {
      role: "assistant",
      content: [call],
      ...origin,
      usage: {},
      stopReason: "toolUse",
      timestamp: number,
    },
    result(id, `${number}: `.padEnd(size, "word "), number),
  ];
}

function result(toolCallId: string, text: string, timestamp: number): Message {
  return {
    role: "toolResult",
    toolCallId,
    toolName: "read",
    content: [{ type: "text", text }],
    isError: false,
    timestamp,
  };
}

/** A user's message and `count` turns. */
export const task = (count: number, size?: number): Message[] => [
  user("Read all of it."),
  ...Array.from({ length: count }, (_, index) => turn(index + 1, size)).flat(),
];

/**
 * A random transcript followed by some turns of a run, so that the last user message may be far
 * back.
 */
export const longTranscripts: fc.Arbitrary<Message[]> = fc
  .tuple(
    transcripts(wires[1].model),
    transcripts(wires[0].model),
    fc.integer({ min: 0, max: 6 }),
    fc.integer({ min: 0, max: 900 }),
  )
  .map(([first, second, turns, size]) => [...first, ...second, ...task(turns, size).slice(1)]);

export const sumOf = (messages: readonly AgentMessage[]): number =>
  messages.reduce((sum, message) => sum + estimateTokens(message), 0);

/** The call and result pairs that a cut at `index` would separate, found by brute force. */
export function partedBy(messages: readonly AgentMessage[], index: number): string[] {
  const parted: string[] = [];
  const used = new Set<string>();
  for (const [at, message] of messages.entries()) {
    if (message.role !== "toolResult") continue;
    const owner = messages
      .slice(0, at)
      .findLastIndex((one) => one.role === "assistant" && calls(one, message.toolCallId) > 0);
    const before = messages[owner];
    if (before?.role !== "assistant") continue;
    // Each call has one result.
    const slot = Array.from(
      { length: calls(before, message.toolCallId) },
      (_, nth) => `${owner} ${message.toolCallId} ${nth}`,
    );
    const free = slot.find((one) => !used.has(one));
    if (free === undefined) continue;
    used.add(free);
    if (owner < index && at >= index) parted.push(free);
  }
  return parted;
}

function calls(message: Message, id: string): number {
  return message.role === "assistant"
    ? toolCallsOf(message).filter((call) => call.id === id).length
    : 0;
}

/** Whether this request asks for a summary, as text or as a continuation. */
export function asksForSummary({ messages }: Context): boolean {
  const last = messages.at(-1);
  return (
    last?.role === "user" &&
    typeof last.content === "string" &&
    last.content.includes("Write a summary")
  );
}

export interface Worker extends ScriptedModel {
  /**
   * Tokens of all requests and of the largest answered one; the number of refused requests and of
   * summaries.
   */
  readonly input: { total: number; largest: number; refused: number; summaries: number };
}

export interface WorkerOptions {
  /** Longer requests are refused as too long. */
  readonly window?: number;
  readonly reportsUsage?: boolean;
  readonly summarize?: (context: Context, nth: number) => ScriptedAnswer | Promise<ScriptedAnswer>;
}

/**
 * A model that calls the tool `read` for `turns` turns and counts tokens as the estimate does. Its
 * model object does not state the window.
 */
export function worker(turns: number, options: WorkerOptions = {}): Worker {
  const {
    window = Infinity,
    reportsUsage = true,
    summarize = () => "Goal: read all. Done: some.",
  } = options;
  const input = { total: 0, largest: 0, refused: 0, summaries: 0 };
  let made = 0;
  const said = (text: string, usage: Usage): ScriptedAnswer => ({
    content: [{ type: "text", text }],
    usage,
  });
  const step = async (context: Context): Promise<ScriptedAnswer> => {
    const tokens = sumOf(context.messages) + estimateTokens(context.systemPrompt ?? "") + 10;
    const usage = reportsUsage ? { input: tokens, output: 12 } : {};
    if (tokens > window) {
      input.refused++;
      return { error: new BowlineError("context_overflow", `${tokens} tokens are too many.`) };
    }
    input.total += tokens;
    input.largest = Math.max(input.largest, tokens);
    if (asksForSummary(context)) {
      const answer = await summarize(context, ++input.summaries);
      return typeof answer === "string" ? said(answer, usage) : answer;
    }
    if (++made > turns) return said("All read.", usage);
    return { content: [scriptedToolCall("read", { number: made }, `call_${made}`)], usage };
  };
  const steps = Array.from({ length: turns * 3 + 10 }, () => step);
  return { ...createScriptedModel(steps, { deltaLength: 1000 }), input };
}

/** A stream function that answers each request with `answer`. */
export const answering = (answer: (nth: number) => ScriptedAnswer): StreamFn => {
  let nth = 0;
  return (model, context, options) =>
    createScriptedModel([answer(++nth)], { deltaLength: 1000 }).streamFn(model, context, options);
};
