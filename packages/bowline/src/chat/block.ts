/**
 * The finished parts of a conversation, as data. A running conversation and a stored session give
 * the same blocks, and `view.ts` draws both.
 */
import type { CompactionOutcome, ErrorInfo, ToolOutcome, Usage } from "@bowline/core";

/** The moment at which a message was sent that was typed during a run. */
export type Moment = "steering" | "followUp";

export type Block =
  | {
      readonly type: "user";
      /** The words of the person. */
      readonly text: string;
      /** The number of images and files without a line in `added`. */
      readonly media: number;
      /** A line for each text that the program added, such as the content of a file. */
      readonly added?: readonly string[];
    }
  /** More of the answer that is being written. */
  | { readonly type: "text"; readonly delta: string }
  /** The end of an answer's text part. */
  | { readonly type: "text_end" }
  /** Thinking, folded. `words` is 0 if the vendor does not show it. */
  | { readonly type: "thought"; readonly words: number }
  | ToolBlock
  | {
      readonly type: "request";
      /** `vendor/model`. */
      readonly model: string;
      readonly usage: Usage;
      readonly ms: number;
      /** The sub-agent's tool that made the request. */
      readonly within?: string;
    }
  | {
      readonly type: "retry";
      readonly attempt: number;
      readonly delayMs: number;
      readonly error: ErrorInfo;
    }
  | {
      readonly type: "failover";
      readonly from: string;
      readonly to: string;
      readonly error: ErrorInfo;
    }
  | CompactionBlock
  /** A compaction was undone. The sizes of the context, in tokens. */
  | { readonly type: "compaction_undone"; readonly before?: number; readonly after?: number }
  | {
      readonly type: "asked";
      readonly toolName: string;
      readonly args: unknown;
      readonly reason: string;
      readonly parts: readonly string[];
      /** Rules that could be saved. */
      readonly rules: readonly { readonly rule: string; readonly also: string }[];
      readonly change?: FileChange;
    }
  | {
      readonly type: "answered";
      readonly toolName: string;
      readonly decision: "allow" | "deny" | "expired";
      readonly by?: string;
      readonly reason?: string;
    }
  /** A run that did not end by itself. */
  | {
      readonly type: "ended";
      readonly reason: "length" | "error" | "aborted" | "budget" | "interrupted";
      readonly error?: ErrorInfo;
    }
  | { readonly type: "model"; readonly model: string; readonly why?: string }
  | ShellBlock
  | { readonly type: "notice"; readonly level: NoticeLevel; readonly text: string };

export type NoticeLevel = "info" | "warning" | "error";

export interface ToolBlock {
  readonly type: "tool";
  readonly name: string;
  readonly args: unknown;
  readonly outcome: ToolOutcome;
  readonly isError: boolean;
  readonly ms: number;
  /** The result's text. */
  readonly text: string;
  readonly details?: unknown;
  /** The sub-agent's tool that made the call. */
  readonly within?: string;
}

export interface CompactionBlock {
  readonly type: "compaction";
  readonly before?: number;
  /** Unknown in a session of an earlier version. */
  readonly after?: number;
  readonly outcome: CompactionOutcome;
  readonly usage?: Usage;
  readonly error?: ErrorInfo;
}

/** A line of the shell that the user typed. */
export interface ShellBlock {
  readonly type: "shell";
  readonly command: string;
  readonly output: string;
  /** How it ended, such as "exit code 1". */
  readonly end: string;
  readonly isHidden: boolean;
}

/** A file before and after a change that a call would make. */
export interface FileChange {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}
