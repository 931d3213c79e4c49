/** Records what clients were told, and checks it against the promises of docs/gateway.md. */
import type { Block, RunInfo } from "../../src/gateway/protocol/protocol.ts";

export interface RunFrame {
  readonly event: string;
  readonly data: {
    readonly runId: string;
    readonly sessionKey: string;
    readonly seq: number;
    readonly firstSeq?: number;
    readonly turn?: number;
    readonly text?: string;
    readonly state?: string;
    readonly blocks?: readonly Block[];
  };
}

export interface Message {
  readonly sessionKey: string;
  /** A refused message must not appear anywhere. A message whose answer was lost may. */
  fate: "unknown" | "accepted" | "refused" | "lost";
  /** The message's own run, if the answer named one. */
  runId: string | undefined;
}

/** After a restart or an eviction, sequence numbers jump by at least this much. */
const JUMP = 100_000;

export function isEnd(event: string): boolean {
  return event === "chat.final" || event === "chat.error" || event === "chat.aborted";
}

export class Ledger {
  readonly faults: string[] = [];
  /** The messages by the first word of their text. */
  readonly messages = new Map<string, Message>();
  /** The end event of each run, as any client saw it. */
  readonly ends = new Map<string, string>();
  /** The last text of each run. */
  readonly texts = new Map<string, string>();
  /** Sessions that were reset or deleted. */
  readonly deleted = new Set<string>();
  /**
   * Aborted runs. Also runs and sessions whose abort request got no answer, because it may have
   * taken effect.
   */
  readonly stopped = new Set<string | undefined>();
  /** The first version of each event. */
  readonly #told = new Map<string, string>();

  fault(what: string): void {
    if (this.faults.length < 20) this.faults.push(what);
  }

  /**
   * Whether the run may be lost: its session was deleted, or it was aborted. A message that is
   * resent then begins a new run.
   */
  mayBeGone(runId: string, sessionKey: string): boolean {
    return this.stopped.has(sessionKey) || this.stopped.has(runId) || this.deleted.has(sessionKey);
  }

  hear({ event, data }: RunFrame): void {
    const { runId, seq, firstSeq } = data;
    if (event === "chat.snapshot" || firstSeq !== undefined) return;
    const name = `${runId} ${seq}`;
    const text = JSON.stringify({ event, data });
    const before = this.#told.get(name);
    if (before !== undefined && before !== text && !this.mayBeGone(runId, data.sessionKey))
      this.fault(`two are told other things as ${name}: ${before} and ${text}`);
    this.#told.set(name, text);
    if (!isEnd(event)) return;
    const end = this.ends.get(runId);
    if (end !== undefined && end !== event && !this.mayBeGone(runId, data.sessionKey))
      this.fault(`${runId} ended with ${end} and with ${event}`);
    this.ends.set(runId, event);
    if (event === "chat.aborted") this.stopped.add(runId);
  }
}

/** One reader's view of one run. */
export class Sight {
  readonly #ledger: Ledger;
  readonly #who: string;
  last: number | undefined;
  /** True from a subscription until the next event. */
  #isAsking = false;
  isEnded = false;
  isInterrupted = false;
  #text = "";
  #turn = -1;
  /** Whether the reader has received the whole last turn. */
  #isWhole = false;

  constructor(ledger: Ledger, who: string) {
    this.#ledger = ledger;
    this.#who = who;
  }

  /** Records a new subscription after `seq`, which may repeat known events. */
  askAgain(seq: number | undefined): void {
    this.isEnded = false;
    this.last = seq;
    this.#isAsking = true;
    this.#isWhole = seq === -1;
    if (this.#isWhole) [this.#text, this.#turn] = ["", -1];
  }

  take(frame: RunFrame): void {
    this.#ledger.hear(frame);
    const { event, data } = frame;
    const { seq, runId } = data;
    const first = data.firstSeq ?? seq;
    const fault = (what: string): void =>
      this.#ledger.fault(`${this.#who}, ${runId}: ${event} ${first} ${what} (last ${this.last})`);
    // The first event of a run, for a subscription to future events, or of a run that began again.
    const isFirst =
      seq === 0 &&
      (this.#isAsking || (this.isEnded && this.#ledger.mayBeGone(runId, data.sessionKey)));
    if (isFirst) this.askAgain(-1);
    this.#isAsking = false;
    if (this.isEnded) fault("after the end");
    if (event === "chat.snapshot") {
      [this.#text, this.#turn, this.#isWhole] = ["", -1, true];
      for (const block of data.blocks ?? [])
        if (block.type === "text") this.#add(block.turn, block.text);
      this.isInterrupted = data.state === "interrupted";
    } else {
      if (this.last !== undefined && first <= this.last) fault("comes again");
      if (this.last !== undefined && first > this.last + 1)
        fault(first - this.last > JUMP ? "jumps" : "leaves a gap");
      if (event === "chat.delta") this.#add(data.turn ?? 0, data.text ?? "");
    }
    this.last = seq;
    if (!isEnd(event)) return;
    this.isEnded = true;
    const known = this.#ledger.texts.get(runId);
    if (!this.#isWhole || event !== "chat.final") return;
    const isAnother =
      known !== undefined &&
      known !== this.#text &&
      !this.#ledger.mayBeGone(runId, data.sessionKey);
    if (isAnother) fault(`has the text ${this.#text}, another had ${known}`);
    this.#ledger.texts.set(runId, this.#text);
  }

  #add(turn: number, text: string): void {
    if (turn !== this.#turn && this.#turn >= 0) this.#isWhole = true;
    this.#text = turn === this.#turn ? this.#text + text : text;
    this.#turn = turn;
  }
}

export function isOpenRun({ state }: RunInfo): boolean {
  return state === "queued" || state === "running";
}
