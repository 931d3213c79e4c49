// Renders the texts and types of declarations as Markdown.
import { anchorOf } from "../markdown.mjs";
import { eachReference, resolve, ts } from "./read.mjs";

/**
 * Returns the link from a page to a declaration. The first parameter is `{ declarations, checker,
 * page }`.
 */
export function linkTo({ page }, { page: target, heading }) {
  return `${target === page ? "" : `${target}.md`}#${anchorOf(heading)}`;
}

/** Returns the docstring of a symbol with resolved links, on one line for a table cell. */
export function textOf(site, symbol, isCell = false) {
  return toMarkdown(
    site,
    ts.displayPartsToString(symbol.getDocumentationComment(site.checker)),
    isCell,
  );
}

function toMarkdown(site, text, isCell = false) {
  const linked = text.replaceAll(/\{@link[\s*]+([^}\s]+)[^}]*\}/g, (_, name) => {
    const found = findNamed(site, name);
    return found === undefined ? `\`${name}\`` : `[\`${name}\`](${linkTo(site, found)})`;
  });
  const escaped = linked
    .split(/(`+[^`]*`+)/)
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll("<", "&lt;")))
    .join("");
  return isCell ? escaped.replaceAll(/\s*\n\s*/g, " ").replaceAll("|", String.raw`\|`) : escaped;
}

function findNamed({ declarations, page }, name) {
  const named = [...declarations.values()].filter((declaration) => declaration.name === name);
  return named.find((declaration) => declaration.page === page) ?? named[0];
}

/** Returns a type as written, for a table cell. Names that are in the reference become links. */
export function typeCell(site, node) {
  const source = node.getSourceFile().text;
  const names = [];
  eachReference(node, (name) => {
    const found = site.declarations.get(
      resolve(site.checker, site.checker.getSymbolAtLocation(name)),
    );
    if (found !== undefined) names.push({ from: name.getStart(), to: name.end, found });
  });
  let at = node.getStart();
  let cell = "";
  for (const { from, to, found } of names.toSorted((a, b) => a.from - b.from)) {
    cell += `${code(source.slice(at, from))}[\`${found.name}\`](${linkTo(site, found)})`;
    at = to;
  }
  return cell + code(source.slice(at, node.end));
}

export function code(text) {
  const line = withoutComments(text).replaceAll(/\s+/g, " ");
  if (line === "") return "";
  const fence = line.includes("`") ? "``" : "`";
  return `${fence}${line.replaceAll("|", String.raw`\|`)}${fence}`;
}

const withoutComments = (text) => text.replaceAll(/\/\*.*?\*\//gs, "");

/** Returns a TypeScript code block. Long parameter lists have one line per parameter. */
export function block(text) {
  return `\`\`\`ts\n${text.split("\n").map(wrap).join("\n")}\n\`\`\``;
}

function wrap(line) {
  if (line.length <= 100) return line;
  const open = line.indexOf("(");
  const close = matching(line, open);
  if (open === -1 || close === undefined) return line;
  const parameters = splitList(line.slice(open + 1, close));
  return `${line.slice(0, open)}(\n${parameters.map((one) => `  ${one},\n`).join("")})${line.slice(close + 1)}`;
}

const deeper = "([{<";
const higher = ")]}>";

function matching(line, open) {
  let depth = 0;
  for (let at = open; at < line.length; at++) {
    if (deeper.includes(line[at])) depth += 1;
    else if (isCloser(line, at) && --depth === 0) return at;
  }
  return undefined;
}

function splitList(list) {
  const parts = [""];
  let depth = 0;
  for (let at = 0; at < list.length; at++) {
    if (deeper.includes(list[at])) depth += 1;
    if (isCloser(list, at)) depth -= 1;
    if (list[at] === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += list[at];
  }
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}

/** The `>` of an arrow is not a bracket. */
const isCloser = (text, at) =>
  higher.includes(text[at]) && !(text[at] === ">" && text[at - 1] === "=");
