/** Throttles `sessions.changed`, which all clients get, per session. */
import type { Clock } from "@bowline/core";
import type { EventData } from "../protocol/protocol.ts";

type Change = EventData<"sessions.changed">;

/** The interval between two informational changes of a session, in milliseconds. */
const INTERVAL_MS = 250;

export class SessionChanges {
  readonly #clock: Clock;
  readonly #send: (change: Change) => void;
  /** Sessions with a recent event, and the next event of each. */
  readonly #recent = new Map<string, { next: Change | undefined; readonly stop: () => void }>();
  #isClosed = false;

  constructor(clock: Clock, send: (change: Change) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  /**
   * Sends the change at once if the session had no recent event. Otherwise merges it into one event
   * at the end of the interval. Changes that a client must act on are never delayed.
   */
  add(change: Change): void {
    const recent = this.#recent.get(change.sessionKey);
    if (recent !== undefined && isNews(change)) {
      // An earlier change of the agent or model stays in the merged event.
      recent.next = { ...recent.next, ...change };
      return;
    }
    this.#flush(change.sessionKey);
    this.#sendNow(change);
  }

  /** Sends all delayed changes. Later changes are sent at once. */
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

/**
 * Whether the change only informs. All other changes make a client's copy of the session invalid.
 */
function isNews({ change }: Change): boolean {
  return change === "updated" || change === "run";
}
