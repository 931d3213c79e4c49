/** Who is told of events: sockets, and streams over HTTP, each by the sessions that it follows. */
import type { Frame } from "../log/outbox.ts";
import { sees } from "../access/own-sessions.ts";
import type { EventData, EventName } from "../protocol/protocol.ts";

export interface Listener {
  /** How the keys begin of all sessions that it may know of. Absent: any. */
  readonly sessions?: string | undefined;
  event(name: EventName, frame: Frame): void;
}

/**
 * Approvals are for everyone who may know of the session: who could answer may not have the session
 * open.
 */
const forEveryone: ReadonlySet<EventName> = new Set([
  "exec.approval_request",
  "exec.approval_resolved",
]);

export class Listeners {
  /** The sessions of each. */
  readonly #all = new Map<Listener, Set<string>>();
  /**
   * The same by session: a delta costs what those who follow it cost, however many are connected.
   */
  readonly #bySession = new Map<string, Set<Listener>>();

  get size(): number {
    return this.#all.size;
  }

  add(listener: Listener): void {
    this.#all.set(listener, new Set());
  }

  /** It has gone: it is told of nothing any more. */
  delete(listener: Listener): void {
    for (const sessionKey of this.#all.get(listener) ?? []) this.unsubscribe(listener, sessionKey);
    this.#all.delete(listener);
  }

  /** One that was not added, or has gone, stays out. */
  subscribe(listener: Listener, sessionKey: string): void {
    const own = this.#all.get(listener);
    if (own === undefined) return;
    own.add(sessionKey);
    const others = this.#bySession.get(sessionKey);
    if (others === undefined) this.#bySession.set(sessionKey, new Set([listener]));
    else others.add(listener);
  }

  unsubscribe(listener: Listener, sessionKey: string): void {
    this.#all.get(listener)?.delete(sessionKey);
    const followers = this.#bySession.get(sessionKey);
    followers?.delete(listener);
    if (followers?.size === 0) this.#bySession.delete(sessionKey);
  }

  /** An event of a run, to who follows its session. */
  publish(sessionKey: string, frame: Frame, event: EventName): void {
    const told = forEveryone.has(event)
      ? this.#all.keys()
      : (this.#bySession.get(sessionKey) ?? []);
    for (const listener of told) if (sees(listener, sessionKey)) listener.event(event, frame);
  }

  /** An event for everyone; one of a session for everyone who may know of it. */
  broadcast<E extends EventName>(event: E, data: EventData<E>): void {
    const frame: Frame = { json: JSON.stringify({ event, data }) };
    for (const listener of this.#all.keys())
      if (!("sessionKey" in data) || sees(listener, data.sessionKey)) listener.event(event, frame);
  }
}
