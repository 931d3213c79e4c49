/** The result of a run, and the state of an interrupted one. */
import type { BowlineError } from "../../errors.ts";
import type { AssistantMessage } from "../../llm/message.ts";
import type { Usage } from "../../llm/usage.ts";
import type { AgentMessage } from "../contract/agent-message.ts";
import type { RunEndReason } from "../contract/event.ts";
import type { ToolOutcome } from "../contract/tool-result.ts";

/** The result of a run. */
export interface RunResult<TOutput = unknown> {
  readonly runId: string;
  readonly reason: RunEndReason;
  /**
   * The last assistant message with content, or with text after a run that was cut short. If there
   * is none, the empty message of the failed call.
   */
  readonly message?: AssistantMessage;
  /**
   * The text of {@link message}, after that of the paused answers which it continues, or an empty
   * string.
   */
  readonly text: string;
  /**
   * The validated value of a run with the option `output`. Absent when the run ended before giving
   * it.
   */
  readonly output?: TOutput;
  /** The messages of this run. */
  readonly messages: AgentMessage[];
  /** The billed usage of its model calls, including retries, summaries and sub-agents. */
  readonly usage: Usage;
  /** Number of model calls, including one that a hook failed before it was sent. */
  readonly turns: number;
  /** The tool calls and their outcomes, in order. */
  readonly tools: readonly {
    readonly toolCallId: string;
    readonly toolName: string;
    readonly outcome: ToolOutcome;
  }[];
  readonly error?: BowlineError;
}

/** A run that its process did not finish. Its messages are in the transcript. */
export interface InterruptedRun {
  readonly runId: string;
  /** Number of the model's answers of this run in the transcript. */
  readonly turns: number;
  /** Usage of the run so far, including retries, summaries and sub-agents. */
  readonly usage?: Usage;
  /** Estimated tokens of those calls that servers did not report. Default 0. */
  readonly guess?: number;
  /** Sequence number of its next event. Default 0. */
  readonly seq?: number;
  /**
   * The end of its time budget, in milliseconds since the epoch, as in its `agent_start`. Default:
   * the budget's `maxTimeMs` counts from the resume.
   */
  readonly deadline?: number;
}
