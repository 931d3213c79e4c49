/**
 * The gateway's methods and events, as types: one list, and so as long as the protocol. `schema.ts`
 * says the same as JSON Schema and is held to this by the compiler.
 */
import type { ErrorInfo } from "@bowline/core";
import type { HistoryMessage } from "./history-message.ts";

/**
 * Names a session. Any well-formed text of 1 to 512 characters; a session comes to be with its
 * first message.
 */
type SessionKey = string;

/** Milliseconds since the epoch. */
type Time = number;

export interface TokenCounts {
  /**
   * All prompt tokens, summed over the model calls, with those of caches. Absent when no server
   * reported them.
   */
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** Those of the prompt that were read from a cache, and that were written to one. */
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
  /** US dollars, where prices are known. */
  readonly cost?: number;
}

export interface AgentInfo {
  readonly id: string;
  readonly description: string;
  /**
   * As AGENTS.md names it. Of an agent that the application makes, that of the last one made; absent
   * before.
   */
  readonly model?: string;
  /** What answers, and whether that is the practice model. Empty where that is not known. */
  readonly answeredBy: string;
  readonly isPractice: boolean;
  readonly isDefault: boolean;
  /** The application makes the agent with a model of its own: another cannot be chosen. */
  readonly isModelFixed?: true;
}

export interface SessionInfo {
  readonly sessionKey: SessionKey;
  readonly title?: string;
  readonly agentId?: string;
  /** `provider/model`: what was asked or chosen last. Absent before the first run. */
  readonly model?: string;
  readonly createdAt: Time;
  readonly updatedAt: Time;
  readonly messageCount: number;
  /** Where it was forked from. */
  readonly forkedFrom?: SessionKey;
  /** The runs that go on or wait, in order. */
  readonly runs: readonly RunInfo[];
  /**
   * Another process, such as `bowline run`, has the session open: it cannot be written here
   * meanwhile.
   */
  readonly heldBy?: Holder;
}

export interface Holder {
  readonly pid?: number;
  readonly host?: string;
  readonly since: Time;
}

export type RunState =
  | "queued"
  | "running"
  | "final"
  | "error"
  | "aborted"
  | "interrupted"
  | "unknown";

export interface RunInfo {
  readonly runId: string;
  readonly sessionKey: SessionKey;
  readonly state: RunState;
  /** Of its last event; -1 before the first. */
  readonly seq: number;
}

/** Of an image that went with a message. */
export interface ImageInfo {
  readonly mimeType: string;
  readonly bytes: number;
}

interface UserText {
  readonly text: string;
  /** As in {@link WaitingMessage}; absent for what was read from the transcript. */
  readonly messageId?: string;
  readonly images?: readonly ImageInfo[];
}

/** A message that is accepted and not in the transcript yet. */
export interface WaitingMessage {
  /**
   * Its idempotency key, or what stands for that; with `send` it is the id of the run that it will
   * begin.
   */
  readonly messageId: string;
  /**
   * `send` waits for its turn, `steer` and `followUp` for the run that goes on, `held` goes in with
   * the next message.
   */
  readonly kind: "send" | "steer" | "followUp" | "held";
  readonly text: string;
  readonly images?: readonly ImageInfo[];
}

/** A piece of what a run has said so far. */
export type Block =
  | (UserText & { readonly type: "user" })
  | { readonly type: "text"; readonly turn: number; readonly text: string }
  | { readonly type: "thinking"; readonly turn: number; readonly text: string }
  | {
      readonly type: "tool_call";
      readonly toolCallId: string;
      readonly name: string;
      readonly arguments: unknown;
      readonly state: "running" | "done" | "failed";
      readonly output: string;
      readonly durationMs?: number;
    };

export type Decision = "allow-once" | "allow-session" | "allow-always" | "deny";

export interface Approval {
  readonly approvalId: string;
  readonly runId: string;
  readonly sessionKey: SessionKey;
  readonly toolCallId: string;
  readonly toolName: string;
  /** One line for a person. */
  readonly summary: string;
  /** Exactly what will run. */
  readonly arguments: unknown;
  /** Of bash: the command, and where it starts. */
  readonly command?: string;
  readonly workingDir?: string;
  readonly reason?: string;
  /** What "always" or "for the session" would allow; absent when only this call can be allowed. */
  readonly pattern?: string;
  /** From then on it counts as denied. */
  readonly expiresAt?: Time;
}

