/** The `read` tool: returns lines of a text file, or an image. */
import { defineTool, type AgentTool, type AgentToolResult } from "@bowline/core";
import { showPath } from "../escape.ts";
import { binaryKindOf, decodeUtf8, HEAD_BYTES, imageTypeOf } from "./file-kind.ts";
import { hasChanged, openFile, unlessChanged, type OpenFile } from "./open-file.ts";
import { readPage, type Page } from "./read-page.ts";
import { toolError, toToolError } from "./tool-error.ts";
import { createWorkspace, resolveInside, type Place, type ToolOptions } from "./workspace.ts";

/**
 * The `details` of a read: `lines` counts the lines in the result, `bytes` is the size of the file.
 */
export interface ReadDetails {
  readonly path: string;
  readonly bytes: number;
  readonly lines: number;
}

const DEFAULT_LINES = 2000;
const DEFAULT_BYTES = 100_000;
const MAX_IMAGE_BYTES = 5 * 1024 * 1024;
/** In larger files the lines are not counted to the end. */
const MAX_COUNTED_BYTES = 16 * 1024 * 1024;
/** A notice and not an error, because a busy log always changes. */
const CHANGED =
  "[the file was changed by something else while it was read: this may be part old and part new]";

const parameters = {
  type: "object",
  properties: {
    path: { type: "string", description: "The file, relative to the working directory" },
    offset: { type: "integer", minimum: 1, description: "The first line to read, from 1" },
    limit: {
      type: "integer",
      minimum: 1,
      description: `The most lines to read (default ${DEFAULT_LINES})`,
    },
    lineNumbers: {
      type: "boolean",
      description: "Put its number and a tab before each line (default: the text as it is)",
    },
  },
  required: ["path"],
  additionalProperties: false,
} as const;

export function createReadTool(options: ToolOptions): AgentTool {
  const workspace = createWorkspace(options);
  const maxBytes = options.limits?.resultCharacters ?? DEFAULT_BYTES;
  return defineTool<typeof parameters, ReadDetails>({
    name: "read",
    label: "Read",
    description:
      `Reads a text file, or an image (png, jpeg, gif, webp), ${workspace.where}. Gives at most ${DEFAULT_LINES} lines ` +
      `and ${maxBytes / 1000} kB; when that cuts the file, the last line says which lines these were and how to read on.`,
    parameters,
    replay: "safe",
    async execute({ path, offset = 1, limit = DEFAULT_LINES, lineNumbers = false }, { signal }) {
      try {
        const place = await resolveInside(workspace, path);
        const file = await openFile(workspace, place);
        try {
          return await readOpen(place, file, { offset, limit, lineNumbers, maxBytes, signal });
        } finally {
          await file.handle.close();
        }
      } catch (error) {
        throw toToolError(error, path);
      }
    },
  });
}

interface Wanted {
  readonly offset: number;
  readonly limit: number;
  readonly lineNumbers: boolean;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

async function readOpen(
  place: Place,
  file: OpenFile,
  wanted: Wanted,
): Promise<AgentToolResult<ReadDetails>> {
  const { handle } = file;
  const size = Number(file.stats.size);
  const { bytesRead, buffer } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  const head = buffer.subarray(0, bytesRead);
  const mimeType = imageTypeOf(head);
  if (mimeType !== undefined) return readImage(place, file, mimeType);
  const details = { path: place.shown, bytes: size, lines: 0 };
  if (bytesRead === 0)
    return unlessChanged(place, file, {
      content: [{ type: "text", text: "[empty file]" }],
      details,
    });
  if (head.includes(0)) throw await unlessChanged(place, file, binaryError(place, head, size));
  // Some file systems report size 0 for files with content.
  const end = size === 0 ? Infinity : size;
  const page = await readPage(handle, { ...wanted, countAll: size <= MAX_COUNTED_BYTES, end });
  const { offset } = wanted;
  if (page.last < offset) {
    const why = `${showPath(place.given)} has ${count(page.total ?? 0)}; there is no line ${offset}`;
    throw await unlessChanged(place, file, toolError(why));
  }
  let text: string;
  try {
    text = decodeUtf8(page.bytes, page.isLineCut);
  } catch {
    throw await unlessChanged(place, file, binaryError(place, head, size));
  }
  if (wanted.lineNumbers) text = numberLines(text, offset);
  const notices = [noticeOf(page, wanted), (await hasChanged(file)) ? CHANGED : ""].filter(
    (notice) => notice !== "",
  );
  if (notices.length > 0 && !text.endsWith("\n")) text += "\n";
  text += notices.join("\n");
  return {
    content: [{ type: "text", text }],
    details: { ...details, lines: page.last - offset + 1 },
  };
}

/**
 * Puts a number and a tab before each line, including empty ones. The part after the last line feed
 * is not a line.
 */
function numberLines(text: string, first: number): string {
  let line = first;
  return text.replaceAll(/(?<=^|\n)(?=[^])/g, () => `${line++}\t`);
}

async function readImage(
  place: Place,
  file: OpenFile,
  mimeType: string,
): Promise<AgentToolResult<ReadDetails>> {
  const size = Number(file.stats.size);
  const tooLarge = `${showPath(place.given)} is an image of ${size} bytes (${mimeType}); at most ${MAX_IMAGE_BYTES} can be read`;
  if (size > MAX_IMAGE_BYTES) throw toolError(tooLarge);
  // Read at a fixed position: the file may grow meanwhile.
  const { bytesRead, buffer } = await file.handle.read(Buffer.alloc(size), 0, size, 0);
  const data = buffer.subarray(0, bytesRead).toString("base64");
  const details = { path: place.shown, bytes: size, lines: 0 };
  return unlessChanged(place, file, { content: [{ type: "image", data, mimeType }], details });
}

/** Returns "" if the page reaches the end of the file. */
function noticeOf({ last, total, isLineCut }: Page, { offset, maxBytes }: Wanted): string {
  if (last === total && !isLineCut) return "";
  const cut = isLineCut ? `; line ${last} is longer than ${maxBytes} bytes and was cut` : "";
  const next = last === total ? "" : `; read on with offset ${last + 1}`;
  return `[lines ${offset}-${last} of ${total ?? "more"}${cut}${next}]`;
}

function binaryError(place: Place, head: Buffer, size: number): Error {
  return toolError(
    `${showPath(place.given)} is not a text file (${binaryKindOf(head)}, ${size} bytes)`,
  );
}

function count(lines: number): string {
  return `${lines} line${lines === 1 ? "" : "s"}`;
}
