/**
 * The gateway's half of the live events: passes on the events of the sessions that clients here
 * follow. Events come from workers over the bus; what a client missed is asked from the worker, and
 * read from the stored session if no worker answers.
 */
import {
  cancelledRun,
  findLastSeq,
  findOpenRun,
  findRunEnd,
  readStoredSession,
  type Clients,
  type Followed,
  type FollowedRun,
  type RunFrame,
  type RunPosition,
  type SecretFilter,
  type StoredRun,
} from "bowline/engine";
import { type Clock } from "@bowline/core";
import type { Store } from "@bowline/core/session";
import type { GatewayLimits } from "bowline/gateway";
import type { Bus } from "../bus/bus.ts";
import type { AnsweredRun, LiveEvent, Queued } from "../wire/messages.ts";
import { Subjects } from "../wire/subjects.ts";
import { ApprovalRelay } from "./approval-relay.ts";
import { Asker } from "./asker.ts";
import { infosOf, missedOf, storedRuns, waitingRuns, type Found } from "./found-runs.ts";
import type { RelayPorts } from "./relay-ports.ts";
import { SessionRelay } from "./session-relay.ts";
import type { Tap } from "./tap.ts";

export interface RelayOptions {
  readonly bus: Bus;
  /** The first part of all subjects. The same for all workers and gateways. Default `bowline`. */
  readonly prefix?: string;
  readonly clients: Clients;
  /** The stored sessions. */
  readonly store: Store;
  readonly filter: SecretFilter;
  readonly limits: GatewayLimits;
  readonly clock: Clock;
  /** Returns whether a run was cancelled before it began. Default: none is. */
  readonly isCancelled?: (sessionKey: string, runId: string) => Promise<boolean>;
  /**
   * Returns the open runs of a session, also those that no worker has begun. `runId` is the one that a
   * client follows: its first event is needed. Default: those that workers and the stored session know.
   */
  readonly openRuns?: (
    sessionKey: string,
    runId: string | undefined,
  ) => Promise<readonly StoredRun[]>;
}

/** How long a session stays subscribed after its last client left, in milliseconds. */
const LINGER_MS = 5000;
const TICK_MS = 1000;

export class Relay {
  readonly #ports: RelayPorts;
  readonly #sessions = new Map<string, SessionRelay>();
  readonly #approvals: ApprovalRelay;
  readonly #stopReconnects: () => void;
  #stopTick: () => void;
  readonly #lingering = new Set<() => void>();
  #isClosed = false;

