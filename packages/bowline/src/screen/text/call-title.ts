/** Names a tool call on one line: the tool, the argument that matters, and the others as JSON. */
import { cutText, escapeText } from "../../escape.ts";

/** The arguments that matter, the most telling first. */
const telling = ["command", "pattern", "query", "path", "url", "skill", "task", "prompt"] as const;
/** Arguments that a diff or the output shows better. */
const shownElsewhere: ReadonlySet<string> = new Set(["content", "oldText", "newText"]);
const MAX_VALUE = 2000;
const MAX_REST = 120;

export interface CallTitle {
  readonly tool: string;
  readonly main: string;
  /** The other arguments, or "". */
  readonly rest: string;
}

/** `args` come from the model, unchecked. Never throws. */
export function callTitle(tool: string, args: unknown): CallTitle {
  const fields: Readonly<Record<string, unknown>> =
    typeof args === "object" && args !== null && !Array.isArray(args) ? { ...args } : {};
  const name = telling.find((key) => typeof fields[key] === "string");
  const others = Object.entries(fields).filter(
    ([key]) => key !== name && !(name !== undefined && shownElsewhere.has(key)),
  );
  const isPlain = typeof args !== "object" || args === null || Array.isArray(args);
  const value = isPlain ? args : Object.fromEntries(others);
  const hasRest = isPlain ? args !== undefined && args !== null : others.length > 0;
  return {
    tool: cutText(escapeText(tool), 60),
    main: name === undefined ? "" : cutText(escapeText(String(fields[name])), MAX_VALUE),
    rest: hasRest ? cutText(json(value), MAX_REST) : "",
  };
}

function json(value: unknown): string {
  try {
    return escapeText(JSON.stringify(value) ?? "");
  } catch {
    return "(arguments that cannot be shown)"; // a cycle or a bigint
  }
}
