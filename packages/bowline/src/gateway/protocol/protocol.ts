/**
 * The gateway's methods and events as types. One list, as long as the protocol. `schema.ts` has the
 * same as JSON Schema; the compiler checks that both agree.
 */
import type { ErrorInfo } from "@bowline/core";
import type { AttachmentType } from "./file-types.ts";
import type { HistoryMessage } from "./history-message.ts";

/**
 * A session's key: well-formed text of 1 to 512 characters. The first message creates the session.
 */
type SessionKey = string;

/** Milliseconds since the epoch. */
type Time = number;

export interface TokenCounts {
  /**
   * All prompt tokens, including cached ones, summed over the model calls. Absent if no server
   * reported them.
   */
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** Prompt tokens read from a cache, and those written to one. */
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
  /** US dollars; absent for models without known prices. */
  readonly cost?: number;
}

export interface AgentInfo {
  readonly id: string;
  readonly description: string;
  /**
   * The model in AGENTS.md. For an agent that the application makes: the model of the last one made;
   * absent before the first.
   */
  readonly model?: string;
  /** The model that answers, and whether it is the practice model. Empty if unknown. */
  readonly answeredBy: string;
  readonly isPractice: boolean;
  readonly isDefault: boolean;
  /** True if the application sets the agent's model, so that clients cannot change it. */
  readonly isModelFixed?: true;
}

export interface SessionInfo {
  readonly sessionKey: SessionKey;
  readonly title?: string;
  readonly agentId?: string;
  /** `provider/model`: the one last used or chosen. Absent before the first run. */
  readonly model?: string;
  readonly createdAt: Time;
  readonly updatedAt: Time;
  readonly messageCount: number;
  /** The session that this one was forked from. */
  readonly forkedFrom?: SessionKey;
  /** Running and queued runs, in order. */
  readonly runs: readonly RunInfo[];
  /**
   * Set while another process, such as `bowline run`, has the session open. The gateway cannot
   * write to it then.
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
  /** The `seq` of the last event; -1 before the first. */
  readonly seq: number;
}

/** Describes an image of a message. */
export interface ImageInfo {
  readonly mimeType: string;
  readonly bytes: number;
}

/** Describes a file of a message. */
export interface FileInfo {
  readonly mimeType: string;
  readonly name?: string;
  /** Absent for a file that the message only refers to. */
  readonly bytes?: number;
}

/** A text that a program added to a person's message: the content of a file, or a note. */
export interface AddedText {
  /** Says to people what the text is. The text itself is in the history. */
  readonly label: string;
  /** The path of the file or folder that the text is from. Absent for a note. */
  readonly file?: string;
}

interface UserText {
  /** The words of the person. */
  readonly text: string;
  /** As in {@link WaitingMessage}. Absent in messages read from the transcript. */
  readonly messageId?: string;
  readonly images?: readonly ImageInfo[];
  readonly files?: readonly FileInfo[];
  readonly added?: readonly AddedText[];
}

/** An accepted message that is not in the transcript yet. */
export interface WaitingMessage {
  /**
   * The message's idempotency key, or a generated id. For `send` it is the id of the run that the
   * message will start.
   */
  readonly messageId: string;
  /**
   * `send` waits for its turn in the queue. `steer` and `followUp` wait for the current run. `held`
   * is added with the next message.
   */
  readonly kind: "send" | "steer" | "followUp" | "held";
  readonly text: string;
  readonly images?: readonly ImageInfo[];
  readonly files?: readonly FileInfo[];
  readonly added?: readonly AddedText[];
}

/** A part of a run's content so far. */
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
  /** The exact arguments of the call. */
  readonly arguments: unknown;
  /** For bash: the command and its working directory. */
  readonly command?: string;
  readonly workingDir?: string;
  readonly reason?: string;
  /**
   * The pattern that "always" or "for the session" would allow. Absent if only this call can be
   * allowed.
   */
  readonly pattern?: string;
  /** When the request expires; it then counts as denied. */
  readonly expiresAt?: Time;
}

/** A message of the transcript. */
export interface HistoryEntry {
  readonly id: string;
  readonly runId?: string;
  readonly message: HistoryMessage;
  /**
   * Set if texts in the message were cut: their full length in characters. `chat.message` returns
   * them whole.
   */
  readonly truncated?: { readonly length: number };
}

interface SessionParams {
  readonly sessionKey: SessionKey;
}

export interface SendParams extends SessionParams {
  /** May be empty if there are attachments. */
  readonly message: string;
  /** Default: the session's agent, else the default agent. */
  readonly agentId?: string;
  /** Becomes the run's id. A repeated key starts nothing. Default: a UUID from the server. */
  readonly idempotencyKey?: string;
  /** Images and files of the message, within the limits in the welcome frame. */
  readonly attachments?: readonly Attachment[];
}

