/** The names and the data between gateways and runs. */
import type { ErrorInfo, RunEndReason, Usage } from "@bowline/core";
import type { SessionMessage } from "@bowline/core/session";
import type { StoredAnswer } from "@bowline/postgres";

/** The default name of the virtual object whose keys are the sessions. */
export const DEFAULT_SERVICE = "bowline";

/** The state key of the run that is going on. */
export const RUNNING = "running";
/** The state key of the tools that a person has allowed for the session. */
export const APPROVED = "approved";
const QUESTION = "ask:";

/** The state key of an open question. */
export function questionKey(name: string): string {
  return `${QUESTION}${name}`;
}

/** Returns the name of the question with this state key. Undefined for another key. */
export function questionName(key: string): string | undefined {
  return key.startsWith(QUESTION) ? key.slice(QUESTION.length) : undefined;
}

/** Begins a run with a message. */
export interface RunInput {
  readonly messageId: string;
  readonly message: SessionMessage;
  /** The name of the agent, for `createAgent`. */
  readonly agent?: string;
  /** The id of the run. Default: a random one. */
  readonly runId?: string;
  /** Data for `createAgent`. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Begins a run if messages wait in the inbox. */
export interface WakeInput {
  readonly agent?: string;
}

export interface AbortInput {
  /** Only this run. Default: whichever runs. */
  readonly runId?: string;
}

/** An answer as the run gets it, as the database has it. */
export type AnswerInput = StoredAnswer;

export interface AnswerCall {
  readonly approvalId: string;
  readonly answer: AnswerInput;
}

/** Ends a run that cannot go on. */
export interface RecoverInput {
  /** Why, for `run_end`. */
  readonly reason: string;
}

export interface RecoverOutcome {
  /** The run that was ended. Absent: it had ended, or had not begun. */
  readonly runId?: string;
}

/** In the state of the session, under {@link RUNNING}. */
export interface RunningRun {
  readonly runId: string;
  readonly invocationId: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** In the state of the session, by {@link questionKey}. */
export interface OpenQuestion {
  readonly awakeableId: string;
  readonly runId: string;
  /** Milliseconds since the epoch. Absent: no limit. */
  readonly until?: number;
}

/** The state of a session for a gateway. */
export interface SessionRuns {
  readonly running?: RunningRun;
  /** Approvals that wait for an answer. The session's log has what they ask. */
  readonly approvals: readonly {
    readonly approvalId: string;
    readonly runId: string;
    readonly until?: number;
  }[];
}

/** What a run's invocation returns. */
export type RunOutcome =
  | {
      readonly state: "ended";
      readonly runId: string;
      readonly reason: RunEndReason;
      readonly text: string;
      readonly output?: unknown;
      readonly usage: Usage;
      readonly turns: number;
      readonly error?: ErrorInfo;
    }
  /** An earlier run has the message. */
  | { readonly state: "taken"; readonly runId: string }
  /** The message was cancelled before the run began. */
  | { readonly state: "cancelled"; readonly runId: string }
  /** No message was waiting. */
  | { readonly state: "idle" };
