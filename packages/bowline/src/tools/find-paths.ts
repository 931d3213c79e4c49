/**
 * Finds the files and folders that match a glob. tinyglobby walks and matches; this module decides
 * which folders it sees.
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

/** Runs a glob job. */
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
  /** Include links to files inside the working directory. Links to folders are never followed. */
  readonly withLinks: boolean;
}

/** Returns paths relative to `base`, sorted by code unit. Folders end with "/". */
export function listPaths(
  place: SearchPlace,
  { patterns, kind, withLinks }: ListOptions,
): string[] {
  // tinyglobby would treat a name that starts with ".." as the parent folder.
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

/** The overload of Node's `readdirSync` that the walk uses. */
type Readdir = NonNullable<FileSystemAdapter["readdirSync"]>;
type Entry = Pick<Dirent, "name" | "isFile" | "isDirectory" | "isSymbolicLink">;

/**
 * Creates a `readdir` that omits ignored and hidden entries. A glob can start in any folder, so
 * each one is checked; a refused folder appears empty.
 */
function createReaddir(place: SearchPlace, withLinks: boolean): (path: string) => Entry[] {
  const { root, base } = place;
  const rules = new IgnoreRules(root, base);
  return (path) => {
    const folder = resolve(path);
    if (!isInside(base, folder) || rules.isFolderIgnored(folder)) return [];
    const entries: Entry[] = [];
    // A pattern may begin in a link, whose name says nothing about what is hidden.
    const real = realOf(folder);
    for (const entry of readFolder(place, folder)) {
      const here = join(folder, entry.name);
      if (rules.isIgnored(here, entry.isDirectory())) continue;
      if (isHidden(place, here) || isHidden(place, join(real, entry.name))) continue;
      if (!entry.isSymbolicLink()) entries.push(entry);
      else if (withLinks && isFileInside(place, here)) entries.push(asFile(entry.name));
    }
    return entries;
  };
}

function realOf(folder: string): string {
  try {
    return realpathSync.native(folder);
  } catch {
    return folder; // it is gone, and reading it fails
  }
}

/** Checks the folder's real path after opening it, so that a link swapped in is not followed. */
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
    return false; // a dangling link
  }
}

function asFile(name: string): Entry {
  return { name, isFile: () => true, isDirectory: () => false, isSymbolicLink: () => false };
}

/**
 * Throws if the searched folder itself is unreadable or missing: the walk skips unreadable folders
 * silently.
 */
function checkThere({ base, prefix }: SearchPlace): void {
  try {
    accessSync(base, constants.R_OK | constants.X_OK);
  } catch (error) {
    throw toToolError(error, prefix || ".", "folder");
  }
}

/** Returns 0 for a folder, and "?" for a file that is missing or not accessible. */
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
