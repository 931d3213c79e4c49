/** Adds and removes values in a JSON text, and leaves the rest of the text as it is. */

interface Span {
  readonly start: number;
  readonly end: number;
}

interface Member {
  readonly key: string;
  readonly start: number;
  readonly value: Node;
}

type Node = Span &
  (
    | { readonly kind: "object"; readonly members: readonly Member[] }
    | { readonly kind: "array"; readonly items: readonly Node[] }
    | { readonly kind: "plain" }
  );

/**
 * Adds texts to the list at `path`, and creates the list. The text must be a JSON object. Throws if
 * something else stands in the path.
 */
export function addToList(
  text: string,
  path: readonly [string, string],
  added: readonly string[],
): string {
  const root = parse(text);
  const items = added.map((one) => JSON.stringify(one)).join(", ");
  const [outer, inner] = path.map((key) => JSON.stringify(key)) as [string, string];
  const first = member(root, path[0]);
  if (first === undefined) return append(text, root, `${outer}: { ${inner}: [${items}] }`, 0);
  const list = member(first, path[1]);
  if (list === undefined) return append(text, first, `${inner}: [${items}]`, 1);
  if (list.kind !== "array") throw new Error(`${path.join(".")} is no list`);
  return added.reduce((before, one) => {
    const now = member(member(parse(before), path[0]), path[1]) as Node;
    return append(before, now, JSON.stringify(one), 2);
  }, text);
}

/** Removes an element of the list at `path`. */
export function removeFromList(
  text: string,
  path: readonly [string, string],
  index: number,
): string {
  const list = member(member(parse(text), path[0]), path[1]);
  if (list?.kind !== "array") return text;
  const [before, item, next] = [list.items[index - 1], list.items[index], list.items[index + 1]];
  if (item === undefined) return text;
  const start = next === undefined ? (before?.end ?? list.start + 1) : item.start;
  const end = next?.start ?? (before === undefined ? list.end - 1 : item.end);
  return text.slice(0, start) + text.slice(end);
}

/**
 * Returns a name that stands twice in an object of a text that `JSON.parse` accepts. Throws if it is
 * nested deeper than settings are.
 */
export function findTwin(text: string): string | undefined {
  const twinIn = (node: Node): string | undefined => {
    if (node.kind === "plain") return undefined;
    if (node.kind === "array") return node.items.map(twinIn).find((key) => key !== undefined);
    const keys = node.members.map(({ key }) => key);
    const known = new Set<string>();
    const twin = keys.find((key) => known.size === known.add(key).size);
    return twin ?? node.members.map(({ value }) => twinIn(value)).find((key) => key !== undefined);
  };
  return twinIn(parse(text));
}

function member(node: Node | undefined, key: string): Node | undefined {
  if (node === undefined) return undefined;
  if (node.kind !== "object") throw new Error("a value is no object");
  return node.members.find((one) => one.key === key)?.value;
}

/** Adds an item at the end of an object or a list, in the style of the item before it. */
function append(text: string, node: Node, item: string, depth: number): string {
  if (node.kind === "plain") throw new Error("a value is no object");
  const children = node.kind === "object" ? node.members : node.items;
  const last = children.at(-1);
  if (last !== undefined) {
    const lastEnd = "value" in last ? last.value.end : last.end;
    const space = /\s*$/.exec(text.slice(0, last.start))?.[0] ?? "";
    const gap = children.length > 1 || space.includes("\n") ? space : " ";
    return `${text.slice(0, lastEnd)},${gap}${item}${text.slice(lastEnd)}`;
  }
  const newLine = /\r?\n/.exec(text)?.[0];
  const unit = /\n([ \t]+)\S/.exec(text)?.[1] ?? "  ";
  const content =
    newLine === undefined && node.kind === "array"
      ? item
      : `${newLine ?? "\n"}${unit.repeat(depth + 1)}${item}${newLine ?? "\n"}${unit.repeat(depth)}`;
  return text.slice(0, node.start + 1) + content + text.slice(node.end - 1);
}

/** Settings are nested five levels deep. */
const MAX_DEPTH = 32;

/** Finds the positions of the values in a text that `JSON.parse` accepts. */
function parse(text: string): Node {
  let at = 0;
  let depth = 0;
  const space = (): void => {
    while (/\s/.test(text[at] ?? "")) at++;
  };
  const token = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0] ?? "";
    at += found.length;
    return found;
  };
  const value = (): Node => {
    const start = at;
    const open = text[at];
    if (open === '"') token(/"[^"\\]*(?:\\.[^"\\]*)*"/y);
    else if (open !== "{" && open !== "[") token(/[^\s,\]}]+/y);
    else {
      const members: Member[] = [];
      const items: Node[] = [];
      at++;
      if (++depth > MAX_DEPTH) throw new Error("values are nested too deeply");
      for (space(); at < text.length && text[at] !== "}" && text[at] !== "]"; space()) {
        const begin = at;
        if (open === "{") {
          const key = JSON.parse(token(/"[^"\\]*(?:\\.[^"\\]*)*"/y)) as string;
          space();
          at++; // the colon
          space();
          members.push({ key, start: begin, value: value() });
        } else items.push(value());
        space();
        if (text[at] === ",") at++;
      }
      at++;
      depth--;
      return open === "{"
        ? { kind: "object", start, end: at, members }
        : { kind: "array", start, end: at, items };
    }
    return { kind: "plain", start, end: at };
  };
  space();
  return value();
}
