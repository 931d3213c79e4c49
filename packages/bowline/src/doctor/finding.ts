/**
 * What an examination of a model server says: findings, a verdict over them, a profile to keep. All
 * of it is JSON.
 */
import type { Compat } from "@bowline/core";

/**
 * `not seen` is for what depends on the model's cooperation: it proves nothing about the server.
 */
export type Mark = "ok" | "differs" | "missing" | "failed" | "not seen";

export const areas = ["connection", "streaming", "answer", "tools", "options", "errors"] as const;
export type Area = (typeof areas)[number];

export interface Finding {
  /** Stable, for programs. */
  readonly id: string;
  readonly area: Area;
  readonly mark: Mark;
  /** What was found, in plain words. */
  readonly says: string;
  /** What follows from it for whoever uses the server. */
  readonly means?: string;
  /** What cannot be done because of it. */
  readonly blocks?: "use" | "tools";
}

/** A finding about tools, before it says so. */
export type ToolFinding = Omit<Finding, "area">;

export interface Verdict {
  readonly kind: "works" | "settings" | "no-tools" | "unusable" | "stopped";
  readonly text: string;
}

/** What `--write` keeps and `bowline run --profile` takes. */
export interface Profile {
  readonly version: 1;
  readonly baseUrl: string;
  readonly model: string;
  readonly compat: Compat;
  /** For people; nothing reads them. */
  readonly notes: readonly string[];
}

export interface DoctorResult {
  readonly version: 1;
  readonly baseUrl: string;
  /** Absent when none was named and the server lists none. */
  readonly model?: string;
  readonly verdict: Verdict;
  readonly findings: readonly Finding[];
  /** Absent for a server that cannot be used. */
  readonly profile?: Profile;
  /** HTTP requests made. */
  readonly requests: number;
  readonly ms: number;
}
