/**
 * Answers requests over HTTP whose stream of events ended without an answer. The client library
 * leaves them open for ever.
 */
import type { Clock } from "@bowline/core";
import type { Transport } from "@modelcontextprotocol/client";

/** Time for what was received last to be read, in milliseconds. */
const GRACE_MS = 250;

export class OpenRequests {
  readonly #clock: Clock;
  /** Requests without an answer whose stream is open, or ended and may be resumed. */
  readonly #open = new Map<string | number, "open" | "resuming">();
  #transport: Transport | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  attach(transport: Transport): void {
    this.#transport = transport;
    transport.onmessage = (message) => {
      if (!("method" in message) && message.id !== undefined) this.#open.delete(message.id);
    };
    transport.onerror = (error) => {
      if (!error.message.startsWith("Maximum reconnection attempts")) return;
      for (const [id, state] of this.#open) if (state === "resuming") this.#fail(id);
    };
  }

  streamOpened(id: string | number): void {
    this.#open.set(id, "open");
  }

  /** `canResume`: the client library asks for the rest of the stream. */
  streamEnded(id: string | number, canResume: boolean): void {
    this.#clock.setTimer(GRACE_MS, () => {
      if (!this.#open.has(id)) return;
      if (canResume) this.#open.set(id, "resuming");
      else this.#fail(id);
    });
  }

  /** The caller gave the request up. */
  dropped(id: string | number): void {
    this.#open.delete(id);
  }

  #fail(id: string | number): void {
    this.#open.delete(id);
    const message = "the connection was cut before the answer";
    this.#transport?.onmessage?.({ jsonrpc: "2.0", id, error: { code: CUT, message } });
  }
}

/** The code of the answer that stands for a cut connection. No server may use it. */
export const CUT = -32_099_001;
