/** Starts runs: those of a session one after the other, and all under one cap. */
import { GatewayError } from "../protocol/gateway-error.ts";
import type { Host } from "./host.ts";
import { failedOf, incomingOf, type Incoming } from "./incoming.ts";
import type { Lane } from "./lane.ts";
import { keepAs } from "./pending.ts";
import { isIn, lastEntries } from "./revive.ts";
import { Run } from "./run.ts";
import { RunCap } from "./run-cap.ts";
import type { RunMemory } from "./run-memory.ts";
import { settledWithin } from "./settled-within.ts";

const CLOSE_MS = 3000;

export class Schedule {
  readonly #host: Host;
  readonly #memory: RunMemory;
  readonly #cap: RunCap;
  readonly #running = new Set<Promise<void>>();
  #isClosing = false;

  constructor(host: Host, memory: RunMemory) {
    this.#host = host;
    this.#memory = memory;
    this.#cap = new RunCap(host.limits.maxRuns);
  }

  get count(): number {
    return this.#cap.count;
  }

  /** Throws `busy` during a shutdown. */
  assertOpen(): void {
    if (this.#isClosing)
      throw new GatewayError("busy", "The server is shutting down.", { retryable: true });
  }

  enqueue(lane: Lane, run: Run): Run {
    lane.waiting.push(run);
    this.#memory.add(run.log);
    return run;
  }

  /**
   * Returns whether the client may be told that a queued run has started. The run then starts as
   * soon as it is ready, unless it is stopped.
   */
  promise(lane: Lane, run: Run): boolean {
    return lane.current === undefined && lane.waiting[0] === run && this.#cap.promise(run);
  }

  /** Called when the response to the run's message was sent. */
  makeReady(lane: Lane, run: Run): void {
    run.makeReady();
    if (!lane.waiting.includes(run)) this.#leave(run); // it was stopped in the meantime
    this.pump(lane);
    if (lane.waiting.includes(run)) run.announce();
  }

  /** Starts the lane's next run if it can start. */
  pump(lane: Lane): void {
    const [next] = lane.waiting;
    if (this.#isClosing || lane.current !== undefined || next?.isReady !== true) return;
    // A resumed run that was aborted calls no model and no tool, so it needs no place under the
    // cap.
    if (!next.isAborted && !this.#cap.enter(next, lane)) return;
    lane.waiting.shift();
    lane.current = next;
    const running = this.#run(lane, next).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Stops at a shutdown. Open runs stay open, and the next process resumes them. */
  async close(lanes: readonly Lane[]): Promise<void> {
    this.#isClosing = true;
    for (const lane of lanes) lane.noteEnd(); // its waiters then find that the server is closing
    await Promise.all(lanes.map(async ({ current, session }) => current?.interrupt(session)));
    // Aborted runs also end their commands. The time limit is for tools that ignore the abort.
    await settledWithin(CLOSE_MS, this.#running, this.#host.clock);
  }

  async #run(lane: Lane, run: Run): Promise<void> {
    const { sessionChanges, pending } = this.#host;
    const { log } = run;
    sessionChanges.add({ sessionKey: lane.key, change: "run" });
    let left: Incoming[];
    try {
      await run.noteRestart();
      const session = await lane.begin(run.entry.id, run.user);
      if (this.#isClosing) return await lane.end();
      left = await run.execute(session, run.first === undefined ? [] : lane.held);
    } catch (error) {
      left = run.failBefore(error);
    }
    if (this.#isClosing) return; // the run stays open
    await lane.end().catch(() => {});
    await run.kept.catch(() => {}); // an abort may have arrived at the end
    if (log.state !== "final") await this.#takeOutArrived(lane, left);
    const isLeft = left.some((incoming) => incoming === run.first);
    if (!isLeft) await pending.remove({ sessionKey: lane.key, id: log.runId }).catch(() => {});
    this.#memory.end(log.runId);
    await this.#keep(lane, run, left);
    lane.current = undefined;
    lane.noteEnd();
    sessionChanges.add({ sessionKey: lane.key, change: "updated" });
    // Other sessions get the free place first, so that a session with a long queue does not starve
    // them.
    this.#leave(run);
    this.pump(lane);
  }

  /** Frees the run's place and starts waiting runs. */
  #leave(run: Run): void {
    for (const lane of this.#cap.leave(run)) this.pump(lane);
  }

  /**
   * Removes messages that did reach the transcript, such as one written as the run ended. If the
   * session cannot be read, all of them wait.
   */
  async #takeOutArrived(lane: Lane, left: Incoming[]): Promise<void> {
    if (left.length === 0) return;
    const entries = await lastEntries(this.#host.store, lane.key).catch(() => []);
    for (const incoming of left.filter((one) => isIn(entries, one))) {
      left.splice(left.indexOf(incoming), 1);
      await this.#host.pending.remove(incoming.pending).catch(() => {});
    }
  }

  /**
   * Stores the messages that the run did not process. After a normal end each begins a new run.
   * After an abort or a failure the next run takes them.
   */
  async #keep(lane: Lane, { log, entry, first }: Run, left: Incoming[]): Promise<void> {
    for (const [index, incoming] of [...left].entries()) {
      if (incoming === first || incoming.hasFailed === true) {
        left.shift();
        lane.held.push(failedOf(incoming));
        this.#memory.forgetKey(incoming.pending.id);
        continue;
      }
      const isHeld = log.state !== "final";
      const message = await keepAs(this.#host.pending, isHeld ? "held" : "send", {
        ...incoming.pending,
        agentId: entry.id,
      });
      left.shift();
      if (isHeld) lane.held.push(incomingOf(message));
      else {
        const next = new Run(this.#host, message, entry);
        lane.waiting.splice(index, 0, next); // before later messages, in order
        this.#memory.add(next.log);
        next.makeReady();
        next.announce();
      }
    }
  }
}
