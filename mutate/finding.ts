/** A mutant with which something is wrong. */
import type { Problem } from "./judge.ts";

export interface Finding {
  /** For `--only`. */
  readonly id: string;
  readonly kind: Problem["kind"] | "unlisted" | "crashed";
  readonly text: string;
  /** Illegal for this reason, doubtful for this one, or legal and of this kind. */
  readonly verdict: string;
  /** How many bytes the stream has. */
  readonly size: number;
  /** The stream, of the smallest finding of its cause. */
  readonly body?: string;
}

/** What the acceptor says of the stream; where that is nothing bad, what went wrong. */
export function causeOf({ kind, verdict, text }: Finding): string {
  if (kind === "rounded") return text;
  return verdict.startsWith("illegal") ? verdict : `${verdict}: ${text}`;
}

/** Groups by cause, the largest first; in each the smallest stream first. */
export function groupByCause(findings: readonly Finding[]): Finding[][] {
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) {
    const cause = causeOf(finding);
    const group = groups.get(cause);
    if (group === undefined) groups.set(cause, [finding]);
    else group.push(finding);
  }
  return [...groups.values()]
    .map((group) => group.toSorted((a, b) => a.size - b.size))
    .toSorted((a, b) => b.length - a.length);
}

/** All findings, with the stream of the smallest of each cause only: a run may find many. */
export function withSmallestBodies(findings: readonly Finding[]): Finding[] {
  return groupByCause(findings).flatMap((group) =>
    group.map((finding, n) => {
      const { body: _, ...rest } = finding;
      return n === 0 ? finding : rest;
    }),
  );
}
