/** The steps of a run, and what comes out of them. Everything here is JSON-safe. */
import type { AssistantMessage } from "../../llm/message.ts";
import type { Usage } from "../../llm/usage.ts";
import type { AgentEventBody } from "./event.ts";
import type { SettledCall } from "./tool-result.ts";

/** Describes a step to the engine that records it. */
export type StepAbout = { readonly kind: "model"; readonly turn: number } | ToolStep;

/** Describes the step of a tool call. */
export interface ToolStep {
  readonly kind: "tool";
  readonly toolCallId: string;
  readonly toolName: string;
  /** The validated arguments that the tool receives. */
  readonly args: unknown;
  readonly replay: "never" | "safe";
  readonly idempotencyKey: string;
}

/**
 * What a step changes in the run besides its own outcome. A step that is replayed from its record
 * does not run, so the loop takes these changes from the result. An engine records the result whole
 * and returns it unchanged.
 */
export interface StepResult {
  /** Usage that the step added with `RunPort.addUsage`, such as that of a compaction. */
  readonly usage?: Usage;
  /** What nested runs of the step drew on the run's budget. */
  readonly nested?: NestedUse;
  /**
   * Events that others record: `compaction_end`. A step that runs emits them itself. For a step that
   * is replayed, the loop emits them.
   */
  readonly kept?: readonly KeptEvent[];
  /** Entries that hooks set in `RunPort.memory`. */
  readonly memory?: Readonly<Record<string, unknown>>;
}

/** An event in the record of a step. */
export type KeptEvent = AgentEventBody & {
  /** The event's `firstKept` is the transcript's message at `firstKeptIndex`, and is left out. */
  readonly isOfTranscript?: true;
};

/** What nested runs drew on a budget. */
export interface NestedUse {
  /** Number of model calls. */
  readonly turns: number;
  readonly usage: Usage;
  /** Estimated tokens that servers did not report. */
  readonly guess?: number;
}

/** The result of a model's step. */
export interface ModelStepResult extends StepResult {
  readonly message: AssistantMessage;
  /** Estimated tokens. Present if the server reported none and a budget limits tokens. */
  readonly guess?: number;
  /** Present if a budget refused the call before it was sent. */
  readonly isUnsent?: true;
  /** How the answer's calls run, by the settings of this turn. Absent for an answer without calls. */
  readonly calls?: CallPlan;
}

/** How the calls of an answer run. */
export interface CallPlan {
  readonly isSequential: boolean;
  /** Maximum number of calls that run concurrently. Absent: no limit. */
  readonly width?: number;
}

/** The result of a tool's step. */
export interface ToolStepResult extends SettledCall, StepResult {}
