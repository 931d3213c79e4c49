/**
 * The result of an examination of a model server: findings, a verdict and a profile. All of it is
 * JSON-safe.
 */
import type { Compat } from "@bowline/core";

/**
 * `not seen` is for findings that depend on the model's cooperation. It proves nothing about the
 * server.
 */
export type Mark = "ok" | "differs" | "missing" | "failed" | "not seen";

export const areas = ["connection", "streaming", "answer", "tools", "options", "errors"] as const;
export type Area = (typeof areas)[number];

export interface Finding {
  /** A stable id for programs. */
  readonly id: string;
  readonly area: Area;
  readonly mark: Mark;
  /** The finding in plain words. */
  readonly says: string;
  /** The consequence for the server's user. */
  readonly means?: string;
  /** The use that the finding makes impossible. */
  readonly blocks?: "use" | "tools";
}

/** A finding about tools, before its area is added. */
export type ToolFinding = Omit<Finding, "area">;

export interface Verdict {
  readonly kind: "works" | "settings" | "no-tools" | "unusable" | "stopped";
  readonly text: string;
}

/** The file that `--write` creates and `bowline run --profile` reads. */
export interface Profile {
  readonly version: 1;
  readonly baseUrl: string;
  readonly model: string;
  readonly compat: Compat;
  /** Notes for people; not used by programs. */
  readonly notes: readonly string[];
}

export interface DoctorResult {
  readonly version: 1;
  readonly baseUrl: string;
  /** Absent if none was named and the server lists none. */
  readonly model?: string;
  readonly verdict: Verdict;
  readonly findings: readonly Finding[];
  /** Absent if the server cannot be used. */
  readonly profile?: Profile;
  /** Number of HTTP requests. */
  readonly requests: number;
  readonly ms: number;
}
