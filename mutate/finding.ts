/** A mutant that shows a problem. */
import type { Problem } from "./judge.ts";

export interface Finding {
  /** The id for `--only`. */
  readonly id: string;
  readonly kind: Problem["kind"] | "unlisted" | "crashed";
  readonly text: string;
  /** The acceptor's verdict, with the reason if illegal or doubtful, and the kind if legal. */
  readonly verdict: string;
  /** The size of the stream in bytes. */
  readonly size: number;
  /** The stream. Set only on the smallest finding of each cause. */
  readonly body?: string;
}

/**
 * Returns the cause: the acceptor's reason for an illegal stream, else the verdict and the problem.
 */
export function causeOf({ kind, verdict, text }: Finding): string {
  if (kind === "rounded") return text;
  return verdict.startsWith("illegal") ? verdict : `${verdict}: ${text}`;
}

/** Groups findings by cause: the largest group first, and in each the smallest stream first. */
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

/**
 * Removes the streams of all findings but the smallest of each cause, since a run may have many.
 */
export function withSmallestBodies(findings: readonly Finding[]): Finding[] {
  return groupByCause(findings).flatMap((group) =>
    group.map((finding, n) => {
      const { body: _, ...rest } = finding;
      return n === 0 ? finding : rest;
    }),
  );
}
