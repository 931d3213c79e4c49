/**
 * Describes a tool call to a person in one short line. Characters that could mislead a terminal or
 * a reader are escaped.
 */
import { cutText, escapeText } from "../escape.ts";

const MAX_PATH = 200;
const MAX_TEXT = 60;
/** Shows long commands, since a person must see all of a command or that it was cut. */
const MAX_COMMAND = 2000;

/** `args` come from the model, unchecked. Never throws. */
export function describeCall(toolName: string, args: unknown): string {
  const call: Readonly<Record<string, unknown>> =
    typeof args === "object" && args !== null ? { ...args } : {};
  const { path, command, pattern, content } = call;
  if (toolName === "bash" && typeof command === "string")
    return `bash: ${withMore(command)}${timeoutOf(call)}`;
  if ((toolName === "grep" || toolName === "glob") && typeof pattern === "string")
    return describeSearch(toolName, pattern, call);
  if (typeof path === "string") {
    if (toolName === "read") return `read ${toPath(path)}${linesOf(call)}`;
    if (toolName === "write" && typeof content === "string")
      return `write ${toPath(path)} (${toBytes(content)})`;
    if (toolName === "edit") return `edit ${toPath(path)}${changeOf(call)}`;
  }
  return cutText(`${cutText(escapeText(toolName), MAX_TEXT)} ${toJson(args)}`, MAX_PATH);
}

function describeSearch(
  toolName: string,
  pattern: string,
  { path, glob }: Readonly<Record<string, unknown>>,
): string {
  const where = typeof path === "string" && path !== "" ? ` in ${toPath(path)}` : "";
  const files = typeof glob === "string" && glob !== "" ? ` (${quote(glob)})` : "";
  return `${toolName} ${quote(pattern)}${where}${files}`;
}

/** Formats a line range such as "(lines 10-40)". */
function linesOf({ offset, limit }: Readonly<Record<string, unknown>>): string {
  const first = typeof offset === "number" ? offset : 1;
  if (typeof limit === "number") return ` (lines ${first}-${first + limit - 1})`;
  return first > 1 ? ` (from line ${first})` : "";
}

function changeOf({ oldText, newText, replaceAll }: Readonly<Record<string, unknown>>): string {
  if (typeof oldText !== "string" || typeof newText !== "string") return "";
  return `: ${quote(oldText)} -> ${quote(newText)}${replaceAll === true ? ", everywhere" : ""}`;
}

function timeoutOf({ timeout }: Readonly<Record<string, unknown>>): string {
  return typeof timeout === "number" ? ` (timeout ${timeout} s)` : "";
}

function withMore(command: string): string {
  const text = escapeText(command);
  const shown = cutText(text, MAX_COMMAND);
  return shown === text ? text : `${shown} (${text.length - MAX_COMMAND + 1} more characters)`;
}

/** Quotes a path unless it is plain, so that it cannot be confused with the words around it. */
function toPath(path: string): string {
  return /^[\p{L}\p{N}_./@+~=%,-]+$/u.test(path) && path.length <= MAX_PATH
    ? path
    : quote(path, MAX_PATH);
}

function quote(text: string, length: number = MAX_TEXT): string {
  return `"${cutText(escapeText(text.replaceAll(/["\\]/g, String.raw`\$&`)), length)}"`;
}

function toBytes(content: string): string {
  const bytes = Buffer.byteLength(content);
  return `${bytes} byte${bytes === 1 ? "" : "s"}`;
}

function toJson(value: unknown): string {
  try {
    return escapeText(JSON.stringify(value) ?? "");
  } catch {
    return "(arguments that cannot be shown)"; // a cycle or a bigint
  }
}
