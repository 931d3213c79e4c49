/**
 * Adds what a message mentions as `@path`: the text of a file, an image, the list of a folder. The
 * tools read it, with their limits, and only what the permissions let the model read without a
 * question.
 */
import { lstat, realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { messageText, type AgentTool, type UserContent, type UserMessage } from "@bowline/core";
import { showPath } from "../escape.ts";
import type { Permissions } from "../policy/permissions.ts";
import { mentionsIn } from "../project/mentions.ts";
import { shownFrom } from "../project/place.ts";
import { isPrivateFile } from "../project/private-files.ts";
import type { Draft } from "../screen/editor/draft.ts";
import { createTools, type GlobDetails, type ReadDetails } from "../tools/index.ts";
import type { NoticeLevel } from "./block.ts";
import { bytesText, plural } from "./text.ts";
import { withParts } from "./user-message.ts";

export interface AttachOptions {
  /** The working directory. Nothing outside of it is read. */
  readonly directory: string;
  readonly permissions: Pick<Permissions, "judge" | "hidden">;
  readonly notice: (text: string, level: NoticeLevel) => void;
}

const MAX_FILES = 20;
/** The most characters that all files of a message add. */
const MAX_CHARACTERS = 300_000;
const MAX_LISTED = 200;

/** Returns the paths that were typed. A long paste is content, and mentions nothing. */
export function mentionedIn({ parts }: Pick<Draft, "parts">): string[] {
  return mentionsIn(
    parts.map((part) => (part.type === "text" && part.isMade !== true ? part.text : " ")).join(""),
  );
}

/** Returns the message with what its draft mentions. What cannot be attached has a notice. */
export async function attachFiles(
  message: UserMessage,
  draft: Pick<Draft, "parts">,
  { directory, permissions, notice }: AttachOptions,
  signal: AbortSignal,
): Promise<UserMessage> {
  const mentions = mentionedIn(draft);
  if (mentions.length === 0) return message;
  const tools = createTools({
    root: directory,
    hidden: (tool) => permissions.hidden({ tool }),
    only: ["read", "glob"],
  });
  const reading: Reading = { directory, permissions, tools, signal };
  const parts: UserContent[] = [];
  let room = MAX_CHARACTERS;
  let count = 0;
  for (const mention of mentions) {
    const added = await attachment(mention, reading);
    if (added === undefined) continue;
    const size = added.parts.reduce((sum, part) => sum + textLength(part), 0);
    const why =
      added.why ??
      (count >= MAX_FILES
        ? `a message takes ${MAX_FILES} files`
        : size > room
          ? `the files of a message have at most ${bytesText(MAX_CHARACTERS)} in all`
          : undefined);
    if (why !== undefined) {
      notice(`@${showPath(mention)} is not attached: ${why}.`, added.level ?? "warning");
      continue;
    }
    room -= size;
    count += 1;
    parts.push(...added.parts);
  }
  return withParts(message, parts);
}

interface Reading {
  readonly directory: string;
  readonly permissions: Pick<Permissions, "judge">;
  readonly tools: readonly AgentTool[];
  readonly signal: AbortSignal;
}

interface Attachment {
  readonly parts: readonly UserContent[];
  /** Why it is not attached. */
  readonly why?: string;
  readonly level?: NoticeLevel;
}

/** Returns undefined for a word such as `@param` that names no file. */
async function attachment(path: string, reading: Reading): Promise<Attachment | undefined> {
  const not = (why: string, level: NoticeLevel = "warning"): Attachment => ({
    parts: [],
    why,
    level,
  });
  const full = resolve(reading.directory, path);
  const stats = await lstat(full).catch(() => undefined);
  const looksLikeFile = /[/\\]|\.\w/.test(path);
  if (stats === undefined && !path.startsWith("~"))
    return looksLikeFile ? not("there is no such file", "info") : undefined;
  const real = await realpath(full).catch(() => full);
  if ([full, real].some((one) => isPrivateFile(shownFrom(reading.directory, one))))
    return not("it may hold secrets");
  const isFolder = stats?.isDirectory() === true;
  const tool = isFolder ? "glob" : "read";
  const args = isFolder ? { pattern: "*", path, kind: "any", limit: MAX_LISTED } : { path };
  const { action, reason } = reading.permissions.judge({ tool, args });
  if (action === "ask") return not(`${withoutDot(reason)}; the model can ask to read it`);
  if (action === "deny") return not(withoutDot(reason));
  try {
    const { content, details } = await toolOf(reading, tool).execute("", args, reading.signal);
    const shown = isFolder ? `${path.replace(/\/+$/, "")}/` : path;
    return { parts: partsOf(shown, content ?? [], details as ReadDetails | GlobDetails) };
  } catch (error) {
    if (reading.signal.aborted) throw error;
    return not(withoutDot((error as Error).message));
  }
}

function partsOf(
  path: string,
  content: readonly UserContent[],
  details: ReadDetails | GlobDetails,
): UserContent[] {
  const image = content.find((part) => part.type === "image");
  const shownFile = showPath(path);
  if (image !== undefined && "bytes" in details) {
    const kind = (image.mimeType ?? "").replace(/^image\//, "").toUpperCase();
    const shownAs = `the image ${shownFile} (${kind}, ${bytesText(details.bytes)})`;
    const text = `${opening(path)} is the image that follows</file>`;
    return [{ type: "text", text, shownAs, shownFile }, image];
  }
  const text = messageText({ content });
  const size = bytesText(Buffer.byteLength(text));
  const shownAs =
    "total" in details
      ? `the list of ${shownFile} (${plural(details.total, "name")}, ${size})`
      : `the file ${shownFile} (${partOf(details, text)})`;
  return [{ type: "text", text: `${opening(path)}\n${text}\n</file>`, shownAs, shownFile }];
}

/** Says how much of a file is attached. */
function partOf({ lines, bytes }: ReadDetails, text: string): string {
  const count = plural(lines, "line");
  const isCut = /\[lines 1-\d+ of [^\n]*\]$/.test(text);
  return isCut ? `the first ${count} of ${bytesText(bytes)}` : `${count}, ${bytesText(bytes)}`;
}

function opening(path: string): string {
  return `<file path=${JSON.stringify(path)}>`;
}

function textLength(part: UserContent): number {
  return part.type === "text" ? part.text.length : 0;
}

function toolOf({ tools }: Reading, name: string): AgentTool {
  const found = tools.find((tool) => tool.name === name);
  if (found === undefined) throw new Error(`There is no tool ${name}.`);
  return found;
}

function withoutDot(text: string): string {
  return text.replace(/^Error: /, "").replace(/\.$/, "");
}
