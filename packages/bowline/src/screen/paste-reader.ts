/** Collects a bracketed paste. Nothing in it is a key until its end marker has come. */
import type { Clock } from "@bowline/core";
import type { Input } from "./keys.ts";

const END = "\u001b[201~";
/** After this silence, Ctrl-C alone ends a paste whose end marker was lost. */
const SILENCE_MS = 1000;
const CTRL_C = /^(?:\u0003|\u001b\[99;5u)$/;

export class PasteReader {
  readonly #clock: Clock;
  readonly #limit: number;
  #parts: string[] | undefined;
  #length = 0;
  /** The last characters of all that came: the end marker may be cut. */
  #last = "";
  #lastAt = 0;

  constructor(clock: Clock, limit: number) {
    this.#clock = clock;
    this.#limit = limit;
  }

  get isOpen(): boolean {
    return this.#parts !== undefined;
  }

  open(): void {
    this.#parts = [];
    this.#length = 0;
    this.#last = "";
    this.#lastAt = this.#now();
  }

  drop(): void {
    this.#parts = undefined;
    this.#last = "";
  }

  /** Takes text up to the end of the paste. Returns the paste, if it ended, and the text after. */
  read(text: string): { readonly paste?: Input; readonly rest: string } {
    const now = this.#now();
    const isStuck = CTRL_C.test(text) && now - this.#lastAt >= SILENCE_MS;
    this.#lastAt = now;
    if (isStuck) return { paste: this.#end(this.#last, true), rest: "" };
    const all = this.#last + text;
    const end = all.indexOf(END);
    if (end >= 0) {
      return { paste: this.#end(all.slice(0, end), false), rest: all.slice(end + END.length) };
    }
    const isSure = Math.max(0, all.length - END.length + 1);
    this.#keep(all.slice(0, isSure));
    this.#last = all.slice(isSure);
    return { rest: "" };
  }

  #now(): number {
    return this.#clock.monotonic?.() ?? this.#clock.now();
  }

  #keep(text: string): void {
    if (this.#length < this.#limit) this.#parts?.push(text.slice(0, this.#limit - this.#length));
    this.#length += text.length;
  }

  #end(text: string, isCut: boolean): Input {
    this.#keep(text);
    const whole = (this.#parts ?? []).join("").replace(/\r\n?/g, "\n");
    this.drop();
    const hasLost = isCut || this.#length > this.#limit;
    return { type: "paste", text: whole, ...(hasLost ? { isCut: true } : {}) };
  }
}
