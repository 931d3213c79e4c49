/** What a file is for, in its own words: a description, a headline, or the comment at its head. */

/** A sentence about the file from its first lines. */
export function toPurpose(path: string, lines: readonly string[]): string {
  const text = lines.join("\n").slice(0, 20_000).replace(/^#!.*\n/, "").trim();
  if (text === "") return `${path} is empty.`;
  const said = path.endsWith("package.json") ? fromPackage(text) : path.endsWith(".md") ? fromProse(text) : fromComment(text);
  if (said === "") return `${path} does not say what it is for. It begins with: ${shorten(text)}`;
  return `${path} says of itself: ${shorten(said)}`;
}

/** By pattern, for the lines may end in the middle of the JSON. */
function fromPackage(text: string): string {
  return /"description"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(text)?.[1] ?? "";
}

/** The headline and the paragraph under it; badges are left out. */
function fromProse(text: string): string {
  const [headline = "", paragraph = "#"] = text
    .replaceAll(/\[?!\[[^\]]*\]\([^)]*\)(?:\]\([^)]*\))?/g, "")
    .replaceAll(/^#.*$/gm, "\n$&\n")
    .trim()
    .split(/\n\s*\n\s*/);
  if (!headline.startsWith("#")) return "";
  return headline.replace(/^#+\s*/, "") + (paragraph.startsWith("#") ? "" : `: ${paragraph}`);
}

const COMMENT = /\s*(?:\/\*[\s\S]*?\*\/|(?:[^\S\n]*(?:\/\/|#).*(?:\n|$))+|"""[\s\S]*?""")/gy;

/** The first paragraph of the first comment or docstring that is no licence. */
function fromComment(text: string): string {
  const comments = [...text.matchAll(COMMENT)].map(([comment]) => comment);
  const header = comments.find((comment) => !/copyright|licen[cs]e|eslint/i.test(comment)) ?? "";
  const plain = header.replaceAll(/^\s*(?:\/\*+|\*+(?!\/)|\/\/+|#+)|\*\/|"""/gm, "").trim();
  return plain.split(/\n\s*\n/)[0] ?? "";
}

function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > 300 ? `${line.slice(0, 300).replace(/\s\S*$/, "")} …` : line;
}
