/** Compares the result of a run with its events. */
import type { RunResult } from "../../src/agent/index.ts";
import { toErrorInfo } from "../../src/errors.ts";
import { messageText, toolCallsOf } from "../../src/llm/message.ts";
import { billedUsage, type Usage } from "../../src/llm/usage.ts";
import { fits } from "./arguments.ts";
import { withNested } from "./check-budget.ts";
import type { RunRecord } from "./facts.ts";
import type { Report } from "./report.ts";

/**
 * Invariants 2 and 4 at `agent_end`. `isStopped`: a listener, a hook or the time budget may have
 * ended the run.
 */
export function checkEnd(
  run: RunRecord,
  isStopped: boolean,
  hasBudget: boolean,
  report: Report,
): void {
  const { end, lastAnswer: answer, abort } = run;
  if (end === undefined) return report("2 terminal event", "the run settled without agent_end");
  const { reason, error } = end;
  const isCut = answer?.stopReason === "error" || answer?.stopReason === "aborted";
  const said = `the run ended ${reason} with ${JSON.stringify(error)}`;
  if (
    isCut &&
    !isStopped &&
    abort === undefined &&
    JSON.stringify(error) !== JSON.stringify(answer.error)
  ) {
    report("4 error", `${said}; its last answer failed with ${JSON.stringify(answer.error)}`);
  }
  if (error?.code === "internal_error") report("0 result", said);
  if (end.messages.some((message, index) => message !== run.messages[index]?.message)) {
    report("0 result", "agent_end has other messages than were recorded");
  }
  const runs = withNested(run);
  const usage = usageOf(runs);
  // An abandoned nested run may have used more than its events say.
  const isWhole = runs.every(({ end: last }) => last !== undefined);
  if (isWhole && sorted(end.usage) !== sorted(usage)) {
    report(
      "0 result",
      `agent_end has usage ${JSON.stringify(end.usage)}, not ${JSON.stringify(usage)}`,
    );
  }
  const isGood = reason === "done" || reason === "length";
  if (isGood === (error !== undefined)) report("0 result", said);
  if (isGood && isCut) report("0 result", `${said}; its last answer ended ${answer.stopReason}`);
  if (isGood && abort !== undefined && run.turnEnds > abort.turnEnds) {
    report("3 request", `${said}, although it was aborted before its last turn ended`);
  }
  switch (reason) {
    case "aborted":
      if (abort === undefined && answer?.error?.code !== "aborted")
        report("0 result", `${said}; nobody aborted it`);
      break;
    case "done":
      if (!isFinished(run)) report("0 result", `${said}, with something left to do`);
      break;
    case "length":
      if (answer?.stopReason !== "length" && answer?.paused !== true) report("0 result", said);
      break;
    case "budget":
      if (!hasBudget || error?.code !== "budget_exceeded") report("budget", said);
      break;
    case "error":
      break;
  }
}

/** Whether no further model call is needed. */
function isFinished({ lastTurn, lastAnswer, stopAsked, terminating }: RunRecord): boolean {
  if (stopAsked || lastTurn === undefined || lastAnswer === undefined) return stopAsked;
  const calls = toolCallsOf(lastAnswer);
  return calls.length === 0
    ? lastAnswer.paused !== true
    : calls.every(({ id }) => terminating.has(id));
}

/** Checks that the result equals the terminal event, with few exceptions. */
export function checkResult(run: RunRecord, result: RunResult, report: Report): void {
  const { end } = run;
  if (end === undefined) return;
  const answers = run.messages.flatMap(({ message }) =>
    message.role === "assistant" ? [message] : [],
  );
  // A missing output is detected only after the run has ended.
  const reason = result.error?.code === "invalid_output" ? end.reason : result.reason;
  const said =
    reason === "done" ? undefined : answers.findLast((answer) => messageText(answer) !== "");
  const best = said ?? answers.findLast(({ content }) => content.length > 0) ?? answers.at(-1);
  // An answer continues the paused one before it.
  const texts = new Map<unknown, string>();
  let paused = "";
  for (const answer of answers) {
    const text = paused + messageText(answer);
    texts.set(answer, text);
    paused = answer.paused === true ? text : "";
  }
  const facts = {
    messages: result.messages.every((message, index) => message === end.messages[index]),
    usage: JSON.stringify(result.usage) === JSON.stringify(end.usage),
    turns: result.turns === run.answers,
    message: result.message === best,
    text: result.text === (best ? (texts.get(best) ?? "") : ""),
  };
  if (!Object.values(facts).every(Boolean))
    report("0 result", `the result differs: ${JSON.stringify(facts)}`);
  const { output } = result;
  const hasValue = output !== undefined;
  if (hasValue ? !fits(output) : run.isForOutput && result.reason === "done") {
    report("0 result", `the result is ${result.reason} with output ${JSON.stringify(output)}`);
  }
  // Exceptions: a listener of agent_end failed, or the run ended without its output.
  if (result.error?.code === "listener_failed" || result.error?.code === "invalid_output") return;
  const error = result.error === undefined ? undefined : toErrorInfo(result.error);
  if (result.reason !== end.reason || JSON.stringify(error) !== JSON.stringify(end.error)) {
    report(
      "4 error",
      `the result is ${result.reason} ${JSON.stringify(error)}, agent_end ${JSON.stringify(end.error)}`,
    );
  }
}

function usageOf(runs: readonly RunRecord[]): Usage {
  const sum: { totalTokens?: number; input?: number; output?: number; cost?: { total: number } } =
    {};
  for (const { message } of runs.flatMap(({ messages }) => messages)) {
    if (message.role !== "assistant") continue;
    const { cost, ...counts } = billedUsage(message);
    for (const [key, count] of Object.entries(counts) as ["input", number][])
      sum[key] = (sum[key] ?? 0) + count;
    if (cost !== undefined) sum.cost = { total: (sum.cost?.total ?? 0) + cost.total };
  }
  return sum;
}

/**
 * Returns JSON with sorted keys and a rounded cost, because the last digits of a sum depend on the
 * order.
 */
function sorted({ cost, ...counts }: Usage): string {
  const known = Object.entries({ ...counts, ...(cost && { cost: cost.total.toFixed(9) }) });
  return JSON.stringify(known.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
