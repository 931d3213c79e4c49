/** Everything that was seen of the cluster from outside. The checks read nothing else. */
import type { AnyEntry } from "@bowline/core/session";
import type { RunStream } from "./clients/run-stream.ts";
import type { Ledger } from "./outside/ledger.ts";

export interface Evidence {
  readonly sessions: readonly SessionEvidence[];
  readonly ledger: Ledger;
  /** What clients sent. */
  readonly messages: readonly SentMessage[];
  readonly aborts: readonly SentAbort[];
  /** Acknowledged answers to approvals. */
  readonly answers: readonly AnsweredApproval[];
  /** What each client received of each run. */
  readonly streams: readonly RunStream[];
  /** What clients were refused, or waited for too long. */
  readonly complaints: readonly Complaint[];
  /** Who wrote to the sessions, in order. Empty if the database was not watched. */
  readonly audit: readonly AuditRow[];
  /** The live events on the bus, as far as they were heard. */
  readonly bus: readonly BusEvent[];
  /** When processes were killed, stopped or cut off. */
  readonly outages: readonly Outage[];
  readonly left: Leftovers;
}

export interface SessionEvidence {
  readonly key: string;
  readonly entries: readonly AnyEntry[];
}

export interface SentMessage {
  readonly client: string;
  readonly session: string;
  /** The name in its text. */
  readonly name: string;
  readonly text: string;
  readonly kind: "send" | "steer" | "followUp";
  readonly key: string;
  /** The answers to the message, which may have been sent several times. */
  readonly answers: { readonly runId: string; readonly status: string }[];
}

export interface SentAbort {
  readonly session: string;
  readonly runId: string;
  /** Whether the gateway acknowledged it. */
  isAcknowledged: boolean;
}

export interface AnsweredApproval {
  readonly session: string;
  readonly approvalId: string;
  readonly decision: "allow" | "deny";
}

export interface Complaint {
  readonly client: string;
  readonly session: string;
  readonly text: string;
}

/** An epoch that was taken, or an entry that was written. */
export type AuditRow = {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly session: string;
  /** The process, such as `worker-2`. */
  readonly by: string;
} & (
  | { readonly what: "epoch"; readonly epoch: number }
  | { readonly what: "entry"; readonly key: string }
);

export interface BusEvent {
  readonly at: number;
  readonly session: string;
  readonly runId: string;
  readonly attempt: number;
  readonly seq: number;
  readonly event: string;
}

export interface Outage {
  readonly name: string;
  readonly kind: string;
  readonly how: "killed" | "stopped" | "cut";
  readonly from: number;
  to?: number;
}

/** What is still open after everything was healed. Each should be empty. */
export interface Leftovers {
  readonly openRuns: readonly { readonly session: string; readonly runId: string }[];
  readonly waiting: readonly { readonly session: string; readonly id: string }[];
  readonly approvals: readonly { readonly session: string; readonly approvalId: string }[];
  /** Invocations that Restate has not completed. */
  readonly invocations: readonly { readonly session: string; readonly text: string }[];
  /** What could not be read. */
  readonly failures: readonly string[];
}

/** A fault, with the name of the check that found it. */
export interface Finding {
  readonly check: string;
  readonly session?: string;
  readonly text: string;
}

export type Check = (evidence: Evidence) => Finding[];
