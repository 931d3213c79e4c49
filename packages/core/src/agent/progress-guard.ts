/**
 * Stops an agent that goes in circles: first the model is told, then the run ends. A pure reading
 * of the transcript's tail.
 */
import { BowlineError } from "../errors.ts";
import { toolCallsOf, type AssistantMessage, type ToolResultMessage } from "../llm/message.ts";
import type { AgentMessage } from "./contract/agent-message.ts";

export interface ProgressGuardOptions {
  /** From this many rounds of the same calls with the same results the model is told. Default 3. */
  readonly warnAfter?: number | undefined;
  /** From this many on the run ends with `no_progress`. Default 5. */
  readonly stopAfter?: number | undefined;
  /**
   * The longest pattern that counts as a circle, in rounds: 2 finds two calls that alternate.
   * Default 2.
   */
  readonly maxPeriod?: number | undefined;
  /** For the note to the model. Default: the system's clock. */
  readonly now?: (() => number) | undefined;
}

/**
 * A `transformContext`: when the last rounds of tool calls repeat themselves, calls and results
 * alike, it adds a note for that one request; when they go on it throws `no_progress`. A message of
 * the user begins anew. It looks at a bounded tail.
 */
export function createProgressGuard(
  options: ProgressGuardOptions = {},
): (messages: AgentMessage[]) => AgentMessage[] {
  const { warnAfter = 3, stopAfter = 5, maxPeriod = 2, now = Date.now } = options;
  /** Rounds do not change: each is read once. */
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
 * Each round of tool calls as one text, the newest first; at most `limit`, and none before the
 * user's last message.
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

/** What was called and what came of it, without ids and times. */
function roundText(message: AssistantMessage, results: readonly ToolResultMessage[]): string {
  const calls = toolCallsOf(message).map(({ name, argumentsText, ...call }) => [
    name,
    argumentsText ?? call.arguments,
  ]);
  return JSON.stringify([calls, results.map(({ content, isError }) => [content, isError])]);
}

/** How often the newest `period` rounds stand one after the other. */
function repeatsOf(rounds: readonly string[], period: number): number {
  const pattern = rounds.slice(0, period);
  const most = Math.floor(rounds.length / period);
  let repeats = 0;
  while (
    repeats < most &&
    pattern.every((round, offset) => rounds[repeats * period + offset] === round)
  )
    repeats++;
  return repeats;
}
