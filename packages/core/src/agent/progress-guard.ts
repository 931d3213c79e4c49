/**
 * Stops an agent that repeats itself: it first warns the model, then ends the run. It only reads
 * the end of the transcript.
 */
import { BowlineError } from "../errors.ts";
import { toolCallsOf, type AssistantMessage, type ToolResultMessage } from "../llm/message.ts";
import type { AgentMessage } from "./contract/agent-message.ts";

export interface ProgressGuardOptions {
  /**
   * Number of repeated rounds (same calls, same results) after which the model is warned. Default
   * 3.
   */
  readonly warnAfter?: number | undefined;
  /** Number of repeated rounds after which the run ends with `no_progress`. Default 5. */
  readonly stopAfter?: number | undefined;
  /**
   * Length of the longest pattern that counts as a repetition, in rounds. 2 finds two alternating
   * calls. Default 2.
   */
  readonly maxPeriod?: number | undefined;
  /** Timestamp for the warning to the model, in milliseconds. Default: `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/**
 * Creates a `transformContext` hook. When the last rounds of tool calls repeat with equal calls and
 * results, it adds a warning to that request. When they continue, it throws `no_progress`. A user
 * message resets the count. It only reads the last `stopAfter * maxPeriod` rounds.
 */
export function createProgressGuard(
  options: ProgressGuardOptions = {},
): (messages: AgentMessage[]) => AgentMessage[] {
  const { warnAfter = 3, stopAfter = 5, maxPeriod = 2, now = Date.now } = options;
  /** Memoised rounds, because a finished round does not change. */
  const known = new WeakMap<AssistantMessage, string>();
  return (messages) => {
    const rounds = lastRounds(messages, stopAfter * maxPeriod, known);
    let repeats = 0;
    for (let period = 1; period <= maxPeriod; period++)
      repeats = Math.max(repeats, repeatsOf(rounds, period));
    if (repeats >= stopAfter) {
      throw new BowlineError(
        "no_progress",
        `Stopped: the same tool calls gave the same results ${repeats} times.`,
      );
    }
    if (repeats < warnAfter) return messages;
    const content = `Note: the same tool calls were made ${repeats} times in a row with the same results. Do something else, or answer with what is known.`;
    return [...messages, { role: "user", content, timestamp: now() }];
  };
}

/**
 * Returns each round of tool calls as one text, newest first. At most `limit` rounds, and none
 * before the last user message.
 */
function lastRounds(
  messages: readonly AgentMessage[],
  limit: number,
  known: WeakMap<AssistantMessage, string>,
): string[] {
  const rounds: string[] = [];
  let results: ToolResultMessage[] = [];
  for (let index = messages.length - 1; index >= 0 && rounds.length < limit; index--) {
    const message = messages[index] as AgentMessage;
    if (message.role === "user") break;
    if (message.role === "toolResult") results.unshift(message);
    if (message.role !== "assistant") continue;
    if (toolCallsOf(message).length === 0) break;
    const round = known.get(message) ?? roundText(message, results);
    known.set(message, round);
    rounds.push(round);
    results = [];
  }
  return rounds;
}

/** Serialises the calls and results of a round, without ids and times. */
function roundText(message: AssistantMessage, results: readonly ToolResultMessage[]): string {
  const calls = toolCallsOf(message).map(({ name, argumentsText, ...call }) => [
    name,
    argumentsText ?? call.arguments,
  ]);
  return JSON.stringify([calls, results.map(({ content, isError }) => [content, isError])]);
}

/** Counts how often the newest `period` rounds occur in a row. */
function repeatsOf(rounds: readonly string[], period: number): number {
  const other = rounds.findIndex((round, index) => round !== rounds[index % period]);
  return Math.floor((other === -1 ? rounds.length : other) / period);
}
