/**
 * The live events of one session in one gateway: subscribes to them, passes each on once and in order
 * to the clients here, and asks for what is missing.
 */
import type { RunInfo } from "bowline/client";
import type { RunFrame, StoredRun } from "bowline/engine";
import { toEvent, toPosition, type AnsweredRun, type LiveEvent } from "../wire/messages.ts";
import { Parcels } from "../wire/parcel.ts";
import type { RelayPorts } from "./relay-ports.ts";
import { SessionStart } from "./session-start.ts";
import { Tap } from "./tap.ts";
import { confirmEnd } from "./confirm-end.ts";
import {
  eventsOf,
  forgetEnded,
  isExpected,
  movedUntil,
  trackRun,
  withoutEnd,
  type Tracked,
} from "./tracked-run.ts";

/** How long an open run may be silent before its worker is asked, in milliseconds. */
const QUIET_MS = 10_000;
/** How long a client waits for events that are on their way, in milliseconds. */
const ON_THE_WAY_MS = 250;

export class SessionRelay {
  readonly sessionKey: string;
  readonly #ports: RelayPorts;
  readonly #runs = new Map<string, Tracked>();
  readonly #taps = new Set<Tap>();
  readonly #parcels: Parcels;
  readonly #stop: () => void;
  readonly #start: SessionStart;
  #isClosed = false;
  /** Reasons to stay subscribed beside the clients that follow the session. */
  uses = 0;

