/**
 * Prints what a run found, for people: findings by cause, each with the smallest stream that shows
 * it.
 */
import { causeOf, groupByCause, type Finding } from "./finding.ts";
import type { WireResult } from "./search.ts";

/** How many findings of a cause are printed, and how much of the smallest stream. */
const EXAMPLES = 3;
const MAX_BYTES = 2000;

export function printResults(results: readonly WireResult[], print: (line: string) => void): void {
  for (const result of results) {
    printCounts(result, print);
    for (const group of groupByCause(result.findings)) printGroup(group, print);
  }
}

function printCounts(
  { wire, streams, mutants, hashes, verdicts, findings }: WireResult,
  print: (line: string) => void,
): void {
  const count = (kind: string): number =>
    [...verdicts].reduce((sum, [name, one]) => (name.startsWith(kind) ? sum + one : sum), 0);
  const kinds = ["legal", "doubtful", "illegal"].map((kind) => `${count(kind)} ${kind}`).join(", ");
  print(
    `\n${wire}: ${streams} streams, ${mutants} mutants (${hashes.size} distinct; ${kinds}), ` +
      `${findings.length} findings of ${groupByCause(findings).length} causes`,
  );
  for (const [name, one] of [...verdicts].toSorted((a, b) => b[1] - a[1]))
    print(`${String(one).padStart(8)} ${name}`);
}

function printGroup(group: readonly Finding[], print: (line: string) => void): void {
  const [smallest] = group;
  if (smallest === undefined) return;
  print(`\n  ${causeOf(smallest)} (${group.length})`);
  for (const [text, count] of countBy(group, ({ text: what }) => what))
    print(`    ${count} times: ${text}`);
  for (const { id } of group.slice(0, EXAMPLES)) print(`    --only='${id}'`);
  const { body = "" } = smallest;
  const shown = body.length > MAX_BYTES ? `${body.slice(0, MAX_BYTES)} …` : body;
  print(shown.trimEnd().replaceAll(/^/gm, "      | "));
}

function countBy<T>(values: readonly T[], key: (value: T) => string): [string, number][] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(key(value), (counts.get(key(value)) ?? 0) + 1);
  return [...counts].toSorted((a, b) => b[1] - a[1]);
}
