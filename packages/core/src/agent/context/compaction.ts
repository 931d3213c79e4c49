/**
 * Keeps requests inside the model's context window: older messages are replaced by a summary that a
 * model writes, and the transcript keeps all of them. Between two compactions requests grow at
 * their end only.
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
  readonly signal?: AbortSignal | undefined;
  /** Default `manual`. */
  readonly reason?: CompactionReason | undefined;
}

/** For one transcript. */
export interface Compaction {
  /**
   * For the agent or the loop, whose events then have `compaction_start` and `compaction_end`.
   * Gives the messages of the request, compacted first when they are over the limit. Rejects with
   * `aborted` when the signal fires; a summary that fails does not stop it.
   */
  readonly transformContext: (
    messages: AgentMessage[],
    signal?: AbortSignal,
    run?: RunPort,
  ) => Promise<AgentMessage[]>;
  /**
   * The stream function for the same agent: a request that the server refuses as too long before
   * any output is compacted and sent once more, after a `request_retry` event. It also learns the
   * model, its key and its window, and lets a summary be asked for as the continuation of the
   * conversation, most of which the server has in its cache. Other agents' calls pass through as
   * they are.
   */
  wrap(streamFn: StreamFn): StreamFn;
  /** Compacts now, as far as it frees something. True when it did. */
  compact(messages: AgentMessage[], options?: CompactOptions): Promise<boolean>;
  /**
   * What to keep, to go on with in another process; undefined before the first compaction.
   * JSON-safe.
   */
  readonly state: CompactionState | undefined;
}

/** Throws `invalid_argument` for limits that leave no room. */
export function createCompaction(options: CompactionOptions = {}): Compaction {
  const { contextWindow, reserveTokens = 0, minFreedShare = 0.1 } = options;
  if (typeof contextWindow === "number" && !(contextWindow > reserveTokens))
    throw new BowlineError(
      "invalid_argument",
      `A window of ${contextWindow} tokens has no room beside ${reserveTokens}.`,
    );
  if (!(minFreedShare > 0 && minFreedShare < 1))
    throw new BowlineError(
      "invalid_argument",
      `minFreedShare is between 0 and 1, not ${minFreedShare}.`,
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
  };
}
