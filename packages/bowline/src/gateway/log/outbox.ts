/**
 * What waits for one client. While the socket takes it, everything is sent at once. When the client
 * reads slowly, deltas of the same answer are joined, everything else keeps its place, and beyond a
 * bound the client is given up.
 */
import type { EventData } from "../protocol/protocol.ts";

export type Frame = PlainFrame | DeltaFrame;

interface PlainFrame {
  readonly json: string;
  /** The run it belongs to, if it is an event of one, and its number there. */
  readonly runId?: string;
  readonly seq?: number;
}

/** Can be joined with the one before. */
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
  /** The texts that were joined; joined once, when it is sent. */
  texts?: string[];
  /** Of them all. */
  length?: number;
  readonly runId?: string;
}

/** The socket's own buffer is filled up to here, in bytes, or to half of what may wait. */
const HIGH_WATER = 128 * 1024;
/** What a frame costs beside its text. */
const OVERHEAD = 200;
/**
 * Deltas are joined up to here, in characters: one frame must not hold up the process, nor its
 * client.
 */
const MAX_JOINED = 64 * 1024;

/** Of a socket, what is needed. */
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
  /** The last of each run that waits: a delta may only be joined with that. */
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

  /** Resolves when nothing waits and the socket takes more, or when it is closed. */
  async room(): Promise<void> {
    while (!this.#isClosed && !this.#hasRoom)
      await new Promise<void>((resolve) => this.#roomWanted.push(resolve));
  }

  push(frame: Frame): void {
    if (this.#isClosed) return;
    if (this.#hasRoom) this.#socket.send(frame.json, this.#onSent);
    else this.#wait(frame);
  }

  /** Nothing more is sent. */
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
    // One frame may be larger than all that may wait: what the socket has of it is not held against
    // the client.
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

/** What is sent again, after a client asked for it, follows nothing. */
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
