/** What an agent and a prompt of it can be given. */
import type { ImageContent } from "../llm/message.ts";
import type { StreamFn } from "../llm/model.ts";
import type { Effects } from "./contract/effects.ts";
import type { AgentLoopConfig } from "./contract/hooks.ts";
import type { QueueMode } from "./queue.ts";
import type { InitialState } from "./state.ts";

/**
 * What may also be assigned on the agent later; it takes effect with the next turn, and `streamFn`,
 * `effects`, `budget`, `hookTimeoutMs`, `clock` and `createId` with the next run.
 */
export interface AgentSettings extends Partial<
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
  streamFn?: StreamFn;
  /** Records steps, or waits for answers elsewhere, in place of this process's memory. */
  effects?: Partial<Pick<Effects, "step" | "recorded" | "waitFor">>;
}

export interface AgentOptions<TContext = unknown> extends AgentSettings {
  initialState?: InitialState<TContext>;
  /** Default `one-at-a-time`. */
  steeringMode?: QueueMode;
  /** Default `one-at-a-time`. */
  followUpMode?: QueueMode;
  /** Handed to every tool unchanged. */
  context?: TContext;
}

export interface PromptOptions<TSchema = unknown> {
  readonly images?: readonly ImageContent[];
  /**
   * A schema of an object. The run's result then has a checked value of it as `output`: held to the
   * schema by the server where it can, given by a tool elsewhere, and sent back to the model twice
   * when it does not fit. Rejects with `invalid_argument` for what is no such schema.
   */
  readonly output?: TSchema;
}
