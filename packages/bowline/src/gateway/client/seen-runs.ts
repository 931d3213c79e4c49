/**
 * What a client has seen of the runs it follows: by this it knows what is new, what is missing, and
 * what to ask for.
 */
import { isEnd } from "./followed-run.ts";
import type { EventFrame } from "../protocol/frame.ts";
import type { Params } from "../protocol/protocol.ts";

/** Runs whose end was seen; more are not remembered. */
const MAX_ENDED = 1000;

export class SeenRuns {
  /** By session, the last number that was seen of each run that goes on. */
  readonly #sessions = new Map<string, Map<string, number>>();
  readonly #ended = new Set<string>();
  /** Something is missing of these, and was asked for. */
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
   * A run that has begun: of one that nothing was seen of, all is asked for. Gives what to ask for;
   * nothing when it has ended.
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

  /** What it has said is wanted once more. */
  forgetEnd(runId: string): void {
    this.#ended.delete(runId);
  }

  /** A run that nobody knows. */
  drop(sessionKey: string, runId: string): void {
    this.#sessions.get(sessionKey)?.delete(runId);
  }

  /**
   * What to ask for on a new connection. A run that ended meanwhile is sent to its end; then what
   * goes on.
   */
  toResume(): Params<"chat.subscribe">[] {
    this.#missing.clear();
    return [...this.#sessions].flatMap(([sessionKey, runs]): Params<"chat.subscribe">[] =>
      runs.size === 0
        ? [{ sessionKey }]
        : [...runs].map(([runId, seq]) => ({ sessionKey, runId, seq })),
    );
  }

  /** Whether an event is to be passed on; for a gap, what to ask for. */
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
    // Joined deltas of which a part was seen already cannot be taken apart: all of the run is asked
    // for.
    if (last !== undefined && !isSnapshot && first !== last + 1) {
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