  constructor(sessionKey: string, ports: RelayPorts) {
    this.sessionKey = sessionKey;
    this.#ports = ports;
    this.#start = new SessionStart(sessionKey, ports);
    this.#parcels = new Parcels(ports.limits.maxBufferedBytes * 2);
    this.#stop = ports.bus.subscribe(ports.subjects.run(sessionKey), ({ payload }) =>
      this.#hear(payload),
    );
  }

  close(): void {
    this.#isClosed = true;
    this.#stop();
  }

  /** As {@link SessionStart.ready}. */
  ready(): Promise<void> {
    return this.#start.ready();
  }

  /** Collects what is passed on from now on, for a client that is about to follow the session. */
  tap(): Tap {
    const tap = new Tap(this.#ports.limits, () => this.#taps.delete(tap));
    this.#taps.add(tap);
    return tap;
  }

  /**
   * Expects a run whose message was accepted here: it is new, and its events wait until the returned
   * function is called.
   */
  expect(runId: string): () => void {
    const run = this.#runOf(runId);
    run.isChecked = true;
    run.gate ??= [];
    return () => {
      const gated = run.gate ?? [];
      run.gate = undefined;
      this.#passOn(run, gated);
    };
  }

  /** Passes on the first event of a run that waits for its turn. */
  announce(runId: string, { frame, event }: RunFrame): void {
    const run = this.#runOf(runId);
    run.isChecked = true; // it waited a moment ago
    this.#passOn(run, run.track.take({ runId, attempt: 0, seq: frame.seq ?? 0, frame, event }));
  }

  /** Notes a run that waits for its turn. The client has its events up to `seq`. */
  note({ runId, seq }: Pick<RunInfo, "runId" | "seq">): void {
    const run = this.#runOf(runId);
    run.isChecked = true;
    if (run.track.position === undefined && seq >= 0)
      this.#passOn(run, run.track.adopt({ runId, attempt: 0, seq, state: "queued", frames: [] }));
  }

  /** Runs that were accepted here and of which nothing was heard. */
  get expected(): string[] {
    return [...this.#runs.values()].filter(isExpected).map(({ track }) => track.runId);
  }

  /** Returns the highest attempt at a run that was heard of; 0 without one. */
  attemptOf(runId: string): number {
    return this.#runs.get(runId)?.track.attempt ?? 0;
  }

  /**
   * Takes a worker's answer for a client. Resolves with what the client gets: nothing if the run is
   * over, whatever the worker says, and no end before the stored session has it. Afterwards the clients
   * here have all that is in the answer.
   */
  async admit(given: AnsweredRun): Promise<AnsweredRun | undefined> {
    const run = this.#runOf(given.runId);
    const { track } = run;
    const isOpen = given.state === "running" || given.state === "queued";
    await this.#check(run);
    if (given.attempt < track.attempt || (track.isEnded && isOpen)) return undefined;
    const end = isOpen ? undefined : await this.#ports.endOf(this.sessionKey, given.runId);
    const answer = isOpen || end !== undefined ? given : withoutEnd(given);
    const isFollowed = this.#ports.clients.isFollowed(this.sessionKey);
    if (track.position === undefined)
      this.#passOn(run, isFollowed ? track.absorb(answer) : track.adopt(answer));
    await this.#reach(run, answer);
    return answer;
  }

  /**
   * Notes that a client gets the stored run, since no worker answered. The clients here then get a
   * snapshot before any further event of the run.
   */
  withdraw(runId: string, tap: Tap): void {
    const run = this.#runOf(runId);
    run.isChecked = true; // it was open a moment ago
    run.track.withdraw();
    tap.drop(runId);
  }

  /**
   * Notes that a client gets the stored run, which is over. The clients here that know the run as open
   * get its end too, since no worker will be asked any more.
   */
  settle(runId: string, stored: StoredRun): void {
    const run = this.#runOf(runId);
    if (run.track.isHeard || this.expected.includes(runId)) this.#passEnd(run, stored);
    else run.track.end();
  }

  /** Asks for open runs that were silent for a while. With `isAll`, for all of them, and for new ones. */
  refresh(isAll: boolean): void {
    const now = this.#ports.clock.now();
    for (const run of this.#runs.values()) if (run.track.isEnding) void this.#confirm(run);
    for (const run of this.#runs.values())
      if (!run.track.isEnded && (isAll || now - run.heardAt >= QUIET_MS)) void this.#sync(run);
    if (isAll) void this.#discover();
    forgetEnded(this.#runs);
  }

  #hear(payload: Uint8Array): void {
    const parcel = this.#parcels.take(payload);
    if (parcel === undefined) return;
    const event = toEvent(parcel);
    const position = event ?? toPosition(parcel);
    if (position === undefined) return;
    const run = this.#runOf(position.runId);
    run.heardAt = this.#ports.clock.now();
    if (event === undefined) run.track.note(position);
    else if (run.isChecked) this.#passOn(run, run.track.take(event));
    else if (!run.track.isEnded) run.track.hold(event);
    if (!run.isChecked) void this.#check(run).then(() => this.#syncIfLacking(run));
    else this.#syncIfLacking(run);
  }

  /**
   * Asks the database once whether the run is over: late events of an ended run are not news. If that
   * fails, the next event asks again.
   */
  #check(run: Tracked): Promise<void> {
    if (run.isChecked) return Promise.resolve();
    run.check ??= this.#checkOnce(run)
      .catch(() => {})
      .finally(() => (run.check = undefined));
    return run.check;
  }

  async #checkOnce(run: Tracked): Promise<void> {
    const { track } = run;
    await this.ready();
    const end = await this.#ports.endOf(this.sessionKey, track.runId);
    // It ended while events arrived here: the clients have not seen it.
    if (end !== undefined && end.seq > this.#start.lastSeq) await this.tellEnd(track.runId);
    else if (end !== undefined) track.end();
    run.isChecked = true;
    for (const held of track.release()) this.#passOn(run, track.take(held));
  }

  /** Passes the run's last event on when the stored session has the end too. */
  #confirm(run: Tracked): Promise<void> {
    const { clock, endOf } = this.#ports;
    return confirmEnd(run, {
      endOf: () => endOf(this.sessionKey, run.track.runId),
      confirm: () => this.#passOn(run, run.track.confirm()),
      settle: () => this.tellEnd(run.track.runId),
      setTimer: (ms, done) => clock.setTimer(ms, done),
    });
  }

  #syncIfLacking(run: Tracked): void {
    if (run.isChecked && run.track.isLacking) void this.#sync(run);
  }

  /** Asks a worker for what is missing; if none answers, the stored session for the run's end. */
  #sync(run: Tracked): Promise<void> {
    run.sync ??= this.#ask(run)
      .catch(() => {}) // the next event or the next tick asks again
      .finally(() => {
        run.sync = undefined;
        run.heardAt = this.#ports.clock.now();
      });
    return run.sync;
  }

  async #ask(run: Tracked): Promise<void> {
    const { track } = run;
    const { runId, position: seq } = track;
    const { sessionKey } = this;
    await this.#check(run);
    if (track.isEnded || !run.isChecked) return;
    const ask = { sessionKey, runId, ...(seq !== undefined && { seq }) };
    const answers = await this.#ports.asker.ask(ask, (id) => this.attemptOf(id));
    const answer = answers?.find((one) => one.runId === runId);
    if (this.#isClosed) return;
    // A client got the stored run meanwhile: what follows the old number is no use without a snapshot.
    if (seq !== undefined && track.position === undefined) return this.#ask(run);
    if (answer !== undefined) return this.#passOn(run, track.absorb(answer));
    if ((await this.#ports.endOf(sessionKey, runId)) !== undefined) await this.tellEnd(runId);
  }

  /** Passes on the end of a run, if the database has one. */
  async tellEnd(runId: string): Promise<void> {
    const { sessionKey } = this;
    const { read, cancelled } = this.#ports;
    const stored = (await read(sessionKey)).run(runId) ?? (await cancelled(sessionKey, runId));
    // An open run goes on: its worker tells the end.
    if (stored !== undefined && stored.info.state !== "running")
      this.#passEnd(this.#runOf(runId), stored);
  }

  /** Passes on the stored run, which is over. */
  #passEnd(run: Tracked, stored: StoredRun): void {
    if (run.track.isEnded) return;
    run.track.end();
    this.#passOn(run, eventsOf(run, stored));
  }

  /** After a lost connection, finds a run that began meanwhile. */
  async #discover(): Promise<void> {
    const { sessionKey } = this;
    const answers = await this.#ports.asker
      .ask({ sessionKey }, (id) => this.attemptOf(id))
      .catch(() => undefined);
    for (const answer of answers ?? [])
      if (!this.#isClosed && !this.#runs.has(answer.runId)) await this.admit(answer);
  }

  /** Waits until the clients here have the events up to `seq`, which are on their way. */
  async #reach(run: Tracked, answer: AnsweredRun): Promise<void> {
    const { seq } = answer;
    const isThere = (): boolean => run.track.isEnded || (run.track.position ?? -1) >= seq;
    if (isThere()) return;
    await movedUntil(run, isThere, (done) => this.#ports.clock.setTimer(ON_THE_WAY_MS, done));
    if (!isThere()) await this.#sync(run);
    if (!isThere()) this.#passOn(run, run.track.absorb(answer));
    // The others then get a snapshot, so that the new client gets nothing twice.
    if (!isThere()) run.track.withdraw();
  }

  #passOn(run: Tracked, events: readonly LiveEvent[]): void {
    if (run.gate !== undefined) run.gate.push(...events);
    else
      for (const event of events) {
        this.#ports.clients.toFollowers(this.sessionKey, event.frame, event.event);
        for (const tap of this.#taps) tap.add(event);
      }
    for (const moved of run.moved) moved();
    if (run.track.isEnding) void this.#confirm(run);
  }

  #runOf(runId: string): Tracked {
    const known = this.#runs.get(runId);
    if (known !== undefined) return known;
    const run = trackRun(runId, this.#ports.clock.now());
    this.#runs.set(runId, run);
    return run;
  }
}
