/**
 * Decides which paths searches skip: `.git`, `node_modules`, and paths that the working directory's
 * `.gitignore` files ignore, including nested ones.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import ignore, { type Ignore, type TestResult } from "ignore";
import { isInside } from "./inside.ts";

const ALWAYS = new Set([".git", "node_modules"]);
const MAX_BYTES = 1024 * 1024;
/** Git's default for `core.ignorecase`. */
const ignorecase = process.platform === "win32" || process.platform === "darwin";

export class IgnoreRules {
  /** Rules above this folder are not used. */
  readonly #top: string;
  readonly #base: string;
  readonly #rules = new Map<string, Rules | undefined>();
  readonly #folders = new Map<string, boolean>();

  /** If `base` itself is ignored, only the rules inside it apply, because the call named it. */
  constructor(root: string, base: string) {
    this.#top = root;
    this.#base = root;
    const isIgnored = this.isFolderIgnored(base);
    this.#folders.clear();
    this.#base = base;
    if (isIgnored) this.#top = base;
  }

  /** Returns true if a path is ignored. The folder that contains it must not be. */
  isIgnored(path: string, isFolder: boolean): boolean {
    if (ALWAYS.has(basename(path))) return true;
    for (let folder = dirname(path); isInside(this.#top, folder); folder = dirname(folder)) {
      const rules = this.#rulesOf(folder);
      const relative = path.slice(folder === "/" ? 1 : folder.length + 1);
      const { ignored, unignored } = rules?.test(relative, isFolder) ?? {
        ignored: false,
        unignored: false,
      };
      if (ignored || unignored) return ignored;
      if (folder === this.#top) break;
    }
    return false;
  }

  /** Returns true if the folder or a parent, below the base, is ignored. */
  isFolderIgnored(folder: string): boolean {
    if (folder === this.#base || !isInside(this.#base, folder)) return false;
    let isIgnored = this.#folders.get(folder);
    isIgnored ??= this.isFolderIgnored(dirname(folder)) || this.isIgnored(folder, true);
    this.#folders.set(folder, isIgnored);
    return isIgnored;
  }

  #rulesOf(folder: string): Rules | undefined {
    if (!this.#rules.has(folder)) this.#rules.set(folder, readRules(join(folder, ".gitignore")));
    return this.#rules.get(folder);
  }
}

/** The rules of one file. */
class Rules {
  readonly #text: string;
  readonly #all: Ignore;
  /** Rule sets for folders that are ignored here but included by another file. */
  readonly #amended = new Map<string, Ignore>();

  constructor(text: string) {
    this.#text = text;
    this.#all = ignore({ ignorecase }).add(text);
  }

  /**
   * Tests a path. Its folder is known to be included, whatever these rules say about the folder.
   */
  test(path: string, isFolder: boolean): TestResult {
    const parent = dirname(path);
    const isReturned = parent !== "." && this.#all.test(`${parent}/`).ignored;
    return (isReturned ? this.#without(parent) : this.#all).test(path + (isFolder ? "/" : ""));
  }

  /** Returns the rules with exceptions for a folder and its parents. */
  #without(folder: string): Ignore {
    let rules = this.#amended.get(folder);
    if (rules === undefined) {
      rules = ignore({ ignorecase }).add(this.#text);
      for (let path = folder; path !== "."; path = dirname(path)) {
        rules.add([`!/${path.replaceAll(/[\\*?[\]]/g, String.raw`\$&`)}/`]);
      }
      this.#amended.set(folder, rules);
    }
    return rules;
  }
}

/**
 * Reads a rules file. Like git, does not follow links. Returns undefined if it is not a readable
 * regular file.
 */
function readRules(path: string): Rules | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile() || stats.size > MAX_BYTES) return undefined;
    return new Rules(readFileSync(descriptor, "utf8"));
  } finally {
    closeSync(descriptor);
  }
}
