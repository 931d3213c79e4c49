/**
 * Adds what a message mentions as `@path`: the text of a file, an image, the list of a folder. The
 * tools read it, with their limits, and only what the permissions let the model read without a
 * question.
 */
import { lstat, realpath, stat } from "node:fs/promises";
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
/** The most bytes that the texts of all files of a message add. */
const MAX_TEXT_BYTES = 300_000;
/** The most bytes of all images of a message. */
const MAX_IMAGE_BYTES = 20 * 1024 * 1024;
/** The most bytes that the read tool takes from a text file. */
const MAX_READ_BYTES = 100_000;
const MAX_LISTED = 200;
/** The names of files that the read tool probably takes as images. */
const IMAGE_NAME = /\.(?:png|jpe?g|gif|webp)$/i;

/** Returns the paths that were typed. A long paste is content, and mentions nothing. */
export function mentionedIn({ parts }: Pick<Draft, "parts">): string[] {
  return mentionsIn(
    parts.map((part) => (part.type === "text" && part.isMade !== true ? part.text : " ")).join(""),
  );
}

/**
 * Returns the message with what its draft mentions. What cannot be attached has a notice. A file beyond
 * the limits of the message is not read: its size is known before.
 */
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
    limits: { resultCharacters: MAX_READ_BYTES },
  });
  const reading: Reading = { directory, permissions, tools, signal };
  const parts: UserContent[] = [];
  let used: Used = { files: 0, text: 0, image: 0 };
  for (const mention of mentions) {
    const found = await examine(mention, reading);
    if (found === undefined) continue;
    const added = "why" in found ? found : await attachment(found, used, reading);
    if ("why" in added) {
      notice(`@${showPath(mention)} is not attached: ${added.why}.`, added.level ?? "warning");
      continue;
    }
    used = added.used;
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

/** The number of files that the message has so far, the bytes of their texts, and the bytes of images. */
interface Used {
  readonly files: number;
  readonly text: number;
  readonly image: number;
}

/** Something that may be attached, unread. */
interface Found {
  readonly path: string;
  readonly tool: "read" | "glob";
  readonly args: Record<string, unknown>;
  /** In bytes. 0 for a folder, whose list has a size only when it is read. */
  readonly size: number;
}

interface Attachment {
  readonly parts: readonly UserContent[];
  /** With it. */
  readonly used: Used;
}

/** Why something is not attached. */
interface Refusal {
  readonly why: string;
  readonly level?: NoticeLevel;
}

/** Reads nothing of a file. Returns undefined for a word such as `@param` that names no file. */
async function examine(path: string, reading: Reading): Promise<Found | Refusal | undefined> {
  const full = resolve(reading.directory, path);
  const own = await lstat(full).catch(() => undefined);
  const looksLikeFile = /[/\\]|\.\w/.test(path);
  if (own === undefined && !path.startsWith("~"))
    return looksLikeFile ? { why: "there is no such file", level: "info" } : undefined;
  const real = await realpath(full).catch(() => full);
  if ([full, real].some((one) => isPrivateFile(shownFrom(reading.directory, one))))
    return { why: "it may hold secrets" };
  const isFolder = own?.isDirectory() === true;
  const tool = isFolder ? "glob" : "read";
  const args = isFolder ? { pattern: "*", path, kind: "any", limit: MAX_LISTED } : { path };
  const { action, reason } = reading.permissions.judge({ tool, args });
  if (action === "ask") return { why: `${withoutDot(reason)}; the model can ask to read it` };
  if (action === "deny") return { why: withoutDot(reason) };
  const target = isFolder ? undefined : await stat(real).catch(() => undefined); // the tool says what is wrong with it
  return { path, tool, args, size: target?.size ?? 0 };
}

async function attachment(
  found: Found,
  used: Used,
  reading: Reading,
): Promise<Attachment | Refusal> {
  const { path, tool, args, size } = found;
  if (used.files >= MAX_FILES) return { why: `a message takes ${MAX_FILES} files` };
  const isImage = IMAGE_NAME.test(path);
  const before = isImage
    ? whyNot({ ...used, image: used.image + size })
    : whyNot({ ...used, text: used.text + Math.min(size, MAX_READ_BYTES) });
  if (before !== undefined) return before;
  try {
    const { content, details } = await toolOf(reading, tool).execute("", args, reading.signal);
    const shown = tool === "glob" ? `${path.replace(/\/+$/, "")}/` : path;
    const parts = partsOf(shown, content ?? [], details as ReadDetails | GlobDetails);
    const after = { ...used, files: used.files + 1 };
    for (const part of parts) after[kindOf(part)] += sizeOf(part);
    return whyNot(after) ?? { parts, used: after };
  } catch (error) {
    if (reading.signal.aborted) throw error;
    return { why: withoutDot((error as Error).message) };
  }
}

/** Returns undefined if a message may have this much. */
function whyNot({ text, image }: Used): Refusal | undefined {
  const most = (what: string, bytes: number): Refusal => ({
    why: `the ${what} of a message have at most ${bytesText(bytes)} in all`,
  });
  if (text > MAX_TEXT_BYTES) return most("files", MAX_TEXT_BYTES);
  return image > MAX_IMAGE_BYTES ? most("images", MAX_IMAGE_BYTES) : undefined;
}

function kindOf({ type }: UserContent): "text" | "image" {
  return type === "text" ? "text" : "image";
}

/** Returns the size of what the part adds to the message, in bytes. */
function sizeOf(part: UserContent): number {
  if (part.type === "text") return Buffer.byteLength(part.text);
  return Buffer.byteLength(part.data ?? "", "base64");
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

function toolOf({ tools }: Reading, name: string): AgentTool {
  const found = tools.find((tool) => tool.name === name);
  if (found === undefined) throw new Error(`There is no tool ${name}.`);
  return found;
}

function withoutDot(text: string): string {
  return text.replace(/^Error: /, "").replace(/\.$/, "");
}
