/**
 * `sessions.changed`, which everyone gets: of a session in which much happens it is said now and
 * then.
 */
import type { Clock } from "@bowline/core";
import type { EventData } from "../protocol/protocol.ts";

type Change = EventData<"sessions.changed">;

/** A session's changes that are only news of its state are this far apart. */
const INTERVAL_MS = 250;

export class SessionChanges {
  readonly #clock: Clock;
  readonly #send: (change: Change) => void;
  /** Sessions of which something was said a moment ago, and what is to be said next. */
  readonly #recent = new Map<string, { next: Change | undefined; readonly stop: () => void }>();
  #isClosed = false;

  constructor(clock: Clock, send: (change: Change) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  /**
   * Sent at once if nothing was a moment ago, else the latest is when the interval is over. What a
   * client must act on never waits.
   */
  add(change: Change): void {
    const recent = this.#recent.get(change.sessionKey);
    if (recent !== undefined && isNews(change)) {
      // Who answers stays true, whatever came next.
      recent.next = { ...recent.next, ...change };
      return;
    }
    this.#flush(change.sessionKey);
    this.#sendNow(change);
  }

  /** What waits is sent; what comes from now on is at once. */
  close(): void {
    this.#isClosed = true;
    for (const sessionKey of this.#recent.keys()) this.#flush(sessionKey);
  }

  #sendNow(change: Change): void {
    const { sessionKey } = change;
    this.#send(change);
    if (this.#isClosed) return;
    const stop = this.#clock.setTimer(INTERVAL_MS, () => {
      const next = this.#recent.get(sessionKey)?.next;
      this.#recent.delete(sessionKey);
      if (next !== undefined) this.#sendNow(next);
    });
    this.#recent.set(sessionKey, { next: undefined, stop });
  }

  #flush(sessionKey: string): void {
    const recent = this.#recent.get(sessionKey);
    if (recent === undefined) return;
    this.#recent.delete(sessionKey);
    recent.stop();
    if (recent.next !== undefined) this.#send(recent.next);
  }
}

/** Others are acted on: what a client has of the session is not true any more. */
function isNews({ change }: Change): boolean {
  return change === "updated" || change === "run";
}
