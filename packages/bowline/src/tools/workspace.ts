/**
 * The confinement of the file tools: a path from a model is resolved to the real path of something
 * inside the working directory, or refused. A symbolic link is fine if it ends inside. Unconfined,
 * only the system's own folders are out of reach. What is opened later is the real path, which has
 * no links left in it; opening checks again (open-file.ts, write-file.ts), since a link may be
 * swapped in between.
 */
import { realpathSync, statSync } from "node:fs";
import { readlink, realpath } from "node:fs/promises";
import { basename, dirname, join, parse, relative, resolve, sep } from "node:path";
import { BowlineError } from "@bowline/core";
import { showPath } from "../escape.ts";
import { isInside, isWithin } from "./inside.ts";
import type { ToolLimits } from "./limits.ts";
import { toolError, toToolError } from "./tool-error.ts";

export interface ToolOptions {
  /**
   * The working directory: where relative paths begin and bash starts. The file tools stay inside.
   */
  readonly root: string;
  /**
   * `false` lets the file tools read and write wherever this process may, /dev, /proc and /sys
   * apart. Default true. bash is never confined.
   */
  readonly confined?: boolean;
  /**
   * What bash's environment is made from, without what looks like a secret. Default `process.env`.
   */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Variables that bash gets although their names look like those of secrets. Default none. */
  readonly allowedSecrets?: readonly string[];
  /**
   * Where bash keeps the full text of long output, 1 GB of it at most. Default the system's
   * temporary folder.
   */
  readonly outputFolder?: string;
  readonly limits?: ToolLimits;
  /**
   * Paths that grep and glob leave out, relative to the working directory: `*` stands for a name,
   * `**` for any folders. Asked for each search. Default none.
   */
  readonly hidden?: (toolName: string) => readonly string[];
}

export interface Workspace {
  /** The working directory as it was named, absolute. */
  readonly name: string;
  /** The same without symbolic links. */
  readonly root: string;
  /**
   * What no path may leave that leads out of the root: the root again, or that of the file system.
   */
  readonly reach: string;
  /** Where the file tools work, in words for a model. */
  readonly where: string;
  /** See {@link ToolOptions.hidden}. */
  readonly hidden: (toolName: string) => readonly string[];
}

/** Something within reach, which may not exist yet. */
export interface Place {
  /** As the model wrote it. */
  readonly given: string;
  /**
   * Relative to the working directory with "/" between the parts, "." is the directory itself;
   * absolute for what is not in it.
   */
  readonly shown: string;
  /** Absolute, without symbolic links when it was looked at. */
  readonly real: string;
}

const MAX_PATH_LENGTH = 4096;
const MAX_LINKS = 40;

/** Throws `invalid_argument` if the working directory is none. */
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
 * Resolves a path from a model. Throws one line for a path that leads outside, or that cannot be
 * one.
 */
export async function resolveInside(workspace: Workspace, given: string): Promise<Place> {
  if (given === "") throw toolError("The path is empty");
  if (given.includes("\0")) throw toolError(`The path contains a NUL byte: ${showPath(given)}`);
  if (/\p{Cs}/u.test(given)) throw toolError(`The path is not valid text: ${showPath(given)}`);
  if (given.length > MAX_PATH_LENGTH)
    throw toolError(`The path is too long (${given.length} characters): ${showPath(given)}`);
  // A shell would expand it; creating a folder called "~" is never what was meant. "./~" is one.
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
 * By the letters of the path alone; the working directory may go by its own name or by the one
 * without links.
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
  /** Why it could not be resolved to its end, if not because nothing is there. */
  readonly problem?: unknown;
}

/**
 * The real path, also of what does not exist: the deepest ancestor that does, and the rest. A
 * dangling link counts as what it points to, since creating a file there would follow it. Goes on
 * after a problem to learn whether the path leads outside.
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
