/**
 * All runs of the gateway: lists and aborts them. `intake.ts` accepts messages, `restore.ts`
 * restores those of an earlier process, `schedule.ts` starts runs.
 */
import type { Host } from "./host.ts";
import type {
  Accepted,
  EngineRuns,
  Followed,
  FollowedRun,
  MessageKind,
  OwnedMessage,
  RunPosition,
} from "../engine/engine.ts";
import { Intake } from "./intake.ts";
import type { Lane } from "./lane.ts";
import { Lanes } from "./lanes.ts";
import { LeftMessages } from "./left-messages.ts";
import type { Params, RunInfo, WaitingMessage } from "../protocol/protocol.ts";
import { restoreRuns } from "./restore.ts";
import { lastEntries, reviveRun } from "./revive.ts";
import type { Run } from "./run.ts";
import { RunMemory } from "./run-memory.ts";
import type { RunLog } from "../log/run-log.ts";
import { Schedule } from "./schedule.ts";
import { agentOf } from "../agents/session-agent.ts";
import { waitingIn } from "./waiting-in.ts";
import { toWaiting } from "./waiting-message.ts";

export class Runs implements EngineRuns {
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

  count(): number {
    return this.#schedule.count;
  }

  /** Returns the session's lane, through which all writes to the session go. */
  lane(key: string): Lane {
    return this.#lanes.of(key);
  }

  ofSession(key: string): RunInfo[] {
    return this.#of(key).map(({ log }) => log.info);
  }

  waitingIn(key: string): WaitingMessage[] {
    const { filter } = this.#host;
    const lane = this.#lanes.known(key);
    const left = this.#left
      .waitingIn(key)
      .map((message) => toWaiting(message, message.kind, filter));
    return lane === undefined ? left : [...left, ...waitingIn(lane, filter)];
  }

  /** Returns the log of a run from memory, or rebuilds it from the session. */
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

  /** A new message would replace the pending one with its id. */
  sessionOfMessage(id: string): string | undefined {
    return this.sessionOf(id);
  }

  /** Evicts runs that ended long ago. */
  forgetEnded(): void {
    this.#memory.forgetEnded();
  }

  async follow({ sessionKey, runId, seq }: Params<"chat.subscribe">): Promise<Followed> {
    const asked = runId === undefined ? undefined : await this.log(runId, sessionKey);
    const missing: RunInfo[] =
      runId !== undefined && asked === undefined
        ? [{ runId, sessionKey, state: "unknown", seq: -1 }]
        : [];
    const open = this.ofSession(sessionKey);
    const ended =
      asked !== undefined && !open.some((run) => run.runId === asked.runId) ? [asked.info] : [];
    return {
      runs: [...ended, ...open, ...missing],
      missed: () => {
        const current = this.#lanes.known(sessionKey)?.current?.log;
        return [
          ...(asked !== undefined && asked !== current ? asked.since(seq) : []),
          ...(current?.since(runId === undefined || asked === current ? seq : undefined) ?? []),
        ];
      },
    };
  }

  async followRun({ sessionKey, runId, seq }: RunPosition): Promise<FollowedRun | undefined> {
    const log = await this.log(runId, sessionKey);
    return log && { info: log.info, missed: () => log.since(seq), release: () => {} };
  }

  async accept(params: OwnedMessage, kind: MessageKind): Promise<Accepted> {
    return this.#intake.accept(params, kind);
  }

  /** A current run ends later, if need be in the next process. */
  async abort({ sessionKey, runId }: Params<"chat.abort">): Promise<string[]> {
    this.#schedule.assertOpen(); // an abort during the shutdown would be lost
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
   * Applies a new agent or model to the session's current and queued runs, from their next model
   * call on.
   */
  async useChoice(sessionKey: string): Promise<void> {
    const entry = await agentOf(this.#host, sessionKey);
    const backend = await this.#host.backendFor(entry);
    await Promise.all(this.#of(sessionKey).map((run) => run.use(entry, backend)));
  }

  /**
   * Aborts all runs of a session and the runs that follow from them. Resolves when the session has
   * no running, queued or held messages. Rejects as {@link abort} does.
   */
  async quiet(sessionKey: string): Promise<void> {
    const lane = this.lane(sessionKey);
    this.#schedule.assertOpen();
    // In a loop, since a run that ends by itself may turn its unprocessed messages into a new run.
    while (lane.isBusy) {
      const ended = lane.nextEnd();
      await this.abort({ sessionKey });
      await ended;
    }
    for (const { pending } of lane.held.splice(0)) await this.#host.pending.remove(pending);
    await this.#left.delete(sessionKey);
  }

  /** Restores the messages that an earlier process did not finish. */
  restore(): Promise<void> {
    return restoreRuns(this.#host, this.#lanes, this.#schedule, this.#left);
  }

  /** Stops at a shutdown. Open runs stay open, and the next process resumes them. */
  close(): Promise<void> {
    return this.#schedule.close(this.#lanes.all);
  }

  #of(key: string): readonly Run[] {
    return this.#lanes.known(key)?.runs ?? [];
  }

  /** Removes a queued run. */
  async #drop(lane: Lane, run: Run): Promise<void> {
    const { log, kept } = run;
    lane.remove(run);
    try {
      // No client is told before that is stored: after a crash the next process would begin the
      // run.
      await kept.catch(() => {});
      await this.#host.pending.remove({ sessionKey: lane.key, id: log.runId });
      await run.answered; // so that its sender gets the event too
    } finally {
      if (log.isOpen) {
        log.state = "aborted";
        log.append("chat.aborted", { usage: {} });
        this.#memory.end(log.runId);
      }
    }
  }
}
