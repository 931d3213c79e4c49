/** What a model call goes to. */
import type { Model, StreamFn } from "@bowline/core";

/** What answers for an agent. */
export interface Backend {
  readonly model: Model;
  readonly apiKey?: string;
  /** Of the environment: where the key is from. */
  readonly keyVariable?: string;
  /** Default: the global one. */
  readonly fetch?: typeof globalThis.fetch;
  /** Default: by the model's protocol. */
  readonly streamFn?: StreamFn;
  readonly isPractice: boolean;
  /** Said to people: that it is another model than the agent's own, and why. */
  readonly notice?: {
    readonly code: "practice_model" | "fallback_model";
    readonly message: string;
  };
}
