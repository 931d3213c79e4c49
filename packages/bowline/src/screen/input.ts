/**
 * Turns the bytes of a terminal into keys, typed text and pastes. `emitKeypressEvents` of Node does
 * not do: it takes ESC ESC for one key, knows neither kitty's keys nor modifyOtherKeys (whose bytes
 * become typed text), and makes one event of each character of a paste.
 */
import { systemClock, type Clock } from "@bowline/core";
import { controlKey, key, sequenceKey, type Input } from "./keys.ts";
import { PasteReader } from "./paste-reader.ts";

export type { Input } from "./keys.ts";

export interface InputDecoderOptions {
  /** How long an ESC waits for the rest of a sequence, in milliseconds. Default: 50. */
  readonly escapeMs?: number;
  readonly clock?: Clock;
  /** The characters of a paste that are kept; the rest is dropped. Default: 16 Mi. */
  readonly maxPaste?: number;
}

/** A complete CSI, its beginning, and a string (OSC, DCS, APC) up to its end. */
const CSI = /^\u001b\[(?:\[[A-E]|([<-?]?[\d:;]*)([ -/]*)([@-~]))/;
const CSI_BEGINNING = /^\u001b\[(?:\[?|[<-?]?[\d:;]{0,64}[ -/]{0,4})$/;
const STRING = /^\u001b[\]P_][^\u0007\u001b]*(?:\u0007|\u001b\\)/;
const STRING_BEGINNING = /^\u001b[\]P_][^\u0007\u001b]{0,1024}\u001b?$/;
const TEXT = /^[^\u0000-\u001f\u007f]+/;

export class InputDecoder {
  readonly #onInput: (input: Input) => void;
  readonly #escapeMs: number;
  readonly #clock: Clock;
  readonly #utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #paste: PasteReader;
  /** The characters that have no meaning yet. They begin with ESC. */
  #held = "";
  #stopTimer: () => void = () => {};
  #isClosed = false;

  constructor(onInput: (input: Input) => void, options: InputDecoderOptions = {}) {
    this.#onInput = onInput;
    this.#escapeMs = options.escapeMs ?? 50;
    this.#clock = options.clock ?? systemClock;
    this.#paste = new PasteReader(this.#clock, options.maxPaste ?? 16 * 1024 * 1024);
  }

  feed(bytes: Uint8Array): void {
    if (this.#isClosed) return;
    this.#stopTimer();
    let rest = this.#held + this.#utf8.decode(bytes, { stream: true });
    this.#held = "";
    while (rest !== "" && !this.#isClosed) {
      if (this.#paste.isOpen) {
        rest = this.#readPaste(rest);
        continue;
      }
      const length = this.#readOne(rest);
      if (length === 0) break;
      rest = rest.slice(length);
    }
    if (this.#isClosed || rest === "") return;
    this.#held = rest;
    this.#stopTimer = this.#clock.setTimer(this.#escapeMs, () => this.flush());
  }

  /** Gives a held ESC its meaning as a key. Drops a sequence that was cut off. */
  flush(): void {
    this.#stopTimer();
    const held = this.#held;
    this.#held = "";
    if (held === "\u001b\u001b") {
      this.#onInput(key("escape"));
      this.#onInput(key("escape"));
    } else if (held === "\u001b") this.#onInput(key("escape"));
    else if (held.length === 2) this.#onInput(altKey(held.slice(1)));
    else if (/^\u001b\u001b[[O]$/.test(held)) {
      this.#onInput(key("escape"));
      this.#onInput(altKey(held.slice(2)));
    }
  }

  /** Releases what is held, an unfinished paste too. Later bytes are ignored. */
  close(): void {
    this.#isClosed = true;
    this.#stopTimer();
    this.#held = "";
    this.#paste.drop();
  }

  #readPaste(text: string): string {
    const read = this.#paste.read(text);
    if (read.paste !== undefined) this.#onInput(read.paste);
    return read.rest;
  }

  /** Reads one input at the start. Returns its length, 0 if more characters are needed. */
  #readOne(text: string): number {
    const typed = TEXT.exec(text)?.[0];
    if (typed !== undefined) {
      const shown = typed.replace(/[\u0080-\u009f]/g, "");
      if (shown !== "") this.#onInput({ type: "text", text: shown });
      return typed.length;
    }
    if (!text.startsWith("\u001b")) {
      this.#onInput(controlKey(text.charCodeAt(0)));
      return 1;
    }
    return this.#readEscape(text);
  }

  #readEscape(text: string): number {
    const second = text[1];
    if (second === undefined) return 0;
    if (second === "\u001b") return this.#readTwoEscapes(text);
    if (second === "[") return this.#readSequence(text, false);
    if (second === "O") return this.#readShortSequence(text, false);
    if (STRING_BEGINNING.test(text)) return 0;
    const answer = STRING.exec(text)?.[0]; // a terminal's answer to an earlier program
    if (answer !== undefined) return answer.length;
    if (second < " " || second === "\u007f") {
      this.#onInput({ ...controlKey(second.charCodeAt(0)), alt: true });
      return 2;
    }
    const letter = String.fromCodePoint(text.codePointAt(1) ?? 0);
    this.#onInput(altKey(letter));
    return 1 + letter.length;
  }

  /** ESC ESC is two keys, unless an arrow follows: some terminals send Alt-Up as ESC ESC [ A. */
  #readTwoEscapes(text: string): number {
    const third = text[2];
    if (third === undefined) return 0;
    const rest = text.slice(1);
    if (third === "O") {
      if (text.length < 4) return 0;
      if (/^\u001bO[A-DFH]/.test(rest)) return 1 + this.#readShortSequence(rest, true);
    }
    if (third === "[") {
      if (CSI_BEGINNING.test(rest)) return 0;
      if (/^\u001b\[[A-DFH]/.test(rest)) return 1 + this.#readSequence(rest, true);
    }
    this.#onInput(key("escape"));
    return 1;
  }

  #readSequence(text: string, isAlt: boolean): number {
    if (CSI_BEGINNING.test(text)) return 0;
    const match = CSI.exec(text);
    if (match === null) return cutOffLength(text);
    const [whole, parameters = "", between = "", final = whole.slice(2)] = match;
    if (final === "~" && parameters === "200") this.#paste.open();
    else if (between === "") this.#emit(sequenceKey(parameters, final), isAlt);
    return whole.length;
  }

  #readShortSequence(text: string, isAlt: boolean): number {
    const third = text[2];
    if (third === undefined) return 0;
    if (!/[A-Za-z]/.test(third)) {
      this.#onInput(altKey("O"));
      return 2;
    }
    this.#emit(sequenceKey("", `O${third}`), isAlt);
    return 3;
  }

  #emit(input: Input | undefined, isAlt: boolean): void {
    if (input === undefined) return;
    this.#onInput(isAlt && input.type === "key" ? { ...input, alt: true } : input);
  }
}

function altKey(letter: string): Input {
  const lower = letter.toLowerCase();
  return key(lower === " " ? "space" : lower, { alt: true, shift: lower !== letter });
}

/** Skips a sequence that another control character or a strange byte cut off. */
function cutOffLength(text: string): number {
  return /^\u001b\[[<-?]?[\d:;]*[ -/]*/.exec(text)?.[0].length ?? 1;
}
