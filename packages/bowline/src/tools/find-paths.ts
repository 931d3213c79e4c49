/**
 * Which files and folders match a glob: tinyglobby walks and matches, this decides which folders it
 * gets to see.
 */
import {
  accessSync,
  closeSync,
  constants,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  statSync,
  type Dirent,
} from "node:fs";
import { join, resolve } from "node:path";
import { globSync, type FileSystemAdapter } from "tinyglobby";
import { descriptorFolder } from "./descriptors.ts";
import { escapeLineBreaks } from "../escape.ts";
import { IgnoreRules } from "./ignore-rules.ts";
import { isInside, isWithin } from "./inside.ts";
import { isHidden, type GlobJob, type SearchPlace, type SearchResult } from "./search.ts";
import { toToolError } from "./tool-error.ts";

/** Does a glob job. */
export function findPaths(job: GlobJob): SearchResult {
  const found = listPaths(job, { patterns: [job.pattern], kind: job.kind, withLinks: true });
  const lines: string[] = [];
  let room = job.characters;
  for (const path of found.slice(0, job.limit)) {
    const shown = escapeLineBreaks(job.prefix + path);
    const line = job.sizes ? `${sizeOf(join(job.base, path))}\t${shown}` : shown;
    room -= line.length + 1;
    if (room < 0) break;
    lines.push(line);
  }
  return { lines, total: found.length };
}

export interface ListOptions {
  readonly patterns: readonly string[];
  readonly kind: GlobJob["kind"];
  /**
   * Whether links to files inside the working directory count as files. Links to folders are never
   * followed.
   */
  readonly withLinks: boolean;
}

/** Paths relative to `base`, sorted by code unit; folders end with "/". */
export function listPaths(
  place: SearchPlace,
  { patterns, kind, withLinks }: ListOptions,
): string[] {
  // A name that only begins with ".." is no way up, for which tinyglobby takes it.
  const names = patterns.map((pattern) => pattern.replace(/^\.(?=\.[^/])/, "[.]"));
  const found = globSync(names, {
    cwd: place.base,
    dot: true,
    expandDirectories: false,
    followSymbolicLinks: false,
    onlyFiles: kind === "file",
    onlyDirectories: kind === "directory",
    fs: { readdirSync: createReaddir(place, withLinks) as unknown as Readdir },
  });
  checkThere(place);
  return found.filter((path) => !/^(?:\.{1,2}(?:\/|$))*$/.test(path)).toSorted(byCodeUnit);
}

/** Node's has many forms; the walk uses the one that gives entries. */
type Readdir = NonNullable<FileSystemAdapter["readdirSync"]>;
type Entry = Pick<Dirent, "name" | "isFile" | "isDirectory" | "isSymbolicLink">;

/**
 * Reads a folder without what is ignored or hidden. A glob can name folders to start from, so each is
 * checked, and shows nothing if refused.
 */
function createReaddir(place: SearchPlace, withLinks: boolean): (path: string) => Entry[] {
  const { root, base } = place;
  const rules = new IgnoreRules(root, base);
  return (path) => {
    const folder = resolve(path);
    if (!isInside(base, folder) || rules.isFolderIgnored(folder)) return [];
    const entries: Entry[] = [];
    for (const entry of readFolder(place, folder)) {
      const here = join(folder, entry.name);
      if (rules.isIgnored(here, entry.isDirectory()) || isHidden(place, here)) continue;
      if (!entry.isSymbolicLink()) entries.push(entry);
      else if (withLinks && isFileInside(place, here)) entries.push(asFile(entry.name));
    }
    return entries;
  };
}

/** Looks where it really is once it is open, so that a link swapped in for it shows nothing. */
function readFolder(place: SearchPlace, folder: string): Dirent[] {
  if (descriptorFolder === undefined) {
    return isWithin(place, realpathSync.native(folder))
      ? readdirSync(folder, { withFileTypes: true })
      : [];
  }
  const descriptor = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    const opened = `${descriptorFolder}/${descriptor}`;
    return isWithin(place, readlinkSync(opened))
      ? readdirSync(opened, { withFileTypes: true })
      : [];
  } finally {
    closeSync(descriptor);
  }
}

function isFileInside(place: SearchPlace, link: string): boolean {
  try {
    const target = realpathSync.native(link);
    return isWithin(place, target) && statSync(target).isFile();
  } catch {
    return false; // it dangles
  }
}

function asFile(name: string): Entry {
  return { name, isFile: () => true, isDirectory: () => false, isSymbolicLink: () => false };
}

/**
 * The walk passes by what it cannot read. That is no answer if it is the folder itself, or if that
 * is gone by now.
 */
function checkThere({ base, prefix }: SearchPlace): void {
  try {
    accessSync(base, constants.R_OK | constants.X_OK);
  } catch (error) {
    throw toToolError(error, prefix || ".", "folder");
  }
}

/**
 * A folder has no size. Of a file that is gone by now, or that may not be looked at, it is not
 * known.
 */
function sizeOf(path: string): number | "?" {
  try {
    const stats = statSync(path);
    return stats.isFile() ? stats.size : 0;
  } catch {
    return "?";
  }
}

function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
