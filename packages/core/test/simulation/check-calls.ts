/**
 * Invariant 6 and the outcomes of calls: only permitted calls ran, each once, and no permitted call
 * was lost.
 */
import type { AssistantMessage } from "../../src/llm/message.ts";
import { EDITED, expectedNumber, fits } from "./arguments.ts";
import { findCall, messageOf, type CallFacts, type EventOf, type RunRecord } from "./facts.ts";
import type { ToolPlan } from "./plan.ts";
import type { Report } from "./report.ts";

/** Checks a tool that begins to run; at most `atMost` tools may run at a time. */
export function checkExecution(
  tool: ToolPlan,
  id: string,
  params: unknown,
  call: CallFacts | undefined,
  atMost: number,
  report: Report,
): void {
  const running = [...(call?.executions.values() ?? [])].filter(
    ({ settled, signal }) => !settled && !signal.aborted,
  );
  if (running.length >= atMost) report("0 result", `${id} runs beside ${running.length} others`);
  if (call?.executions.has(id) === true) report("6 twice", `${id} was run twice`);
  const message = call && messageOf(call);
  const asked = findCall(message, id);
  const made = expectedNumber(tool, asked?.argumentsText);
  const expected = made !== undefined && call?.edited.has(id) === true ? EDITED : made;
  if (call?.ended !== "done" || message?.stopReason === "length" || asked?.name !== tool.name) {
    report("6 arguments", `${id} ran, which no complete answer asked for`);
  } else if (expected === undefined || call.kept.has(id)) {
    report("6 arguments", `${id} ran, which must not, on ${asked.argumentsText}`);
  } else if (!fits(params) || (params as { n: number }).n !== expected) {
    report(
      "6 arguments",
      `${id} ran with ${JSON.stringify(params)}, asked was ${asked.argumentsText}`,
    );
  }
}

/**
 * Checks the outcome that a tool's end event gives against what the simulation saw at that moment,
 * or earlier with `isLate`.
 */
export function checkOutcome(
  event: EventOf<"tool_execution_end">,
  call: CallFacts | undefined,
  isLate: boolean,
  report: Report,
): void {
  const { toolCallId: id, outcome, isError } = event;
  const facts = call?.executions.get(id);
  const settled = facts?.settled;
  const isRight = {
    finished: settled === "returned",
    failed: settled !== undefined,
    stopped: settled !== undefined && facts?.signal.aborted === true,
    left_running: facts !== undefined && (settled === undefined || isLate) && facts.signal.aborted,
    not_started: facts === undefined && isError,
    unknown: false, // only in resumed runs
  }[outcome];
  const became = facts === undefined ? "never ran" : (settled ?? "runs");
  if (!isRight) report("0 result", `${id} is said to be ${outcome}; it ${became}`);
}

/**
 * Checks that all permitted calls ran. Called for a complete answer in a run that was not stopped.
 */
export function checkNoneLost(
  message: AssistantMessage,
  call: CallFacts,
  run: RunRecord,
  tools: readonly ToolPlan[],
  report: Report,
): void {
  for (const part of message.content) {
    if (part.type !== "toolCall" || call.executions.has(part.id) || call.kept.has(part.id))
      continue;
    const tool = tools.find(({ name }) => name === part.name);
    if (tool === undefined || expectedNumber(tool, part.argumentsText) === undefined) continue;
    report(
      "6 lost call",
      `${part.id} was never run: ${JSON.stringify(run.toolEnds.get(part.id)?.result)}`,
    );
  }
}
