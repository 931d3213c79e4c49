/** Collects the events that are passed on while a client is about to follow a session. */
import { GatewayError } from "bowline/engine";
import type { GatewayLimits } from "bowline/gateway";
import type { LiveEvent } from "../wire/messages.ts";

export class Tap {
  readonly #limits: Pick<GatewayLimits, "maxReplayEvents" | "maxBufferedBytes">;
  readonly #onClose: () => void;
  #events: LiveEvent[] = [];
  #length = 0;
  #isFull = false;

  constructor(
    limits: Pick<GatewayLimits, "maxReplayEvents" | "maxBufferedBytes">,
    onClose: () => void,
  ) {
    this.#limits = limits;
    this.#onClose = onClose;
  }

  add(event: LiveEvent): void {
    if (this.#isFull) return;
    this.#events.push(event);
    this.#length += event.frame.json.length;
    const { maxReplayEvents, maxBufferedBytes } = this.#limits;
    this.#isFull = this.#events.length > maxReplayEvents || this.#length > maxBufferedBytes;
    if (this.#isFull) this.#events = [];
  }

  /** Forgets what was passed on of a run. */
  drop(runId: string): void {
    this.#events = this.#events.filter((event) => event.runId !== runId);
  }

  /** Throws `busy` if too much was passed on meanwhile. The client may ask again. */
  assertWhole(): void {
    if (!this.#isFull) return;
    this.close();
    throw new GatewayError("busy", "The run is faster than its reader.", { retryable: true });
  }

  /** Returns the events, and collects no more. */
  close(): readonly LiveEvent[] {
    this.#onClose();
    return this.#events;
  }
}
