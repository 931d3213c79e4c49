/** What searches skip: `.git`, `node_modules`, and what the `.gitignore` files of the working directory ignore, nested ones too. */
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import ignore, { type Ignore } from "ignore";
import { isInside } from "./inside.ts";

const ALWAYS = new Set([".git", "node_modules"]);
const MAX_BYTES = 1024 * 1024;
/** As git has it by default. */
const ignorecase = process.platform === "win32" || process.platform === "darwin";

export class IgnoreRules {
  /** Rules above this folder do not count. */
  readonly #top: string;
  readonly #base: string;
  readonly #rules = new Map<string, Ignore | undefined>();
  readonly #folders = new Map<string, boolean>();

  /** A `base` that is itself ignored was asked for by name: then only the rules inside it count. */
  constructor(root: string, base: string) {
    this.#top = root;
    this.#base = root;
    const isIgnored = this.isFolderIgnored(base);
    this.#folders.clear();
    this.#base = base;
    if (isIgnored) this.#top = base;
  }

  /** `path` lies in a folder that is not ignored. */
  isIgnored(path: string, isFolder: boolean): boolean {
    if (ALWAYS.has(basename(path))) return true;
    for (let folder = dirname(path); isInside(this.#top, folder); folder = dirname(folder)) {
      const rules = this.#rulesOf(folder);
      if (rules !== undefined) {
        const { ignored, unignored } = rules.test(
          path.slice(folder === "/" ? 1 : folder.length + 1) + (isFolder ? "/" : ""),
        );
        if (ignored || unignored) return ignored;
      }
      if (folder === this.#top) break;
    }
    return false;
  }

  /** Whether the folder or one above it, below the base, is ignored. */
  isFolderIgnored(folder: string): boolean {
    if (folder === this.#base || !isInside(this.#base, folder)) return false;
    let isIgnored = this.#folders.get(folder);
    isIgnored ??= this.isFolderIgnored(dirname(folder)) || this.isIgnored(folder, true);
    this.#folders.set(folder, isIgnored);
    return isIgnored;
  }

  #rulesOf(folder: string): Ignore | undefined {
    if (!this.#rules.has(folder)) this.#rules.set(folder, readRules(join(folder, ".gitignore")));
    return this.#rules.get(folder);
  }
}

/** Like git it does not follow a link; what is no regular file or cannot be read has no rules. */
function readRules(path: string): Ignore | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile() || stats.size > MAX_BYTES) return undefined;
    return ignore({ ignorecase }).add(readFileSync(descriptor, "utf8"));
  } finally {
    closeSync(descriptor);
  }
}
