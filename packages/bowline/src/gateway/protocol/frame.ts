/**
 * What travels over the gateway's socket: JSON text frames, nothing else. The client speaks first
 * with an auth frame; then it sends requests, each answered once by its id, and the server sends
 * events on its own. Shapes of methods and events: `protocol.ts`.
 */
import type { EventData, EventName, MethodName, Params, Result } from "./protocol.ts";

/** The client's first frame. */
export interface AuthFrame {
  readonly type: "auth";
  readonly token: string;
  /**
   * Which events are wanted: all, or these. Default: {@link plainEvents}. Numbers of events that
   * are left out are passed over.
   */
  readonly events?: "all" | readonly string[];
  /** For the record of who answered an approval. Default: the connection's id. */
  readonly client?: string;
}

/** The answer to it; after a refusal the socket is closed. */
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
  /** `read` may look at everything and change nothing. */
  readonly scope: Scope;
  /** How the keys of all sessions begin that are there for this token. Absent: any. */
  readonly sessions?: string;
  readonly methods: readonly string[];
  /** All that the server can send, whatever was asked for. */
  readonly events: readonly string[];
  readonly limits: Limits;
  /** The default agent and what answers for it. */
  readonly model: ModelInfo;
  /** For people: such as that the practice model answers. */
  readonly notice?: string;
}

export type Scope = "full" | "read";

export interface Limits {
  /** The longest frame a client may send, in bytes, and the longest before it is let in. */
  readonly maxFrameBytes: number;
  readonly maxAuthFrameBytes: number;
  /** What is held for a client that reads slowly, in bytes; beyond it the socket is closed. */
  readonly maxBufferedBytes: number;
  /**
   * A `tick` comes this often, in milliseconds: two that do not come mean that the connection is
   * dead.
   */
  readonly tickIntervalMs: number;
  /** Runs that wait behind one of the same session. */
  readonly maxQueuedRuns: number;
  /** Characters of one message. */
  readonly maxMessageLength: number;
  /** Images that one message may have, and their bytes together, before they are made Base64. */
  readonly maxAttachments: number;
  readonly maxAttachmentBytes: number;
}

export interface ModelInfo {
  readonly agentId: string;
  /** What AGENTS.md asks for, `provider/model`. */
  readonly wanted: string;
  /** What answers. */
  readonly provider: string;
  readonly model: string;
  readonly isPractice: boolean;
}

export interface RequestFrame<M extends MethodName = MethodName> {
  /** Any text or number; the answer has the same. */
  readonly id: string | number;
  readonly method: M;
  readonly params?: Params<M>;
}

export type ResponseFrame<M extends MethodName = MethodName> =
  | { readonly id: string | number; readonly result: Result<M> }
  /** `id` is null when the frame had none that could be read. */
  | { readonly id: string | number | null; readonly error: FrameError };

export type EventFrame<E extends EventName = EventName> = E extends EventName
  ? { readonly event: E; readonly data: EventData<E> }
  : never;

export interface FrameError {
  /** One of {@link errorNumbers}. */
  readonly code: number;
  readonly message: string;
  readonly data?: {
    /** The same as a word: a key of {@link errorNumbers}, or a code of `BowlineError`. */
    readonly code: string;
    /** Whether the same request may succeed later. */
    readonly retryable: boolean;
    readonly retryAfterMs?: number;
    /** What is wrong with the params, and where. */
    readonly issues?: readonly Issue[];
  };
}

export interface Issue {
  /** `a.b[0]`; empty for the whole. */
  readonly path: string;
  readonly message: string;
}

/** JSON-RPC's numbers where it has one, and our own. */
export const errorNumbers = {
  /** The frame is no JSON. */
  parse: -32700,
  /** The frame is JSON, and no request. */
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
   * It cannot be done as things stand: answered already, another content under the same key,
   * locked.
   */
  conflict: -32009,
  /** Too much waits, or too many tokens were wrong. */
  busy: -32029,
} as const;

export type ErrorName = keyof typeof errorNumbers;

/** Why the server closes a socket. */
export const closeCodes = {
  shutdown: 1001,
  /** The bytes are no frames of a WebSocket's client. */
  protocol: 1002,
  /** Binary frames. */
  unsupported: 1003,
  /** Text that is no UTF-8. */
  encoding: 1007,
  /** A message in too many pieces: what each costs is more than its bytes. */
  tooManyPieces: 1008,
  tooLarge: 1009,
  /** The server could not say what it is: it may be able to later. */
  failed: 1011,
  /** The client's frames cannot be frames: many in a row that are no requests. */
  badFrames: 4400,
  unauthorized: 4401,
  authTimeout: 4408,
  secondAuth: 4409,
  /** Too many wrong tokens. Too many connections are an HTTP 503. */
  tooMany: 4429,
  /** The client did not answer two pings. */
  silent: 4410,
  /** More waits for the client than the limit allows. */
  slow: 4413,
} as const;

/** What a client gets that does not say which events it wants: enough to follow its own runs. */
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
