/** What an agent and a prompt of it can be given. */
import { BowlineError } from "../errors.ts";
import type { Optional } from "../json-value.ts";
import type { ImageContent } from "../llm/message.ts";
import type { StreamFn } from "../llm/model.ts";
import type { Effects } from "./contract/effects.ts";
import type { AgentLoopConfig } from "./contract/hooks.ts";
import type { QueueMode } from "./queue.ts";
import type { InitialState } from "./state.ts";

/** Model calls of one run at most, where no budget has `maxTurns`. */
export const DEFAULT_MAX_TURNS = 50;

/**
 * What may also be assigned on the agent later; it takes effect with the next turn, and `streamFn`,
 * `effects`, `budget`, `hookTimeoutMs`, `clock` and `createId` with the next run.
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
   * Makes the model calls. Default: by the model's protocol, when the agent comes from the
   * package's main entry.
   */
  streamFn?: StreamFn | undefined;
  /** Records steps, or waits for answers elsewhere, in place of this process's memory. */
  effects?: Optional<Pick<Effects, "step" | "recorded" | "waitFor">> | undefined;
}

/** What the agent begins with may stand among the other options, or in `initialState`. */
export interface AgentOptions<TContext = unknown> extends AgentSettings, InitialState<TContext> {
  /** The same five fields in an object. Each may be given in one of the two places. */
  initialState?: InitialState<TContext> | undefined;
  /** Default `one-at-a-time`. */
  steeringMode?: QueueMode | undefined;
  /** Default `one-at-a-time`. */
  followUpMode?: QueueMode | undefined;
  /** Handed to every tool unchanged. */
  context?: TContext | undefined;
}

export interface PromptOptions<TSchema = unknown> {
  readonly images?: readonly ImageContent[] | undefined;
  /**
   * A schema of an object. The run's result then has a checked value of it as `output`: held to the
   * schema by the server where it can, given by a tool elsewhere, and sent back to the model twice
   * when it does not fit. Rejects with `invalid_argument` for what is no such schema.
   */
  readonly output?: TSchema | undefined;
}

/**
 * Separates what the agent begins with from its other options. Throws `invalid_argument` for what
 * is given both flat and in `initialState`.
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
