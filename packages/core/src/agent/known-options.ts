/**
 * The list of known options. Unknown options, which plain JavaScript can pass, are refused instead
 * of ignored.
 */
import { BowlineError } from "../errors.ts";
import type { AgentOptions, AgentSettings } from "./agent-options.ts";
import type { AgentLoopConfig } from "./contract/hooks.ts";

type Names<T> = Readonly<Record<Exclude<keyof T, "streamFn" | "effects">, true>>;

const settings: Names<AgentSettings> = {
  abortGraceMs: true,
  afterToolCall: true,
  apiKey: true,
  beforeToolCall: true,
  budget: true,
  cacheRetention: true,
  clock: true,
  convertToLlm: true,
  createId: true,
  extraBody: true,
  fetch: true,
  getApiKey: true,
  headers: true,
  hookTimeoutMs: true,
  maxAnswerLength: true,
  maxEventLength: true,
  maxParallelTools: true,
  maxRetries: true,
  maxRetryDelayMs: true,
  maxRetryTimeMs: true,
  maxTokens: true,
  metadata: true,
  onPayload: true,
  onResponse: true,
  onWarning: true,
  parentRunId: true,
  parentToolCallId: true,
  parentToolName: true,
  random: true,
  retryAfterOutput: true,
  sessionId: true,
  shouldStopAfterTurn: true,
  skipToolsOnSteering: true,
  temperature: true,
  thinkingBudgets: true,
  timeouts: true,
  toolChoice: true,
  toolExecution: true,
  toolTimeoutMs: true,
  transformContext: true,
};

const ofAgent: Readonly<Record<Exclude<keyof AgentOptions, keyof typeof settings>, true>> = {
  context: true,
  effects: true,
  followUpMode: true,
  initialState: true,
  messages: true,
  model: true,
  steeringMode: true,
  streamFn: true,
  systemPrompt: true,
  thinkingLevel: true,
  tools: true,
};

const ofLoop: Readonly<Record<Exclude<keyof AgentLoopConfig, keyof typeof settings>, true>> = {
  getFollowUpMessages: true,
  getSteeringMessages: true,
  hasSteeringMessages: true,
  model: true,
  output: true,
  reasoning: true,
  returnMessages: true,
  toolContext: true,
};

/** Throws `invalid_argument` for an option that an agent does not know. */
export function checkAgentOptions(options: object): void {
  checkNames(options, Object.keys({ ...settings, ...ofAgent }));
}

/** Throws `invalid_argument` for an option that the loop does not know. */
export function checkLoopConfig(config: object): void {
  checkNames(config, Object.keys({ ...settings, ...ofLoop }));
}

/**
 * Throws `invalid_argument` for a name in `given` that is not in `known`. The message suggests the
 * most similar known name. Names with an undefined value are ignored. `kind` is the noun for a name
 * in the message. Default "option".
 */
export function checkNames(given: object, known: readonly string[], kind = "option"): void {
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || known.includes(name)) continue;
    const [nearest] = known.toSorted((a, b) => likeness(name, b) - likeness(name, a));
    throw new BowlineError(
      "invalid_argument",
      `Unknown ${kind} "${name}". Did you mean "${nearest}"?`,
    );
  }
}

/**
 * Returns the similarity of two names, from 0 to 1, by the adjacent pairs of letters that they
 * share.
 */
function likeness(name: string, known: string): number {
  const [one = [], other = []] = [name, known].map((text) =>
    Array.from(text.toLowerCase(), (letter, at) => letter + text.charAt(at + 1).toLowerCase()),
  );
  return (2 * one.filter((pair) => other.includes(pair)).length) / (one.length + other.length);
}
