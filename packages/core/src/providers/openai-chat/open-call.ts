/** One tool call while its deltas come: what it is called, and its arguments so far. */
import { parseToolArguments } from "../../llm/tool-arguments.ts";

export class OpenCall {
  readonly index: number | undefined;
  /** The id the server uses for it, which may be another call's too (Q040); ours is `id`. */
  wireId: string | undefined;
  readonly id: string;
  name = "";
  thoughtSignature: string | undefined;
  /** The part's place in the message, once its name is known. */
  contentIndex: number | undefined;
  #text = "";
  #fragments = 0;
  /** The last fragment while each one so far began with the one before: a server may send snapshots (Q050). */
  #snapshot: string | undefined = "";
  readonly #end = new ObjectEnd();

  constructor(index: number | undefined, wireId: string | undefined, id: string) {
    this.index = index;
    this.wireId = wireId;
    this.id = id;
  }

  get text(): string {
    return this.#text;
  }

  /** Whether the arguments so far are a whole object: the next fragment with content belongs to another call. */
  get isComplete(): boolean {
    return this.#end.isReached(this.#text);
  }

  /** Whether they are under way: begun, and not whole. */
  get isPartial(): boolean {
    return this.#text !== "" && !this.isComplete;
  }

  append(fragment: string): void {
    if (this.#text === "{}" && fragment.startsWith("{")) {
      this.#text = fragment; // a placeholder object before the real arguments (Q049)
      this.#end.reset();
    } else this.#text += fragment;
    this.#fragments++;
    if (this.#snapshot !== undefined) this.#snapshot = fragment.startsWith(this.#snapshot) ? fragment : undefined;
  }

  /** The joined text, or the last snapshot when only that is valid. */
  finalText(): string {
    if (this.#fragments < 2 || this.#snapshot === undefined || isValid(this.#text)) return this.#text;
    return isValid(this.#snapshot) ? this.#snapshot : this.#text;
  }
}

function isValid(text: string): boolean {
  return parseToolArguments(text).error === undefined;
}

/** Finds where the first object or array of a growing text ends. Reads each character once, however often it is asked. */
class ObjectEnd {
  #at = 0;
  #depth = 0;
  #inString = false;
  #reached = false;

  reset(): void {
    this.#at = 0;
    this.#depth = 0;
    this.#inString = false;
    this.#reached = false;
  }

  isReached(text: string): boolean {
    for (; this.#at < text.length && !this.#reached; this.#at++) {
      const char = text[this.#at];
      if (this.#inString) {
        if (char === "\\") this.#at++;
        else if (char === '"') this.#inString = false;
      } else if (char === '"') this.#inString = true;
      else if (char === "{" || char === "[") this.#depth++;
      else if (char === "}" || char === "]") this.#reached = --this.#depth === 0;
    }
    return this.#reached;
  }
}
