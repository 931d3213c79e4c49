/** The `glob` tool: lists files and folders whose paths match a pattern. */
import { access, constants, stat } from "node:fs/promises";
import { isAbsolute, posix } from "node:path";
import { defineTool, type AgentTool } from "@bowline/core";
import { showPath } from "../escape.ts";
import { isInside } from "./inside.ts";
import { belowFolder, DEFAULT_CHARACTERS, type SearchPlace } from "./search.ts";
import { SearchQueue } from "./search-queue.ts";
import { toolError, toToolError } from "./tool-error.ts";
import {
  createWorkspace,
  isConfined,
  outsideError,
  resolveInside,
  type ToolOptions,
  type Workspace,
} from "./workspace.ts";

/** The `details` of a glob. */
export interface GlobDetails {
  /** Number of all matches, including those not shown. */
  readonly total: number;
}

const DEFAULT_LIMIT = 500;
const MAX_LIMIT = 100_000;

const parameters = {
  type: "object",
  properties: {
    pattern: {
      type: "string",
      description: 'A glob such as "*.ts" (this folder), "src/**/*.ts" or "{a,b}/*.md"',
    },
    path: { type: "string", description: "The folder to search (default: the working directory)" },
    kind: {
      type: "string",
      enum: ["file", "directory", "any"],
      description: "What to list (default file)",
    },
    sizes: { type: "boolean", description: "Put the size in bytes and a tab before each path" },
    limit: {
      type: "integer",
      minimum: 1,
      description: `The most paths to list (default ${DEFAULT_LIMIT})`,
    },
  },
  required: ["pattern"],
  additionalProperties: false,
} as const;

export function createGlobTool(options: ToolOptions): AgentTool {
  const workspace = createWorkspace(options);
  const queue = new SearchQueue();
  const { searchMs, resultCharacters: characters = DEFAULT_CHARACTERS } = options.limits ?? {};
  return defineTool<typeof parameters, GlobDetails>({
    name: "glob",
    label: "Glob",
    description:
      `Lists files or folders ${workspace.where}, whose paths match a glob, one a line, relative to the working directory. ` +
      "Skips .git, node_modules and what .gitignore ignores, unless path names such a folder. Does not follow links to folders.",
    parameters,
    replay: "safe",
    async execute(
      { pattern, path, kind = "file", sizes = false, limit = DEFAULT_LIMIT },
      { signal },
    ) {
      const start = await resolveFolder(workspace, path || ".");
      const inside = toInsidePattern(workspace, start, pattern);
      const place = inside.isFromRoot ? await resolveFolder(workspace, ".") : start;
      const job = {
        ...place,
        type: "glob",
        pattern: inside.pattern,
        kind,
        sizes,
        limit: Math.min(limit, MAX_LIMIT),
        characters,
      } as const;
      const { lines, total } = await queue.search(job, { signal, timeLimitMs: searchMs });
      const notice =
        total > lines.length ? [`[${lines.length} of ${total} shown; narrow the pattern]`] : [];
      const text = total === 0 ? "[no matches]" : [...lines, ...notice].join("\n");
      return { content: [{ type: "text", text }], details: { total } };
    },
  });
}

/**
 * Makes a pattern relative to the search folder, or to the working directory if it leads up or is
 * absolute. Throws for a pattern that leads outside.
 */
function toInsidePattern(
  workspace: Workspace,
  { prefix }: SearchPlace,
  given: string,
): { readonly pattern: string; readonly isFromRoot: boolean } {
  if (given === "") throw toolError("The pattern is empty");
  if (given.includes("\0")) throw toolError(`The pattern contains a NUL byte: ${showPath(given)}`);
  const normal = posix.normalize(given);
  if (isAbsolute(normal)) {
    const root = [workspace.name, workspace.root].find((folder) => isInside(folder, normal));
    if (root === undefined) throw outwardError(workspace, given);
    return { pattern: normal.slice(root.length).replace(/^\/+/, "") || "*", isFromRoot: true };
  }
  if (!leadsUp(normal)) return { pattern: normal, isFromRoot: false };
  const fromRoot = posix.join(prefix, normal);
  if (leadsUp(fromRoot) || isAbsolute(fromRoot)) throw outwardError(workspace, given);
  return { pattern: fromRoot, isFromRoot: true };
}

/**
 * Returns the error for a pattern that leads out of the working directory or of the search folder.
 */
function outwardError(workspace: Workspace, given: string): Error {
  if (isConfined(workspace)) return outsideError(workspace, given);
  return toolError(
    `The pattern ${showPath(given)} leads out of the folder that is searched; name the other one with path`,
  );
}

function leadsUp(path: string): boolean {
  return path === ".." || path.startsWith("../");
}

async function resolveFolder(workspace: Workspace, path: string): Promise<SearchPlace> {
  try {
    const place = await resolveInside(workspace, path);
    const { real } = place;
    if (!(await stat(real)).isDirectory())
      throw toolError(`${showPath(path)} is not a folder; glob searches folders`);
    await access(real, constants.R_OK | constants.X_OK);
    return belowFolder(workspace, place, "glob");
  } catch (error) {
    throw toToolError(error, path, "folder");
  }
}
