/**
 * The list of known options. Unknown options, which plain JavaScript can pass, are refused instead
 * of ignored.
 */
import { checkNames } from "../check-names.ts";
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
