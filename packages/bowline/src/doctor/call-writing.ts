/** Findings on how a server writes calls. Pure. */
import { readCallTraits, type CallTraits } from "./calls.ts";
import type { ToolFinding } from "./finding.ts";
import type { Reply } from "./reply.ts";
import { callsOf, toolNames } from "./tool-questions.ts";

/** Compares the calls of the answer with one call and of the answer with several. Pure. */
export function writingFindings(one: Reply, several: Reply | undefined): ToolFinding[] {
  const replies =
    several !== undefined && callsOf(several.message).length > 1 ? [several, one] : [one];
  const findings: ToolFinding[] = [];
  const traits = replies.map((reply) =>
    readCallTraits(reply.wire.calls, callsOf(reply.message).length, toolNames),
  );
  const first = traits[0];
  if (first === undefined || replies[0] === undefined) return findings;
  for (const [trait, values] of Object.entries(wording)) {
    const value = traits
      .map((found) => found[trait as keyof typeof wording])
      .find((found) => Object.hasOwn(values, found));
    const says = value === undefined ? undefined : values[value];
    if (says !== undefined)
      findings.push({
        id: `call-${trait}`,
        mark: "differs",
        says,
        means: "Bowline supports it",
      });
  }
  if (findings.length === 0)
    findings.push({
      id: "call-writing",
      mark: "ok",
      says: "calls are written as in the reference",
    });
  const pieces = Math.max(...traits.map((found) => found.pieces));
  const how = pieces > 1 ? `in up to ${pieces} pieces` : "whole";
  if (pieces > 0) findings.push({ id: "call-pieces", mark: "ok", says: `arguments come ${how}` });
  if (one.wire.legacyCalls)
    findings.push({
      id: "call-legacy",
      mark: "differs",
      says: "calls come in the old function_call form",
      means: "one call per answer",
    });
  const reasons = replies[0].wire.finishReasons;
  if (!(reasons.length === 1 && reasons[0] === "tool_calls")) {
    const says = `calls end with the finish reason ${reasons.length === 0 ? "that is missing" : reasons.join(", then ")}`;
    findings.push({
      id: "call-finish",
      mark: "differs",
      says,
      means: "Bowline runs them anyway",
    });
  }
  return findings;
}

const wording: Readonly<
  Record<"index" | "ids" | "name" | "form", Readonly<Record<string, string>>>
> = {
  index: {
    missing: "calls have no index",
    repeated: "several calls share one index",
    "not from 0": "the index of calls does not begin at 0",
    text: "the index of calls is text",
  } satisfies Partial<Record<CallTraits["index"], string>>,
  ids: {
    missing: "calls have no id",
    shared: "several calls share one id",
    changing: "the id of a call changes during the stream",
  } satisfies Partial<Record<CallTraits["ids"], string>>,
  name: {
    repeated: "the name of a call is repeated in every piece",
    "in pieces": "the name of a call comes in pieces",
  } satisfies Partial<Record<CallTraits["name"], string>>,
  form: { object: "arguments are a JSON object instead of text" } satisfies Partial<
    Record<CallTraits["form"], string>
  >,
};
