/**
 * Checks what a client sees of one run over all its connections: increasing numbers, no unrepaired
 * gap, and one end.
 */
import type { EventFrame } from "../../src/gateway/protocol/frame.ts";
import { answerOf, type Task } from "./task.ts";

/** After a restart, sequence numbers jump by at least this much, which is not a gap. */
const JUMP = 100_000;

export class RunWatch {
  seq = -1;
  isEnded = false;
  mayAbort = false;
  snapshots = 0;
  readonly #task: Task;
  readonly #fault: (what: string) => void;
  #ends = 0;
  /** The text of the last turn. */
  #text = "";
  #turn = -1;
  #stoppedAt = Infinity;

  constructor(task: Task, fault: (what: string) => void) {
    this.#task = task;
    this.#fault = (what) => fault(`${task.name}: ${what}`);
  }

  take(frame: EventFrame): void {
    if (!("seq" in frame.data)) return;
    const { event, data } = frame;
    const { seq } = frame.data;
    const first = "firstSeq" in data && data.firstSeq !== undefined ? data.firstSeq : seq;
    if (this.isEnded) this.#fault(`${event} ${seq} after the end`);
    if (event === "chat.snapshot" ? seq < this.seq : first <= this.seq)
      this.#fault(`${event} ${first} after ${this.seq}`);
    const gap = first - this.seq - 1;
    if (event !== "chat.snapshot" && gap > 0 && gap < JUMP)
      this.#fault(`${event}: ${this.seq} to ${first} is missing`);
    this.seq = seq;
    if (event === "chat.snapshot") {
      this.snapshots++;
      this.#turn = -1;
      for (const block of data.blocks) if (block.type === "text") this.#add(block.turn, block.text);
    } else if (event === "chat.delta") {
      this.#add(data.turn, data.text);
      if (seq - this.#stoppedAt >= JUMP)
        this.#fault("a server went on with it after it was stopped");
    } else if (event === "chat.error" || event === "chat.final" || event === "chat.aborted")
      this.#end(event, data);
  }

  /** Records that the server acknowledged the abort. */
  stopped(): void {
    this.#stoppedAt = this.seq;
  }

  /** Checks the run after its last event. */
  check(): void {
    if (this.#ends > 1) this.#fault(`it ended ${this.#ends} times`);
  }

  #add(turn: number, text: string): void {
    this.#text = turn === this.#turn ? this.#text + text : text;
    this.#turn = turn;
  }

  #end(event: string, data: unknown): void {
    this.isEnded = true;
    this.#ends++;
    const isExpected = event === "chat.final" || (event === "chat.aborted" && this.mayAbort);
    if (!isExpected) this.#fault(`it ended with ${event}: ${JSON.stringify(data)}`);
    if (event === "chat.final" && this.#text !== answerOf(this.#task))
      this.#fault(`the text was ${JSON.stringify(this.#text)}`);
  }
}
