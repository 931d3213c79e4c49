/** The options of a compaction. */
import type { Model, StreamFn, StreamOptions } from "../../llm/model.ts";
import type { SharedBudget } from "../contract/budget.ts";
import type { CompactionEvent } from "../contract/compaction-event.ts";
import type { AgentLoopConfig } from "../contract/hooks.ts";
import type { TokenEstimate } from "./tokens.ts";
import type { CompactionState } from "./view.ts";

export interface CompactionOptions {
  /**
   * The model that writes summaries, and the stream function to call it with. Default: those of the
   * conversation, which `wrap` reads from its requests. Without either, a note replaces the oldest
   * turns.
   */
  model?: Model | undefined;
  /** The stream function for the summary. Default: see `model`. */
  streamFn?: StreamFn | undefined;
  /**
   * Options for the summary's call, such as key, headers and time limits. They override the
   * conversation's own options, which are used only for the same provider. Default: those of the
   * conversation.
   */
  streamOptions?: Omit<StreamOptions, "signal"> | undefined;
  /**
   * Returns the API key for a summary. A falsy result falls back to the options' `apiKey`. Default:
   * not called.
   */
  getApiKey?: AgentLoopConfig["getApiKey"] | undefined;
  /**
   * Context window of the conversation's model, in tokens. Default: `contextWindow` of the model of
   * the last request, or of `model`. If unknown, nothing is compacted until a server refuses a
   * request as too long. The refused size is then the limit.
   */
  contextWindow?: number | (() => number | undefined) | undefined;
  /**
   * Tokens of the window to keep free for the answer and for errors of the estimate. Default:
   * 16,384 or a quarter of the window, whichever is less. The default is at least the
   * conversation's `maxTokens`, up to half of the window.
   */
  reserveTokens?: number | undefined;
  /**
   * Tokens of the newest messages to keep unchanged, in whole turns. Default 20,000, at most half
   * of the available room.
   */
  keepRecentTokens?: number | undefined;
  /**
   * Maximum length of a summary, in tokens. Default 4,096, at most a quarter of the available room.
   */
  maxSummaryTokens?: number | undefined;
  /** The share of the context that a compaction must free, between 0 and 1. Default 0.1. */
  minFreedShare?: number | undefined;
  /** The instruction for the model that writes the summary. Default: a built-in instruction. */
  prompt?: string | undefined;
  /**
   * Converts messages for the model. Pass the agent's own `convertToLlm` if it has one. Default:
   * keeps the roles `user`, `assistant` and `toolResult`.
   */
  convertToLlm?: AgentLoopConfig["convertToLlm"] | undefined;
  /** Estimates tokens. Default: {@link estimateTokens}. Pass a tokenizer for exact counts. */
  estimateTokens?: TokenEstimate | undefined;
  /** Charged with the usage of summaries, in addition to the run's own budget. Default: none. */
  budget?: SharedBudget | undefined;
  /**
   * The stored state of an earlier compaction of the same transcript. Default: none. The
   * compaction then starts without a summary.
   */
  state?: CompactionState | undefined;
  /**
   * Called and awaited for each compaction event. A throw ends the run with `hook_failed`; a thrown
   * `BowlineError` keeps its code. Default: none.
   */
  onCompaction?: ((event: CompactionEvent) => unknown) | undefined;
}
