/** One tool call while its deltas come: what it is called, and its arguments so far. */
import { parseToolArguments } from "../../llm/tool-arguments.ts";
import type { SeenCall } from "../call-proof.ts";

export class OpenCall implements SeenCall {
  // On this wire no arguments are none (Q048), and the end of the answer closes its calls.
  readonly hasArguments = true;
  readonly isClosed = true;
  /** The index on the wire. */
  readonly place: number | undefined;
  /** The id the server uses for it, which may be another call's too; ours is `id`. */
  // Q040
  wireId = "";
  readonly id: string;
  /** How many calls began before it. */
  readonly order: number;
  name = "";
  /** Whether another began behind it under its index. */
  isCovered = false;
  /** Whether its name was said again behind whole arguments, and nothing since. */
  isNamedAgain = false;
  thoughtSignature = "";
  /** Its place in the message, once its name is known. */
  contentIndex: number | undefined;
  /** The arguments as they came, and their length. */
  #pieces: string[] = [];
  #length = 0;
  /** How many pieces came behind its beginning, and how many of them with its id or name again. */
  #fragments = 0;
  #restated = 0;
  /**
   * The last fragment while each one so far began with the one before: a server may send snapshots.
   */
  // Q050
  #snapshot: string | undefined = "";
  /** How many pieces were searched for the end of the object, and in what state. */
  #searched = 0;
  #depth = 0;
  #inString = false;
  #isEscaped = false;
  #isWhole = false;

  constructor(place: number | undefined, id: string, order: number) {
    this.place = place;
    this.id = id;
    this.order = order;
  }

  /** The arguments so far, joined: not for each delta. */
  get text(): string {
    return this.#pieces.join("");
  }

  get hasText(): boolean {
    return this.#length > 0;
  }

  /** A piece of the arguments that came with the call's beginning, so that it repeats nothing. */
  begin(fragment: string): void {
    this.append(fragment);
    this.#fragments--;
  }

  /** One that came with the call's id or name again. */
  restate(fragment: string): void {
    this.append(fragment);
    this.#restated++;
  }

  append(fragment: string): void {
    if (this.#length === 2 && fragment.startsWith("{") && this.text === "{}") {
      this.#length = 0;
      this.#pieces = []; // a placeholder object before the real arguments (Q049)
      this.#searched = 0;
      this.#depth = 0;
      this.#isWhole = false;
    }
    this.#fragments++;
    this.#pieces.push(fragment);
    this.#length += fragment.length;
    if (this.#snapshot !== undefined)
      this.#snapshot = fragment.startsWith(this.#snapshot) ? fragment : undefined;
  }

  /**
   * Whether the arguments so far are a whole object, so that the next fragment with content belongs
   * to another call. Reads each character once, however often it is asked.
   */
  get isComplete(): boolean {
    const pieces = this.#pieces;
    for (; this.#searched < pieces.length && !this.#isWhole; this.#searched++)
      for (const char of pieces[this.#searched] as string) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (char === "\\") this.#isEscaped = this.#inString;
        else if (char === '"') this.#inString = !this.#inString;
        else if (this.#inString) continue;
        else if ("{[".includes(char)) this.#depth++;
        else if ("}]".includes(char)) this.#isWhole ||= --this.#depth === 0;
      }
    return this.#isWhole;
  }

  /** The joined text, or the last snapshot when only that is valid. */
  get finalText(): string {
    const snapshot = this.#snapshot;
    const { text } = this;
    return snapshot !== undefined && !isValid(text) && isValid(snapshot) ? snapshot : text;
  }

  /**
   * Whether some pieces named the call again, and others did not. Servers name a call once or with
   * each piece.
   */
  // Q036
  get isBegunAgain(): boolean {
    return this.#restated > 0 && this.#restated < this.#fragments;
  }
}

function isValid(text: string): boolean {
  return parseToolArguments(text).error === undefined;
}
