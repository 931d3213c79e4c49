/**
 * Frames on the gateway's socket: JSON text only. The client sends an auth frame first. Then it
 * sends requests, each answered once by its id, and the server sends events at any time.
 * `protocol.ts` has the types of methods and events.
 */
import type { EventData, EventName, MethodName, Params, Result } from "./protocol.ts";

/** The client's first frame. */
export interface AuthFrame {
  readonly type: "auth";
  readonly token: string;
  /**
   * The events to receive: all, or these. Default: {@link plainEvents}. Omitted events leave gaps
   * in `seq`, which are not losses.
   */
  readonly events?: "all" | readonly string[];
  /** Recorded as the author of approval answers. Default: the connection's id. */
  readonly client?: string;
}

/** The answer to the auth frame. After a refusal the server closes the socket. */
export type AuthReply =
  | Welcome
  | { readonly type: "auth"; readonly ok: false; readonly error: FrameError };

export interface Welcome {
  readonly type: "auth";
  readonly ok: true;
  readonly server: {
    readonly name: "bowline";
    readonly version: string;
    readonly connectionId: string;
  };
  /** `read` allows reading only. */
  readonly scope: Scope;
  /** Prefix of the session keys that this token may access. Absent: all sessions. */
  readonly sessions?: string;
  readonly methods: readonly string[];
  /** All events that the server can send, including those that were not requested. */
  readonly events: readonly string[];
  readonly limits: Limits;
  /** The default agent and the model that answers for it. */
  readonly model: ModelInfo;
  /** A notice for people, for example that the practice model answers. */
  readonly notice?: string;
}

export type Scope = "full" | "read";

export interface Limits {
  /** Longest frame from a client, in bytes. Default 1,048,576. */
  readonly maxFrameBytes: number;
  /** Longest frame before authentication, in bytes. Default 65,536. */
  readonly maxAuthFrameBytes: number;
  /**
   * The maximum number of bytes buffered for a slow client. Above it the server closes the socket.
   * Default 4,194,304.
   */
  readonly maxBufferedBytes: number;
  /**
   * Interval of `tick` events, in milliseconds. If two are missing, the connection is dead. Default
   * 15,000.
   */
  readonly tickIntervalMs: number;
  /** Runs that can be queued in one session. Default 20. */
  readonly maxQueuedRuns: number;
  /** Longest message, in characters. Default 32,000. */
  readonly maxMessageLength: number;
  /** The maximum number of images in one message. Default 4. */
  readonly maxAttachments: number;
  /** Total size of the images of one message in bytes, before Base64. Default 655,360. */
  readonly maxAttachmentBytes: number;
}

export interface ModelInfo {
  readonly agentId: string;
  /** The model in AGENTS.md, `provider/model`. */
  readonly wanted: string;
  /** The model that answers. */
  readonly provider: string;
  readonly model: string;
  readonly isPractice: boolean;
}

export interface RequestFrame<M extends MethodName = MethodName> {
  /** Any string or number; the response has the same. */
  readonly id: string | number;
  readonly method: M;
  readonly params?: Params<M>;
}

export type ResponseFrame<M extends MethodName = MethodName> =
  | { readonly id: string | number; readonly result: Result<M> }
  /** `id` is null if the frame had no readable id. */
  | { readonly id: string | number | null; readonly error: FrameError };

export type EventFrame<E extends EventName = EventName> = E extends EventName
  ? { readonly event: E; readonly data: EventData<E> }
  : never;

export interface FrameError {
  /** One of {@link errorNumbers}. */
  readonly code: number;
  readonly message: string;
  readonly data?: {
    /** The name of the error: a key of {@link errorNumbers}, or a code of `BowlineError`. */
    readonly code: string;
    /** Whether the same request may succeed later. */
    readonly retryable: boolean;
    readonly retryAfterMs?: number;
    /** The problems of the params, with their paths. */
    readonly issues?: readonly Issue[];
  };
}

export interface Issue {
  /** `a.b[0]`; empty for the whole value. */
  readonly path: string;
  readonly message: string;
}

/** Error numbers: JSON-RPC's where one exists, else the gateway's. */
export const errorNumbers = {
  /** The frame is not JSON. */
  parse: -32700,
  /** The frame is JSON but not a request. */
  bad_request: -32600,
  unknown_method: -32601,
  bad_params: -32602,
  internal: -32603,
  /** The token is wrong. */
  unauthorized: -32001,
  /** The token is for reading only. */
  forbidden: -32003,
  not_found: -32004,
  /**
   * The request conflicts with the current state: already answered, a key reused with different
   * content, or a locked session.
   */
  conflict: -32009,
  /** Too many requests are queued, or too many tokens were wrong. */
  busy: -32029,
} as const;

export type ErrorName = keyof typeof errorNumbers;

/** Close codes of the server. */
export const closeCodes = {
  shutdown: 1001,
  /** The bytes are not valid WebSocket frames of a client. */
  protocol: 1002,
  /** Binary frames are not supported. */
  unsupported: 1003,
  /** The text is not UTF-8. */
  encoding: 1007,
  /** The message has too many fragments; each has a cost beyond its bytes. */
  tooManyPieces: 1008,
  tooLarge: 1009,
  /** The server could not prepare the welcome frame. A later attempt may succeed. */
  failed: 1011,
  /** Too many consecutive frames were not requests. */
  badFrames: 4400,
  unauthorized: 4401,
  authTimeout: 4408,
  secondAuth: 4409,
  /** Too many wrong tokens. Too many connections are refused with HTTP 503 instead. */
  tooMany: 4429,
  /** The client did not answer two pings. */
  silent: 4410,
  /** The buffer for a slow client is full. */
  slow: 4413,
} as const;

/** The default events: enough for a client to follow its own runs. */
export const plainEvents: readonly EventName[] = [
  "chat.delta",
  "chat.thinking",
  "chat.tool_call",
  "chat.tool_result",
  "tool.progress",
  "chat.snapshot",
  "chat.final",
  "chat.error",
  "chat.aborted",
  "exec.approval_request",
  "exec.approval_resolved",
  "shutdown",
];
