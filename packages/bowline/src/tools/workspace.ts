/**
 * Confines the file tools. A path from a model is resolved to the real path of something inside the
 * working directory, or refused. Links may be used if they end inside. Unconfined tools may use all
 * but /dev, /proc and /sys. Files are opened by their real path and checked again after opening
 * (open-file.ts, write-file.ts), since a link may be swapped in between.
 */
import { realpathSync, statSync } from "node:fs";
import { readlink, realpath } from "node:fs/promises";
import { basename, dirname, join, parse, relative, resolve, sep } from "node:path";
import { BowlineError } from "@bowline/core";
import { showPath } from "../escape.ts";
import { isInside, isWithin } from "./inside.ts";
import type { ToolLimits } from "./limits.ts";
import type { Sandbox } from "./sandbox.ts";
import { toolError, toToolError } from "./tool-error.ts";

export interface ToolOptions {
  /** The working directory: relative paths and bash start here, and file tools stay inside. */
  readonly root: string;
  /**
   * `false` lets the file tools use all paths that this process may, except /dev, /proc and /sys.
   * Default true. bash is never confined.
   */
  readonly confined?: boolean;
  /**
   * The environment of bash, from which variables that look like secrets are removed. Default
   * `process.env`.
   */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Variables to pass to bash although their names look like secrets. Default none. */
  readonly allowedSecrets?: readonly string[];
  /**
   * Folder for the full text of long bash output, at most 1 GB. Default: the system's temporary
   * folder.
   */
  readonly outputFolder?: string;
  /** Default: those of {@link ToolLimits}. */
  readonly limits?: ToolLimits;
  /**
   * Paths that grep and glob leave out, relative to the working directory. `*` matches a name, `**`
   * any folders. Called for each search. Default none.
   */
  readonly hidden?: (toolName: string) => readonly string[];
  /** The sandbox of bash, from `openSandbox`. Default: none. */
  readonly sandbox?: Sandbox;
}

export interface Workspace {
  /** The working directory as given, absolute. */
  readonly name: string;
  /** The working directory without symbolic links. */
  readonly root: string;
  /**
   * The folder that paths outside the root must stay in: the root itself, or the root of the file
   * system.
   */
  readonly reach: string;
  /** Describes to a model where the file tools work. */
  readonly where: string;
  /** See {@link ToolOptions.hidden}. */
  readonly hidden: (toolName: string) => readonly string[];
}

/** A path within reach, which may not exist yet. */
export interface Place {
  /** The path as the model wrote it. */
  readonly given: string;
  /**
   * Relative to the working directory, with "/" as separator; "." is the directory itself. Absolute
   * for paths outside it.
   */
  readonly shown: string;
  /** The absolute path. It contained no symbolic links at the time of its resolution. */
  readonly real: string;
}

const MAX_PATH_LENGTH = 4096;
const MAX_LINKS = 40;

/** Throws `invalid_argument` if the working directory cannot be used. */
export function createWorkspace({
  root,
  confined = true,
  hidden = () => [],
}: ToolOptions): Workspace {
  if (typeof root !== "string")
    throw new BowlineError("invalid_argument", "The tools need root, the path of a folder.");
  const name = resolve(root);
  try {
    if (!statSync(name).isDirectory()) throw new Error("it is not a folder");
    const real = realpathSync.native(name);
    if (confined)
      return { name, root: real, reach: real, where: "inside the working directory", hidden };
    const where = "in the working directory or, by an absolute path, anywhere";
    return { name, root: real, reach: parse(real).root, where, hidden };
  } catch (cause) {
    throw new BowlineError(
      "invalid_argument",
      `The working directory ${showPath(name)} cannot be used.`,
      { cause },
    );
  }
}

export function isConfined({ root, reach }: Workspace): boolean {
  return root === reach;
}

export function outsideError(workspace: Workspace, given: string): Error {
  if (!isConfined(workspace))
    return toolError(`${showPath(given)} is in /dev, /proc or /sys, which hold no files`);
  return toolError(
    `${showPath(given)} is outside the working directory ${showPath(workspace.name)}`,
  );
}

/**
 * Resolves a path from a model. Throws a tool error for a path that leads outside or is invalid.
 */
export async function resolveInside(workspace: Workspace, given: string): Promise<Place> {
  if (given === "") throw toolError("The path is empty");
  if (given.includes("\0")) throw toolError(`The path contains a NUL byte: ${showPath(given)}`);
  if (/\p{Cs}/u.test(given)) throw toolError(`The path is not valid text: ${showPath(given)}`);
  if (given.length > MAX_PATH_LENGTH)
    throw toolError(`The path is too long (${given.length} characters): ${showPath(given)}`);
  // A shell would expand it, and a folder named "~" is never intended. "./~" is possible.
  if (/^~(?:[/\\]|$)/.test(given)) {
    if (isConfined(workspace)) throw outsideError(workspace, given);
    throw toolError(
      `${showPath(given)} begins with ~, which stands for nothing here; write the whole path`,
    );
  }
  const inside = toRelative(workspace, given);
  if (inside === undefined && isConfined(workspace)) throw outsideError(workspace, given);
  const start =
    inside === undefined ? resolve(workspace.name, given) : join(workspace.root, inside);
  const { path, problem } = await settle(start, MAX_LINKS);
  if (!isWithin(workspace, path)) throw outsideError(workspace, given);
  if (problem !== undefined) throw toToolError(problem, given);
  return {
    given,
    shown: inside === undefined ? start : inside.split(sep).join("/") || ".",
    real: path,
  };
}

/**
 * Makes a path relative without resolving links. The working directory may be given by its own name
 * or by its real path.
 */
function toRelative(workspace: Workspace, given: string): string | undefined {
  const path = resolve(workspace.name, given);
  for (const root of [workspace.name, workspace.root])
    if (isInside(root, path)) return relative(root, path);
  return undefined;
}

interface Settled {
  readonly path: string;
  readonly exists: boolean;
  /** The error that stopped resolution, unless the path does not exist. */
  readonly problem?: unknown;
}

/**
 * Returns the real path, also of a missing file: that of the deepest existing ancestor, plus the
 * rest. A dangling link resolves to its target, since creating the file would follow it. Continues
 * after an error to learn whether the path leads outside.
 */
async function settle(path: string, links: number): Promise<Settled> {
  let problem: unknown;
  try {
    return { path: await realpath(path), exists: true };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") problem = error;
  }
  if (dirname(path) === path) return { path, exists: false, problem };
  const parent = await settle(dirname(path), links);
  problem ??= parent.problem;
  const here = join(parent.path, basename(path));
  const target = parent.exists ? await readlink(here).catch(() => undefined) : undefined;
  if (target === undefined || links === 0) return { path: here, exists: false, problem };
  const end = await settle(resolve(parent.path, target), links - 1);
  return { ...end, problem: problem ?? end.problem };
}
