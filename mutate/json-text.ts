/**
 * JSON as text: where each value stands, and its numbers digit by digit. `JSON.parse` rounds
 * numbers, so it cannot say whether a decoder lost digits.
 */
export type JsonNode = (
  | { readonly kind: "object"; readonly entries: ReadonlyMap<string, JsonNode> }
  | { readonly kind: "array"; readonly items: readonly JsonNode[] }
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "number"; readonly token: string }
  | { readonly kind: "word"; readonly value: boolean | null }
) & { readonly start: number; readonly end: number };

/** Parses a text. Returns undefined if it is not JSON. */
export function parseJsonText(text: string): JsonNode | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  return new Reader(text).value();
}

/** Reads text that is known to be valid JSON. */
class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(): JsonNode {
    this.#skipSpace();
    const start = this.#at;
    switch (this.#text.charAt(start)) {
      case "{":
        return { kind: "object", entries: this.#entries(), start, end: this.#at };
      case "[":
        return { kind: "array", items: this.#items(), start, end: this.#at };
      case '"':
        return { kind: "string", value: this.#string(), start, end: this.#at };
      default:
        return { ...this.#scalar(), start, end: this.#at };
    }
  }

  #entries(): Map<string, JsonNode> {
    const entries = new Map<string, JsonNode>();
    this.#list("}", () => {
      this.#skipSpace();
      const key = this.#string();
      this.#skipSpace();
      this.#at++; // the colon
      entries.set(key, this.value());
    });
    return entries;
  }

  #items(): JsonNode[] {
    const items: JsonNode[] = [];
    this.#list("]", () => items.push(this.value()));
    return items;
  }

  #list(close: string, readOne: () => unknown): void {
    for (;;) {
      this.#at++; // the bracket or the comma
      this.#skipSpace();
      if (this.#text[this.#at] === close) break;
      readOne();
      this.#skipSpace();
      if (this.#text[this.#at] === close) break;
    }
    this.#at++;
  }

  #string(): string {
    const start = this.#at++;
    for (; this.#text[this.#at] !== '"'; this.#at++) if (this.#text[this.#at] === "\\") this.#at++;
    this.#at++;
    return JSON.parse(this.#text.slice(start, this.#at)) as string;
  }

  #scalar(): { kind: "number"; token: string } | { kind: "word"; value: boolean | null } {
    const [token = ""] = /^[-+.\w]+/.exec(this.#text.slice(this.#at, this.#at + 1000)) ?? [];
    this.#at += token.length;
    return /^[-\d]/.test(token)
      ? { kind: "number", token }
      : { kind: "word", value: JSON.parse(token) as boolean | null };
  }

  #skipSpace(): void {
    while (/\s/.test(this.#text[this.#at] ?? "x")) this.#at++;
  }
}

/**
 * Returns the same text for all JSON texts of the same value: keys sorted, numbers by their digits.
 * Half surrogate pairs, which JSON can hold and UTF-8 cannot, are replaced.
 */
export function canonicalNode(node: JsonNode): string {
  return canonicalWith(node, canonicalNumber);
}

/** Does the same, but quotes numbers that JavaScript would round, as a tool may receive them. */
export function canonicalQuoted(node: JsonNode): string {
  return canonicalWith(node, (token) => {
    const exact = canonicalNumber(token);
    return exact === canonicalValue(Number(token)) ? exact : JSON.stringify(token);
  });
}

function canonicalWith(node: JsonNode, numberOf: (token: string) => string): string {
  switch (node.kind) {
    case "object": {
      const entries = [...node.entries].map(
        ([key, one]) => [key, canonicalWith(one, numberOf)] as const,
      );
      return canonicalEntries(entries);
    }
    case "array":
      return `[${node.items.map((item) => canonicalWith(item, numberOf)).join(",")}]`;
    case "string":
      return JSON.stringify(node.value.toWellFormed());
    case "number":
      return numberOf(node.token);
    case "word":
      return String(node.value);
  }
}

/** Returns the same text for a JavaScript value. Values that JSON lacks are printed by `String`. */
export function canonicalValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalValue).join(",")}]`;
  if (typeof value === "string") return JSON.stringify(value.toWellFormed());
  if (typeof value === "number" && Number.isFinite(value)) return canonicalNumber(String(value));
  if (typeof value === "object" && value !== null)
    return canonicalEntries(
      Object.entries(value).map(([key, one]) => [key, canonicalValue(one)] as const),
    );
  return String(value);
}

function canonicalEntries(entries: readonly (readonly [string, string])[]): string {
  const sorted = entries
    .map(([key, text]) => `${JSON.stringify(key.toWellFormed())}:${text}`)
    .toSorted();
  return `{${sorted.join(",")}}`;
}

/** Normalises a number: `1.50e3` and `1500` both give `15e2`. */
function canonicalNumber(token: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(token) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  const short = digits.replace(/0+$/, "");
  if (short === "") return "0";
  return `${sign}${short}e${Number(exponent) - fraction.length + digits.length - short.length}`;
}
