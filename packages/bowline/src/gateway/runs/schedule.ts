/** When runs go on: those of a session one after the other, those of all under the cap. */
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

  get isClosing(): boolean {
    return this.#isClosing;
  }

  enqueue(lane: Lane, run: Run): Run {
    lane.waiting.push(run);
    this.#memory.add(run.log);
    return run;
  }

  /**
   * Whether a run that was enqueued can be said to have started: it will, as soon as it is ready,
   * unless it is stopped.
   */
  promise(lane: Lane, run: Run): boolean {
    return lane.current === undefined && lane.waiting[0] === run && this.#cap.promise(run);
  }

  /** Its answer is out. */
  makeReady(lane: Lane, run: Run): void {
    run.makeReady();
    if (!lane.waiting.includes(run)) this.#leave(run); // it was stopped meanwhile
    this.pump(lane);
    if (lane.waiting.includes(run)) run.announce();
  }

  /** Starts what can start. */
  pump(lane: Lane): void {
    const [next] = lane.waiting;
    if (this.#isClosing || lane.current !== undefined || next?.isReady !== true) return;
    // One that was begun and stopped asks no model and runs no tool any more: it only comes to its
    // end.
    if (!next.isAborted && !this.#cap.enter(next, lane)) return;
    lane.waiting.shift();
    lane.current = next;
    const running = this.#run(lane, next).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** The process ends. Runs that are open stay so, and are taken up again by the next. */
  async close(lanes: readonly Lane[]): Promise<void> {
    this.#isClosing = true;
    for (const lane of lanes) lane.noteEnd(); // who waits for it is told that the server goes
    await Promise.all(lanes.map(async ({ current, session }) => current?.interrupt(session)));
    // Commands that run are ended with their runs; a tool that ignores that is not waited for.
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
    if (this.#isClosing) return; // it stays open
    await lane.end().catch(() => {});
    await run.kept.catch(() => {}); // an abort that came with the end
    if (log.state !== "final") await this.#takeOutArrived(lane, left);
    const isLeft = left.some((incoming) => incoming === run.first);
    if (!isLeft) await pending.remove({ sessionKey: lane.key, id: log.runId }).catch(() => {});
    this.#memory.end(log.runId);
    await this.#keep(lane, run, left);
    lane.current = undefined;
    lane.noteEnd();
    sessionChanges.add({ sessionKey: lane.key, change: "updated" });
    // The session's own next run comes last: one with a long queue must not keep the others out.
    this.#leave(run);
    this.pump(lane);
  }

  /** Its place is for those that wait. */
  #leave(run: Run): void {
    for (const lane of this.#cap.leave(run)) this.pump(lane);
  }

  /** What was being written when the run ended. Where that cannot be told, it waits. */
  async #takeOutArrived(lane: Lane, left: Incoming[]): Promise<void> {
    if (left.length === 0) return;
    const entries = await lastEntries(this.#host.store, lane.key).catch(() => []);
    for (const incoming of left.filter((one) => isIn(entries, one))) {
      left.splice(left.indexOf(incoming), 1);
      await this.#host.pending.remove(incoming.pending).catch(() => {});
    }
  }

  /**
   * What came too late for the run: a run of its own, or, after an abort or a failure, the beginning
   * of the next.
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
        lane.waiting.splice(index, 0, next); // before those that came later, in their order
        this.#memory.add(next.log);
        next.makeReady();
        next.announce();
      }
    }
  }
}
