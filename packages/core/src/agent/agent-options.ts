/** The options of an agent and of a prompt. */
import { BowlineError } from "../errors.ts";
import type { Optional } from "../json-value.ts";
import type { FileContent, ImageContent } from "../llm/message.ts";
import type { StreamFn } from "../llm/model.ts";
import type { Effects } from "./contract/effects.ts";
import type { AgentLoopConfig } from "./contract/hooks.ts";
import type { QueueMode } from "./queue.ts";
import type { InitialState } from "./state.ts";

/** Maximum number of model calls of one run when no budget has `maxTurns`. */
export const DEFAULT_MAX_TURNS = 50;

/**
 * Settings that may also be assigned on the agent later. They take effect with the next turn;
 * `streamFn`, `effects`, `budget`, `hookTimeoutMs`, `clock` and `createId` with the next run.
 */
export interface AgentSettings extends Optional<
  Omit<
    AgentLoopConfig,
    | "model"
    | "reasoning"
    | "output"
    | "getSteeringMessages"
    | "hasSteeringMessages"
    | "getFollowUpMessages"
    | "returnMessages"
    | "toolContext"
  >
> {
  /**
   * Makes the model calls. Default of the `Agent` of the package's main entry: by the model's
   * protocol. Other entries have no default.
   */
  streamFn?: StreamFn | undefined;
  /** Replaces the in-memory effects, to record steps or to wait for answers from elsewhere. */
  effects?:
    | Optional<Pick<Effects, "step" | "recorded" | "begin" | "decide" | "child" | "waitFor">>
    | undefined;
}

/** Options of an agent. The fields of the initial state may be given here or in `initialState`. */
export interface AgentOptions<TContext = unknown> extends AgentSettings, InitialState<TContext> {
  /**
   * The fields of the initial state as an object. Give each field in only one of the two places.
   */
  initialState?: InitialState<TContext> | undefined;
  /** How many steering messages a turn takes. Default `one-at-a-time`. */
  steeringMode?: QueueMode | undefined;
  /** How many follow-up messages are taken at once. Default `one-at-a-time`. */
  followUpMode?: QueueMode | undefined;
  /** Passed to every tool unchanged. Default `undefined`. */
  context?: TContext | undefined;
}

export interface PromptOptions<TSchema = unknown> {
  /** Images to send with a text prompt. Default: none. */
  readonly images?: readonly ImageContent[] | undefined;
  /** Files to send with a text prompt, after the images. Default: none. */
  readonly files?: readonly FileContent[] | undefined;
  /**
   * A schema of an object. The run's result then has a validated value as `output`. The server
   * enforces the schema if it can; otherwise the model gives the value with a tool call. The model
   * gets up to two corrections when the value does not fit. The run rejects with `invalid_argument`
   * for an invalid schema.
   */
  readonly output?: TSchema | undefined;
}

/**
 * Separates the initial state from the other options. Throws `invalid_argument` for a field that is
 * given both as an option and in `initialState`.
 */
export function splitOptions<TContext>(options: AgentOptions<TContext>): {
  readonly state: InitialState;
  readonly others: Omit<AgentOptions<TContext>, "initialState" | keyof InitialState>;
} {
  const {
    initialState = {},
    systemPrompt,
    model,
    thinkingLevel,
    tools,
    messages,
    ...others
  } = options;
  const flat = { systemPrompt, model, thinkingLevel, tools, messages };
  const state: Record<string, unknown> = {};
  for (const name of Object.keys(flat) as (keyof InitialState)[]) {
    const nested: unknown = initialState[name];
    if (flat[name] !== undefined && nested !== undefined)
      throw new BowlineError(
        "invalid_argument",
        `"${name}" is given as an option and in initialState. Give it once.`,
      );
    state[name] = flat[name] ?? nested;
  }
  return { state, others };
}
