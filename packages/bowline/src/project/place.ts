/** Finds the root of a project: the folder with `.git`, else the working directory. */
import { realpath, stat } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";

export interface Place {
  /** The working directory without symbolic links. */
  readonly directory: string;
  /** The git root, else the working directory. */
  readonly root: string;
  readonly isGit: boolean;
  /**
   * The folders from the root down to the working directory. Of more than 64, those between the
   * root and the nearest 63 are left out.
   */
  readonly folders: readonly string[];
}

const MAX_FOLDERS = 64;

/** Rejects with the system's error if the directory cannot be used. */
export async function findPlace(workingDirectory: string): Promise<Place> {
  const directory = await realpath(workingDirectory);
  const gitRoot = await findGitRoot(directory);
  const root = gitRoot ?? directory;
  const folders = [root];
  for (const name of namesBetween(root, directory)) folders.push(join(folders.at(-1) ?? "", name));
  const nearest = folders.slice(1).slice(1 - MAX_FOLDERS);
  return { directory, root, isGit: gitRoot !== undefined, folders: [root, ...nearest] };
}

/** Returns the names on the way from a folder down to another. */
export function namesBetween(folder: string, below: string): string[] {
  return relative(folder, below)
    .split(sep)
    .filter((name) => name !== "");
}

/** Returns a path relative to a folder, with "/" as separator. */
export function shownFrom(folder: string, path: string): string {
  return namesBetween(folder, path).join("/");
}

async function findGitRoot(directory: string): Promise<string | undefined> {
  for (let folder = directory; ; folder = dirname(folder)) {
    const found = await stat(join(folder, ".git")).catch(() => undefined);
    if (found?.isDirectory() === true || found?.isFile() === true) return folder;
    if (dirname(folder) === folder) return undefined;
  }
}
