/** The target of model calls. */
import type { Model, StreamFn } from "@bowline/core";

/** The model that answers for an agent, and how to reach it. */
export interface Backend {
  readonly model: Model;
  readonly apiKey?: string;
  /** The environment variable that holds the key. */
  readonly keyVariable?: string;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /** Default: chosen by the model's protocol. */
  readonly streamFn?: StreamFn;
  readonly isPractice: boolean;
  /** Tells people that another model than the agent's own answers, and why. */
  readonly notice?: {
    readonly code: "practice_model" | "fallback_model";
    readonly message: string;
  };
}