export interface Attachment {
  readonly mimeType: AttachmentType;
  /** Base64. */
  readonly data: string;
  /** The name of a file, which the model is shown. Not used for images. */
  readonly name?: string;
}

export interface SendResult {
  readonly runId: string;
  readonly sessionKey: SessionKey;
  /**
   * `in_flight` and `finished`: the key was sent before. `steered`: the message goes into the
   * current run. `waiting`: the key was sent before, and the message waits without a run, so
   * `runId` is only the key. `chat.user` of the run that takes it has it as `messageId`.
   */
  readonly status: "started" | "queued" | "in_flight" | "finished" | "steered" | "waiting";
}

interface ApprovalParams {
  readonly approvalId: string;
}

interface Resolved {
  readonly approvalId: string;
  readonly decision: Decision;
}

/** The params and result of each method. */
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
   * Changes title, model or agent. A model (`provider/model`, available on this server) replaces
   * the agent's model from the next model call on. An agent answers with its own model.
   */
  "sessions.patch": {
    params: SessionParams & {
      readonly title?: string;
      readonly model?: string;
      readonly agentId?: string;
    };
    result: { readonly session: SessionInfo };
  };
  /** Restarts the conversation under the same key. The log keeps the old messages. */
  "sessions.reset": { params: SessionParams; result: { readonly session: SessionInfo } };
  "sessions.delete": { params: SessionParams; result: { readonly deleted: boolean } };
  "sessions.fork": {
    params: SessionParams & { readonly newSessionKey?: SessionKey; readonly at?: string };
    result: { readonly session: SessionInfo };
  };
  "chat.send": { params: SendParams; result: SendResult };
  /** Adds a message to the current run, before its next model call. Without a run: `chat.send`. */
  "chat.steer": { params: SendParams; result: SendResult };
  /** Adds a message for when the current run would stop. Without a run: `chat.send`. */
  "chat.followUp": { params: SendParams; result: SendResult };
  /** Aborts one run, or all runs of a session including queued ones. Succeeds if nothing ran. */
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
      /** Messages that are not in the transcript yet, in order. */
      readonly waiting: readonly WaitingMessage[];
    };
  };
  /**
   * Returns a piece of one message of the history as JSON, starting at `offset` (default 0). The
   * message's JSON is `length` characters long.
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
   * Subscribes to the session's events. For the current run, and for `runId`, sends the events
   * after `seq` at once. If those are no longer buffered, or without `seq`, sends a
   * `chat.snapshot`.
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
 * Fields of every event of a run. `seq` counts up by one. It starts at 0, or at a much higher
 * number in a resumed run.
 */
export interface RunEventData {
  readonly runId: string;
  readonly sessionKey: SessionKey;
  readonly seq: number;
}

interface TurnData extends RunEventData {
  /** Number of the model's answer in this run, from 0. */
  readonly turn: number;
}

interface DeltaData extends TurnData {
  readonly text: string;
  /** First number in this event if several deltas were joined for a slow client. */
  readonly firstSeq?: number;
}

interface CallData extends RunEventData {
  readonly toolCallId: string;
  readonly name: string;
}

/**
 * The data of each event. Events with a `seq` go to the session's subscribers; others, and
 * approvals, go to every client.
 */
export interface Events {
  /** A user's message was added: it started the run or steered it. */
  "chat.user": RunEventData & UserText;
  /**
   * A message is queued. It is either the first event of its own run or waits for the next step of
   * the current run.
   */
  "chat.queued": RunEventData & WaitingMessage;
  "chat.delta": DeltaData;
  "chat.thinking": DeltaData;
  "chat.tool_call": CallData & { readonly arguments: unknown };
  /** The output of a running tool so far; each event replaces the previous one. */
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
  /**
   * A notice for people: another model answers, a request is retried, a vendor's tool is used, or
   * sources are cited.
   */
  "chat.notice": RunEventData & { readonly code: string; readonly message: string };
  /**
   * The run's content so far. It replaces what the client has. If it is too long for a frame, it
   * holds the most recent part.
   */
  "chat.snapshot": RunEventData & { readonly state: RunState; readonly blocks: readonly Block[] };
  /**
   * The run ended normally or at a limit. Every run ends with exactly one of `chat.final`,
   * `chat.error` and `chat.aborted`.
   */
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
    /** After `sessions.patch`: the model and the agent from now on. */
    readonly model?: string;
    readonly agentId?: string;
  };
  tick: { readonly time: Time };
  /** The server is shutting down. It may come back, and clients reconnect automatically. */
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
