/**
 * All runs: which messages are taken, once each; what is stopped; what an earlier process left.
 * When they go on: `schedule.ts`.
 */
import { assertTaken, checkAttachments, digestOf } from "./attachments.ts";
import { GatewayError } from "../protocol/gateway-error.ts";
import type { Host } from "./host.ts";
import { incomingOf, type Incoming } from "./incoming.ts";
import type { Lane } from "./lane.ts";
import { Lanes } from "./lanes.ts";
import { LeftMessages } from "./left-messages.ts";
import { keepAs, type PendingMessage } from "./pending.ts";
import type { RunInfo, SendParams, SendResult, WaitingMessage } from "../protocol/protocol.ts";
import { lastEntries, reviveRun, runWith, takeUp, wasStarted } from "./revive.ts";
import { Run } from "./run.ts";
import { RunMemory } from "./run-memory.ts";
import type { RunLog } from "../log/run-log.ts";
import { Schedule } from "./schedule.ts";
import { agentOf } from "../agents/session-agent.ts";
import { waitingIn } from "./waiting-in.ts";
import { toWaiting } from "./waiting-message.ts";

export interface Accepted {
  readonly result: SendResult;
  /** To be called when the answer is on its way. */
  readonly start: () => void;
}

type Kind = "send" | "steer" | "followUp";

export class Runs {
  readonly #host: Host;
  readonly #lanes: Lanes;
  readonly #memory: RunMemory;
  readonly #schedule: Schedule;
  readonly #left: LeftMessages;