  /** Throws `invalid_argument` for an invalid prefix. */
  constructor(options: RelayOptions) {
    const { bus, prefix = "bowline", clients, store, filter, limits, clock } = options;
    const { isCancelled = () => Promise.resolve(false) } = options;
    const { openRuns: open = () => Promise.resolve([]) } = options;
    const subjects = new Subjects(prefix);
    const cancelled: RelayPorts["cancelled"] = async (sessionKey, runId) =>
      (await isCancelled(sessionKey, runId))
        ? cancelledRun({ runId, sessionKey, limits })
        : undefined;
    this.#ports = {
      bus,
      subjects,
      asker: new Asker(bus, subjects, { clock, maxBytes: limits.maxBufferedBytes }),
      clients,
      limits,
      clock,
      endOf: async (sessionKey, runId) => {
        const end = await findRunEnd(store, sessionKey, runId);
        if (end !== undefined || !(await isCancelled(sessionKey, runId))) return end;
        return { seq: Infinity, state: "aborted" };
      },
      cancelled,
      open,
      lastSeq: (sessionKey) => findLastSeq(store, sessionKey),
      read: (sessionKey) => readStoredSession({ store, filter, limits }, sessionKey),
      openRun: (sessionKey) => findOpenRun(store, sessionKey),
    };
    clients.watch((sessionKey, isFollowed) =>
      isFollowed ? void this.#use(sessionKey) : this.#leave(sessionKey),
    );
    this.#approvals = new ApprovalRelay(this.#ports);
    this.#stopReconnects = bus.onReconnect(() => {
      for (const session of this.#sessions.values()) session.refresh(true);
    });
    this.#stopTick = clock.setTimer(TICK_MS, () => this.#tick());
  }

  /** The number of sessions whose events arrive here. */
  get size(): number {
    return this.#sessions.size;
  }

  /** Finds the open run of a session and the requested run, and what a client has missed of them. */
  async follow({
    sessionKey,
    runId,
    seq,
  }: Omit<RunPosition, "runId" | "seq"> & {
    readonly runId?: string;
    readonly seq?: number;
  }): Promise<Followed> {
    const { found, session, finish } = await this.#find(sessionKey, runId, seq);
    const infos = infosOf(found, sessionKey, session);
    const isKnown = runId === undefined || infos.some((info) => info.runId === runId);
    return {
      runs: isKnown ? infos : [...infos, { runId, sessionKey, state: "unknown", seq: -1 }],
      missed: () => missedOf(found, finish()),
    };
  }

  /** Finds one run. Resolves with undefined if the session has no such run. */
  async followRun({ sessionKey, runId, seq }: RunPosition): Promise<FollowedRun | undefined> {
    const { found, session, finish } = await this.#find(sessionKey, runId, seq);
    const info = infosOf(found, sessionKey, session).find((one) => one.runId === runId);
    const isIt = (one: { readonly runId: string }): boolean => one.runId === runId;
    if (info === undefined) {
      finish();
      return undefined;
    }
    const own: Found = {
      answers: found.answers.filter(isIt),
      stored: found.stored.filter((one) => isIt(one.info)),
    };
    return {
      info,
      missed: () => missedOf(own, finish().filter(isIt)),
      release: () => void finish(),
    };
  }

  /**
   * Expects the run of a message that this gateway accepts. Resolves when its events would arrive
   * here. Call the returned function when the response has been sent; the events wait for it.
   */
  async expect(sessionKey: string, runId: string): Promise<() => void> {
    const session = this.#use(sessionKey);
    await session.ready();
    const open = session.expect(runId);
    return once(() => {
      open();
      this.#leave(sessionKey);
    });
  }

  /**
   * Passes on the first event of a run that waits for its turn, to the clients that follow its session
   * here.
   */
  announce(sessionKey: string, runId: string, told: RunFrame): void {
    this.#sessions.get(sessionKey)?.announce(runId, told);
  }

  /** Passes on the end of a run that no worker tells. Nothing if it has none, or was told. */
  async settle(sessionKey: string, runId: string): Promise<void> {
    await this.#sessions.get(sessionKey)?.tellEnd(runId);
  }

  /** Tells the worker of a run that a message waits for the run's next step. It may be lost. */
  tellQueued(message: Queued): void {
    const { bus, subjects } = this.#ports;
    const payload = new TextEncoder().encode(JSON.stringify(message));
    bus.publish(subjects.ask(message.sessionKey), payload);
  }

  /** Whether a worker has asked for this approval lately. It may not be in the session yet. */
  wasAsked(approvalId: string): boolean {
    return this.#approvals.wasAsked(approvalId);
  }

  close(): void {
    this.#isClosed = true;
    this.#stopTick();
    for (const stop of this.#lingering) stop();
    this.#stopReconnects();
    this.#approvals.close();
    this.#ports.asker.close();
    for (const session of this.#sessions.values()) session.close();
    this.#sessions.clear();
  }

  async #find(
    sessionKey: string,
    runId: string | undefined,
    seq: number | undefined,
  ): Promise<{ found: Found; session: SessionRelay; finish: () => readonly LiveEvent[] }> {
    const session = this.#use(sessionKey);
    const tap = session.tap();
    try {
      await session.ready();
      const found = await this.#lookUp(session, tap, { runId, seq });
      tap.assertWhole();
      return { found, session, finish: this.#finisher(sessionKey, tap) };
    } catch (error) {
      this.#finisher(sessionKey, tap)();
      throw error;
    }
  }

  /** Returns the collected events once, and leaves the session. */
  #finisher(sessionKey: string, tap: Tap): () => readonly LiveEvent[] {
    const leave = once(() => this.#leave(sessionKey));
    return () => {
      leave();
      return tap.close();
    };
  }

  async #lookUp(
    session: SessionRelay,
    tap: Tap,
    { runId, seq }: { readonly runId: string | undefined; readonly seq: number | undefined },
  ): Promise<Found> {
    const { sessionKey } = session;
    const { asker, openRun } = this.#ports;
    const ask = {
      sessionKey,
      ...(runId !== undefined && { runId }),
      ...(seq !== undefined && { seq }),
    };
    const answers: AnsweredRun[] = [];
    for (const answer of (await asker.ask(ask, (id) => session.attemptOf(id))) ?? []) {
      const admitted = await session.admit(answer);
      if (admitted !== undefined) answers.push(admitted);
    }
    const isAnswered = (id: string): boolean => answers.some((one) => one.runId === id);
    const hasOpen = answers.some(({ state }) => state === "running");
    // Read first: a run that is cancelled or begins after this is found below.
    const listed = await this.#ports.open(sessionKey, runId);
    const open = hasOpen ? undefined : await openRun(sessionKey);
    const wanted = [...new Set([runId, open])].filter(
      (id): id is string => id !== undefined && !isAnswered(id),
    );
    const question = { session, tap, wanted, runId, seq };
    const stored = wanted.length === 0 ? [] : await storedRuns(this.#ports, question);
    const known = [...answers, ...stored.map(({ info }) => info)];
    return { answers, stored: [...stored, ...waitingRuns(listed, question, known)] };
  }

  #use(sessionKey: string): SessionRelay {
    const known = this.#sessions.get(sessionKey);
    if (known !== undefined) {
      known.uses++;
      return known;
    }
    const session = new SessionRelay(sessionKey, this.#ports);
    session.uses++;
    this.#sessions.set(sessionKey, session);
    return session;
  }

  /** Leaves the session after a while, since clients often come back. */
  #leave(sessionKey: string): void {
    const session = this.#sessions.get(sessionKey);
    if (session === undefined) return;
    const stop = this.#ports.clock.setTimer(LINGER_MS, () => {
      this.#lingering.delete(stop);
      session.uses--;
      if (session.uses > 0 || this.#sessions.get(sessionKey) !== session) return;
      this.#sessions.delete(sessionKey);
      session.close();
    });
    this.#lingering.add(stop);
  }

  #tick(): void {
    if (this.#isClosed) return;
    for (const session of this.#sessions.values()) session.refresh(false);
    this.#stopTick = this.#ports.clock.setTimer(TICK_MS, () => this.#tick());
  }
}

function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    work();
  };
}
