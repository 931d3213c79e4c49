/** What a compaction is told. */
import type { Model, StreamFn, StreamOptions } from "../../llm/model.ts";
import type { SharedBudget } from "../contract/budget.ts";
import type { CompactionEvent } from "../contract/compaction-event.ts";
import type { AgentLoopConfig } from "../contract/hooks.ts";
import type { TokenEstimate } from "./tokens.ts";
import type { CompactionState } from "./view.ts";

export interface CompactionOptions {
  /**
   * The model that writes summaries, and the stream function that asks it. Default: those of the
   * conversation, which `wrap` learns. Without any the oldest turns are left out with a note
   * instead.
   */
  model?: Model | undefined;
  streamFn?: StreamFn | undefined;
  /**
   * For the summary's call, over the conversation's own if the provider is the same: key, headers,
   * time limits.
   */
  streamOptions?: Omit<StreamOptions, "signal"> | undefined;
  /** Asked before a summary; a falsy answer falls back to the options' `apiKey`. */
  getApiKey?: AgentLoopConfig["getApiKey"] | undefined;
  /**
   * The window of the conversation's model, in tokens. Default: `contextWindow` of the model that
   * was asked last, or of `model`. Unknown: nothing is done until a server refuses a request as too
   * long; what it refused is the limit from then on.
   */
  contextWindow?: number | (() => number | undefined) | undefined;
  /**
   * Tokens of the window that stay free: for the answer and for what estimates miss. Default
   * 16,384, at most a quarter of the window, and at least the conversation's `maxTokens`, up to
   * half of it.
   */
  reserveTokens?: number | undefined;
  /**
   * Tokens of the newest messages that stay as they are, at most half of what there is room for;
   * whole turns. Default 20,000.
   */
  keepRecentTokens?: number | undefined;
  /** The longest summary, in tokens. Default 4,096, at most a quarter of what there is room for. */
  maxSummaryTokens?: number | undefined;
  /** The share of the context that a compaction must free to be worth it. Default 0.1. */
  minFreedShare?: number | undefined;
  /** What the model is told to write, in place of the usual instruction. */
  prompt?: string | undefined;
  /**
   * The agent's own, if it has one: what a model sees of the messages. Default: the three roles.
   */
  convertToLlm?: AgentLoopConfig["convertToLlm"] | undefined;
  /** Default: {@link estimateTokens}. Bring a tokenizer to be exact. */
  estimateTokens?: TokenEstimate | undefined;
  /** Charged with what summaries use, beside the run's own. */
  budget?: SharedBudget | undefined;
  /** Goes on from what a compaction of the same transcript kept. */
  state?: CompactionState | undefined;
  /**
   * Told of each compaction, awaited. A throw ends the run with `hook_failed`, or as the error of
   * ours that was thrown.
   */
  onCompaction?: ((event: CompactionEvent) => unknown) | undefined;
}
