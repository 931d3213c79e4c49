/**
 * The interfaces between the gateway's entry points and what accepts messages, runs agents and
 * stores sessions. One process implements them in memory (`runs/`, `approvals/`, `sessions/`); a
 * cluster implements them with a database and a message bus. The entry points know only these.
 */
import type { Model } from "@bowline/core";
import type { Store } from "@bowline/core/session";
import type { User } from "../access/user.ts";
import type { KnownAgent } from "../agents/agent-entry.ts";
import type { Backend } from "../../models/backend.ts";
import type { Frame } from "../log/outbox.ts";
import type { RunEventName } from "../log/run-log.ts";
import type {
  Approval,
  Decision,
  Params,
  Result,
  RunInfo,
  SendParams,
  SendResult,
  WaitingMessage,
} from "../protocol/protocol.ts";

/** A value, or a promise of it if it has to be read from elsewhere. */
export type MaybePromise<T> = T | Promise<T>;

export interface Engine {
  readonly runs: EngineRuns;
  readonly approvals: EngineApprovals;
  readonly sessions: EngineSessions;
  /** Stores the sessions. The history and its files are read from it. */
  readonly store: Store;
  /** Returns the available agents. Called for each request. */
  readonly agents: () => Promise<readonly KnownAgent[]>;
  /**
   * Returns the model of a listed agent. Returns undefined for an agent that a function makes.
   * Rejects with `invalid_argument` for a model that is not available.
   */
  readonly backendFor: (agent: KnownAgent) => Promise<Backend | undefined>;
  /**
   * Returns the model of an agent. Returns undefined for an agent that a function makes and has not
   * made yet. Rejects as {@link backendFor} does.
   */
  readonly modelFor: (agent: KnownAgent) => Promise<Model | undefined>;
  /** Prepares for clients. No client is admitted before it resolves, and none if it rejects. */
  open(): Promise<void>;
  /** Returns whether clients can be served. Never rejects. Without it, the gateway is always ready. */
  ready?(): Promise<Readiness>;
  /** Called every `tickIntervalMs`, such as to evict what is no longer needed. */
  tick(): void;
  /** Called when a shutdown begins, before the clients are told: sends what was delayed. */
  closing(): void;
  /** Stops. Resolves when nothing more is sent to the clients. */
  close(): Promise<void>;
}

/** Whether a process can serve its clients, and which of its parts can. Names no addresses. */
export interface Readiness {
  readonly isReady: boolean;
  /** `draining` while the process waits for its runs before it stops. */
  readonly message?: string;
  readonly parts: readonly ReadyPart[];
}

export interface ReadyPart {
  /** The worker is this process's own. */
  readonly name: "postgres" | "restate" | "nats" | "worker";
  readonly isReady: boolean;
  /** Why it is not ready. */
  readonly message?: string;
}

export interface EngineRuns {
  /** The number of started runs. */
  count(): MaybePromise<number>;
  /**
   * Accepts a message, at most once for each idempotency key of its session. Resolves when the
   * message is stored, so that a crash loses no message that a client knows to be accepted.
   */
  accept(params: OwnedMessage, kind: MessageKind): Promise<Accepted>;
  /**
   * Aborts a run, or all runs of a session. Returns the ids of the open and queued runs. Resolves
   * when the abort is stored. A current run ends later.
   */
  abort(which: Params<"chat.abort">): Promise<readonly string[]>;
  /** Finds the open runs of a session and the requested run, and what a client has missed of them. */
  follow(params: Params<"chat.subscribe">): Promise<Followed>;
  /** Finds one run. Resolves with undefined if the session has no such run. */
  followRun(run: RunPosition): Promise<FollowedRun | undefined>;
  /** Returns the accepted messages that are not in the session's transcript yet. */
  waitingIn(sessionKey: string): MaybePromise<readonly WaitingMessage[]>;
  /** Returns the session of a run. Undefined for an unknown run. */
  sessionOf(runId: string): MaybePromise<string | undefined>;
  /**
   * Returns the session of an accepted message whose idempotency key no other session may use.
   * Undefined if sessions may have the same keys. Synchronous, so that the messages of a client are
   * accepted in order.
   */
  sessionOfMessage(id: string): string | undefined;
}

/** A message with its user. */
export interface OwnedMessage extends SendParams {
  readonly user?: User;
}

export type MessageKind = "send" | "steer" | "followUp";

export interface Accepted {
  readonly result: SendResult;
  /** Call it when the response has been queued. No event of the message precedes the call. */
  readonly start: () => void;
}

/** A run, and the last of its events that a client has. */
export interface RunPosition {
  readonly sessionKey: string;
  readonly runId: string;
  /** Undefined: the client has none, and gets a snapshot. */
  readonly seq: number | undefined;
}

export interface RunFrame {
  readonly frame: Frame;
  readonly event: RunEventName;
}

export interface Followed {
  /** The requested run, and the open runs in order. An unknown run has the state `unknown`. */
  readonly runs: readonly RunInfo[];
  /**
   * Returns the events that the client has missed, up to now. Call it once. Subscribe the client in
   * the same tick, so that no event is lost in between.
   */
  readonly missed: () => readonly RunFrame[];
}

export interface FollowedRun {
  readonly info: RunInfo;
  /** As {@link Followed.missed}. */
  readonly missed: () => readonly RunFrame[];
  /** Call it if `missed` will not be called. Safe to call after it. */
  readonly release: () => void;
}

export interface EngineApprovals {
  /**
   * Lists the pending approvals, of one session or of all. May leave out those of sessions whose keys
   * do not begin with `beginning`.
   */
  list(sessionKey?: string, beginning?: string): MaybePromise<readonly Approval[]>;
  /** Returns the session of a pending or recently answered approval. */
  sessionOf(approvalId: string): MaybePromise<string | undefined>;
  /**
   * Resolves when the answer is stored, so that it survives a crash. Throws `not_found`; `conflict`
   * if it was already answered or the run no longer waits; `bad_params` for a pattern that does not
   * cover the call.
   */
  resolve(approvalId: string, answer: ApprovalAnswer): Promise<void>;
}

export interface ApprovalAnswer {
  readonly decision: Decision;
  readonly pattern?: string;
  readonly reason?: string;
  /** The client that answered. */
  readonly by: string;
}

/** The session methods. Each checks what only the stored sessions can say. */
export interface EngineSessions {
  create(params: Params<"sessions.create">, user: User): Promise<Result<"sessions.create">>;
  /** Lists sessions whose keys begin with `beginning`. */
  list(params: Params<"sessions.list">, beginning?: string): Promise<Result<"sessions.list">>;
  get(params: Params<"sessions.get">): Promise<Result<"sessions.get">>;
  patch(params: Params<"sessions.patch">): Promise<Result<"sessions.patch">>;
  reset(params: Params<"sessions.reset">): Promise<Result<"sessions.reset">>;
  delete(params: Params<"sessions.delete">): Promise<Result<"sessions.delete">>;
  fork(params: Params<"sessions.fork">): Promise<Result<"sessions.fork">>;
}
