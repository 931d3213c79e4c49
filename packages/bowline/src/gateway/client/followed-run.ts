/** A run as seen by its client. */
import { errorNumbers, type EventFrame } from "../protocol/frame.ts";
import type { EventName } from "../protocol/protocol.ts";
import { RequestError } from "./request-error.ts";

/** A run as seen by its client: each event once, in order, up to the last. */
export interface RunHandle extends AsyncIterable<RunEvent> {
  readonly runId: string;
  readonly sessionKey: string;
  /**
   * Resolves with the outcome; `text` is that of the last turn. Rejects with a {@link RequestError}
   * if the server no longer knows the run, or if it was interrupted and not resumed.
   */
  result(): Promise<RunOutcome>;
  abort(): Promise<void>;
}

export type RunEvent = Extract<
  EventFrame,
  { readonly data: { readonly runId: string; readonly seq: number } }
>;

export interface RunOutcome {
  readonly end: EventFrame<"chat.final" | "chat.error" | "chat.aborted">;
  readonly text: string;
}

/** The part of the client that a followed run uses. */
interface RunSource {
  onEvent(listener: (frame: EventFrame) => void): () => void;
  onState(listener: (state: string) => void): () => void;
  onUnknown(listener: (runId: string) => void): () => void;
  request(
    method: "chat.abort",
    params: { readonly sessionKey: string; readonly runId: string },
  ): Promise<unknown>;
}

/** Collects a run's events for one reader. */
export class FollowedRun implements RunHandle {
  readonly runId: string;
  readonly sessionKey: string;
  readonly #client: RunSource;
  readonly #stop: () => void;
  readonly #events: RunEvent[] = [];
  #isOver = false;
  #outcome: RunOutcome | undefined;
  #text = "";
  #turn = -1;
  readonly #waiting: (() => void)[] = [];

  constructor(client: RunSource, runId: string, sessionKey: string) {
    this.#client = client;
    this.runId = runId;
    this.sessionKey = sessionKey;
    const stopEvents = client.onEvent((frame) => this.#hear(frame));
    const stopState = client.onState((state) => {
      if (state === "ended") this.end();
    });
    const stopUnknown = client.onUnknown((unknown) => {
      if (unknown === runId) this.end();
    });
    this.#stop = () => {
      stopEvents();
      stopState();
      stopUnknown();
    };
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  end(): void {
    this.#isOver = true;
    this.#stop();
    this.#wake();
  }

  async result(): Promise<RunOutcome> {
    while (!this.#isOver) await this.#change();
    if (this.#outcome !== undefined) return this.#outcome;
    const data = { code: "not_found", retryable: false };
    throw new RequestError({
      code: errorNumbers.not_found,
      message: "The run's end is unknown: it was interrupted, or the server no longer knows it.",
      data,
    });
  }

  async abort(): Promise<void> {
    const { sessionKey, runId } = this;
    await this.#client.request("chat.abort", { sessionKey, runId });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RunEvent> {
    for (;;) {
      // Read before the reader gets the events: the run may go on, or end, while it handles them.
      const change = this.#change();
      const isOver = this.#isOver;
      yield* this.#events.splice(0);
      if (isOver) return;
      await change;
    }
  }

  #hear(frame: EventFrame): void {
    if (!("runId" in frame.data) || frame.data.runId !== this.runId || this.#isOver) return;
    this.#events.push(frame as RunEvent);
    if (frame.event === "chat.delta") this.#add(frame.data.turn, frame.data.text);
    if (frame.event === "chat.snapshot") {
      this.#turn = -1;
      for (const block of frame.data.blocks)
        if (block.type === "text") this.#add(block.turn, block.text);
    }
    if (isEnd(frame.event)) {
      this.#outcome = { end: frame as RunOutcome["end"], text: this.#text };
      this.end();
    } else if (frame.event === "chat.snapshot" && frame.data.state === "interrupted") this.end();
    else this.#wake();
  }

  #add(turn: number, text: string): void {
    this.#text = turn === this.#turn ? this.#text + text : text;
    this.#turn = turn;
  }

  /** Resolves at the next event, or when the run is over. */
  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #wake(): void {
    for (const go of this.#waiting.splice(0)) go();
  }
}

export function isEnd(event: EventName): boolean {
  return event === "chat.final" || event === "chat.error" || event === "chat.aborted";
}
