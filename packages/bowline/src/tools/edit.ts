/**
 * The `edit` tool: replaces a text in a file. Keeps the file's byte order mark and line endings.
 */
import { defineTool, type AgentTool } from "@bowline/core";
import { unifiedDiff } from "./diff.ts";
import { escapeText, showPath } from "../escape.ts";
import { binaryKindOf, decodeUtf8, HEAD_BYTES } from "./file-kind.ts";
import {
  findSpans,
  lineAt,
  replaceSpans,
  toLineFeeds,
  toSourceText,
  type SourceText,
  type Span,
} from "./find-text.ts";
import { describeNearMiss } from "./near-miss.ts";
import { openFile, unlessChanged, type OpenFile } from "./open-file.ts";
import { stopIfAborted, toolError, toToolError } from "./tool-error.ts";
import { createWorkspace, resolveInside, type Place, type ToolOptions } from "./workspace.ts";
import { toBytes, writeFileInside } from "./write-file.ts";

/** The `details` of an edit. */
export interface EditDetails {
  readonly path: string;
  /** A unified diff with LF line endings. */
  readonly diff: string;
}

const MAX_BYTES = 10 * 1024 * 1024;
const MAX_LINE_NUMBERS = 10;
const MAX_REPLACEMENTS = 100_000;

const parameters = {
  type: "object",
  properties: {
    path: { type: "string", description: "The file, relative to the working directory" },
    oldText: {
      type: "string",
      minLength: 1,
      description: "The exact text to replace, as read shows it",
    },
    newText: { type: "string", description: "The text to put in its place" },
    replaceAll: {
      type: "boolean",
      description: "Replace every occurrence (default: oldText must occur exactly once)",
    },
  },
  required: ["path", "oldText", "newText"],
  additionalProperties: false,
} as const;

export function createEditTool(options: ToolOptions): AgentTool {
  const workspace = createWorkspace(options);
  return defineTool<typeof parameters, EditDetails>({
    name: "edit",
    label: "Edit",
    description:
      `Replaces a text in a file ${workspace.where}. oldText must match exactly, white space included, and occur once ` +
      "unless replaceAll is set: take in enough lines around it. The file's line endings are kept, so write plain line feeds.",
    parameters,
    // Concurrent edits of one file would both start from the old content.
    executionMode: "sequential",
    async execute({ path, oldText, newText, replaceAll = false }, { signal }) {
      try {
        stopIfAborted(signal);
        if (oldText === "")
          throw toolError("oldText is empty; to make a file or replace all of it use write");
        if (toLineFeeds(oldText) === toLineFeeds(newText)) {
          throw toolError(
            "oldText and newText are the same (a file keeps its line endings): there is nothing to change",
          );
        }
        const place = await resolveInside(workspace, path);
        const file = await openFile(workspace, place);
        let source: SourceText;
        try {
          source = toSourceText(await readAll(place, file));
        } finally {
          await file.handle.close();
        }
        const spans = await find(place, source, { oldText, replaceAll, signal });
        const data = toBytes(replaceSpans(source, spans, newText));
        const diff = unifiedDiff(place.shown, source.text, spans, toLineFeeds(newText));
        await writeFileInside(workspace, place, data, { signal, expected: file.stats });
        const what = `${spans.length} replacement${spans.length === 1 ? "" : "s"}`;
        const text = `Edited ${escapeText(place.shown)}: ${what} (first at line ${firstLine(source, spans)})`;
        return { content: [{ type: "text", text }], details: { path: place.shown, diff } };
      } catch (error) {
        throw toToolError(error, path);
      }
    },
  });
}

async function readAll(place: Place, file: OpenFile): Promise<string> {
  const { handle, stats } = file;
  const shown = showPath(place.given);
  if (stats.size > MAX_BYTES)
    throw toolError(`${shown} has ${stats.size} bytes; edit takes files of at most ${MAX_BYTES}`);
  const bytes = await unlessChanged(place, file, await handle.readFile());
  const head = bytes.subarray(0, HEAD_BYTES);
  const binary = (): Error =>
    toolError(`${shown} is not a text file (${binaryKindOf(head)}, ${stats.size} bytes)`);
  if (head.includes(0)) throw binary();
  try {
    return decodeUtf8(bytes);
  } catch {
    throw binary();
  }
}

interface Wanted {
  readonly oldText: string;
  readonly replaceAll: boolean;
  readonly signal: AbortSignal;
}

async function find(
  place: Place,
  source: SourceText,
  { oldText, replaceAll, signal }: Wanted,
): Promise<Span[]> {
  const spans = findSpans(source, oldText, MAX_REPLACEMENTS + 1);
  const shown = showPath(place.given);
  if (spans.length === 0) {
    const near = await describeNearMiss(source.text, toLineFeeds(oldText), signal);
    throw toolError(
      `oldText does not occur in ${shown}. ${near || "Nothing in it is like it; read the file again."}`,
    );
  }
  if (spans.length > MAX_REPLACEMENTS) {
    throw toolError(
      `oldText occurs more than ${MAX_REPLACEMENTS} times in ${shown}; use bash for so many`,
    );
  }
  if (spans.length > 1 && !replaceAll) {
    const lines = spans.slice(0, MAX_LINE_NUMBERS).map(({ start }) => lineAt(source.text, start));
    const more = spans.length > MAX_LINE_NUMBERS ? " and more" : "";
    throw toolError(
      `oldText occurs ${spans.length} times in ${shown} (lines ${lines.join(", ")}${more}); take in more of the lines around it, or set replaceAll`,
    );
  }
  return spans;
}

function firstLine({ text }: SourceText, [first]: readonly Span[]): number {
  return lineAt(text, first?.start ?? 0);
}