/** A message of the transcript. */
export interface HistoryEntry {
  readonly id: string;
  readonly runId?: string;
  readonly message: HistoryMessage;
  /** Texts in it are cut, of so many characters together: `chat.message` has them whole. */
  readonly truncated?: { readonly length: number };
}

interface SessionParams {
  readonly sessionKey: SessionKey;
}

export interface SendParams extends SessionParams {
  readonly message: string;
  /** Default: the session's, else the default agent. */
  readonly agentId?: string;
  /** Becomes the run's id; sent again it starts nothing. Default: a UUID of the server's. */
  readonly idempotencyKey?: string;
  /** Images that go with the message, as many and as large as the greeting's limits say. */
  readonly attachments?: readonly Attachment[];
}

export interface Attachment {
  readonly mimeType: "image/png" | "image/jpeg" | "image/gif" | "image/webp";
  /** Base64. */
  readonly data: string;
}

export interface SendResult {
  readonly runId: string;
  readonly sessionKey: SessionKey;
  /**
   * `in_flight` and `finished` answer a key that was sent before; `steered` a message into the run
   * that goes on.
   */
  readonly status: "started" | "queued" | "in_flight" | "finished" | "steered";
}

interface ApprovalParams {
  readonly approvalId: string;
}

interface Resolved {
  readonly approvalId: string;
  readonly decision: Decision;
}

/** Each method's params and result. */
export interface Methods {
  "health.check": {
    params: Readonly<Record<string, never>>;
    result: {
      readonly status: "ok";
      readonly version: string;
      readonly uptimeMs: number;
      readonly connections: number;
      readonly runs: number;
    };
  };
  "agents.list": {
    params: Readonly<Record<string, never>>;
    result: { readonly agents: readonly AgentInfo[] };
  };
  "sessions.create": {
    params: {
      readonly sessionKey?: SessionKey;
      readonly agentId?: string;
      readonly title?: string;
    };
    result: { readonly session: SessionInfo };
  };
  "sessions.list": {
    params: { readonly search?: string; readonly limit?: number; readonly cursor?: string };
    result: { readonly sessions: readonly SessionInfo[]; readonly cursor?: string };
  };
  "sessions.get": { params: SessionParams; result: { readonly session: SessionInfo } };
  /**
   * A model (`provider/model`, one that can be asked here) is asked from the next model call on, in
   * place of the agent's own; an agent answers with its own model.
   */
  "sessions.patch": {
    params: SessionParams & {
      readonly title?: string;
      readonly model?: string;
      readonly agentId?: string;
    };
    result: { readonly session: SessionInfo };
  };
  /** The conversation begins anew under the same key; the log keeps what was. */
  "sessions.reset": { params: SessionParams; result: { readonly session: SessionInfo } };
  "sessions.delete": { params: SessionParams; result: { readonly deleted: boolean } };
  "sessions.fork": {
    params: SessionParams & { readonly newSessionKey?: SessionKey; readonly at?: string };
    result: { readonly session: SessionInfo };
  };
  "chat.send": { params: SendParams; result: SendResult };
  /** Into the run that goes on, before its next model call; without one it is a `chat.send`. */
  "chat.steer": { params: SendParams; result: SendResult };
  /** For when the run that goes on would stop; without one it is a `chat.send`. */
  "chat.followUp": { params: SendParams; result: SendResult };
  /** One run, or all of a session, the queued ones too. Also when nothing ran. */
  "chat.abort": {
    params: { readonly sessionKey?: SessionKey; readonly runId?: string };
    result: { readonly aborted: boolean; readonly runIds: readonly string[] };
  };
  "chat.history": {
    params: SessionParams & { readonly limit?: number; readonly before?: string };
    result: {
      readonly sessionKey: SessionKey;
      readonly messages: readonly HistoryEntry[];
      readonly hasMore: boolean;
      /** What will be in it, in order. */
      readonly waiting: readonly WaitingMessage[];
    };
  };
  /**
   * A whole message of the history, by the id of its entry: a piece of it as JSON, from `offset`
   * (default 0) on. All pieces together are the message, `length` characters.
   */
  "chat.message": {
    params: SessionParams & { readonly id: string; readonly offset?: number };
    result: {
      readonly sessionKey: SessionKey;
      readonly id: string;
      readonly offset: number;
      readonly json: string;
      readonly length: number;
    };
  };
  /**
   * From now on the session's events. For the run that goes on, and for `runId`, what came after
   * `seq` is sent at once; where that is no longer held, or no `seq` is given, a `chat.snapshot` of
   * all so far.
   */
  "chat.subscribe": {
    params: SessionParams & { readonly runId?: string; readonly seq?: number };
    result: { readonly sessionKey: SessionKey; readonly runs: readonly RunInfo[] };
  };
  "chat.unsubscribe": { params: SessionParams; result: { readonly sessionKey: SessionKey } };
  "approvals.list": {
    params: { readonly sessionKey?: SessionKey };
    result: { readonly approvals: readonly Approval[] };
  };
  "approvals.resolve": {
    params: ApprovalParams & {
      readonly decision: Decision;
      readonly pattern?: string;
      readonly reason?: string;
    };
    result: Resolved;
  };
  "exec.approve": { params: ApprovalParams; result: Resolved };
  "exec.deny": { params: ApprovalParams & { readonly reason?: string }; result: Resolved };
}

