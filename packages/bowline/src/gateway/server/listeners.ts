/** Delivers events to sockets and HTTP streams, by the sessions to which they subscribed. */
import type { Frame } from "../log/outbox.ts";
import { sees } from "../access/own-sessions.ts";
import type { Clients } from "../engine/engine-ports.ts";
import type { EventData, EventName } from "../protocol/protocol.ts";

export interface Listener {
  /** The prefix of the session keys that the listener may see. Absent: all sessions. */
  readonly sessions?: string | undefined;
  event(name: EventName, frame: Frame): void;
}

/**
 * Approvals go to every listener that may see the session. The person who can answer may not have
 * the session open.
 */
const forEveryone: ReadonlySet<EventName> = new Set([
  "exec.approval_request",
  "exec.approval_resolved",
]);

export class Listeners implements Clients {
  /** The subscribed sessions of each listener. */
  readonly #all = new Map<Listener, Set<string>>();
  /**
   * The listeners by session. So the cost of a delta depends on the subscribers of its session, not
   * on all connections.
   */
  readonly #bySession = new Map<string, Set<Listener>>();
  #onFollow: (sessionKey: string, isFollowed: boolean) => void = () => {};

  get size(): number {
    return this.#all.size;
  }

  add(listener: Listener): void {
    this.#all.set(listener, new Set());
  }

  /** Removes the listener and its subscriptions. */
  delete(listener: Listener): void {
    for (const sessionKey of this.#all.get(listener) ?? []) this.unsubscribe(listener, sessionKey);
    this.#all.delete(listener);
  }

  /** Ignores a listener that was not added or has been deleted. */
  subscribe(listener: Listener, sessionKey: string): void {
    const own = this.#all.get(listener);
    if (own === undefined) return;
    own.add(sessionKey);
    const others = this.#bySession.get(sessionKey);
    if (others !== undefined) {
      others.add(listener);
      return;
    }
    this.#bySession.set(sessionKey, new Set([listener]));
    this.#onFollow(sessionKey, true);
  }

  unsubscribe(listener: Listener, sessionKey: string): void {
    this.#all.get(listener)?.delete(sessionKey);
    const followers = this.#bySession.get(sessionKey);
    followers?.delete(listener);
    if (followers?.size !== 0) return;
    this.#bySession.delete(sessionKey);
    this.#onFollow(sessionKey, false);
  }

  isFollowed(sessionKey: string): boolean {
    return this.#bySession.has(sessionKey);
  }

  watch(listener: (sessionKey: string, isFollowed: boolean) => void): void {
    this.#onFollow = listener;
  }

  /** Sends an event of a run to the subscribers of its session, and an approval to all others. */
  publish(sessionKey: string, frame: Frame, event: EventName): void {
    this.toFollowers(sessionKey, frame, event);
    if (forEveryone.has(event)) this.toOthers(sessionKey, frame, event);
  }

  toFollowers(sessionKey: string, frame: Frame, event: EventName): void {
    for (const listener of this.#bySession.get(sessionKey) ?? [])
      if (sees(listener, sessionKey)) listener.event(event, frame);
  }

  toOthers(sessionKey: string, frame: Frame, event: EventName): void {
    const followers = this.#bySession.get(sessionKey);
    for (const listener of this.#all.keys())
      if (followers?.has(listener) !== true && sees(listener, sessionKey))
        listener.event(event, frame);
  }

  broadcast<E extends EventName>(event: E, data: EventData<E>): void {
    const frame: Frame = { json: JSON.stringify({ event, data }) };
    for (const listener of this.#all.keys())
      if (!("sessionKey" in data) || sees(listener, data.sessionKey)) listener.event(event, frame);
  }
}
