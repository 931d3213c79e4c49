/**
 * Keeps requests within the model's context window. A summary, written by a model, replaces older
 * messages in requests; the transcript keeps all messages. Between compactions, requests only grow
 * at the end, so that the server's prompt cache stays valid.
 */
import { BowlineError } from "../../errors.ts";
import type { StreamFn } from "../../llm/model.ts";
import type { AgentMessage } from "../contract/agent-message.ts";
import type { CompactionReason } from "../contract/compaction-event.ts";
import type { RunPort } from "../contract/run-port.ts";
import type { CompactionOptions } from "./compaction-options.ts";
import { Compactor } from "./compactor.ts";
import { wrapStreamFn } from "./overflow.ts";
import type { CompactionState } from "./view.ts";

export interface CompactOptions {
  /** Aborts the summary's call. */
  readonly signal?: AbortSignal | undefined;
  /** Default `manual`. */
  readonly reason?: CompactionReason | undefined;
}

/** The compaction of one transcript. */
export interface Compaction {
  /**
   * The hook for the agent or the loop. Resolves with the messages of the request, compacted if
   * they exceed the limit. The run then emits `compaction_start` and `compaction_end`. Rejects with
   * `aborted` when the signal fires. A failed summary does not reject.
   */
  readonly transformContext: (
    messages: AgentMessage[],
    signal?: AbortSignal,
    run?: RunPort,
  ) => Promise<AgentMessage[]>;
  /**
   * Wraps the stream function of the same agent. A request that the server refuses as too long
   * before any output is compacted and retried once, after a `request_retry` event. The wrapper
   * also reads the model, its key and its window from requests. With these, a summary can be
   * requested as a continuation of the conversation, which the server mostly has in its cache.
   * Calls of other agents pass through unchanged.
   */
  wrap(streamFn: StreamFn): StreamFn;
  /** Compacts now if that frees anything. Resolves with true if it did. */
  compact(messages: AgentMessage[], options?: CompactOptions): Promise<boolean>;
  /** The state to store for another process, JSON-safe. Undefined before the first compaction. */
  readonly state: CompactionState | undefined;
  /**
   * Takes over a state: an earlier one, to undo the compactions since, or undefined, to send all
   * messages again. Not for use during a run or a compaction.
   */
  restore(state: CompactionState | undefined): void;
  /**
   * The size of a request above which it is compacted, in tokens. Infinity while the context window
   * is unknown.
   */
  readonly limit: number;
}

/**
 * Creates the compaction of one transcript. Throws `invalid_argument` for limits that leave no
 * room.
 */
export function createCompaction(options: CompactionOptions = {}): Compaction {
  const { contextWindow, reserveTokens = 0, minFreedShare = 0.1 } = options;
  if (typeof contextWindow === "number" && !(contextWindow > reserveTokens))
    throw new BowlineError(
      "invalid_argument",
      `contextWindow (${contextWindow}) must be larger than reserveTokens (${reserveTokens}).`,
    );
  if (!(minFreedShare > 0 && minFreedShare < 1))
    throw new BowlineError(
      "invalid_argument",
      `minFreedShare must be between 0 and 1, not ${minFreedShare}.`,
    );
  const compactor = new Compactor(options);
  return {
    transformContext: (messages, signal, run) => compactor.transform(messages, signal, run),
    wrap: (streamFn) => wrapStreamFn(streamFn, compactor),
    compact: (messages, { signal, reason = "manual" } = {}) =>
      compactor.compact(messages, reason, signal),
    get state() {
      return compactor.state;
    },
    restore: (state) => compactor.restore(state),
    get limit() {
      return compactor.limit;
    },
  };
}