export type MethodName = keyof Methods;
export type Params<M extends MethodName> = Methods[M]["params"];
export type Result<M extends MethodName> = Methods[M]["result"];

/**
 * What every event of a run has. `seq` counts up by one, from 0 or, in a run that was taken up
 * again, from far above.
 */
export interface RunEventData {
  readonly runId: string;
  readonly sessionKey: SessionKey;
  readonly seq: number;
}

interface TurnData extends RunEventData {
  /** The model's answers in this run are counted from 0. */
  readonly turn: number;
}

interface DeltaData extends TurnData {
  readonly text: string;
  /** The first number that is in this event, when several were joined for a slow client. */
  readonly firstSeq?: number;
}

interface CallData extends RunEventData {
  readonly toolCallId: string;
  readonly name: string;
}

/**
 * Each event's data. Those with a `seq` go to who subscribed the session; the others, and
 * approvals, to everyone.
 */
export interface Events {
  /** A message of the user went in: the one that began the run, or one that steered it. */
  "chat.user": RunEventData & UserText;
  /**
   * A message waits: for its turn, as the first event of its own run, or for the run's next step.
   */
  "chat.queued": RunEventData & WaitingMessage;
  "chat.delta": DeltaData;
  "chat.thinking": DeltaData;
  "chat.tool_call": CallData & { readonly arguments: unknown };
  /** What a running tool has to say so far; each replaces the one before. */
  "tool.progress": CallData & { readonly text: string };
  "chat.tool_result": CallData & {
    readonly output: string;
    readonly isError: boolean;
    readonly durationMs: number;
  };
  /** A model call ended. */
  "chat.turn": TurnData & {
    readonly provider: string;
    readonly model: string;
    readonly usage: TokenCounts;
  };
  /** Something a person should know: another model answers, or a request is tried again. */
  "chat.notice": RunEventData & { readonly code: string; readonly message: string };
  /**
   * All that the run has said so far, in place of what the client has of it; of what is too long
   * for a frame, the most recent.
   */
  "chat.snapshot": RunEventData & { readonly state: RunState; readonly blocks: readonly Block[] };
  /** The run ended well, or on a limit. A run ends with exactly one of this and the next two. */
  "chat.final": RunEventData & {
    readonly usage: TokenCounts;
    readonly stopReason: "stop" | "length" | "budget";
  };
  "chat.error": RunEventData & {
    readonly message: string;
    readonly errorKind: ErrorKind;
    readonly error: ErrorInfo;
  };
  "chat.aborted": RunEventData & { readonly usage: TokenCounts };
  "exec.approval_request": Approval & RunEventData;
  "exec.approval_resolved": RunEventData & {
    readonly approvalId: string;
    readonly decision: "allow" | "deny" | "expired";
    readonly by?: string;
    readonly reason?: string;
  };
  "sessions.changed": {
    readonly sessionKey: SessionKey;
    readonly change: "created" | "updated" | "deleted" | "reset" | "run";
    /** After `sessions.patch`: what is asked there from now on, and who answers. */
    readonly model?: string;
    readonly agentId?: string;
  };
  tick: { readonly time: Time };
  /** The server goes away; it may come back, and clients try again by themselves. */
  shutdown: { readonly reason: string };
}

export type ErrorKind =
  | "refusal"
  | "timeout"
  | "rate_limit"
  | "context_length"
  | "auth"
  | "unknown";

export type EventName = keyof Events;
export type EventData<E extends EventName> = Events[E];
