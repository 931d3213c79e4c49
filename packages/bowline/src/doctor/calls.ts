/**
 * Reads how a server writes tool calls: differences from the reference, and calls written as text.
 * Pure.
 */
import { record, type Json, type WireAnswer } from "./wire.ts";

export interface CallTraits {
  readonly index: "ok" | "missing" | "repeated" | "not from 0" | "text";
  readonly ids: "ok" | "missing" | "shared" | "changing";
  readonly name: "once" | "repeated" | "in pieces";
  readonly form: "text" | "object";
  /** The maximum number of pieces in which the arguments of one call arrived. */
  readonly pieces: number;
}

/** `count` is the number of calls in the entries, `names` are the declared tools. */
export function readCallTraits(
  entries: readonly Json[],
  count: number,
  names: readonly string[],
): CallTraits {
  const functions = entries.map((entry) => record(entry.function));
  const indexes = entries
    .map(({ index }) => index)
    .filter((index) => index !== undefined && index !== null);
  const ids = entries.map(({ id }) => id).filter((id) => typeof id === "string" && id !== "");
  const said = functions
    .map(({ name }) => name)
    .filter((name) => typeof name === "string" && name !== "");
  const withArguments = functions.filter(
    ({ arguments: value }) => value !== undefined && value !== null && value !== "",
  );
  return {
    index: readIndexes(indexes, count),
    ids: ids.length === 0 ? "missing" : readIds(new Set(ids).size, count),
    name:
      said.length <= count
        ? "once"
        : said.every((name) => names.includes(name as string))
          ? "repeated"
          : "in pieces",
    form: withArguments.some(({ arguments: value }) => typeof value === "object")
      ? "object"
      : "text",
    pieces: Math.ceil(withArguments.length / Math.max(1, count)),
  };
}

function readIndexes(indexes: readonly unknown[], count: number): CallTraits["index"] {
  if (indexes.length === 0) return "missing";
  if (indexes.some((index) => typeof index !== "number")) return "text";
  const distinct = new Set(indexes);
  if (count > 1 && distinct.size < count) return "repeated";
  return distinct.has(0) ? "ok" : "not from 0";
}

function readIds(distinct: number, count: number): CallTraits["ids"] {
  if (distinct === count) return "ok";
  return distinct < count ? "shared" : "changing";
}

/** Markup in which models write calls, if the server does not parse it. */
const markup: readonly RegExp[] = [
  /<\|?tool_?calls?\|?>/i,
  /\[TOOL_CALLS\]/,
  /<function[=_ ]/i,
  /<\|python_tag\|>/,
  /<｜tool▁calls?▁begin｜>/,
  /<\|channel\|>commentary to=/,
];

/** Returns true if the answer's text is a call of one of the tools, in any common form. */
export function isCallInText(
  { text, calls }: Pick<WireAnswer, "text" | "calls">,
  names: readonly string[],
): boolean {
  if (calls.length > 0 || text.trim() === "") return false;
  const named = names.some((name) => text.includes(name));
  if (!named) return false;
  if (markup.some((pattern) => pattern.test(text))) return true;
  if (
    /"(?:arguments|parameters|input)"\s*:/.test(text) &&
    /"(?:name|tool|function)"\s*:\s*"/.test(text)
  )
    return true;
  return names.some((name) => new RegExp(`^\\W*${name}\\(.*\\)\\W*$`, "s").test(text.trim()));
}
