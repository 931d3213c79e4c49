/** The results of tool calls. */
import type { UserContent } from "../../llm/message.ts";

/** The result of a tool. A call fails when the tool throws or returns `isError: true`. */
export interface AgentToolResult<TDetails = unknown> {
  /** Text, images and files for the model. Default: none. */
  content?: UserContent[];
  /** Data for the program. Stored in the transcript, never sent to the model. */
  details?: TDetails;
  isError?: boolean;
  /**
   * Ends the run without another model call if every result of the turn sets it. Not stored in the
   * transcript.
   */
  terminate?: boolean;
}

/** A validated result, whose `content` is always set. */
export interface CheckedToolResult<TDetails = unknown> extends AgentToolResult<TDetails> {
  content: UserContent[];
}

/** Creates a result of text only. */
export function textResult(text: string): CheckedToolResult<never> {
  return { content: [{ type: "text", text }] };
}

/**
 * The outcome of a tool call. `left_running`: the tool ignored its signal beyond the abort grace
 * period. `unknown`: the process died while the tool ran, and the call must not be repeated.
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

/** Returns the outcome of a call that fails with this text. */
export function failedCall(why: string, outcome: ToolOutcome = "not_started"): SettledCall {
  return { result: textResult(why), isError: true, outcome, durationMs: 0 };
}
