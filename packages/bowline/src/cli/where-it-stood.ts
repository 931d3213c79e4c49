/** Describes an earlier run to a person: what was saved and which results are unknown. */
import { messageText } from "@bowline/core";
import type { RecordedCall, RunState } from "@bowline/core/session";
import { oneLine } from "../terminal.ts";

/** Describes a run that ended without an answer. */
export function howItEnded({ reason }: RunState): string {
  const ends: Partial<Record<NonNullable<RunState["reason"]>, string>> = {
    error: "ended by an error",
    aborted: "was aborted",
    budget: "used up its budget",
  };
  const end = (reason && ends[reason]) ?? "ended without an answer";
  return `the last run ${end}. Continuing it.`;
}

export function whereItStood({ turns, calls, partialAnswer }: RunState): string {
  const begun = [...calls.values()];
  const finished = begun.filter(({ result }) => result !== undefined);
  const open = begun.filter(({ result }) => result === undefined);
  const again = open.filter(({ intent }) => intent.replay === "safe");
  const unknown = open.filter(({ intent }) => intent.replay !== "safe");
  const saved = partialAnswer === undefined ? 0 : messageText(partialAnswer).length;
  const parts = [
    `the last run was interrupted after ${turns} ${turns === 1 ? "answer" : "answers"} of the model`,
    ...(saved > 0 ? [`${saved} characters of the next one are kept`] : []),
    ...(begun.length > 0
      ? [`${finished.length} of ${begun.length} tool calls have their results`]
      : []),
    ...(again.length > 0 ? [`run again: ${named(again)}`] : []),
    ...(unknown.length > 0 ? [`unknown, not run again: ${named(unknown)}`] : []),
  ];
  return `${parts.join("; ")}. Continuing it.`;
}

function named(calls: readonly RecordedCall[]): string {
  return calls.map(({ intent }) => oneLine(intent.toolName, 40)).join(", ");
}
