/** Makes the message of a user's command from its body and its arguments. */
import { isAbsolute, join } from "node:path";
import { isInFolder, readBounded } from "../settings/bounded-file.ts";
import { showPath } from "../escape.ts";
import { oneLine } from "../terminal.ts";
import type { UserCommand } from "./commands.ts";
import { mentionsIn } from "./mentions.ts";
import { shownFrom } from "./place.ts";
import { isPrivateFile } from "./private-files.ts";

export interface ExpandedCommand {
  readonly text: string;
  readonly notices: readonly string[];
}

export interface ExpandOptions {
  readonly root: string;
  /** Returns why the permissions keep a file, given by its absolute path, from the model. */
  readonly whyNotRead: (path: string) => string | undefined;
}

const MAX_FILE = 32 * 1024;
const MAX_FILES = 20;

/**
 * Replaces `$ARGUMENTS` and `$1` to `$9`, and adds the files that the body mentions as `@path`.
 * Arguments without a place are added at the end. A `` !`command` `` is not run; it stays as text.
 */
export async function expandCommand(
  { name, body, path }: Pick<UserCommand, "name" | "body" | "path">,
  argumentText: string,
  { root, whyNotRead }: ExpandOptions,
): Promise<ExpandedCommand> {
  const notices = [...body.matchAll(/(?<=^|\s)!`([^`\n]+)`/gm)].map(
    ([, command = ""]) =>
      `/${name}: ${oneLine(command, 100)} was not run. Commands in ${showPath(path)} are sent as text.`,
  );
  const words = splitArguments(argumentText);
  const hasPlace = /\$(?:ARGUMENTS\b|[1-9])/.test(body);
  // In one pass, so that an argument that contains $1 stays as it is.
  const filled = body.replaceAll(/\$(?:(ARGUMENTS)\b|([1-9])(?!\d))/g, (_, all, digit) =>
    all === undefined ? (words[Number(digit) - 1] ?? "") : argumentText.trim(),
  );
  const rest = hasPlace || argumentText.trim() === "" ? "" : `\n\n${argumentText.trim()}`;
  const files: string[] = [];
  for (const mention of mentionsIn(filled).slice(0, MAX_FILES)) {
    const file = await mentioned(mention, { root, whyNotRead });
    if (file === undefined) continue;
    if ("text" in file) files.push(file.text);
    else notices.push(`/${name}: @${showPath(mention)} ${file.why}.`);
  }
  return { text: [`${filled}${rest}`, ...files].join("\n\n"), notices };
}

/** Returns undefined for a mention that is no file. */
async function mentioned(
  mention: string,
  { root, whyNotRead }: ExpandOptions,
): Promise<{ readonly text: string } | { readonly why: string } | undefined> {
  const target = isAbsolute(mention) ? mention : join(root, mention);
  if (mention.startsWith("~/") || !isInFolder(root, target))
    return { why: "is outside of the project and was not read" };
  const kept = whyNotRead(target);
  if (kept !== undefined) return { why: `was not read: ${kept.replace(/\.$/, "")}` };
  const file = await readBounded(target, root);
  if (file.kind === "missing") return undefined;
  if (file.kind === "refused") return file;
  const shown = shownFrom(root, file.realPath);
  if (isPrivateFile(shown)) return { why: "may hold secrets and was not read" };
  const isLong = file.text.length > MAX_FILE;
  const text = isLong
    ? `${file.text.slice(0, MAX_FILE)}\n[cut here: the file has ${file.bytes} bytes]`
    : file.text;
  return { text: `<file path=${JSON.stringify(shown)}>\n${text}\n</file>` };
}

/** Splits at spaces. Quotes join words, as in a shell. */
export function splitArguments(text: string): string[] {
  return [...text.matchAll(/(?:[^\s"']|"[^"]*"|'[^']*'|["'])+/g)].map(([word]) =>
    word.replaceAll(/"([^"]*)"|'([^']*)'/g, (_, double, single) => String(double ?? single)),
  );
}
