/** What a file is for, in its own words: headline, description or header comment; else what it defines, else how it begins. */
import { enumerate } from "./wording.ts";

const COMMENT = /^(?:\/\*[\s\S]*?\*\/|(?:[^\S\n]*(?:\/\/|#|--|;).*(?:\n|$))+|("""|''')[\s\S]*?\1|<!--[\s\S]*?-->)\s*/;
const DEFINITION =
  /^(?:export\s+)?(?:default\s+|async\s+|abstract\s+|pub\s+)*(?:function\*?|const|class|interface|type|def|fn|func|struct)\s+(\w+)/gm;

/** A sentence about the file from its first lines. */
export function toPurpose(path: string, lines: readonly string[]): string {
  const head = lines.join("\n").slice(0, 20_000);
  const text = head.replace(/^#!.*\n/, "").trim();
  if (text === "") return `${path} is empty.`;
  const isProse = /\.(?:md|mdx|markdown|rst|txt)$/i.test(path);
  const said = path.endsWith("package.json") ? fromPackage(text) : isProse ? fromProse(text) : fromComment(text);
  if (said !== "") return `${path} says of itself: ${shorten(said)}`;
  const names = isProse ? [] : [...new Set([...text.matchAll(DEFINITION)].map(([, name = ""]) => name))];
  if (names.length === 0) return `${path} does not say what it is for. It begins with: ${shorten(text)}`;
  return `${path} has no header comment. Its first ${lines.length} lines define ${enumerate(names, 8)}.`;
}

function fromPackage(text: string): string {
  const field = (key: string): string =>
    new RegExp(String.raw`"${key}"\s*:\s*"((?:[^"\\]|\\.)*)"`).exec(text)?.[1] ?? "";
  return [field("name"), field("description")].filter((part) => part !== "").join(": ");
}

/** The headline and the first paragraph under it; badges and markup are left out. */
function fromProse(text: string): string {
  const plain = text.replaceAll(/<!--[\s\S]*?-->|<[^>\n]+>|\[?!\[[^\]]*\]\([^)]*\)(?:\]\([^)]*\))?/g, "");
  const blocks = plain
    .replaceAll(/^(.+)\n=+$/gm, "# $1")
    .replaceAll(/^#.*$/gm, "\n$&\n")
    .trim()
    .split(/\n\s*\n\s*/);
  const [headline = "", paragraph = "#"] = blocks;
  if (!headline.startsWith("#")) return "";
  return `${headline.replace(/^#+\s*/, "")}${paragraph.startsWith("#") ? "" : `: ${paragraph}`}`;
}

/** The first paragraph of the comment or docstring at the head; licences and directives are passed over. */
function fromComment(text: string): string {
  for (let rest = text; ;) {
    const [block = "", quotes] = COMMENT.exec(rest) ?? /^["']use \w+["'];?\s*/.exec(rest) ?? [];
    if (block === "") return "";
    rest = rest.slice(block.length);
    if (/^["']use |spdx|copyright|licensed under|eslint|@ts-|prettier/i.test(block)) continue;
    const bare =
      quotes === undefined
        ? block.replaceAll(/^\s*(?:\/\*+|\*+(?!\/)|\/\/+!?|#+|--|;+|<!--)|\*\/|-->/gm, "")
        : block.slice(3).replace(/"""|'''/, "");
    const paragraph = bare.trim().split(/\n\s*\n/)[0] ?? "";
    if (paragraph.trim() !== "") return paragraph;
  }
}

function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > 300 ? `${line.slice(0, 300).replace(/\s\S*$/, "")} …` : line;
}
