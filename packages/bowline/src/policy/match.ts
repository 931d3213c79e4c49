/** Compares the pattern of a rule with a part of a call. */
import { isLike } from "../is-like.ts";
import { programOf } from "./command-words.ts";
import { pathsIn, pathsOf, type Part, type PathContext } from "./parts.ts";
import { whyRisky } from "./risky-options.ts";

/** How an allow rule relates to a part. */
export type Coverage =
  | { readonly kind: "covered" }
  | { readonly kind: "other" }
  /** The rule ends in a star, and the part has an option that was hardly meant. */
  | { readonly kind: "risky"; readonly why: string };

/** Compares an allow rule with a part, exactly. */
export function coverageOf(pattern: string, part: Part): Coverage {
  if (part.kind !== "words") {
    const isCovered = pathsOf(part).every((path) => isPathLike(pattern, path));
    return { kind: isCovered ? "covered" : "other" };
  }
  const { fixed, isOpen } = wordsOf(pattern);
  if (!hasLength(part.words, fixed, isOpen)) return { kind: "other" };
  if (!fixed.every((word, index) => isLike(word, part.words[index] ?? "")))
    return { kind: "other" };
  const stars = fixed.findIndex((word) => word.includes("*"));
  const named = stars === -1 ? fixed.length : stars;
  const why = isOpen || stars !== -1 ? whyRisky(part.words, named) : undefined;
  return why === undefined ? { kind: "covered" } : { kind: "risky", why };
}

/**
 * Compares a deny or ask rule with a part. Ignores letter case, which some file systems ignore, and
 * the folder of a program.
 */
export function isHitBy(pattern: string, part: Part): boolean {
  if (part.kind !== "words")
    return pathsOf(part).some((path) => isPathLike(folded(pattern), folded(path)));
  const { fixed, isOpen } = wordsOf(folded(pattern));
  const words = part.words.map(folded);
  if (!hasLength(words, fixed, isOpen)) return false;
  return fixed.every(
    (word, index) =>
      isLike(word, words[index] ?? "") || (index === 0 && isLike(word, programOf(words[0] ?? ""))),
  );
}

/**
 * Returns true if the words of a deny or ask rule stand in a command with options between them, as
 * in `git -C folder push`.
 */
export function isHitAround(pattern: string, part: Part): boolean {
  if (part.kind !== "words") return false;
  const { fixed } = wordsOf(folded(pattern));
  const [program = "", ...rest] = part.words.map(folded);
  if (!isLike(fixed[0] ?? "", programOf(program)) || rest[0]?.startsWith("-") !== true)
    return false;
  let at = 0;
  return fixed.slice(1).every((word) => {
    while (at < rest.length && !isLike(word, rest[at] ?? "")) at++;
    return at++ < rest.length;
  });
}

/**
 * Returns true if a pattern covers everything below a folder. Names cannot contain NUL, so only
 * stars match it.
 */
export function isAllOf(pattern: string, part: Part): boolean {
  if (part.kind !== "tree") return false;
  return pathsOf(part).some((path) => {
    const folder = path === "." ? "" : `${folded(path)}/`;
    return ["\0", "\0/\0"].every((name) => isPathLike(folded(pattern), folder + name));
  });
}

/**
 * Returns true if a pattern may match something below a folder, judged by the part before its first
 * star.
 */
export function mayReach(pattern: string, folder: string): boolean {
  const [start = ""] = withoutDot(folded(pattern)).split("*");
  const below = folder === "." ? "" : `${folded(folder)}/`;
  return start.startsWith(below) || below.startsWith(start);
}

/** Returns true if a rule of the tool `*` names a path among the words of a command. */
export function isPathIn(pattern: string, part: Part, context: PathContext): boolean {
  return pathsIn(part, context).some((path) => isPathLike(folded(pattern), folded(path)));
}

export function withoutDot(pattern: string): string {
  return pattern.replace(/^\.\//, "");
}

/** A pattern whose last word is a star covers any words after the others. */
function wordsOf(pattern: string): { readonly fixed: readonly string[]; readonly isOpen: boolean } {
  const words = pattern.trim().split(/\s+/);
  const isOpen = words.at(-1) === "*" && words.length > 1;
  return { fixed: isOpen ? words.slice(0, -1) : words, isOpen };
}

function hasLength(words: readonly string[], fixed: readonly string[], isOpen: boolean): boolean {
  return isOpen ? words.length >= fixed.length : words.length === fixed.length;
}

function isPathLike(pattern: string, path: string): boolean {
  return isLike(withoutDot(pattern), path, "/");
}

/**
 * Some file systems ignore letter case, invisible characters, the form of accents, and dots and
 * spaces at the end of a name; NTFS also takes `name::$DATA` for the name.
 */
function folded(text: string): string {
  return text
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .normalize("NFC")
    .toUpperCase()
    .toLowerCase()
    .replace(/::\$[^/]*|(?<=[^./ ])[. ]+(?=\/|$)/g, "");
}
