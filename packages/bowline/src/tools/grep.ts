/** The `grep` tool: finds lines that match a regular expression. */
import { access, constants, stat } from "node:fs/promises";
import { defineTool, type AgentTool } from "@bowline/core";
import { showPath } from "../escape.ts";
import { binaryKindOf, HEAD_BYTES } from "./file-kind.ts";
import { notRegular, openFile } from "./open-file.ts";
import {
  belowFolder,
  DEFAULT_CHARACTERS,
  isHidden,
  MAX_SEARCHED_BYTES,
  type GrepJob,
  type SearchPlace,
} from "./search.ts";
import { SearchQueue } from "./search-queue.ts";
import { toolError, toToolError } from "./tool-error.ts";
import {
  createWorkspace,
  resolveInside,
  type Place,
  type ToolOptions,
  type Workspace,
} from "./workspace.ts";

/** The `details` of a grep. */
export interface GrepDetails {
  /** Number of hits in the result. */
  readonly hits: number;
  readonly truncated: boolean;
}

const DEFAULT_LIMIT = 200;
const MAX_LIMIT = 10_000;
const NO_LINE_FEEDS = String.raw`[no matches; lines are searched one by one, so \n in the pattern matches nothing]`;

const parameters = {
  type: "object",
  properties: {
    pattern: {
      type: "string",
      description: "A JavaScript regular expression, matched against each line",
    },
    path: {
      type: "string",
      description: "The folder or the file to search (default: the working directory)",
    },
    glob: {
      type: "string",
      description: 'Which files: "*.ts" (at any depth), "src/**/*.ts", "!*.test.ts"',
    },
    ignoreCase: { type: "boolean", description: "Take upper and lower case as the same" },
    literal: { type: "boolean", description: "Take the pattern as plain text" },
    limit: {
      type: "integer",
      minimum: 1,
      description: `The most hits to show (default ${DEFAULT_LIMIT})`,
    },
  },
  required: ["pattern"],
  additionalProperties: false,
} as const;

export function createGrepTool(options: ToolOptions): AgentTool {
  const workspace = createWorkspace(options);
  const queue = new SearchQueue();
  const { searchMs, resultCharacters: characters = DEFAULT_CHARACTERS } = options.limits ?? {};
  return defineTool<typeof parameters, GrepDetails>({
    name: "grep",
    label: "Grep",
    description:
      `Searches the text files ${workspace.where}, line by line. Each hit is a line path:line:text. Skips binary files, ` +
      "files above 5 MiB, .git, node_modules and what .gitignore ignores, unless path names such a folder.",
    parameters,
    replay: "safe",
    async execute(
      { pattern, path, glob, ignoreCase = false, literal = false, limit = DEFAULT_LIMIT },
      { signal },
    ) {
      const expression = toExpression(pattern, { ignoreCase, literal });
      const place = await resolvePlace(workspace, path || ".");
      const most = Math.min(limit, MAX_LIMIT);
      const job: GrepJob = {
        ...place,
        ...expression,
        type: "grep",
        glob: glob || undefined,
        limit: most,
        characters,
      };
      const { lines, total } = await queue.search(job, { signal, timeLimitMs: searchMs });
      const truncated = total > lines.length;
      const notice = truncated ? [`[${lines.length} of more hits shown; narrow the search]`] : [];
      const none = !literal && hasLineFeed(pattern) ? NO_LINE_FEEDS : "[no matches]";
      const text = total === 0 ? none : [...lines, ...notice].join("\n");
      return { content: [{ type: "text", text }], details: { hits: lines.length, truncated } };
    },
  });
}

/**
 * Compiles with the `u` flag if possible. `\p{L}` needs it; needless escapes such as `\-` do not
 * allow it.
 */
function toExpression(
  pattern: string,
  flags: { readonly ignoreCase: boolean; readonly literal: boolean },
): Pick<GrepJob, "source" | "flags"> {
  if (pattern === "") throw toolError("The pattern is empty");
  if (/[\r\n]/.test(pattern))
    throw toolError(
      "The pattern contains a line break, but lines are searched one by one; search for one of its lines",
    );
  const source = flags.literal
    ? pattern.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
    : pattern;
  const given = flags.ignoreCase ? "i" : "";
  for (const mode of [`u${given}`, given]) {
    try {
      return { source, flags: new RegExp(source, mode).flags };
    } catch (error) {
      if (mode !== given) continue;
      const { message } = error as Error;
      throw toolError(
        `${showPath(message)}. The pattern is a JavaScript regular expression; set literal for plain text`,
        error,
      );
    }
  }
  throw new Error("unreachable");
}

/** Returns true if an expression matches a line feed: `\n`, but not `[^\n]` or `\\n`. */
function hasLineFeed(pattern: string): boolean {
  return /(?<!\\)(?:\\\\)*\\n/.test(pattern.replaceAll(/\[(?:\\.|[^\]\\])*\]/g, ""));
}

async function resolvePlace(
  workspace: Workspace,
  path: string,
): Promise<SearchPlace & Pick<GrepJob, "isFile">> {
  try {
    const place = await resolveInside(workspace, path);
    const stats = await stat(place.real);
    if (stats.isDirectory()) {
      await access(place.real, constants.R_OK | constants.X_OK);
      return { ...belowFolder(workspace, place, "grep"), isFile: false };
    }
    if (!stats.isFile()) throw notRegular(place, stats);
    await checkFile(workspace, place);
    const { root, reach } = workspace;
    const hidden = workspace.hidden("grep");
    if (isHidden({ root, hidden }, place.real))
      throw toolError(`${showPath(path)} is left out of searches by a rule`);
    return { root, reach, base: place.real, prefix: place.shown, hidden, isFile: true };
  } catch (error) {
    throw toToolError(error, path, "file or folder");
  }
}

/** Throws if a file that the call names would be skipped. */
async function checkFile(workspace: Workspace, place: Place): Promise<void> {
  const { handle, stats } = await openFile(workspace, place);
  try {
    const shown = showPath(place.given);
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    const head = buffer.subarray(0, bytesRead);
    if (head.includes(0))
      throw toolError(`${shown} is not a text file (${binaryKindOf(head)}, ${stats.size} bytes)`);
    if (stats.size > MAX_SEARCHED_BYTES) {
      throw toolError(
        `${shown} has ${stats.size} bytes; grep takes files of at most ${MAX_SEARCHED_BYTES}, bash has no such limit`,
      );
    }
  } finally {
    await handle.close();
  }
}
