/**
 * A socket that loses its connection and recovers as docs/gateway.md describes: it resends with the
 * same key, and resumes the run from the last sequence number.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import type { EventFrame, FrameError } from "../../src/gateway/protocol/frame.ts";
import type { SendParams } from "../../src/gateway/protocol/protocol.ts";
import type { RunWatch } from "./run-watch.ts";

interface Answer {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: FrameError;
  readonly event?: string;
}

interface Asked {
  /** Whether the events after the answer must have no gap. */
  readonly isWhole: boolean;
  readonly resolve: (answer: Answer | undefined) => void;
}

const CONNECT_MS = 2000;

export class BareClient {
  connects = 0;
  readonly #url: string;
  readonly #token: string;
  #socket: WebSocket | undefined;
  #next = 0;
  #asked = new Map<number, Asked>();
  #watch: { readonly runId: string; readonly watch: RunWatch } | undefined;
  /**
   * The connection on which the run is followed. Events on other connections before that may have
   * gaps.
   */
  #following: WebSocket | undefined;

  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  /**
   * Sends until the message is answered, and returns false if it is refused for now. `wasSent`: the
   * server may know the message already.
   */
  async send(params: SendParams, watch: RunWatch, wasSent = false): Promise<boolean> {
    const { idempotencyKey: runId = "" } = params;
    this.#watch = { runId, watch };
    for (let isAgain = wasSent; ; isAgain = true) {
      const socket = await this.#connected();
      // If the message is sent once, all its events arrive on this connection. If it is resent, the
      // previous connection may have received some of them.
      const answer = await this.#ask(socket, "chat.send", params, !isAgain);
      if (answer === undefined) continue;
      if (answer.error?.data?.retryable === true) return false;
      if (answer.error !== undefined) throw new Error(JSON.stringify(answer.error));
      return true;
    }
  }

  /** Requests the missed events on a new connection. */
  async follow(sessionKey: string, runId: string, watch: RunWatch): Promise<void> {
    const socket = await this.#connected();
    if (this.#following === socket) return;
    // Reads the number only now, because a closing connection could still deliver events.
    await this.#ask(socket, "chat.subscribe", { sessionKey, runId, seq: watch.seq }, true);
  }

  /** Disconnects without a close frame. */
  drop(): void {
    this.#socket?.terminate();
    this.#socket = undefined;
  }

  async #connected(): Promise<WebSocket> {
    while (this.#socket?.readyState !== WebSocket.OPEN) {
      const socket = new WebSocket(this.#url);
      socket.on("error", () => {}); // "close" follows
      const next = (event: string): Promise<void> =>
        new Promise((resolve) => socket.once(event, () => resolve()));
      const closed = next("close");
      const limit = setTimeout(() => socket.terminate(), CONNECT_MS);
      await Promise.race([next("open"), closed]);
      if (socket.readyState === WebSocket.OPEN) {
        socket.send(JSON.stringify({ type: "auth", token: this.#token, events: "all" }));
        await Promise.race([next("message"), closed]);
      }
      clearTimeout(limit);
      if (socket.readyState === WebSocket.OPEN) {
        this.connects++;
        this.#socket = socket;
        socket.on("message", (data: Buffer) =>
          this.#hear(socket, JSON.parse(data.toString()) as Answer),
        );
        void closed.then(() => this.#lose());
      } else await sleep(30);
    }
    return this.#socket;
  }

  #ask(
    socket: WebSocket,
    method: string,
    params: unknown,
    isWhole: boolean,
  ): Promise<Answer | undefined> {
    const id = this.#next++;
    return new Promise((resolve) => {
      this.#asked.set(id, { isWhole, resolve });
      socket.send(JSON.stringify({ id, method, params }));
      if (socket.readyState !== WebSocket.OPEN) resolve(undefined);
    });
  }

  #hear(socket: WebSocket, frame: Answer): void {
    if (this.#socket !== socket) return;
    if (frame.id !== undefined) {
      const asked = this.#asked.get(frame.id);
      this.#asked.delete(frame.id);
      if (asked?.isWhole === true && frame.result !== undefined) this.#following = socket;
      return asked?.resolve(frame);
    }
    const { event, data } = frame as unknown as EventFrame;
    if (event === undefined || !("runId" in data) || data.runId !== this.#watch?.runId) return;
    if (this.#following === socket) this.#watch.watch.take(frame as unknown as EventFrame);
  }

  #lose(): void {
    for (const { resolve } of this.#asked.values()) resolve(undefined);
    this.#asked.clear();
  }
}
