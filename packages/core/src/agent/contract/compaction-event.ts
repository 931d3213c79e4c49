/** What a compaction says. */
import type { ErrorInfo } from "../../errors.ts";
import type { Usage } from "../../llm/usage.ts";
import type { AgentMessage } from "./agent-message.ts";

/**
 * Why: the limit was passed, the server refused the request as too long, or the program said so.
 */
export type CompactionReason = "limit" | "overflow" | "manual";

/**
 * What became of it. `summarized`; `dropped`: the summary failed, or nobody was there to write one,
 * and the older messages are left out with a note; `shortened`: only tool results were cut down;
 * `none`: nothing could be freed.
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
       * 0 with `none`: the conversation stays over its limit, and a program may want to stop it.
       */
      readonly freed: number;
      /** The text that stands for what is before `firstKeptIndex`. */
      readonly summary: string;
      /** The first message that is still sent whole: its place in the transcript, and itself. */
      readonly firstKeptIndex: number;
      readonly firstKept?: AgentMessage;
      /** Tool results that are in the transcript by now are sent cut down to this. */
      readonly maxResultTokens?: number;
      /** Of the calls that wrote the summary, failed tries included; no message carries it. */
      readonly usage: Usage;
      /** Why there is no new summary. */
      readonly error?: ErrorInfo;
    };
