/** The parts of a call that rules are compared with: the commands of bash, or a path. */
import { relative, resolve, sep } from "node:path";
import { shellWord } from "../terminal.ts";
import { commandWords } from "./command-words.ts";
import { readsFolder } from "./reading.ts";

export type Part =
  | { readonly kind: "words"; readonly words: readonly string[] }
  | { readonly kind: "path"; readonly path: string; readonly target?: string }
  /** Everything below a folder. */
  | { readonly kind: "tree"; readonly path: string; readonly target?: string };

/** The working directory. Without it, absolute paths and links are not understood. */
export interface WorkingPlace {
  /** The absolute path of the working directory. */
  readonly root: string;
  /** Returns the absolute path without symbolic links, as far as it exists. */
  readonly realPath: (path: string) => string;
}

/** Returns undefined if the arguments cannot be understood. */
export function partsOf(
  { tool, args }: { readonly tool: string; readonly args: unknown },
  place?: WorkingPlace,
): Part[] | undefined {
  const { command, path, pattern } = (args ?? {}) as Readonly<Record<string, unknown>>;
  if (tool === "bash") {
    const commands = typeof command === "string" ? commandWords(command) : undefined;
    return commands?.map((words) => ({ kind: "words", words }));
  }
  if (tool !== "grep" && tool !== "glob") {
    const plain = plainPath(path, place);
    return plain === undefined ? undefined : [{ kind: "path", ...withTarget(plain, place) }];
  }
  // A glob may start with "../".
  const isOdd = tool === "glob" && (typeof pattern !== "string" || /^\/|\.\./.test(pattern));
  const plain = path === undefined || path === "" ? "." : plainPath(path, place);
  if (plain === undefined || isOdd) return undefined;
  return [{ kind: "tree", ...withTarget(plain, place) }];
}

/**
 * Normalises a path. Returns undefined for `..`, and for an absolute path outside the working
 * directory.
 */
function plainPath(path: unknown, place: WorkingPlace | undefined): string | undefined {
  if (typeof path !== "string" || path === "" || /^[~\\]|^[a-z]:|\0|\\/i.test(path))
    return undefined;
  if (path.split("/").includes("..")) return undefined;
  if (path.startsWith("/")) return place === undefined ? undefined : below(place.root, path);
  return (
    path
      .split("/")
      .filter((name) => name !== "" && name !== ".")
      .join("/") || "."
  );
}

/** Returns the path relative to a folder; undefined outside it. */
function below(root: string, path: string): string | undefined {
  const inside = relative(root, resolve(path));
  if (inside === ".." || inside.startsWith(`..${sep}`) || inside.startsWith("/")) return undefined;
  return inside.split(sep).join("/") || ".";
}

/** Adds where a link leads: a relative path, or an absolute one outside the working directory. */
function withTarget(
  path: string,
  place: WorkingPlace | undefined,
): { readonly path: string; readonly target?: string } {
  if (place === undefined) return { path };
  const real = place.realPath(resolve(place.root, path));
  const target = below(place.realPath(place.root), real) ?? real;
  return target === path ? { path } : { path, target };
}

/** Returns the names of a part's path: its own, and that of a link's target. */
export function pathsOf(part: Part): readonly string[] {
  if (part.kind === "words") return [];
  return part.target === undefined ? [part.path] : [part.path, part.target];
}

/** Returns a part with its paths relative to a folder above the working directory. */
export function inBase(part: Part, base: string | undefined): Part {
  if (part.kind === "words" || base === undefined) return part;
  const { kind, path, target } = part;
  return {
    kind,
    path: joined(base, path),
    ...(target !== undefined && { target: joined(base, target) }),
  };
}

function joined(base: string, path: string): string {
  if (path.startsWith("/")) return path;
  return path === "." ? base : `${base}/${path}`;
}

export interface PathContext {
  readonly place: WorkingPlace | undefined;
  /** See {@link inBase}. */
  readonly base: string | undefined;
}

/**
 * Returns the paths that the words of a command may name; "." for one that may lead anywhere.
 */
export function pathsIn(part: Part, { place, base }: PathContext): readonly string[] {
  if (part.kind !== "words") return [];
  const based = (path: string): string => (base === undefined ? path : joined(base, path));
  const named = part.words
    .flatMap(valuesIn)
    .flatMap((value) => value.split(/[=:,@]/))
    .filter((piece) => piece !== "")
    .flatMap((piece) => {
      const plain = plainPath(piece, place);
      if (plain === undefined) return ["."];
      const { path, target } = withTarget(plain, place);
      return [path, ...(target === undefined ? [] : [target])].map(based);
    });
  return readsFolder(part.words) ? [...named, "."] : named;
}

/** Letters of options before a value in the same word, at most. */
const MAX_LETTERS = 6;

/** Returns a word without its dashes, and what may be the value of an option in it (`-nfpath`). */
function valuesIn(word: string): readonly string[] {
  const value = word.replace(/^-+/, "");
  if (!/^-[^-]/.test(word)) return [value];
  const letters = /^[A-Za-z]*/.exec(value)?.[0].length ?? 0;
  const starts = Array.from({ length: Math.min(letters, MAX_LETTERS) + 1 }, (_, at) => at);
  return starts.map((at) => value.slice(at));
}

/** Formats a part for a person. */
export function showPart(part: Part): string {
  switch (part.kind) {
    case "words":
      return part.words.map(shellWord).join(" ");
    case "path":
    case "tree":
      return part.target === undefined ? part.path : `${part.path} -> ${part.target}`;
  }
}
