/**
 * The limits of runs: their own budget, a budget shared by several runs, and that of the run whose
 * tool started them.
 */
import type { AssistantMessage } from "../../src/llm/message.ts";
import type { EventOf, RunRecord } from "./facts.ts";
import type { Settings } from "./plan.ts";
import type { Report } from "./report.ts";

/** `runs` share the budget; one of them is sending a request. */
export function checkBudget(
  runs: readonly RunRecord[],
  budget: Settings["budget"],
  now: number,
  report: Report,
): void {
  if (budget === undefined) return;
  const {
    maxTurns = Infinity,
    maxTokens = Infinity,
    maxCost = Infinity,
    maxTimeMs = Infinity,
  } = budget;
  const all = runs.flatMap(withNested);
  const answers = all.flatMap(({ messages }) =>
    messages.flatMap(({ message }) => (message.role === "assistant" ? [message] : [])),
  );
  const sum = (of: (message: AssistantMessage) => number | undefined): number => {
    const known = answers.map(of).filter((count) => count !== undefined);
    // Usage that no server reported is unknown, and counts as nothing.
    return known.length === 0 ? -1 : known.reduce((total, count) => total + count);
  };
  const requests = all.reduce((total, { calls }) => total + calls.size, 0);
  const isWithin =
    requests <= maxTurns &&
    sum(({ usage }) => usage.totalTokens) < maxTokens &&
    sum(({ usage }) => usage.cost?.total) < maxCost;
  if (!isWithin) report("budget", "a request beyond the budget");
  if (now - (runs[0]?.startedAt ?? now) > maxTimeMs)
    report("budget", "a request beyond the budget's time");
}

/**
 * Checks that a run that ended for lack of turns had used them. Nested runs may have reserved a
 * turn that they give back.
 */
export function checkRefusal(
  runs: readonly RunRecord[],
  { maxTurns = 0 }: NonNullable<Settings["budget"]>,
  { error }: EventOf<"agent_end">,
  report: Report,
): void {
  if (error?.message !== `The run used its budget of ${maxTurns} turns.`) return;
  if (runs.some(({ nested }) => nested.length > 0)) return;
  const turns = runs.reduce((total, { answers }) => total + answers, 0);
  if (turns < maxTurns) report("budget", `${turns} turns used up a budget of ${maxTurns}`);
}

/** The run and all runs that its tools started, at any depth. */
export function withNested(run: RunRecord): RunRecord[] {
  return [run, ...run.nested.flatMap(withNested)];
}
