/**
 * All runs: what there is of them, and what is stopped. Which messages are taken: `intake.ts`; what
 * an earlier process left: `restore.ts`; when runs go on: `schedule.ts`.
 */
import { GatewayError } from "../protocol/gateway-error.ts";
import type { Host } from "./host.ts";
import { Intake, type Accepted, type Kind, type OwnedMessage } from "./intake.ts";
import type { Lane } from "./lane.ts";
import { Lanes } from "./lanes.ts";
import { LeftMessages } from "./left-messages.ts";
import type { RunInfo, WaitingMessage } from "../protocol/protocol.ts";
import { restoreRuns } from "./restore.ts";
import { lastEntries, reviveRun } from "./revive.ts";
import type { Run } from "./run.ts";
import { RunMemory } from "./run-memory.ts";
import type { RunLog } from "../log/run-log.ts";
import { Schedule } from "./schedule.ts";
import { agentOf } from "../agents/session-agent.ts";
import { waitingIn } from "./waiting-in.ts";
import { toWaiting } from "./waiting-message.ts";

export class Runs {
  readonly #host: Host;
  readonly #lanes: Lanes;
  readonly #memory: RunMemory;
  readonly #schedule: Schedule;
  readonly #left: LeftMessages;
  readonly #intake: Intake;

  constructor(host: Host) {
    this.#host = host;
    this.#lanes = new Lanes(host.store, 2 * host.limits.maxConnections);
    this.#memory = new RunMemory(host);
    this.#schedule = new Schedule(host, this.#memory);
    this.#left = new LeftMessages(host.pending);
    this.#intake = new Intake(host, {
      lanes: this.#lanes,
      memory: this.#memory,
      schedule: this.#schedule,
      left: this.#left,
    });
  }

  get count(): number {
    return this.#schedule.count;
  }

  /** The session's lane, for who wants to write to it. */
  lane(key: string): Lane {
    return this.#lanes.of(key);
  }

  ofSession(key: string): RunInfo[] {
    return this.#of(key).map(({ log }) => log.info);
  }

  /** What is accepted and not in the session's transcript yet. */
  waitingIn(key: string): WaitingMessage[] {
    const { filter } = this.#host;
    const lane = this.#lanes.known(key);
    const left = this.#left
      .waitingIn(key)
      .map((message) => toWaiting(message, message.kind, filter));
    return lane === undefined ? left : [...left, ...waitingIn(lane, filter)];
  }

  /** The log of a run that is known, or that its session still knows. */
  async log(runId: string, sessionKey: string): Promise<RunLog | undefined> {
    const known = this.#memory.log(runId);
    if (known !== undefined) return known.sessionKey === sessionKey ? known : undefined;
    return reviveRun(
      this.#host,
      runId,
      sessionKey,
      await lastEntries(this.#host.store, sessionKey),
    );
  }

  sessionOf(runId: string): string | undefined {
    return this.#memory.log(runId)?.sessionKey ?? this.#left.sessionOf(runId);
  }

  /** Lets go of runs that ended long ago. */
  forgetEnded(): void {
    this.#memory.forgetEnded();
  }

  currentLog(sessionKey: string): RunLog | undefined {
    return this.#lanes.known(sessionKey)?.current?.log;
  }

  /**
   * Takes a message. What it gives is on the disk: a crash loses nothing that a client was told of.
   */
  async accept(params: OwnedMessage, kind: Kind): Promise<Accepted> {
    this.#assertOpen();
    return this.#intake.accept(params, kind);
  }

  /**
   * Ends a run, or all of a session. Gives the ids of those that ran or waited, when it is on the
   * disk that none of them is to go on: one that runs comes to its end after that, if need be in
   * the next process.
   */
  async abort({
    sessionKey,
    runId,
  }: {
    readonly sessionKey?: string;
    readonly runId?: string;
  }): Promise<string[]> {
    this.#assertOpen(); // what an interrupted run is told would be lost
    const key = sessionKey ?? (runId === undefined ? undefined : this.sessionOf(runId));
    if (key === undefined) return [];
    const left = this.#left.abort(key, runId);
    const lane = this.#lanes.known(key);
    if (lane === undefined) return left;
    const isMeant = (run: Run): boolean =>
      !run.isOver && (runId === undefined || run.log.runId === runId);
    const meant = this.#of(lane.key).filter(isMeant);
    const isBegun = (run: Run): boolean => run === lane.current || run.first === undefined;
    const stopping = meant.map((run) => (isBegun(run) ? run.abort() : this.#drop(lane, run)));
    this.#schedule.pump(lane);
    await Promise.all([left, ...stopping]);
    return [...(await left), ...meant.map(({ log }) => log.runId)];
  }

  /**
   * The session's agent or model is another: its runs, those that wait too, ask that one from their
   * next model call on.
   */
  async useChoice(sessionKey: string): Promise<void> {
    const entry = await agentOf(this.#host, sessionKey);
    const backend = await this.#host.backendFor(entry);
    await Promise.all(this.#of(sessionKey).map((run) => run.use(entry, backend)));
  }

  /**
   * Ends all of a session, and what comes of that; resolves when nothing runs there, waits or is
   * held. Rejects as {@link abort} does.
   */
  async quiet(sessionKey: string): Promise<void> {
    const lane = this.lane(sessionKey);
    this.#assertOpen();
    // Again and again: a run that came to its end by itself leaves what was for it as a run of its
    // own.
    while (lane.isBusy) {
      const ended = lane.nextEnd();
      await this.abort({ sessionKey });
      await ended;
    }
    for (const { pending } of lane.held.splice(0)) await this.#host.pending.remove(pending);
    await this.#left.delete(sessionKey);
  }

  /** Takes up what an earlier process did not finish. */
  restore(): Promise<void> {
    return restoreRuns(this.#host, this.#lanes, this.#schedule, this.#left);
  }

  /** The process ends. Runs that are open stay so, and are taken up again by the next. */
  close(): Promise<void> {
    return this.#schedule.close(this.#lanes.all);
  }

  #assertOpen(): void {
    if (this.#schedule.isClosing)
      throw new GatewayError("busy", "The server is shutting down.", { retryable: true });
  }

  #of(key: string): readonly Run[] {
    return this.#lanes.known(key)?.runs ?? [];
  }

  /** A run that waited and will not be. */
  async #drop(lane: Lane, run: Run): Promise<void> {
    const { log, kept } = run;
    lane.remove(run);
    try {
      // Nobody is told before it is so: a server that is killed and comes back would begin it.
      await kept.catch(() => {});
      await this.#host.pending.remove({ sessionKey: lane.key, id: log.runId });
      await run.answered; // who sent it is told, too
    } finally {
      if (log.isOpen) {
        log.state = "aborted";
        log.append("chat.aborted", { usage: {} });
        this.#memory.end(log.runId);
      }
    }
  }
}
