/** What a run came to, and what of it is left when its process did not finish it. */
import type { BowlineError } from "../../errors.ts";
import type { AssistantMessage } from "../../llm/message.ts";
import type { Usage } from "../../llm/usage.ts";
import type { AgentMessage } from "../contract/agent-message.ts";
import type { RunEndReason } from "../contract/event.ts";
import type { ToolOutcome } from "../contract/tool-result.ts";

/** What a run came to. */
export interface RunResult<TOutput = unknown> {
  readonly runId: string;
  readonly reason: RunEndReason;
  /**
   * The last assistant message with content; after a run that was cut short the last with text.
   * Where there is none it is what the failed call left, with no content.
   */
  readonly message?: AssistantMessage;
  /** The text of {@link message}; empty when it has none. */
  readonly text: string;
  /** The value of a run that was asked for one, checked. Absent when the run ended before it. */
  readonly output?: TOutput;
  /** Messages new in this run. */
  readonly messages: AgentMessage[];
  /** What its model calls were billed: retries, summaries and sub-agents too. */
  readonly usage: Usage;
  /** Model calls begun, one that a hook ended before it was sent included. */
  readonly turns: number;
  /** Each tool call and what became of it, in order. */
  readonly tools: readonly {
    readonly toolCallId: string;
    readonly toolName: string;
    readonly outcome: ToolOutcome;
  }[];
  readonly error?: BowlineError;
}

/** A run that its process did not finish: the transcript holds what it came to. */
export interface InterruptedRun {
  readonly runId: string;
  /** Answers of the model that the transcript has of this run. */
  readonly turns: number;
  /** What the run used so far, retries, summaries and sub-agents too. */
  readonly usage?: Usage;
  /** The number of its next event. Default 0. */
  readonly seq?: number;
}
