/**
 * Tracks the events that a client has seen of its runs, to detect duplicates and gaps and to
 * resume.
 */
import { isEnd } from "./followed-run.ts";
import type { EventFrame } from "../protocol/frame.ts";
import type { Params } from "../protocol/protocol.ts";

/** The maximum number of ended runs to remember. */
const MAX_ENDED = 1000;

export class SeenRuns {
  /** Last `seq` of each open run, by session. */
  readonly #sessions = new Map<string, Map<string, number>>();
  readonly #ended = new Set<string>();
  /** Runs with a gap, for which a request is pending. */
  readonly #missing = new Set<string>();

  follow(sessionKey: string): void {
    if (!this.#sessions.has(sessionKey)) this.#sessions.set(sessionKey, new Map());
  }

  follows(sessionKey: string): boolean {
    return this.#sessions.has(sessionKey);
  }

  leave(sessionKey: string): void {
    this.#sessions.delete(sessionKey);
  }

  /**
   * Starts tracking a run. Returns the subscription to request, or undefined if the run has ended
   * or its session is not followed.
   */
  expect(sessionKey: string, runId: string): Params<"chat.subscribe"> | undefined {
    const runs = this.#sessions.get(sessionKey);
    if (runs === undefined || this.#ended.has(runId)) return undefined;
    const seq = runs.get(runId) ?? -1;
    runs.set(runId, seq);
    return { sessionKey, runId, seq };
  }

  hasEnded(runId: string): boolean {
    return this.#ended.has(runId);
  }

  /** Forgets that the run has ended, so that its events are accepted again. */
  forgetEnd(runId: string): void {
    this.#ended.delete(runId);
  }

  /** Forgets a run that the server does not know. */
  drop(sessionKey: string, runId: string): void {
    this.#sessions.get(sessionKey)?.delete(runId);
  }

  /**
   * Returns the subscriptions for a new connection. For a run that ended meanwhile, the server
   * sends the rest.
   */
  toResume(): Params<"chat.subscribe">[] {
    this.#missing.clear();
    return [...this.#sessions].flatMap(([sessionKey, runs]): Params<"chat.subscribe">[] =>
      runs.size === 0
        ? [{ sessionKey }]
        : [...runs].map(([runId, seq]) => ({ sessionKey, runId, seq })),
    );
  }

  /** Returns true for a new event, false for a duplicate, or the subscription that fills a gap. */
  take(frame: EventFrame): boolean | Params<"chat.subscribe"> {
    if (!("seq" in frame.data)) return true;
    const { runId, sessionKey, seq } = frame.data;
    const runs = this.#sessions.get(sessionKey);
    if (runs === undefined) return true;
    if (this.#ended.has(runId)) return false;
    const last = runs.get(runId);
    const isSnapshot = frame.event === "chat.snapshot";
    if (last !== undefined && (isSnapshot ? seq < last : seq <= last)) return false;
    const isJoined = frame.event === "chat.delta" || frame.event === "chat.thinking";
    const first = (isJoined ? frame.data.firstSeq : undefined) ?? seq;
    // Joined deltas that overlap with seen ones cannot be split, so request the whole run. So is a run
    // whose first event here is not its first: the client may hear of it in the middle.
    if (!isSnapshot && first !== (last ?? -1) + 1) {
      if (this.#missing.has(runId)) return false;
      this.#missing.add(runId);
      return { sessionKey, runId };
    }
    this.#missing.delete(runId);
    runs.set(runId, seq);
    if (isEnd(frame.event)) this.#end(runs, runId);
    return true;
  }

  #end(runs: Map<string, number>, runId: string): void {
    runs.delete(runId);
    this.#ended.add(runId);
    const [oldest] = this.#ended;
    if (this.#ended.size > MAX_ENDED && oldest !== undefined) this.#ended.delete(oldest);
  }
}
