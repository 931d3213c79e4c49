/** Arguments of one call that arrive in parts, each at a JSON path (Vertex). */
import type { JsonNode } from "../json-text.ts";
import { asText, must, type HeldCall, type Json } from "./verdict.ts";

type Tree = { kind: "object" | "array"; children: Map<string, Tree | Leaf> };
/** A value as JSON text. A string that may grow is kept in pieces. */
type Leaf = { kind: "leaf"; pieces: string[]; json: string | undefined };

export class StreamedArguments {
  readonly #id: string | undefined;
  readonly #name: string;
  readonly #root: Tree = { kind: "object", children: new Map() };
  /** The path of a string that is still open. */
  #openPath: string | undefined;

  constructor(id: string | undefined, name: string) {
    this.#id = id;
    this.#name = name;
  }

  /** `data` is the text from which `node` was parsed. */
  add(parts: readonly Json[], node: JsonNode | undefined, data: string): void {
    parts.forEach((part, n) => {
      const path = asText(part["jsonPath"]);
      must(path.startsWith("$"), "an argument without a path");
      must(this.#openPath === undefined || this.#openPath === path, "an argument left open");
      const isNew = this.#openPath === undefined;
      const leaf = this.#leafAt(path);
      must(!isNew || (leaf.pieces.length === 0 && leaf.json === undefined), "an argument twice");
      if (typeof part["stringValue"] === "string") leaf.pieces.push(part["stringValue"]);
      else leaf.json = literalOf(part, node?.kind === "array" ? node.items[n] : undefined, data);
      this.#openPath = part["willContinue"] === true ? path : undefined;
    });
  }

  end(): HeldCall {
    must(this.#openPath === undefined, "an argument left open");
    return { id: this.#id, name: this.#name, arguments: print(this.#root) };
  }

  #leafAt(path: string): Leaf {
    const keys = [...path.matchAll(/\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]/g)];
    let tree = this.#root;
    keys.forEach(([, name, index, quoted], n) => {
      must(
        tree.kind === (index === undefined ? "object" : "array"),
        "a list and an object at one path",
      );
      const key = name ?? index ?? quoted ?? "";
      const next = keys[n + 1];
      const made = (): Tree | Leaf => {
        if (next === undefined) return { kind: "leaf", pieces: [], json: undefined };
        return { kind: next[2] === undefined ? "object" : "array", children: new Map() };
      };
      const child = tree.children.get(key) ?? made();
      tree.children.set(key, child);
      must((child.kind === "leaf") === (next === undefined), "a path through a value");
      if (child.kind !== "leaf") tree = child;
    });
    const leaf = tree.children.get(keyOf(keys.at(-1)));
    must(leaf?.kind === "leaf", "an argument without a path");
    return leaf;
  }
}

function keyOf(match: RegExpMatchArray | undefined): string {
  return match?.[1] ?? match?.[2] ?? match?.[3] ?? "";
}

/** Returns a number, a boolean or null, with its digits as written. */
function literalOf(part: Json, node: JsonNode | undefined, data: string): string {
  const entries = node?.kind === "object" ? node.entries : new Map<string, JsonNode>();
  const value = entries.get("numberValue") ?? entries.get("boolValue");
  must(value !== undefined || "nullValue" in part, "an argument without a value");
  return value === undefined ? "null" : data.slice(value.start, value.end);
}

function print(value: Tree | Leaf): string {
  if (value.kind === "leaf") return value.json ?? JSON.stringify(value.pieces.join(""));
  if (value.kind === "array") {
    const isDense = [...value.children.keys()].every((key, n) => key === String(n));
    must(isDense, "a gap in a list");
    return `[${[...value.children.values()].map(print).join(",")}]`;
  }
  const entries = [...value.children].map(
    ([key, child]) => `${JSON.stringify(key)}:${print(child)}`,
  );
  return `{${entries.join(",")}}`;
}
