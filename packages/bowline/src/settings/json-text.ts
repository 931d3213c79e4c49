/** Reads JSON and keeps the positions of its values, for messages with a line and a column. */

export interface JsonPlace {
  readonly line: number;
  readonly column: number;
}

export interface JsonText {
  readonly value: unknown;
  /** Returns the place of a value, or of the key that leads to it. */
  placeOf(path: readonly (string | number)[]): JsonPlace;
}

/** The text is not JSON. */
export class JsonError extends Error {
  override readonly name: string = "JsonError";
  readonly place: JsonPlace;

  constructor(message: string, place: JsonPlace) {
    super(message);
    this.place = place;
  }
}

const MAX_DEPTH = 32;

/**
 * Throws {@link JsonError} for text that `JSON.parse` refuses, for a key that stands twice, and
 * for values nested deeper than 32 levels.
 */
export function readJson(text: string): JsonText {
  const places = new Map<string, number>();
  const scanner = new Scanner(text.startsWith("\uFEFF") ? ` ${text.slice(1)}` : text, places);
  scanner.document();
  const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
  return {
    value,
    placeOf: (path) => placeAt(text, places.get(JSON.stringify(path)) ?? 0),
  };
}

function placeAt(text: string, offset: number): JsonPlace {
  const before = text.slice(0, offset).split(/\r\n|[\r\n]/);
  return { line: before.length, column: (before.at(-1) ?? "").length + 1 };
}

type Path = readonly (string | number)[];

/** Checks the grammar. The value itself is made by `JSON.parse`. */
class Scanner {
  readonly #text: string;
  readonly #places: Map<string, number>;
  #at = 0;

  constructor(text: string, places: Map<string, number>) {
    this.#text = text;
    this.#places = places;
  }

  document(): void {
    this.#space();
    this.#value([]);
    this.#space();
    if (this.#at < this.#text.length) this.#fail("There is text after the end of the JSON value");
  }

  #value(path: Path): void {
    if (path.length > MAX_DEPTH) this.#fail(`Values are nested deeper than ${MAX_DEPTH} levels`);
    const key = JSON.stringify(path);
    if (!this.#places.has(key)) this.#places.set(key, this.#at);
    const char = this.#text[this.#at];
    if (char === "{") return this.#object(path);
    if (char === "[") return this.#array(path);
    if (char === '"') return void this.#string();
    const rest = this.#text.slice(this.#at, this.#at + 400);
    const plain = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)/.exec(
      rest,
    )?.[0];
    if (plain === undefined || /^[\w.]/.test(rest.slice(plain.length)))
      this.#fail(this.#whyNoValue());
    this.#at += plain.length;
  }

  #whyNoValue(): string {
    const char = this.#text[this.#at];
    if (char === undefined) return "The file ends before the value does";
    if (char === "'") return "Texts take double quotes";
    if (char === "}" || char === "]") return `A value is missing before ${char}`;
    return "A value is expected here; texts take double quotes";
  }

  #object(path: Path): void {
    const known = new Set<string>();
    this.#at++;
    this.#space();
    if (this.#take("}")) return;
    do {
      this.#space();
      const start = this.#at;
      if (this.#text[start] === "}") this.#fail("There is a comma before the closing }");
      if (this.#text[start] !== '"') this.#fail("A name in double quotes is expected here");
      const name = this.#string();
      if (known.has(name)) {
        this.#at = start;
        this.#fail(`${JSON.stringify(name)} stands here twice`);
      }
      known.add(name);
      this.#places.set(JSON.stringify([...path, name]), start);
      this.#space();
      if (!this.#take(":")) this.#fail("A colon is expected after the name");
      this.#space();
      this.#value([...path, name]);
      this.#space();
    } while (this.#take(","));
    if (!this.#take("}")) this.#fail("A comma or } is expected here");
  }

  #array(path: Path): void {
    let index = 0;
    this.#at++;
    this.#space();
    if (this.#take("]")) return;
    do {
      this.#space();
      if (this.#text[this.#at] === "]") this.#fail("There is a comma before the closing ]");
      this.#value([...path, index++]);
      this.#space();
    } while (this.#take(","));
    if (!this.#take("]")) this.#fail("A comma or ] is expected here");
  }

  #string(): string {
    const start = this.#at;
    this.#at++;
    for (;;) {
      const char = this.#text[this.#at];
      if (char === undefined) {
        this.#at = start;
        this.#fail("This text has no closing quote");
      } else if (char === '"') {
        this.#at++;
        return JSON.parse(this.#text.slice(start, this.#at)) as string;
      } else if (char < " ") {
        this.#fail("A text cannot contain a line break or a control character; write \\n");
      } else if (char === "\\") {
        const escape = /^\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/.exec(
          this.#text.slice(this.#at, this.#at + 6),
        );
        if (escape === null) this.#fail("This is no escape that JSON knows");
        this.#at += escape[0].length;
      } else this.#at++;
    }
  }

  #space(): void {
    while (/[ \t\r\n]/.test(this.#text[this.#at] ?? "")) this.#at++;
    if (/^\/[/*]/.test(this.#text.slice(this.#at, this.#at + 2)))
      this.#fail("The file is plain JSON, which has no comments");
  }

  #take(char: string): boolean {
    if (this.#text[this.#at] !== char) return false;
    this.#at++;
    return true;
  }

  #fail(message: string): never {
    throw new JsonError(message, placeAt(this.#text, this.#at));
  }
}
