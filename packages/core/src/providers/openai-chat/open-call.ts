/** A tool call while its deltas arrive: its name, and its arguments so far. */
import { parseToolArguments } from "../../llm/tool-arguments.ts";
import type { SeenCall } from "../call-proof.ts";

export class OpenCall implements SeenCall {
  // On this wire, missing arguments mean none (Q048), and the end of the answer closes its calls.
  readonly hasArguments = true;
  readonly isClosed = true;
  /** The call's index on the wire. */
  readonly place: number | undefined;
  /** The server's id, which another call may share. `id` is unique. */
  // Q040
  wireId = "";
  readonly id: string;
  /** How many calls started before it. */
  readonly order: number;
  name = "";
  /** Whether another call started later under the same index. */
  isCovered = false;
  /**
   * Whether the server sent its name again after complete arguments. The next piece then decides
   * whether another call starts.
   */
  isNamedAgain = false;
  thoughtSignature = "";
  /** Its index in the message, once its name is known. */
  contentIndex: number | undefined;
  /** The pieces of the arguments, and their total length. */
  #pieces: string[] = [];
  #length = 0;
  /** How many pieces followed the first, and how many of them repeated the id or name. */
  #fragments = 0;
  #restated = 0;
  /**
   * The last piece, while each piece so far begins with the previous one: a server may send
   * snapshots.
   */
  // Q050
  #snapshot: string | undefined = "";
  /** How many pieces were searched for the end of the object, and the state of that search. */
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

  /** The arguments so far. Joins all pieces, so do not read it for each delta. */
  get text(): string {
    return this.#pieces.join("");
  }

  get hasText(): boolean {
    return this.#length > 0;
  }

  /** Appends a piece that came with the call's first event. */
  begin(fragment: string): void {
    this.append(fragment);
    this.#fragments--;
  }

  /** Appends a piece that repeats the call's id or name. */
  restate(fragment: string): void {
    this.append(fragment);
    this.#restated++;
  }

  append(fragment: string): void {
    if (this.#length === 2 && fragment.startsWith("{") && this.text === "{}") {
      this.#length = 0;
      this.#pieces = []; // the server sent a placeholder object before the real arguments (Q049)
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
   * Whether the arguments so far are a whole object, so the next non-empty piece belongs to another
   * call. Reads each character once, however often it is called.
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

  /** The joined pieces, or the last snapshot if only that is valid. */
  get finalText(): string {
    const snapshot = this.#snapshot;
    const { text } = this;
    return snapshot !== undefined && !isValid(text) && isValid(snapshot) ? snapshot : text;
  }

  /**
   * Whether some pieces repeated the call's id or name and others did not. Servers send them once
   * or with each piece.
   */
  // Q036
  get isBegunAgain(): boolean {
    return this.#restated > 0 && this.#restated < this.#fragments;
  }
}

function isValid(text: string): boolean {
  return parseToolArguments(text).error === undefined;
}
