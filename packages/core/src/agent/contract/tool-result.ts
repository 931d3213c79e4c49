/** What comes of a tool call. */
import type { UserContent } from "../../llm/message.ts";

/** What a tool gives back. A throw is a failure; so is `isError: true`. */
export interface AgentToolResult<TDetails = unknown> {
  /** For the model: text and images. Absent means none. */
  content?: UserContent[];
  /** For the program, kept in the transcript, never sent to the model. */
  details?: TDetails;
  isError?: boolean;
  /**
   * Skip the follow-up model call, if every result of the batch says so. Runtime only, never in the
   * transcript.
   */
  terminate?: boolean;
}

/** A result that has passed its check: what it has for the model is there. */
export interface CheckedToolResult<TDetails = unknown> extends AgentToolResult<TDetails> {
  content: UserContent[];
}

/** A result that is only text. */
export function textResult(text: string): CheckedToolResult<never> {
  return { content: [{ type: "text", text }] };
}

/**
 * What became of a tool call: `left_running` when it ignored its signal beyond the grace; `unknown`
 * when the process died while it ran, and it must not be run again.
 */
export type ToolOutcome =
  | "finished"
  | "failed"
  | "stopped"
  | "left_running"
  | "not_started"
  | "unknown";

export interface SettledCall {
  readonly result: CheckedToolResult;
  readonly isError: boolean;
  readonly outcome: ToolOutcome;
  readonly durationMs: number;
}

/** What becomes of a call that fails with this text. */
export function failedCall(why: string, outcome: ToolOutcome = "not_started"): SettledCall {
  return { result: textResult(why), isError: true, outcome, durationMs: 0 };
}
