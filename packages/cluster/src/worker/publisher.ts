/**
 * The worker's half of the live events: publishes the frames of the runs that this process executes,
 * and answers gateways that ask for them. Nothing here waits, so a run never waits for the bus.
 */
import { randomUUID } from "node:crypto";
import { systemClock, type AgentEvent, type Clock, type ErrorInfo } from "@bowline/core";
import { defaultLimits, type GatewayLimits } from "bowline/gateway";
import { createRunFeed, type RunFeed, type RunFrame, type SecretFilter } from "bowline/engine";
import type { Bus } from "../bus/bus.ts";
import { eventHead, positionHead, toEvent } from "../wire/messages.ts";
import { Parcels, toPayloads, type Parcel } from "../wire/parcel.ts";
import { Subjects } from "../wire/subjects.ts";
import { answerAsk } from "./answer.ts";
import { FeedMemory } from "./feed-memory.ts";
import type { RunAttempt } from "./run-attempt.ts";

export interface PublisherOptions {
  readonly bus: Bus;
  /** The first part of all subjects. The same for all workers and gateways. Default `bowline`. */
  readonly prefix?: string;
  /** Redacts secrets. No event leaves the process before it. */
  readonly filter: SecretFilter;
  /** The folder in which commands run. Approvals show it. Default: the current folder. */
  readonly workingDir?: string;
  /**
   * Whether approvals have the pattern that a person can allow from then on. Set it if all workers
   * know the rules that people add. Default false.
   */
  readonly patterns?: boolean;
  /** Default: `defaultLimits`. */
  readonly limits?: GatewayLimits;
  /** Default: the clock of the system. */
  readonly clock?: Clock;
}

export class RunPublisher {
  readonly #bus: Bus;
  readonly #subjects: Subjects;
  readonly #options: Required<Omit<PublisherOptions, "bus" | "prefix">>;
  readonly #feeds: FeedMemory;
  readonly #stop: () => void;
  /** With a number, the id of a reply. */
  readonly #id = randomUUID();
  #replies = 0;
  #isClosed = false;

  /** Throws `invalid_argument` for an invalid prefix. */
  constructor(options: PublisherOptions) {
    const { bus, prefix = "bowline", filter } = options;
    const { workingDir = process.cwd(), limits = defaultLimits, clock = systemClock } = options;
    const { patterns = false } = options;
    this.#bus = bus;
    this.#subjects = new Subjects(prefix);
    this.#options = { filter, workingDir, limits, clock, patterns };
    this.#feeds = new FeedMemory({
      limits,
      clock,
      follow: (sessionKey) => this.#listen(sessionKey),
    });
    this.#stop = bus.onReconnect(() => this.#tellPositions());
  }

  /** The number of runs that this process knows, also ended ones. */
  get size(): number {
    return this.#feeds.size;
  }

  /**
   * Takes an event of an attempt. The first one opens the attempt and ends the earlier attempts of its
   * session in this process. Events of an attempt that is over are ignored.
   */
  tell(attempt: RunAttempt, event: AgentEvent): void {
    const feed = this.#feedOf(attempt);
    feed?.tell(event);
    if (feed !== undefined && event.type === "agent_end" && event.runId === attempt.runId)
      this.#feeds.end(feed);
  }

  /** Ends a run that sends no `agent_end`, such as one without an agent. */
  fail(attempt: RunAttempt, error: ErrorInfo): void {
    const feed = this.#feedOf(attempt);
    if (feed === undefined) return;
    feed.fail(error);
    this.#feeds.end(feed);
  }

  /** Ends an attempt without the run's end. It sends nothing more, and answers no gateway. */
  leave(attempt: Pick<RunAttempt, "sessionKey" | "runId" | "attempt">): void {
    this.#feeds.leave(attempt);
  }

  /** Sends nothing more. The bus stays open. */
  close(): void {
    this.#isClosed = true;
    this.#stop();
    this.#feeds.close();
  }

  #feedOf(attempt: RunAttempt): RunFeed | undefined {
    if (this.#isClosed) return undefined;
    return this.#feeds.of(attempt, () => this.#open(attempt));
  }

  #open(attempt: RunAttempt): RunFeed {
    const { sessionKey, runId, attempt: number } = attempt;
    const subject = this.#subjects.run(sessionKey);
    return createRunFeed({
      ...this.#options,
      ...attempt,
      publish: (told) => {
        if (!this.#bus.isConnected) return;
        const place = { runId, attempt: number, seq: told.frame.seq ?? -1 };
        this.#send(subject, place, told);
        if (told.event === "exec.approval_request" || told.event === "exec.approval_resolved")
          this.#send(this.#subjects.approvals, place, told);
      },
    });
  }

  /** An event that is too large for the bus is told by its number: gateways ask for a snapshot. */
  #send(
    subject: string,
    place: { readonly runId: string; readonly attempt: number; readonly seq: number },
    { frame, event }: RunFrame,
  ): void {
    const isSmall = frame.json.length <= this.#options.limits.maxBufferedBytes;
    const head = isSmall ? eventHead(place, event) : positionHead(place);
    this.#publish(subject, { head, body: isSmall ? frame.json : "" });
  }

  /** After a lost connection, tells the gateways how far each run is, so that they ask. */
  #tellPositions(): void {
    for (const { sessionKey, runId, attempt, info } of this.#feeds.all()) {
      const head = positionHead({ runId, attempt, seq: info.seq });
      this.#publish(this.#subjects.run(sessionKey), { head, body: "" });
    }
  }

  #publish(subject: string, { head, body }: Parcel): void {
    for (const payload of toPayloads(head, body, this.#bus.maxPayload) ?? [])
      this.#bus.publish(subject, payload);
  }

  /** Answers gateways, and hears of later attempts elsewhere. */
  #listen(sessionKey: string): () => void {
    const parcels = new Parcels(this.#options.limits.maxBufferedBytes);
    const stopAsks = this.#bus.subscribe(this.#subjects.ask(sessionKey), ({ payload, reply }) => {
      const answer = answerAsk(this.#feeds.ofSession(sessionKey), payload, {
        id: `${this.#id}.${this.#replies++}`,
        maxBufferedBytes: this.#options.limits.maxBufferedBytes,
      });
      if (answer !== undefined && reply !== undefined) this.#publish(reply, answer);
    });
    const stopEvents = this.#bus.subscribe(this.#subjects.run(sessionKey), ({ payload }) => {
      const parcel = parcels.take(payload);
      const heard = parcel && toEvent(parcel);
      if (heard !== undefined) this.#feeds.yieldTo(sessionKey, heard.attempt);
    });
    return () => {
      stopAsks();
      stopEvents();
    };
  }
}
