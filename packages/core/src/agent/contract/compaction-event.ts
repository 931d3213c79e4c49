/** The events of a compaction. */
import type { ErrorInfo } from "../../errors.ts";
import type { Usage } from "../../llm/usage.ts";
import type { AgentMessage } from "./agent-message.ts";

/**
 * Why a compaction ran: the token limit was passed, the server refused the request as too long, or
 * the program asked for it.
 */
export type CompactionReason = "limit" | "overflow" | "manual";

/**
 * The outcome of a compaction. `summarized`: a summary replaces the older messages. `dropped`: the
 * summary failed or no model was available, and a note replaces the older messages. `shortened`:
 * only tool results were shortened. `none`: nothing could be freed.
 */
export type CompactionOutcome = "summarized" | "dropped" | "shortened" | "none";

export type CompactionEvent =
  | {
      readonly type: "compaction_start";
      readonly reason: CompactionReason;
      readonly tokensBefore: number;
    }
  | {
      readonly type: "compaction_end";
      readonly reason: CompactionReason;
      readonly outcome: CompactionOutcome;
      readonly tokensBefore: number;
      readonly tokensAfter: number;
      /**
       * Tokens freed. 0 with `none`: the conversation stays over its limit, and the program may
       * want to stop it.
       */
      readonly freed: number;
      /** The text that replaces the messages before `firstKeptIndex`. */
      readonly summary: string;
      /**
       * The first message that is still sent in full: its index in the transcript, and the message.
       */
      readonly firstKeptIndex: number;
      readonly firstKept?: AgentMessage;
      /**
       * Tool results that are in the transcript at this point are shortened to this many tokens
       * when sent.
       */
      readonly maxResultTokens?: number;
      /**
       * Usage of the calls that wrote the summary, failed attempts included. No message carries
       * this usage.
       */
      readonly usage: Usage;
      /** Why there is no new summary. */
      readonly error?: ErrorInfo;
    };
