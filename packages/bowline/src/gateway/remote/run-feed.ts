/**
 * The live events of one attempt to execute a run, as the gateway's frames. A worker of a cluster
 * makes them, with secrets redacted; gateways pass them on.
 */
import type { AgentEvent, Clock, ErrorInfo } from "@bowline/core";
import { shownAnswer, shownApproval } from "../approvals/shown-approval.ts";
import type { RunFrame } from "../engine/engine.ts";
import { createRunEvents, fail } from "../log/run-events.ts";
import type { RunLog } from "../log/run-log.ts";
import { createRunLog } from "../runs/create-run-log.ts";
import type { GatewayLimits } from "../protocol/limits.ts";
import type { Approval, EventData, RunInfo, WaitingMessage } from "../protocol/protocol.ts";
import type { SecretFilter } from "../../secrets.ts";

/**
 * Sequence numbers of each attempt after the first. Attempt 3 begins at 30,000,000, beyond all
 * numbers of the attempts before it.
 */
export const SEQ_PER_ATTEMPT = 10_000_000;
/**
 * How long an attempt may repeat recorded steps in silence, in milliseconds. Then its state so far
 * is shown, such as that of a run that waits for an approval.
 */
const REPEAT_MS = 250;

export interface RunFeedOptions {
  readonly runId: string;
  readonly sessionKey: string;
  /**
   * The number of this attempt, from 1. Numbers of later attempts are higher, also those of later
   * runs of the session.
   */
  readonly attempt: number;
  /**
   * Whether an earlier attempt may have sent events. This attempt then repeats the recorded steps,
   * sends a snapshot that replaces what the earlier attempt sent, and goes on from there.
   */
  readonly isRepeated: boolean;
  /**
   * Whether a gateway sent the run's first event, `chat.queued` with the number 0. The feed then begins
   * with 1. Default false.
   */
  readonly isAnnounced?: boolean;
  readonly filter: SecretFilter;
  readonly limits: Pick<GatewayLimits, "maxReplayEvents" | "maxReplayLength" | "maxBufferedBytes">;
  readonly clock: Clock;
  /** The folder in which commands run. Approvals show it. */
  readonly workingDir: string;
  /**
   * Whether approvals have the pattern that a person can allow from then on. Set it if all processes
   * know the rules that people add. Default false.
   */
  readonly patterns?: boolean;
  /** Returns the client's id of a user's message. Default: its `messageId`. */
  readonly idOf?: (message: unknown) => string | undefined;
  /** Returns the environment variable that holds the model's key. Default: unknown. */
  readonly keyVariable?: () => string | undefined;
  /** Sends an event. Synchronous; must not throw. */
  readonly publish: (told: RunFrame) => void;
}

export interface RunFeed {
  readonly runId: string;
  readonly sessionKey: string;
  readonly attempt: number;
  /** The run's state and last number. */
  readonly info: RunInfo;
  /** Memory in use, in bytes, approximately. */
  readonly size: number;
  /** Takes an event of the agent. Ignores those of nested runs, and all after the run's end. */
  tell(event: AgentEvent): void;
  /** Sends a notice for people. */
  notice(notice: Omit<EventData<"chat.notice">, "runId" | "sessionKey" | "seq">): void;
  /** Says that a message waits for the next step of the run. */
  queued(message: WaitingMessage): void;
  /** Ends a run that cannot send `agent_end`, such as one without an agent. */
  fail(error: ErrorInfo): void;
  /** The recorded steps are repeated. Sends the snapshot now. */
  goLive(): void;
  /** Returns the events after `seq`, or a snapshot: the events that a client has missed. */
  since(seq: number | undefined): readonly RunFrame[];
  /** Sends nothing from now on: this attempt is over, and another one executes the run. */
  stop(): void;
}

export function createRunFeed(options: RunFeedOptions): RunFeed {
  return new Feed(options);
}

class Feed implements RunFeed {
  readonly attempt: number;
  readonly #options: RunFeedOptions;
  readonly #log: RunLog;
  readonly #tell: (event: AgentEvent) => void;
  /** The approvals that wait for an answer. */
  readonly #questions = new Map<string, Approval>();
  #isLive: boolean;
  #stopTimer = (): void => {};

  constructor(options: RunFeedOptions) {
    const { attempt, runId, sessionKey, isRepeated, filter, limits, clock } = options;
    this.attempt = attempt;
    this.#options = options;
    this.#isLive = !isRepeated;
    this.#log = createRunLog({
      runId,
      sessionKey,
      limits,
      publish: (frame, event) => {
        if (this.#isLive) options.publish({ frame, event });
      },
    });
    if (isRepeated) this.#log.continueFrom(attempt * SEQ_PER_ATTEMPT, []);
    else if (options.isAnnounced === true) this.#log.continueFrom(1, []);
    this.#log.state = "running";
    this.#tell = createRunEvents(this.#log, {
      filter,
      turn: 0,
      idOf: options.idOf ?? messageIdOf,
      keyVariable: options.keyVariable ?? (() => undefined),
    });
    if (isRepeated) this.#stopTimer = clock.setTimer(REPEAT_MS, () => this.goLive());
  }

  get runId(): string {
    return this.#log.runId;
  }

  get sessionKey(): string {
    return this.#log.sessionKey;
  }

  get info(): RunInfo {
    return this.#log.info;
  }

  get size(): number {
    return this.#log.size;
  }

  tell(event: AgentEvent): void {
    const { runId, sessionKey } = this.#log;
    if (event.runId !== runId || !this.#log.isOpen) return;
    const { filter, workingDir, patterns = false } = this.#options;
    if (event.type === "message_update" || event.type === "agent_end") this.goLive();
    if (event.type === "approval_request") {
      const where = { runId, sessionKey };
      const shown = shownApproval(event, where, { filter, workingDir, patterns });
      this.#questions.set(event.approvalId, shown);
      this.#log.append("exec.approval_request", shown);
    } else if (event.type === "approval_answer") {
      this.#questions.delete(event.approvalId);
      this.#log.append("exec.approval_resolved", shownAnswer(event, filter));
    } else this.#tell(event);
    if (!this.#log.isOpen) this.#stopTimer();
  }

  notice(notice: Omit<EventData<"chat.notice">, "runId" | "sessionKey" | "seq">): void {
    if (this.#log.isOpen) this.#log.append("chat.notice", notice);
  }

  queued(message: WaitingMessage): void {
    if (this.#log.isOpen) this.#log.append("chat.queued", message);
  }

  fail(error: ErrorInfo): void {
    if (!this.#log.isOpen) return;
    this.goLive();
    fail(this.#log, error, this.#options.filter);
  }

  goLive(): void {
    this.#stopTimer();
    if (this.#isLive) return;
    this.#isLive = true;
    this.#log.show();
    // A snapshot has no approvals, and the earlier attempt may have died before it sent them.
    for (const shown of this.#questions.values()) this.#log.append("exec.approval_request", shown);
  }

  since(seq: number | undefined): readonly RunFrame[] {
    return this.#log.since(seq);
  }

  stop(): void {
    this.#stopTimer();
    this.#log.stop();
  }
}

/** Messages that a gateway accepted carry the id of their client. */
function messageIdOf(message: unknown): string | undefined {
  const { messageId } = message as { readonly messageId?: unknown };
  return typeof messageId === "string" ? messageId : undefined;
}
