/**
 * Queues frames for one client. Sends at once while the socket accepts data. For a slow client,
 * deltas of the same answer are joined and other frames keep their order. Above a limit the client
 * is disconnected.
 */
import type { EventData } from "../protocol/protocol.ts";

export type Frame = PlainFrame | DeltaFrame;

interface PlainFrame {
  readonly json: string;
  /** The run and `seq` of a run's event. */
  readonly runId?: string;
  readonly seq?: number;
}

/** A delta, which can be joined with the previous one. */
interface DeltaFrame {
  readonly json: string;
  readonly runId: string;
  readonly seq: number;
  readonly event: "chat.delta" | "chat.thinking";
  readonly delta: EventData<"chat.delta">;
}

interface Waiting {
  json: string;
  event?: DeltaFrame["event"];
  delta?: EventData<"chat.delta">;
  /** Texts to join; they are concatenated once, when sent. */
  texts?: string[];
  /** Total length of the texts. */
  length?: number;
  readonly runId?: string;
}

/** Fills the socket's own buffer up to this size, in bytes, or to half of the limit. */
const HIGH_WATER = 128 * 1024;
/** Cost of a frame beside its text, in bytes. */
const OVERHEAD = 200;
/** Longest joined delta, in characters. A longer frame would block the process or its client. */
const MAX_JOINED = 64 * 1024;

/** The members of a socket that are used. */
interface Sink {
  readonly bufferedAmount: number;
  send(json: string, done: () => void): void;
}

export class Outbox {
  readonly #socket: Sink;
  readonly #maxBytes: number;
  readonly #highWater: number;
  readonly #onFull: () => void;
  #queue: Waiting[] = [];
  /** The last queued frame of each run; a delta may only be joined with it. */
  readonly #last = new Map<string, Waiting>();
  #bytes = 0;
  #isClosed = false;
  #roomWanted: (() => void)[] = [];

  constructor(socket: Sink, maxBytes: number, onFull: () => void) {
    this.#socket = socket;
    this.#maxBytes = maxBytes;
    this.#highWater = Math.min(HIGH_WATER, maxBytes / 2);
    this.#onFull = onFull;
  }

  /** Resolves when the queue is empty and the socket accepts more, or when it is closed. */
  async room(): Promise<void> {
    while (!this.#isClosed && !this.#hasRoom)
      await new Promise<void>((resolve) => this.#roomWanted.push(resolve));
  }

  push(frame: Frame): void {
    if (this.#isClosed) return;
    if (this.#hasRoom) this.#socket.send(frame.json, this.#onSent);
    else this.#wait(frame);
  }

  /** Drops the queue and sends nothing more. */
  close(): void {
    this.#isClosed = true;
    this.#queue = [];
    this.#last.clear();
    this.#bytes = 0;
    this.#giveRoom();
  }

  get #hasRoom(): boolean {
    return this.#queue.length === 0 && this.#socket.bufferedAmount < this.#highWater;
  }

  #wait(frame: Frame): void {
    const before = frame.runId === undefined ? undefined : this.#last.get(frame.runId);
    if ("delta" in frame && before?.delta !== undefined && isNext(frame, before)) {
      const { delta } = frame;
      before.texts ??= [before.delta.text];
      before.texts.push(delta.text);
      before.length = (before.length ?? before.delta.text.length) + delta.text.length;
      before.delta = { ...delta, firstSeq: before.delta.firstSeq ?? before.delta.seq };
      this.#bytes += delta.text.length;
    } else {
      const waiting: Waiting = { ...frame };
      this.#queue.push(waiting);
      if (frame.runId !== undefined) this.#last.set(frame.runId, waiting);
      this.#bytes += frame.json.length + OVERHEAD;
    }
    // One frame may be larger than the limit. The part that the socket has taken does not count
    // against the client.
    if (this.#bytes + Math.min(this.#socket.bufferedAmount, this.#highWater) > this.#maxBytes)
      this.#onFull();
  }

  #drain(): void {
    let sent = 0;
    while (sent < this.#queue.length && this.#socket.bufferedAmount < this.#highWater) {
      const next = this.#queue[sent++] as Waiting;
      const { runId, event, texts, delta } = next;
      if (runId !== undefined && this.#last.get(runId) === next) this.#last.delete(runId);
      this.#bytes -= next.json.length + OVERHEAD;
      if (texts === undefined || delta === undefined) {
        this.#socket.send(next.json, this.#onSent);
      } else {
        const text = texts.join("");
        this.#bytes -= text.length - (texts[0]?.length ?? 0);
        this.#socket.send(JSON.stringify({ event, data: { ...delta, text } }), this.#onSent);
      }
    }
    if (sent > 0) this.#queue.splice(0, sent);
    if (this.#hasRoom) this.#giveRoom();
  }

  #giveRoom(): void {
    for (const go of this.#roomWanted.splice(0)) go();
  }

  readonly #onSent = (): void => this.#drain();
}

/** Returns true if the delta directly follows the queued one. Resent deltas do not. */
function isNext(
  { event, delta }: DeltaFrame,
  { event: last, delta: before, length = 0 }: Waiting,
): boolean {
  return (
    event === last &&
    delta.turn === before?.turn &&
    delta.seq === before.seq + 1 &&
    length < MAX_JOINED
  );
}
