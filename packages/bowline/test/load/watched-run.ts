/** Checks what one client sees of one run, event by event. */
import type { EventFrame } from "../../src/gateway/protocol/frame.ts";
import { stamp, wordsOf, type Shape } from "./shape.ts";

export type RunFrame = Extract<EventFrame, { readonly data: { readonly seq: number } }>;

/** The number of received frames, and of the deltas in them. */
export interface Counts {
  frames: number;
  deltas: number;
  joined: number;
  snapshots: number;
  /** Complete runs. */
  ended: number;
}

export class WatchedRun {
  seq = -1;
  isEnded = false;
  #words = 0;
  readonly #shape: Pick<Shape, "deltas">;
  readonly #width: number;
  readonly #fault: (what: string) => void;

  constructor(shape: Pick<Shape, "deltas">, width: number, fault: (what: string) => void) {
    this.#shape = shape;
    this.#width = width;
    this.#fault = fault;
  }

  /** `late` is called with the delay of each delta in microseconds. */
  take({ event, data }: RunFrame, counts: Counts, late?: (us: number) => void): void {
    counts.frames++;
    if (this.isEnded) this.#fault(`${event} ${data.seq} after the end`);
    const isSnapshot = event === "chat.snapshot";
    const first = ("firstSeq" in data ? data.firstSeq : undefined) ?? data.seq;
    if (isSnapshot ? data.seq < this.seq : first !== this.seq + 1 && this.#isNumbered)
      this.#fault(`${event} ${first} to ${data.seq} after ${this.seq}`);
    this.#isNumbered = true;
    this.seq = data.seq;
    if (isSnapshot) {
      counts.snapshots++;
      this.#words = 0;
      for (const block of data.blocks) if (block.type === "text") this.#read(block.text);
      // An end that is read from the store has a much higher number.
      this.#isNumbered = data.state === "running";
    } else if (event === "chat.delta") {
      const words = this.#read(data.text);
      counts.deltas += words.length;
      if (data.firstSeq !== undefined) counts.joined++;
      const now = stamp();
      for (const { at } of words) late?.(now - at);
    } else if (event === "chat.final") {
      this.isEnded = true;
      counts.ended++;
      if (this.#words !== this.#shape.deltas)
        this.#fault(`${this.#words} of ${this.#shape.deltas} deltas came`);
    } else if (event === "chat.error" || event === "chat.aborted") {
      this.isEnded = true;
      this.#fault(`it ended with ${event}: ${JSON.stringify(data)}`);
    }
  }

  #isNumbered = true;

  #read(text: string): readonly { readonly at: number }[] {
    const words = wordsOf(text, this.#width);
    if (words === undefined) this.#fault(`a text that nobody said: ${text.slice(0, 100)}`);
    for (const { index } of words ?? [])
      if (index !== this.#words++) this.#fault(`word ${index} came as number ${this.#words - 1}`);
    return words ?? [];
  }
}
