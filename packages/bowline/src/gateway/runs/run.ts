/**
 * One run: an agent on a session, whose events are logged, sent and kept. It lives here, whoever is
 * connected.
 */
import type { AgentEvent } from "@bowline/core";
import type { Agent } from "@bowline/core/agent";
import { attachSession, type Session } from "@bowline/core/session";
import { ownerIn, type User } from "../access/user.ts";
import type { KnownAgent } from "../agents/agent-entry.ts";
import type { Backend } from "../../models/backend.ts";
import type { Host } from "./host.ts";
import { incomingOf, type Incoming } from "./incoming.ts";
import type { PendingMessage } from "./pending.ts";
import { makeRunAgent } from "./made-agent.ts";
import { createRunAgent } from "./run-agent.ts";
import { createRunEvents, endRun, fail } from "../log/run-events.ts";
import type { RunLog } from "../log/run-log.ts";
import { createRunLog } from "./create-run-log.ts";
import { diedWith, infoOf } from "./run-failure.ts";
import { takeBack } from "./take-back.ts";
import { toWaiting } from "./waiting-message.ts";

export class Run {
  readonly log: RunLog;
  entry: KnownAgent;
  /** What it begins with; none when it is taken up again: its log has what there is of it. */
  readonly first: Incoming | undefined;
  /** Everything that has to be there before it may start is, and who sent it was answered. */
  isReady = false;
  /** Resolves when it is ready, or will not be. */
  readonly answered: Promise<void>;
  /** Settles when what was last known of it is on the disk, or will not be. */
  kept: Promise<void> = Promise.resolve();
  readonly #host: Host;
  #pending: PendingMessage;
  #agent: Agent | undefined;
  /** Ends the wait for an agent that is being made. */
  readonly #stopping = new AbortController();
  #backend: Backend | undefined;
  #isOver = false;
  #isGivenUp = false;
  #onAnswered = (): void => {};
  #left: Incoming[] | undefined;
  /** Its own message is in the transcript. */
  #hasArrived = false;
  #steering: { readonly kind: "steer" | "followUp"; readonly incoming: Incoming }[] = [];
  /** Given to the agent and not in the transcript yet. */
  readonly #onTheWay = new Map<unknown, Incoming>();

