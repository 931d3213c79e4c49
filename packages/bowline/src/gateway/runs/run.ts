/**
 * One run: an agent on a session. Its events are logged, sent and stored. It does not depend on any
 * connection.
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
  /**
   * The message that begins the run. Undefined for a resumed run, whose message is in the session.
   */
  readonly first: Incoming | undefined;
  /** True when the run may start: its message is stored and its client has the response. */
  isReady = false;
  /** Resolves when the run is ready, or will never be. */
  readonly answered: Promise<void>;
  /** Settles when the last change of its pending message is stored or has failed. */
  kept: Promise<void> = Promise.resolve();
  readonly #host: Host;
  #pending: PendingMessage;
  #agent: Agent | undefined;
  /** Ends the wait for the application's function that makes the agent. */
  readonly #stopping = new AbortController();
  #backend: Backend | undefined;
  #isOver = false;
  #isGivenUp = false;
  #onAnswered = (): void => {};
  #left: Incoming[] | undefined;
  /** Whether the transcript has the run's own message. */
  #hasArrived = false;
  #steering: { readonly kind: "steer" | "followUp"; readonly incoming: Incoming }[] = [];
  /** Messages that the agent has and the transcript has not yet. */
  readonly #onTheWay = new Map<unknown, Incoming>();

  /** `isBegun`: the session already has the run's message. */
  constructor(host: Host, pending: PendingMessage, entry: KnownAgent, isBegun = false) {
    this.#host = host;
    this.#pending = pending;
    this.entry = entry;
    this.first = isBegun ? undefined : incomingOf(pending);
    this.answered = new Promise((resolve) => (this.#onAnswered = resolve));
    const { id: runId, sessionKey } = pending;
    this.log = createRunLog({
      runId,
      sessionKey,
      limits: host.limits,
      publish: (frame, event) => host.publish(sessionKey, frame, event),
    });
  }

  /** Whether the last event was sent, or this process will send no more. */
  get isOver(): boolean {
    return this.#isOver || !this.log.isOpen;
  }

  /** The user whose message the run answers. Undefined if unknown. */
  get user(): User | undefined {
    return this.#pending.user;
  }

  get isAborted(): boolean {
    return this.#pending.isAborted === true;
  }

  /** Lets the run start at its turn. */
  makeReady(): void {
    this.isReady = true;
    this.#onAnswered();
  }

  /**
   * Changes the agent or model from the next model call on. An agent that the application made
   * stays until the next run. Resolves when the choice is stored for the next process.
   */
  async use(entry: KnownAgent, backend: Backend | undefined): Promise<void> {
    this.entry = entry;
    this.#backend = backend;
    if (this.#agent !== undefined && backend !== undefined) this.#agent.state.model = backend.model;
    if (this.#pending.agentId !== entry.id && !this.isOver)
      await this.#keepAlso({ agentId: entry.id });
  }

  /**
   * Counts the restarts of a resumed run. A run that crashes its server each time is given up at
   * the limit.
   */
  async noteRestart(): Promise<void> {
    const { restarts } = this.#pending;
    if (restarts === undefined) return;
    this.#isGivenUp = restarts >= this.#host.limits.maxRestarts;
    // If that cannot be stored, the restart is not counted.
    await this.#keepAlso({ restarts: restarts + 1 }).catch(() => {});
  }

  /** Stores the run's message. The response is sent after that. */
  keep(): Promise<void> {
    return (this.kept = this.#host.pending.add(this.#pending));
  }

  /**
   * Aborts the run at once. Resolves when the abort is stored, so that no later process continues
   * the run. The run's end comes later. Rejects if the abort cannot be stored.
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
   * The run's messages that are not in the transcript. After the run's end, those that are not
   * stored as held or as a new run yet.
   */
  get waiting(): readonly Incoming[] {
    if (this.#left !== undefined) return this.#left;
    const all = [...this.#onTheWay.values(), ...this.#steering.map(({ incoming }) => incoming)];
    return this.first === undefined || this.#hasArrived || all.includes(this.first)
      ? all
      : [this.first, ...all];
  }

  /**
   * Returns the messages that the run did not process. A failed run also returns its own message,
   * unless the transcript has it.
   */
  #leave(): Incoming[] {
    const hasFailed = this.log.state === "error";
    const left = this.waiting.filter((incoming) => hasFailed || incoming !== this.first);
    // After a shutdown all messages wait for the next process, as before.
    if (!this.log.isStopped) this.#left = left;
    return left;
  }

  /**
   * Sends `chat.queued` for a waiting message: the run's own before it begins, or an added one that
   * is not in the transcript yet.
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

  /** Adds a message to the current run. */
  add(kind: "steer" | "followUp", incoming: Incoming): void {
    this.#steering.push({ kind, incoming });
    this.#handOver();
  }

  /**
   * Runs to the end. Returns the messages that did not reach the transcript; the run lists them as
   * waiting until they are removed. Never rejects: a failure becomes the run's last event. Takes
   * all messages out of `held` and puts them before the run's own.
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
      // After an abort the session's writes are not awaited.
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
    detach(); // the unprocessed messages are returned, so the session must not queue them too
    if (log.isOpen) fail(log, infoOf(undefined), filter);
    this.#isOver = true;
    approvals.forget(log.runId);
    return this.#leave();
  }

  async #createAgent(session: Session): Promise<Agent> {
    const { log } = this;
    const found = await this.#host.backendFor(this.entry);
    const backend = (this.#backend ??= found); // a client may have chosen another one since
    if (backend !== undefined)
      return createRunAgent(this.#host, log, () => this.#backend ?? backend);
    const user = this.user ?? ownerIn(session.header.metadata) ?? {};
    const { signal } = this.#stopping;
    return makeRunAgent(this.#host, { agentId: this.entry.id, user, log, signal });
  }

  /**
   * Ends a run whose server crashed too often. The session gets the end, so that the next process
   * does not resume the run.
   */
  async #giveUp(session: Session): Promise<Incoming[]> {
    const { runId } = this.log;
    const thrown = diedWith(this.#host.limits.maxRestarts);
    const error = infoOf(thrown);
    const end = { type: "run_end", runId, reason: "error", error } as const;
    // If the message was not written, the session has no run to end.
    if (this.first === undefined) await session.append(end).catch(() => {});
    return this.failBefore(thrown);
  }

  /** Fails a run that could not begin, such as when another process has locked the session. */
  failBefore(error: unknown): Incoming[] {
    this.#isOver = true;
    fail(this.log, infoOf(error), this.#host.filter);
    this.#onAnswered();
    return this.#leave();
  }

  /** Stops the agent at a shutdown. The session still shows the run as open. */
  async interrupt(session: Session | undefined): Promise<void> {
    this.#isOver = true;
    this.log.stop();
    await session?.close().catch(() => {}); // as after a crash, unwritten entries are lost
    this.#agent?.abort();
    this.#stopping.abort();
    // this shutdown is clean
    if (this.#pending.restarts !== undefined) await this.#keepAlso({ restarts: 0 }).catch(() => {});
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

  /** Called when the session has written the message. */
  #noteArrival(event: AgentEvent): void {
    if (event.type !== "message_end") return;
    const arrived = this.#onTheWay.get(event.message);
    if (arrived === undefined) return;
    this.#onTheWay.delete(event.message);
    // The pending file of the run's own message stays until the end, since it shows which run to
    // resume.
    if (arrived === this.first) this.#hasArrived = true;
    else this.#host.pending.remove(arrived.pending).catch(() => {});
  }
}

/** Filters out nested runs, which belong to their tool's call. */
function ofRun(runId: string, listener: (event: AgentEvent) => void): (event: AgentEvent) => void {
  return (event) => {
    if (event.runId === runId) listener(event);
  };
}
