/** Reports the killed mutants by folder, and those that survived. */
import { dirname } from "node:path";
import type { Mutant } from "./sample.ts";
import type { Verdict } from "./try-mutant.ts";

export interface Count {
  readonly folder: string;
  readonly killed: number;
  readonly survived: number;
  readonly busy: number;
  readonly hung: number;
}

export function countByFolder(verdicts: readonly Verdict[]): Count[] {
  return [...Map.groupBy(verdicts, ({ mutant }) => dirname(mutant.file))]
    .map(([folder, own]) => count(folder, own))
    .toSorted((a, b) => (a.folder < b.folder ? -1 : 1));
}

export function count(folder: string, verdicts: readonly Verdict[]): Count {
  const of = (outcome: Verdict["outcome"]): number =>
    verdicts.filter((verdict) => verdict.outcome === outcome).length;
  return {
    folder,
    killed: of("killed"),
    survived: of("survived"),
    busy: of("busy"),
    hung: of("hung"),
  };
}

/**
 * Returns the percentage of mutants on which a test failed. Mutants that hung or were busy do not
 * count as killed. Returns 100 if there are no mutants.
 */
export function percentOf({ killed, survived, busy, hung }: Count): number {
  const all = killed + survived + busy + hung;
  return all === 0 ? 100 : (100 * killed) / all;
}

export function printReport(verdicts: readonly Verdict[], say: (line: string) => void): void {
  const left = verdicts.filter(({ outcome }) => outcome !== "killed");
  for (const verdict of left.toSorted(byPlace)) {
    const { mutant, outcome } = verdict;
    say(`${mutant.file}:${mutant.line} ${outcome} ${reason(verdict)}\n    ${describe(mutant)}`);
  }
  const total = count("all", verdicts);
  say(
    `\n${"killed".padStart(8)}${"survived".padStart(10)}${"busy".padStart(6)}${"hung".padStart(6)}`,
  );
  for (const row of [...countByFolder(verdicts), total]) {
    const { folder, killed, survived, busy, hung } = row;
    const numbers = String(killed).padStart(8) + String(survived).padStart(10);
    const share = `${percentOf(row).toFixed(0)} %`.padStart(7);
    const hanging = String(busy).padStart(6) + String(hung).padStart(6);
    say(`${numbers}${hanging}${share}  ${folder}`);
  }
}

function describe({ original, replacement }: Mutant): string {
  if (replacement === ";") return `removed: ${brief(original)}`;
  return `${brief(original)} → ${brief(replacement)}`;
}

function reason({ outcome, executing, tried, by }: Verdict): string {
  if (executing === 0) return "(no test executes it)";
  if (outcome === "hung" || outcome === "busy") return `in ${by}`;
  const files = `${tried} test ${tried === 1 ? "file" : "files"}`;
  return tried === executing ? `(${files})` : `(${files} of ${executing})`;
}

function byPlace({ mutant: a }: Verdict, { mutant: b }: Verdict): number {
  return a.file === b.file ? a.start - b.start : a.file < b.file ? -1 : 1;
}

function brief(text: string): string {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length <= 100 ? line : `${line.slice(0, 99)}…`;
}