  /** `isBegun`: its message is in the session already. */
  constructor(host: Host, pending: PendingMessage, entry: KnownAgent, isBegun = false) {
    this.#host = host;
    this.#pending = pending;
    this.entry = entry;
    this.first = isBegun ? undefined : incomingOf(pending);
    this.answered = new Promise((resolve) => (this.#onAnswered = resolve));
    this.log = createRunLog(host, pending.id, pending.sessionKey);
  }

  /** Its last event is out, or it will have none here. */
  get isOver(): boolean {
    return this.#isOver || !this.log.isOpen;
  }

  /** Whose message it answers; undefined where that is not known. */
  get user(): User | undefined {
    return this.#pending.user;
  }

  get isAborted(): boolean {
    return this.#pending.isAborted === true;
  }

  /** It may start when its turn comes. */
  makeReady(): void {
    this.isReady = true;
    this.#onAnswered();
  }

  /**
   * Another agent or model answers, from the next model call on; in place of an agent that the
   * application made, from the next run on. Resolves when the next process would ask that one, too.
   */
  async use(entry: KnownAgent, backend: Backend | undefined): Promise<void> {
    this.entry = entry;
    this.#backend = backend;
    if (this.#agent !== undefined && backend !== undefined) this.#agent.state.model = backend.model;
    if (this.#pending.agentId !== entry.id && !this.isOver)
      await this.#keepAlso({ agentId: entry.id });
  }

  /**
   * Of a run that is taken up it is kept how often: one that ends its server each time must not do
   * so for ever.
   */
  async noteRestart(): Promise<void> {
    const { restarts } = this.#pending;
    if (restarts === undefined) return;
    this.#isGivenUp = restarts >= this.#host.limits.maxRestarts;
    // Without room on the disk it is not counted.
    if (!this.#isGivenUp) await this.#keepAlso({ restarts: restarts + 1 }).catch(() => {});
  }

  /** Puts its message on the disk, before anybody is told that it was taken. */
  keep(): Promise<void> {
    return (this.kept = this.#host.pending.add(this.#pending));
  }

  /**
   * At once. Resolves when the next process would not go on with it; the run's end comes later.
   * Rejects when that cannot be kept.
   */
  abort(): Promise<void> {
    this.#agent?.abort();
    this.#stopping.abort();
    return this.#keepAlso({ isAborted: true });
  }

  #keepAlso(change: Partial<PendingMessage>): Promise<void> {
    this.#pending = { ...this.#pending, ...change };
    const before = this.kept.catch(() => {});
    return (this.kept = before.then(() => this.#host.pending.add(this.#pending)));
  }

  /**
   * Its own message and what was given to it, as far as that is not in the transcript; when it is
   * over, what is not kept otherwise yet.
   */
  get waiting(): readonly Incoming[] {
    if (this.#left !== undefined) return this.#left;
    const all = [...this.#onTheWay.values(), ...this.#steering.map(({ incoming }) => incoming)];
    return this.first === undefined || this.#hasArrived || all.includes(this.first)
      ? all
      : [this.first, ...all];
  }

  /** What it leaves: of one that failed also its own message, unless the transcript has it. */
  #leave(): Incoming[] {
    const hasFailed = this.log.state === "error";
    const left = this.waiting.filter((incoming) => hasFailed || incoming !== this.first);
    // Of one that was stopped all waits as it did, for the next process.
    if (!this.log.isStopped) this.#left = left;
    return left;
  }

  /**
   * Tells who follows it that a message waits: its own, before it begins, or one that was added and
   * is not in yet.
   */
  announce(incoming: Incoming | undefined = this.first): void {
    const isOwn = incoming === this.first;
    if (
      incoming === undefined ||
      this.isOver ||
      (isOwn ? this.log.state !== "queued" : !this.waiting.includes(incoming))
    )
      return;
    const { pending } = incoming;
    this.log.append(
      "chat.queued",
      toWaiting(pending, isOwn ? "send" : pending.kind, this.#host.filter),
    );
  }

  /** A message for the run that goes on. */
  add(kind: "steer" | "followUp", incoming: Incoming): void {
    this.#steering.push({ kind, incoming });
    this.#handOver();
  }

  /**
   * Runs to the end and gives what was meant for the run and is not known to have got in, which
   * waits until it is taken out of that. Never rejects: a failure is the run's last event. `held`
   * goes in before the run's own message, and is taken out of where it was.
   */
  async execute(session: Session, held: Incoming[]): Promise<Incoming[]> {
    const { log, first } = this;
    if (this.#isGivenUp) return this.#giveUp(session);
    const { filter, approvals } = this.#host;
    log.state = "running";
    const prompts = first === undefined ? [] : [...held.splice(0), first];
    for (const incoming of prompts) this.#onTheWay.set(incoming.message, incoming);
    let detach = (): void => {};
    try {
      const agent = await this.#createAgent(session);
      const attached = await attachSession(agent, session);
      ({ detach } = attached);
      await takeBack(agent, session, [
        ...prompts,
        ...this.#steering.map(({ incoming }) => incoming),
      ]);
      const turn = first === undefined ? (attached.interrupted?.turns ?? 0) : 0;
      if (first === undefined) log.show();
      const { notice } = this.#backend ?? {};
      if (notice !== undefined) log.append("chat.notice", notice);
      agent.subscribe(ofRun(log.runId, approvals.listener(agent, log)));
      const idOf = (message: unknown): string | undefined =>
        this.#onTheWay.get(message)?.pending.id;
      const keyVariable = (): string | undefined => this.#backend?.keyVariable;
      agent.subscribe(ofRun(log.runId, createRunEvents(log, { filter, turn, idOf, keyVariable })));
      // After an abort nobody waits for what is being written.
      agent.subscribe((event, signal) => {
        if (attached.failure === undefined && !signal.aborted) this.#noteArrival(event);
      });
      this.#agent = agent;
      if (this.#backend !== undefined) agent.state.model = this.#backend.model;
      this.#handOver();
      const running =
        first === undefined
          ? attached.resume()
          : agent.prompt(prompts.map(({ message }) => message));
      if (this.isAborted || log.isStopped) agent.abort();
      await running;
    } catch (error) {
      const info = infoOf(error);
      const reason = this.isAborted && info.code === "aborted" ? "aborted" : "error";
      if (log.isOpen) endRun(log, { reason, error: info }, info, filter);
    }
    detach(); // what is left is given back: the log must not bring it, too
    if (log.isOpen) fail(log, infoOf(undefined), filter);
    this.#isOver = true;
    approvals.forget(log.runId);
    return this.#leave();
  }

  async #createAgent(session: Session): Promise<Agent> {
    const { log } = this;
    const found = await this.#host.backendFor(this.entry);
    const backend = (this.#backend ??= found); // another may have been chosen meanwhile
    if (backend !== undefined)
      return createRunAgent(this.#host, log, () => this.#backend ?? backend);
    const user = this.user ?? ownerIn(session.header.metadata) ?? {};
    const { signal } = this.#stopping;
    return makeRunAgent(this.#host, { agentId: this.entry.id, user, log, signal });
  }

  /** Its server died too often: the session shows that it has ended, and the next does not try. */
  async #giveUp(session: Session): Promise<Incoming[]> {
    const { runId } = this.log;
    const thrown = diedWith(this.#host.limits.maxRestarts);
    const error = infoOf(thrown);
    const end = { type: "run_end", runId, reason: "error", error } as const;
    // Without its message there is no run in the session.
    if (this.first === undefined) await session.append(end).catch(() => {});
    return this.failBefore(thrown);
  }

  /** It could not begin, such as when another process holds the session. */
  failBefore(error: unknown): Incoming[] {
    this.#isOver = true;
    fail(this.log, infoOf(error), this.#host.filter);
    this.#onAnswered();
    return this.#leave();
  }

  /** The process ends: the agent stops, and the session shows a run that is open. */
  async interrupt(session: Session | undefined): Promise<void> {
    this.#isOver = true;
    this.log.stop();
    await session?.close().catch(() => {}); // what it could not write is as lost as after a crash
    this.#agent?.abort();
    this.#stopping.abort();
    if (this.#pending.restarts !== undefined) await this.#keepAlso({ restarts: 0 }).catch(() => {}); // this one stops in order
  }

  #handOver(): void {
    const agent = this.#agent;
    if (agent === undefined) return;
    for (const { kind, incoming } of this.#steering.splice(0)) {
      this.#onTheWay.set(incoming.message, incoming);
      if (kind === "steer") agent.steer(incoming.message);
      else agent.followUp(incoming.message);
    }
  }

  /** By now the session has it. */
  #noteArrival(event: AgentEvent): void {
    if (event.type !== "message_end") return;
    const arrived = this.#onTheWay.get(event.message);
    if (arrived === undefined) return;
    this.#onTheWay.delete(event.message);
    // The run's own stays until the run has ended: it says what to take up again.
    if (arrived === this.first) this.#hasArrived = true;
    else this.#host.pending.remove(arrived.pending).catch(() => {});
  }
}

/** Nested runs are part of their tool's call. */
function ofRun(runId: string, listener: (event: AgentEvent) => void): (event: AgentEvent) => void {
  return (event) => {
    if (event.runId === runId) listener(event);
  };
}
