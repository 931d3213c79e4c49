/** Shapes that the checks of settings share. */
import { oneLine } from "../terminal.ts";

/** The way to a value in a file. */
export type Path = readonly (string | number)[];
/** Throws an error that names the place of a value. */
export type Fail = (path: Path, message: string) => never;

const MAX_TEXT = 20_000;

export function isRecord(given: unknown): given is Record<string, unknown> {
  return typeof given === "object" && given !== null && !Array.isArray(given);
}

/** Returns true for a text that is not blank and not longer than 20,000 characters. */
export function isText(given: unknown): given is string {
  return typeof given === "string" && given.trim() !== "" && given.length <= MAX_TEXT;
}

/** Formats a value for a message. */
export function show(given: unknown): string {
  return oneLine(JSON.stringify(given) ?? String(given), 80);
}

/** Returns true for a program that is looked up in the current folder, which may be a stranger's. */
export function isRelativeProgram(command: string): boolean {
  return /^\s*(?:\w+=\S*\s+)*\.{1,2}\//.test(command);
}

/** The advice for such a program in the user's own settings. */
export const WRITE_ABSOLUTE: string = "In your own settings, write an absolute path.";
