/**
 * Parses JSON text that arrives in fragments, cut anywhere. The work of a fragment is linear in the
 * fragment and does not depend on the text before it. Broken JSON stops the parser and never
 * throws.
 */
import { keepDigits } from "../json-value.ts";
import { StringReader } from "./string-reader.ts";

/** Receives the values in the order of the text. */
export interface JsonHandler {
  /** An object or an array begins. */
  open(isObject: boolean): void;
  /** The innermost object or array is complete. */
  close(): void;
  /** The name of the next value of the innermost object. */
  key(name: string): void;
  /** A piece of a string. Never ends with the first half of a surrogate pair, unless that is lone. */
  text(piece: string): void;
  /** The string is complete. */
  textEnd(): void;
  /** A complete number, boolean or null. */
  scalar(value: number | string | boolean | null): void;
}

/**
 * `text`: as `JSON.parse` reads it. `answer`: the same, and the end of a code block may follow.
 * `arguments`: as tool arguments are read. Control characters and invalid escapes inside strings
 * are taken literally, a `</tool_call>` after the value is ignored, and a number that JavaScript
 * would round becomes the string of its digits.
 */
export type JsonMode = "text" | "answer" | "arguments";

export type JsonState = "open" | "complete" | "broken";

/** Each increment has its whole path, so deep nesting would multiply the memory of a text. */
const MAX_DEPTH = 100;
/** The default limit of `StreamOptions.maxAnswerLength`. */
const MAX_LENGTH = 16 * 1024 * 1024;
/** Text that may follow the value, because some models write it. */
const tails: Readonly<Record<JsonMode, string>> = {
  text: "",
  answer: "```",
  arguments: "</tool_call>",
};

const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const literals = new Map([
  ["true", true],
  ["false", false],
  ["null", null],
]);

/** The next expected token, outside of strings, numbers and literals. */
type Expected = "value" | "firstItem" | "key" | "firstKey" | "colon" | "next" | "tail";

export class JsonParser {
  readonly #handler: JsonHandler;
  readonly #mode: JsonMode;
  readonly #string: StringReader;
  readonly #digits = /[\d.eE+-]+/y;
  #state: JsonState = "open";
  #problem: string | undefined;
  /** For each open container, whether it is an object. */
  readonly #stack: boolean[] = [];
  #expected: Expected = "value";
  #token: "string" | "key" | "number" | "literal" | undefined;
  /** The number or literal so far. */
  #word = "";
  #name = "";
  #tail = "";
  #length = 0;

  constructor(handler: JsonHandler, mode: JsonMode = "text") {
    this.#handler = handler;
    this.#mode = mode;
    this.#string = new StringReader(mode === "arguments");
  }

  get state(): JsonState {
    return this.#state;
  }

