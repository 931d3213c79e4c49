/** Reads what a call would change in a file, before it is approved. */
import { readFile, realpath, stat } from "node:fs/promises";
import { isAbsolute, relative, resolve } from "node:path";
import type { FileChange } from "./block.ts";

/** Larger files are not previewed; the call's arguments are shown instead. */
const MAX_BYTES = 2 * 1024 * 1024;

/** Returns undefined for calls that do not change a text file, or whose change is not certain. */
export async function previewChange(
  toolName: string,
  args: unknown,
  directory: string,
): Promise<FileChange | undefined> {
  const { path, content, oldText, newText, replaceAll } = (args ?? {}) as Record<string, unknown>;
  if (typeof path !== "string") return undefined;
  const inside = relative(directory, resolve(directory, path));
  if (inside.startsWith("..") || isAbsolute(inside)) return undefined; // the tool refuses it
  const before = await textOf(resolve(directory, path));
  if (before === undefined) return undefined;
  if (toolName === "write" && typeof content === "string") return { path, before, after: content };
  if (toolName !== "edit" || typeof oldText !== "string" || typeof newText !== "string")
    return undefined;
  if (oldText === "") return undefined;
  const pieces = before.split(oldText);
  if (pieces.length < 2 || (pieces.length > 2 && replaceAll !== true)) return undefined;
  return { path, before, after: pieces.join(newText) };
}

/** Returns "" for a new file, and undefined for what is not a plain text file. */
async function textOf(path: string): Promise<string | undefined> {
  try {
    const stats = await stat(await realpath(path));
    if (!stats.isFile() || stats.size > MAX_BYTES) return undefined;
    const text = await readFile(path, "utf8");
    return text.includes("\0") ? undefined : text.replaceAll("\r\n", "\n");
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? "" : undefined;
  }
}
