/** The runs of a worker: open ones, and ended ones for a while, so that gateways get their end. */
import type { Clock } from "@bowline/core";
import type { GatewayLimits } from "bowline/gateway";
import type { RunFeed } from "bowline/engine";
import type { RunAttempt } from "./run-attempt.ts";

/**
 * How long an attempt may be without events, in milliseconds. Its run may wait for a person, in no
 * process. Gateways then read it from the database.
 */
const IDLE_MS = 10 * 60_000;
const SWEEP_MS = 30_000;
/** The most sessions whose last attempt is remembered. */
const MAX_ATTEMPTS = 10_000;

interface Options {
  readonly limits: Pick<GatewayLimits, "keepEndedMs" | "maxEnded" | "maxEndedBytes">;
  readonly clock: Clock;
  /** Called when the first run of a session is here. Returns a function for when the last has left. */
  readonly follow: (sessionKey: string) => () => void;
}

interface Held {
  readonly feed: RunFeed;
  /** When its last event came, or its end. */
  at: number;
  isEnded: boolean;
}

interface HeldSession {
  readonly runs: Map<string, Held>;
  readonly stop: () => void;
}

export class FeedMemory {
  readonly #options: Options;
  readonly #sessions = new Map<string, HeldSession>();
  /** The highest attempt of each session, so that an attempt that is over never comes back. */
  readonly #attempts = new Map<string, number>();
  #stopSweep: (() => void) | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  get size(): number {
    return this.#all().length;
  }

  /** Returns the feed of an attempt; opens it at first. Returns undefined if the attempt is over. */
  of(attempt: RunAttempt, open: () => RunFeed): RunFeed | undefined {
    const { sessionKey, runId, attempt: number } = attempt;
    if (number < (this.#attempts.get(sessionKey) ?? 0)) return undefined;
    const known = this.#sessions.get(sessionKey)?.runs.get(runId);
    if (known?.feed.attempt === number) {
      known.at = this.#options.clock.now();
      return known.feed;
    }
    this.yieldTo(sessionKey, number);
    const session = this.#sessionOf(sessionKey);
    const feed = open();
    session.runs.set(runId, { feed, at: this.#options.clock.now(), isEnded: false });
    this.#sweepLater();
    return feed;
  }

  /** Marks a run as ended. It is evicted later. */
  end({ sessionKey, runId }: RunFeed): void {
    const held = this.#sessions.get(sessionKey)?.runs.get(runId);
    if (held === undefined || held.isEnded) return;
    held.isEnded = true;
    held.at = this.#options.clock.now();
    this.#evict();
  }

  /** Ends an attempt without the run's end. */
  leave({
    sessionKey,
    runId,
    attempt,
  }: Pick<RunAttempt, "sessionKey" | "runId" | "attempt">): void {
    const held = this.#sessions.get(sessionKey)?.runs.get(runId);
    if (held?.feed.attempt === attempt && !held.isEnded) this.#remove(held.feed);
  }

  /** Ends the attempts that are lower than this one, here or in another process. */
  yieldTo(sessionKey: string, attempt: number): void {
    if (attempt <= (this.#attempts.get(sessionKey) ?? 0)) return;
    this.#attempts.delete(sessionKey);
    this.#attempts.set(sessionKey, attempt);
    const [oldest] = this.#attempts.keys();
    if (this.#attempts.size > MAX_ATTEMPTS && oldest !== undefined) this.#attempts.delete(oldest);
    for (const { feed, isEnded } of this.#sessions.get(sessionKey)?.runs.values() ?? [])
      if (!isEnded && feed.attempt < attempt) this.#remove(feed);
  }

  ofSession(sessionKey: string): RunFeed[] {
    return [...(this.#sessions.get(sessionKey)?.runs.values() ?? [])].map(({ feed }) => feed);
  }

  all(): RunFeed[] {
    return this.#all().map(({ feed }) => feed);
  }

  close(): void {
    this.#stopSweep?.();
    for (const { feed } of this.#all()) this.#remove(feed);
  }

  #sessionOf(sessionKey: string): HeldSession {
    const known = this.#sessions.get(sessionKey);
    if (known !== undefined) return known;
    const session = { runs: new Map<string, Held>(), stop: this.#options.follow(sessionKey) };
    this.#sessions.set(sessionKey, session);
    return session;
  }

  #remove(feed: RunFeed): void {
    feed.stop();
    const session = this.#sessions.get(feed.sessionKey);
    if (session?.runs.get(feed.runId)?.feed !== feed) return;
    session.runs.delete(feed.runId);
    if (session.runs.size > 0) return;
    this.#sessions.delete(feed.sessionKey);
    session.stop();
  }

  #evict(): void {
    const { clock, limits } = this.#options;
    const now = clock.now();
    for (const { feed, at, isEnded } of this.#all())
      if (now - at >= (isEnded ? limits.keepEndedMs : IDLE_MS)) this.#remove(feed);
    const ended = this.#all()
      .filter(({ isEnded }) => isEnded)
      .toSorted((a, b) => a.at - b.at);
    let bytes = ended.reduce((sum, { feed }) => sum + feed.size, 0);
    for (let count = ended.length; count > 0; count--) {
      if (count <= limits.maxEnded && bytes <= limits.maxEndedBytes) break;
      const oldest = ended.shift();
      if (oldest === undefined) break;
      bytes -= oldest.feed.size;
      this.#remove(oldest.feed);
    }
  }

  #sweepLater(): void {
    this.#stopSweep ??= this.#options.clock.setTimer(SWEEP_MS, () => {
      this.#stopSweep = undefined;
      this.#evict();
      if (this.#sessions.size > 0) this.#sweepLater();
    });
  }

  #all(): Held[] {
    return [...this.#sessions.values()].flatMap(({ runs }) => [...runs.values()]);
  }
}
