/**
 * What waits for one client. While the socket takes it, everything is sent at once. When the client reads slowly, deltas of the same
 * answer are joined, everything else keeps its place, and beyond a bound the client is given up.
 */
import type { WebSocket } from "ws";
import type { EventData } from "./protocol.ts";

export type Frame = PlainFrame | DeltaFrame;

interface PlainFrame {
  readonly json: string;
  /** The run it belongs to, if it is an event of one. */
  readonly runId?: string;
}

/** Can be joined with the one before. */
interface DeltaFrame {
  readonly json: string;
  readonly runId: string;
  readonly event: "chat.delta" | "chat.thinking";
  readonly delta: EventData<"chat.delta">;
}

interface Waiting {
  json: string;
  event?: DeltaFrame["event"];
  delta?: EventData<"chat.delta">;
  /** The texts that were joined; joined once, when it is sent. */
  texts?: string[];
  readonly runId?: string;
}

/** The socket's own buffer is filled up to here, in bytes. */
const HIGH_WATER = 128 * 1024;
/** What a frame costs beside its text. */
const OVERHEAD = 200;

export class Outbox {
  readonly #socket: WebSocket;
  readonly #maxBytes: number;
  readonly #onFull: () => void;
  #queue: Waiting[] = [];
  /** The last of each run that waits: a delta may only be joined with that. */
  readonly #last = new Map<string, Waiting>();
  #bytes = 0;
  #isClosed = false;

  constructor(socket: WebSocket, maxBytes: number, onFull: () => void) {
    this.#socket = socket;
    this.#maxBytes = maxBytes;
    this.#onFull = onFull;
  }

  /** Bytes that wait, about. */
  get size(): number {
    return this.#bytes + this.#socket.bufferedAmount;
  }

  push(frame: Frame): void {
    if (this.#isClosed) return;
    if (this.#queue.length === 0 && this.#socket.bufferedAmount < HIGH_WATER) this.#send(frame.json);
    else this.#wait(frame);
  }

  /** Nothing more is sent. */
  close(): void {
    this.#isClosed = true;
    this.#queue = [];
    this.#last.clear();
    this.#bytes = 0;
  }

  #wait(frame: Frame): void {
    const isDelta = "delta" in frame;
    const before = frame.runId === undefined ? undefined : this.#last.get(frame.runId);
    if (isDelta && before?.delta?.turn === frame.delta.turn && before.event === frame.event) {
      const { delta } = frame;
      before.texts ??= [before.delta.text];
      before.texts.push(delta.text);
      before.delta = { ...delta, firstSeq: before.delta.firstSeq ?? before.delta.seq };
      this.#bytes += delta.text.length;
    } else {
      const waiting: Waiting = { ...frame };
      this.#queue.push(waiting);
      if (frame.runId !== undefined) this.#last.set(frame.runId, waiting);
      this.#bytes += frame.json.length + OVERHEAD;
    }
    if (this.size > this.#maxBytes) this.#onFull();
  }

  #send(json: string): void {
    this.#socket.send(json, () => this.#drain());
  }

  #drain(): void {
    let sent = 0;
    while (sent < this.#queue.length && this.#socket.bufferedAmount < HIGH_WATER) {
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
  }

  readonly #onSent = (): void => this.#drain();
}
