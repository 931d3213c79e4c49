/**
 * The arguments that a model may write, and those that the tool must then receive. Where no value
 * is given, the tool must not run.
 */
import { isRecord } from "../../src/json-value.ts";
import type { ArgumentsKind, ToolPlan } from "./plan.ts";

export const parameters = {
  type: "object",
  properties: { n: { type: "integer", minimum: 0, maximum: 9 } },
  required: ["n"],
  additionalProperties: false,
};

/** The tool with which a model gives the output of a run. */
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

/** The values that `prepare: "completes"` fills in and that an editing hook sets. */
export const COMPLETED = 7;
export const EDITED = 8;

/** The `n` that the tool must receive, or undefined if it must not run. */
export function expectedNumber(
  { schema, prepare }: ToolPlan,
  argumentsText: string | undefined,
): number | undefined {
  if (schema === "throws" || prepare === "throws") return undefined;
  const kind = Object.values(argumentTexts).find(({ text }) => text === argumentsText);
  if (kind?.text === "" && prepare === "completes") return COMPLETED;
  return kind?.runsWith;
}

/** Whether a value is exactly what the tools' schema requires. */
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