  /** Why the parser stopped. Undefined unless the state is `broken`. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Reads a fragment. Ignored after the text was found broken. */
  write(fragment: string): void {
    this.#length += fragment.length;
    if (this.#length > MAX_LENGTH) this.#break(`The JSON is longer than ${MAX_LENGTH} characters.`);
    for (let at = 0; at < fragment.length && this.#state !== "broken";)
      at = this.#step(fragment, at);
    if (this.#state === "open") this.#say();
  }

  /** Ends the text. The state is then `complete` or `broken`. */
  end(): void {
    // A number inside of an open container may have been cut.
    const isWhole = this.#token === "number" && this.#stack.length === 0;
    if (this.#state === "open" && isWhole) this.#endNumber();
    if (this.#state === "open" || this.#isInTail) this.#break("The JSON is not complete.");
  }

  get #isInTail(): boolean {
    return this.#tail !== "" && this.#tail !== tails[this.#mode];
  }

  /** Reads from `at` and returns where the next step begins. */
  #step(text: string, at: number): number {
    switch (this.#token) {
      case "string":
      case "key":
        return this.#readString(text, at);
      case "number":
        return this.#readNumber(text, at);
      case "literal":
        return this.#readLiteral(text, at);
      case undefined:
        this.#readMark(text.charAt(at));
        return at + 1;
    }
  }

  #readString(text: string, at: number): number {
    const next = this.#string.read(text, at);
    if (this.#string.problem !== undefined) this.#break(this.#string.problem);
    if (!this.#string.isOver) return next;
    this.#say();
    const isKey = this.#token === "key";
    this.#token = undefined;
    if (isKey) {
      this.#handler.key(this.#name);
      this.#name = "";
      this.#expected = "colon";
    } else {
      this.#handler.textEnd();
      this.#valueEnded();
    }
    return next;
  }

  /** Hands over what was read of a string since the last call. */
  #say(): void {
    const piece = this.#string.take();
    if (piece === "") return;
    if (this.#token === "key") this.#name += piece;
    else this.#handler.text(piece);
  }

  #readNumber(text: string, at: number): number {
    this.#digits.lastIndex = at;
    const [run = ""] = this.#digits.exec(text) ?? [];
    this.#word += run;
    if (at + run.length < text.length) this.#endNumber();
    return at + run.length;
  }

  #endNumber(): void {
    const word = this.#word;
    this.#token = undefined;
    if (!jsonNumber.test(word)) return this.#break(`"${word.slice(0, 40)}" is not a JSON number.`);
    const isKept = this.#mode === "arguments" && keepDigits(word) !== word;
    this.#handler.scalar(isKept ? word : Number(word));
    this.#valueEnded();
  }

  #readLiteral(text: string, at: number): number {
    this.#word += text.charAt(at);
    const value = literals.get(this.#word);
    if (value !== undefined) {
      this.#token = undefined;
      this.#handler.scalar(value);
      this.#valueEnded();
    } else if (![...literals.keys()].some((known) => known.startsWith(this.#word)))
      this.#break(`"${this.#word}" is not a JSON value.`);
    return at + 1;
  }

  /** Reads one character between values. */
  #readMark(mark: string): void {
    if (mark === " " || mark === "\n" || mark === "\r" || mark === "\t") {
      if (this.#isInTail) this.#unexpected(mark);
      return;
    }
    switch (this.#expected) {
      case "value":
        return this.#beginValue(mark);
      case "firstItem":
        return mark === "]" ? this.#close() : this.#beginValue(mark);
      case "key":
        return this.#beginKey(mark);
      case "firstKey":
        return mark === "}" ? this.#close() : this.#beginKey(mark);
      case "colon":
        if (mark !== ":") return this.#unexpected(mark);
        this.#expected = "value";
        return;
      case "next":
        return this.#readNext(mark);
      case "tail":
        this.#tail += mark;
        if (!tails[this.#mode].startsWith(this.#tail)) this.#unexpected(mark);
    }
  }

  #beginValue(mark: string): void {
    if (mark === "{" || mark === "[") {
      const isObject = mark === "{";
      if (this.#stack.length === MAX_DEPTH)
        return this.#break(`The JSON is nested deeper than ${MAX_DEPTH} levels.`);
      this.#stack.push(isObject);
      this.#expected = isObject ? "firstKey" : "firstItem";
      this.#handler.open(isObject);
    } else if (mark === '"') {
      this.#token = "string";
      this.#string.begin();
    } else if (/[-\dtfn]/.test(mark)) {
      this.#token = /[-\d]/.test(mark) ? "number" : "literal";
      this.#word = mark;
    } else this.#unexpected(mark);
  }

  #beginKey(mark: string): void {
    if (mark !== '"') return this.#unexpected(mark);
    this.#token = "key";
    this.#string.begin();
  }

  #readNext(mark: string): void {
    const isObject = this.#stack.at(-1);
    if (mark === (isObject ? "}" : "]")) this.#close();
    else if (mark === ",") this.#expected = isObject ? "key" : "value";
    else this.#unexpected(mark);
  }

  #close(): void {
    this.#stack.pop();
    this.#handler.close();
    this.#valueEnded();
  }

  #valueEnded(): void {
    if (this.#stack.length > 0) this.#expected = "next";
    else {
      this.#expected = "tail";
      this.#state = "complete";
    }
  }

  #unexpected(mark: string): void {
    this.#break(`Unexpected ${JSON.stringify(mark)} in the JSON.`);
  }

  #break(problem: string): void {
    this.#state = "broken";
    this.#problem ??= problem;
  }
}
