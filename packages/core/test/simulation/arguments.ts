/**
 * What a model may write as a call's arguments, and what a tool must then get: it never runs where
 * nothing is named.
 */
import { isRecord } from "../../src/json-value.ts";
import type { ArgumentsKind, ToolPlan } from "./plan.ts";

export const parameters = {
  type: "object",
  properties: { n: { type: "integer", minimum: 0, maximum: 9 } },
  required: ["n"],
  additionalProperties: false,
};

/** The tool by which a model gives the value that a run was asked for. */
export const OUTPUT_TOOL = "final_answer";

export const argumentTexts: Readonly<
  Record<ArgumentsKind, { readonly text: string; readonly runsWith?: number }>
> = {
  fit: { text: '{"n":3}', runsWith: 3 },
  mendable: { text: '{"n":"4"}', runsWith: 4 },
  encodedTwice: { text: '"{\\"n\\":5}"', runsWith: 5 },
  empty: { text: "" },
  negative: { text: '{"n":-1}' },
  surplus: { text: '{"n":1,"x":true}' },
  cut: { text: '{"n":' },
  list: { text: "[1]" },
  noJson: { text: "n = 3" },
};

/** What `prepare: "completes"` fills in, and what a hook that edits puts in place. */
export const COMPLETED = 7;
export const EDITED = 8;

/** The `n` that a tool must be run with, or undefined when it must not run. */
export function expectedNumber(
  { schema, prepare }: ToolPlan,
  argumentsText: string | undefined,
): number | undefined {
  if (schema === "throws" || prepare === "throws") return undefined;
  const kind = Object.values(argumentTexts).find(({ text }) => text === argumentsText);
  if (kind?.text === "" && prepare === "completes") return COMPLETED;
  return kind?.runsWith;
}

/** Whether a value is exactly what the tools' schema asks for. */
export function fits(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { n, ...rest } = value;
  return (
    Number.isInteger(n) &&
    (n as number) >= 0 &&
    (n as number) <= 9 &&
    Object.keys(rest).length === 0
  );
}
