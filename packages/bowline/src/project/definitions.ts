/**
 * Finds the Markdown files that define commands, skills and agents. The number of files, their
 * sizes and the depth of folders are limited, and links out of the project are not followed.
 */
import { lstat, opendir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { isInFolder, readBounded } from "../settings/bounded-file.ts";
import { showPath } from "../escape.ts";

export interface DefinitionFile {
  /** Absolute. */
  readonly path: string;
  /** The folder names and the file name below the folder of definitions, without `.md`. */
  readonly names: readonly string[];
  readonly text: string;
  readonly hash: string;
}

/** The limits of one project, used up by all its definitions. */
export interface Allowance {
  folders: number;
  files: number;
  bytes: number;
}

export function createAllowance(): Allowance {
  return { folders: 1000, files: 500, bytes: 8 * 1024 * 1024 };
}

const MAX_ENTRIES = 1000;
const MAX_BYTES = 256 * 1024;

export interface FindOptions {
  /** The folder of definitions, such as `.claude/commands`. */
  readonly folder: string;
  /** The real path that files must be in; undefined for the user's own. */
  readonly within: string | undefined;
  /** How many levels of folders are searched. */
  readonly depth: number;
  readonly allowance: Allowance;
  readonly notice: (text: string) => void;
}

/** Returns the `.md` files of a folder, ordered by path. A missing folder has none. */
export async function findMarkdown(options: FindOptions): Promise<DefinitionFile[]> {
  const paths = await list(options, options.folder, [], options.depth);
  return readAll(
    options,
    paths
      .filter(({ names }) => (names.at(-1) ?? "").endsWith(".md"))
      .map(({ path, names }) => ({
        path,
        names: [...names.slice(0, -1), (names.at(-1) ?? "").slice(0, -3)],
      })),
  );
}

/** Returns the files `<folder>/<name>/SKILL.md`, ordered by name. */
export async function findSkillFiles(options: FindOptions): Promise<DefinitionFile[]> {
  const folders = await entriesOf(options, options.folder);
  const skills = folders
    .filter(({ isFile }) => !isFile)
    .map(({ name }) => ({ path: join(options.folder, name, "SKILL.md"), names: [name] }));
  return readAll(options, skills);
}

interface Listed {
  readonly path: string;
  readonly names: readonly string[];
}

async function list(
  options: FindOptions,
  folder: string,
  names: readonly string[],
  depth: number,
): Promise<Listed[]> {
  const found: Listed[] = [];
  for (const { name, isFile } of await entriesOf(options, folder)) {
    const [path, own] = [join(folder, name), [...names, name]];
    if (isFile) found.push({ path, names: own });
    else if (depth > 1) found.push(...(await list(options, path, own, depth - 1)));
    if (found.length > MAX_ENTRIES) break;
  }
  return found;
}

interface Entry {
  readonly name: string;
  /** False for folders. Links, pipes and devices count as files, which reading refuses. */
  readonly isFile: boolean;
}

async function entriesOf(
  { within, notice, allowance }: FindOptions,
  folder: string,
): Promise<Entry[]> {
  const entries: Entry[] = [];
  if (allowance.folders < 0) return entries;
  try {
    await lstat(folder); // most are missing, and the real path of a deep one takes long
    const real = await realpath(folder);
    if (allowance.folders-- === 0) {
      notice(`${showPath(folder)} and the folders after it were not read: there are too many.`);
      return entries;
    }
    if (within !== undefined && !isInFolder(within, real)) {
      notice(`${showPath(folder)} leads out of the project and was not read.`);
      return [];
    }
    for await (const entry of await opendir(real)) {
      if (entries.length >= MAX_ENTRIES) {
        notice(
          `${showPath(folder)} has more than ${MAX_ENTRIES} entries; the others were not read.`,
        );
        break;
      }
      if (entry.name.startsWith(".")) continue;
      const isFile =
        !entry.isDirectory() && !(entry.isSymbolicLink() && !entry.name.endsWith(".md"));
      entries.push({ name: entry.name, isFile });
    }
  } catch (error) {
    const { code = "unknown error" } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT" && code !== "ENOTDIR")
      notice(`${showPath(folder)} cannot be read (${code}).`);
  }
  return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

async function readAll(
  { within, allowance, notice }: FindOptions,
  listed: readonly Listed[],
): Promise<DefinitionFile[]> {
  const files: DefinitionFile[] = [];
  for (const { path, names } of listed) {
    if (allowance.files <= 0 || allowance.bytes <= 0) {
      notice(`${showPath(path)} and the files after it were not read: there are too many.`);
      break;
    }
    const file = await readBounded(path, within, MAX_BYTES);
    if (file.kind === "missing") continue;
    if (file.kind === "refused") {
      notice(`${showPath(path)} ${file.why}.`);
      continue;
    }
    allowance.files--;
    allowance.bytes -= file.bytes;
    files.push({ path, names, text: file.text, hash: file.hash });
  }
  return files;
}