  constructor(host: Host) {
    this.#host = host;
    this.#lanes = new Lanes(host.store, 2 * host.limits.maxConnections);
    this.#memory = new RunMemory(host);
    this.#schedule = new Schedule(host, this.#memory);
    this.#left = new LeftMessages(host.pending);
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
  async accept(params: SendParams, kind: Kind): Promise<Accepted> {
    this.#assertOpen();
    const { sessionKey, message, agentId, idempotencyKey, attachments } = params;
    checkAttachments(attachments, this.#host.limits);
    const lane = this.lane(sessionKey);
    if (idempotencyKey === undefined)
      return lane.inOrder(() => this.#accept(this.#host.createId(), params, kind));
    const fingerprint = JSON.stringify([sessionKey, message, agentId, digestOf(attachments)]);
    const accept = (): Promise<Accepted> =>
      lane.inOrder(() => this.#acceptOnce(idempotencyKey, params, kind));
    return { start: () => {}, ...(await this.#memory.once(idempotencyKey, fingerprint, accept)) };
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
    for (const { pending } of lane.held.splice(0)) await this.#host.pending.remove(pending.id);
    await this.#left.delete(sessionKey);
  }

  /** Takes up what an earlier process did not finish. */
  async restore(): Promise<void> {
    for (const message of await this.#host.pending.list()) {
      const { id, sessionKey, kind, agentId } = message;
      const agent = await agentOf(this.#host, sessionKey, agentId).catch(() => undefined);
      const entries = await lastEntries(this.#host.store, sessionKey).catch(() => undefined);
      if (entries === undefined) {
        this.#left.add(message, true);
        continue;
      }
      const state = wasStarted(entries, message);
      const lane = this.lane(sessionKey);
      const [next] = lane.waiting;
      if (state === "done") await this.#host.pending.remove(id);
      else if (agent === undefined) this.#left.add(message, state === "open");
      else if (kind === "held" || state === "held")
        lane.held.push(incomingOf(await keepAs(this.#host.pending, "held", message)));
      else if (kind !== "send" && next !== undefined) next.add(kind, incomingOf(message));
      else {
        const own = await keepAs(this.#host.pending, "send", message);
        const run = this.#schedule.enqueue(lane, new Run(this.#host, own, agent, state === "open"));
        takeUp(this.#host, run.log, entries); // now: it may be stopped before it goes on
        run.makeReady();
        run.announce();
      }
    }
    for (const lane of this.#lanes.all) this.#schedule.pump(lane);
  }

  /** The process ends. Runs that are open stay so, and are taken up again by the next. */
  close(): Promise<void> {
    return this.#schedule.close(this.#lanes.all);
  }

  async #accept(id: string, params: SendParams, kind: Kind): Promise<Accepted> {
    const { sessionKey, message: text, agentId, attachments } = params;
    const lane = this.lane(sessionKey);
    const { current } = lane;
    const isInto = kind !== "send" && current !== undefined && !current.isOver;
    const before = isInto
      ? current.waiting.filter((incoming) => incoming !== current.first)
      : lane.waiting;
    // Before anything of it is kept.
    if (before.length >= this.#host.limits.maxQueuedRuns)
      throw new GatewayError("busy", "Too many messages wait in this session.", {
        retryable: true,
      });
    const agent = isInto ? current.entry : undefined;
    const timestamp = lane.nextTime(this.#host.clock.now());
    const about = {
      id,
      kind: isInto ? kind : ("send" as const),
      sessionKey,
      text,
      timestamp,
      ...(attachments && { attachments }),
    };
    if (isInto && agent !== undefined) {
      if (attachments !== undefined)
        assertTaken(attachments, (await this.#host.backendFor(agent)).model);
      const pending = { ...about, agentId: agent.id };
      this.#left.forget(id);
      await this.#host.pending.add(pending);
      if (!current.isOver) {
        const incoming = incomingOf(pending);
        current.add(kind, incoming);
        const start = (): void => current.announce(incoming);
        return { result: { runId: current.log.runId, sessionKey, status: "steered" }, start };
      }
      await this.#host.pending.remove(id); // it begins a run of its own, or is refused
    }
    const found = agent ?? (await agentOf(this.#host, sessionKey, agentId));
    const { model } = await this.#host.backendFor(found); // that there is one to ask is known before anything is kept
    assertTaken(attachments, model);
    const pending: PendingMessage = { ...about, kind: "send", agentId: found.id };
    const run = this.#schedule.enqueue(lane, new Run(this.#host, pending, found));
    this.#left.forget(id);
    try {
      await run.keep();
    } catch (error) {
      lane.remove(run);
      this.#memory.remove(id);
      run.failBefore(error); // who follows it by its key already would wait for ever
      throw error;
    }
    const status = this.#schedule.promise(lane, run) ? "started" : "queued";
    return {
      result: { runId: id, sessionKey, status },
      start: () => this.#schedule.makeReady(lane, run),
    };
  }

  /**
   * Unless the session has a run of this id, from before this process or from longer ago than is
   * remembered.
   */
  async #acceptOnce(id: string, params: SendParams, kind: Kind): Promise<Accepted> {
    const { sessionKey } = params;
    const known = (runId: string, isOpen: boolean): Accepted => {
      return {
        result: { runId, sessionKey, status: isOpen ? "in_flight" : "finished" },
        start: () => {},
      };
    };
    const log = this.#memory.log(id);
    if (log !== undefined && log.sessionKey !== sessionKey)
      throw new GatewayError("conflict", "This idempotency key was used in another session.");
    if (log !== undefined) return known(id, log.isOpen);
    // One that was for a run may wait for longer than its key is remembered. Asked before: what
    // waits no more is in the log.
    const isIt = ({ pending }: Incoming): boolean => pending.id === id;
    const holder = this.#of(sessionKey).find((run) => run.waiting.some(isIt));
    if (holder !== undefined) return known(holder.log.runId, holder.log.isOpen);
    if (this.#lanes.known(sessionKey)?.held.some(isIt) === true) return known(id, false);
    const entries = await lastEntries(this.#host.store, sessionKey);
    const revived = reviveRun(this.#host, id, sessionKey, entries);
    const into = revived === undefined ? runWith(id, entries) : id;
    return into === undefined
      ? this.#accept(id, params, kind)
      : known(into, this.#memory.isOpen(into));
  }

  #assertOpen(): void {
    if (this.#schedule.isClosing)
      throw new GatewayError("busy", "The server is shutting down.", { retryable: true });
  }

  #of(key: string): Run[] {
    const { current, waiting = [] } = this.#lanes.known(key) ?? {};
    return current === undefined ? [...waiting] : [current, ...waiting];
  }

  /** A run that waited and will not be. */
  async #drop(lane: Lane, run: Run): Promise<void> {
    const { log, kept } = run;
    lane.remove(run);
    try {
      // Nobody is told before it is so: a server that is killed and comes back would begin it.
      await kept.catch(() => {});
      await this.#host.pending.remove(log.runId);
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
