/**
 * A client's connection to a gateway. Reconnects automatically and matches responses to requests.
 * Does not interpret events.
 */
import {
  closeCodes,
  type AuthReply,
  type EventFrame,
  type FrameError,
  type Welcome,
} from "../protocol/frame.ts";
import type { MethodName, Params, Result } from "../protocol/protocol.ts";
import { refusal, RequestError } from "./request-error.ts";
import { ownWebSocket, type Socket, type SocketClass } from "./socket-class.ts";

export interface ClientOptions {
  /** ws:// or wss://, or the http(s) address of the gateway. */
  readonly url: string;
  readonly token: string;
  /** Default: the global WebSocket, which Node has since version 22. */
  readonly WebSocket?: SocketClass;
  /** Recorded as the author of approval answers. */
  readonly name?: string;
  /**
   * Reconnect delays in milliseconds: the first, doubled each time, and the maximum. Default 250
   * and 10,000.
   */
  readonly backoff?: { readonly firstMs?: number; readonly maxMs?: number };
  /** Returns a number from 0 up to 1. Default `Math.random`. */
  readonly random?: () => number;
}

/** `ended`: closed permanently, by the program or because the token is wrong. */
export type ClientState = "connecting" | "open" | "waiting" | "ended";

interface LinkPorts {
  /** Called when the client is authenticated, before state listeners. */
  readonly onOpen: () => void;
  readonly onEvent: (frame: EventFrame) => void;
}

interface Answer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: FrameError;
}

interface Request {
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

const DEFAULT_TICK_MS = 15_000;

export class Link {
  readonly #options: ClientOptions;
  readonly #ports: LinkPorts;
  readonly #stateListeners = new Set<(state: ClientState) => void>();
  readonly #requests = new Map<number, Request>();
  #socket: Socket | undefined;
  #state: ClientState = "connecting";
  #welcome: Welcome | undefined;
  #lost = new AbortController();
  #failure: RequestError | undefined;
  #nextId = 1;
  #tries = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #silence: ReturnType<typeof setTimeout> | undefined;

  /** Connects at once. */
  constructor(options: ClientOptions, ports: LinkPorts) {
    this.#options = options;
    this.#ports = ports;
    this.#connect();
  }

  get state(): ClientState {
    return this.#state;
  }

  get welcome(): Welcome | undefined {
    return this.#welcome;
  }

  /** Fires when the current connection is lost. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Resolves when the client is authenticated. Rejects when it cannot be. */
  async ready(): Promise<Welcome> {
    if (this.#state === "open" && this.#welcome !== undefined) return this.#welcome;
    if (this.#state === "ended") throw this.#loss();
    return new Promise((resolve, reject) => {
      const stop = this.onState((state) => {
        if (state === "open" || state === "ended") stop();
        if (state === "open") resolve(this.#welcome as Welcome);
        if (state === "ended") reject(this.#loss());
      });
    });
  }

  onState(listener: (state: ClientState) => void): () => void {
    this.#stateListeners.add(listener);
    return () => void this.#stateListeners.delete(listener);
  }

  /**
   * Sends a request on the current connection. Rejects with {@link RequestError}, also when the
   * connection is lost before the response.
   */
  ask<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>> {
    const id = this.#nextId++;
    const frame = JSON.stringify({ id, method, params });
    const { maxFrameBytes = Infinity } = this.#welcome?.limits ?? {};
    // The server would close the connection for a larger frame, at every retry.
    if (new TextEncoder().encode(frame).length > maxFrameBytes)
      return Promise.reject(
        refusal(
          "bad_request",
          `The request is longer than the ${maxFrameBytes} bytes that the server accepts.`,
        ),
      );
    return new Promise((resolve, reject) => {
      this.#requests.set(id, { resolve, reject });
      this.#socket?.send(frame);
    });
  }

  /** Returns the delay before the next attempt, in milliseconds, with jitter. */
  backoff(tries: number): number {
    const { backoff: { firstMs = 250, maxMs = 10_000 } = {}, random = Math.random } = this.#options;
    return Math.min(maxMs, firstMs * 2 ** tries) * (0.5 + random() / 2);
  }

  /** Closes the connection permanently. Rejects pending requests. */
  close(): void {
    this.#end();
    this.#socket?.close(1000);
  }

  #connect(): void {
    const { url, token, name, WebSocket = ownWebSocket() } = this.#options;
    const socket = new WebSocket(url.replace(/^http/, "ws")) as Socket;
    this.#socket = socket;
    this.#set("connecting");
    socket.addEventListener("open", () => {
      socket.send(
        JSON.stringify({
          type: "auth",
          token,
          events: "all",
          ...(name !== undefined && { client: name }),
        }),
      );
    });
    socket.addEventListener("message", ({ data }: { data: unknown }) => {
      if (this.#socket === socket && typeof data === "string") this.#receive(data);
    });
    socket.addEventListener("error", () => {}); // "close" follows
    socket.addEventListener("close", ({ code }: { code: number }) => {
      if (this.#socket === socket) this.#closed(code);
    });
    this.#listen(); // also detects a connection that is never authenticated
  }

  #receive(text: string): void {
    const frame = JSON.parse(text) as AuthReply | EventFrame | Answer;
    if ("type" in frame) this.#enter(frame);
    else if ("event" in frame) this.#ports.onEvent(frame);
    else this.#settle(frame);
    this.#listen();
  }

  #settle({ id, result, error }: Answer): void {
    const request = this.#requests.get(id);
    this.#requests.delete(id);
    if (error !== undefined) request?.reject(new RequestError(error));
    else request?.resolve(result as never);
  }

  #enter(reply: AuthReply): void {
    if (!reply.ok) {
      this.#failure = new RequestError(reply.error);
      if (!this.#failure.retryable) this.#end();
      return;
    }
    this.#welcome = reply;
    this.#tries = 0;
    this.#lost = new AbortController();
    this.#ports.onOpen();
    this.#set("open");
  }

  #closed(code: number): void {
    clearTimeout(this.#silence);
    this.#rejectAll();
    if (this.#state === "ended" || code === closeCodes.unauthorized) return this.#end();
    const wait = Math.max(this.backoff(this.#tries++), this.#failure?.retryAfterMs ?? 0);
    this.#failure = undefined;
    this.#set("waiting");
    this.#retry = setTimeout(() => this.#connect(), wait);
  }

  /** Treats a connection without frames, even ticks, as dead, whatever the system reports. */
  #listen(): void {
    clearTimeout(this.#silence);
    if (this.#state === "ended") return;
    const socket = this.#socket;
    const interval = this.#welcome?.limits.tickIntervalMs ?? DEFAULT_TICK_MS;
    this.#silence = setTimeout(() => {
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      socket?.close();
      this.#closed(0);
    }, 2.5 * interval);
  }

  #end(): void {
    clearTimeout(this.#retry);
    clearTimeout(this.#silence);
    this.#set("ended");
    this.#rejectAll();
  }

  #rejectAll(): void {
    this.#lost.abort();
    for (const { reject } of this.#requests.values()) reject(this.#loss());
    this.#requests.clear();
  }

  #set(state: ClientState): void {
    if (this.#state === state || this.#state === "ended") return;
    this.#state = state;
    for (const listener of this.#stateListeners) listener(state);
  }

  #loss(): RequestError {
    if (this.#failure !== undefined) return this.#failure;
    const isEnded = this.#state === "ended";
    return refusal(
      "connection_lost",
      isEnded ? "The client was closed." : "The connection was lost.",
      !isEnded,
    );
  }
}
