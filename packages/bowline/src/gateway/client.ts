/**
 * `bowline/client`: a gateway from the other side, in a page or in Node. It connects again by itself, goes on with what it follows
 * from the last number it saw, and gives each event once. It imports nothing of the server's but types and constants. One class, and so
 * as long as what a client can do.
 */
import { createKey } from "./create-key.ts";
import { closeCodes, type AuthReply, type EventFrame, type FrameError, type Welcome } from "./frame.ts";
import { FollowedRun, type RunHandle } from "./followed-run.ts";
import type {
  Block,
  EventData,
  EventName,
  MethodName,
  Params,
  Result,
  RunInfo,
  SendParams,
  SendResult,
} from "./protocol.ts";
import { refusal, RequestError } from "./request-error.ts";
import { SeenRuns } from "./seen-runs.ts";
import { ownWebSocket, type Socket, type SocketClass } from "./socket-class.ts";

export interface ClientOptions {
  /** ws:// or wss://, or the http(s) address of the gateway. */
  readonly url: string;
  readonly token: string;
  /** Default: the global one, which Node has from version 22 on. */
  readonly WebSocket?: SocketClass;
  /** For the record of who answered an approval. */
  readonly name?: string;
  /** Waits before connecting again, in milliseconds: the first, doubled each time, and the longest. Default 250 and 10,000. */
  readonly backoff?: { readonly firstMs?: number; readonly maxMs?: number };
  /** From 0 up to 1. Default `Math.random`. */
  readonly random?: () => number;
}

/** `ended`: closed for good, by {@link GatewayClient.close} or because the token is wrong. */
export type ClientState = "connecting" | "open" | "waiting" | "ended";

type Listener = (frame: EventFrame) => void;

interface Request {
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

const DEFAULT_TICK_MS = 15_000;

export class GatewayClient {
  readonly #options: ClientOptions;
  readonly #listeners = new Set<Listener>();
  readonly #stateListeners = new Set<(state: ClientState) => void>();
  readonly #unknownListeners = new Set<(runId: string) => void>();
  readonly #requests = new Map<number, Request>();
  readonly #seen = new SeenRuns();
  #socket: Socket | undefined;
  #state: ClientState = "connecting";
  #welcome: Welcome | undefined;
  #failure: RequestError | undefined;
  #nextId = 1;
  #tries = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #silence: ReturnType<typeof setTimeout> | undefined;

  /** Connects at once. */
  constructor(options: ClientOptions) {
    this.#options = options;
    this.#connect();
  }

  get state(): ClientState {
    return this.#state;
  }

  /** What the server said of itself when it let the client in; of the last time. */
  get welcome(): Welcome | undefined {
    return this.#welcome;
  }

  /** Resolves when the client is in. Rejects when it will not be. */
  async ready(): Promise<Welcome> {
    if (this.#state === "open" && this.#welcome !== undefined) return this.#welcome;
    if (this.#state === "ended") throw this.#lost();
    return new Promise((resolve, reject) => {
      const stop = this.onState((state) => {
        if (state === "open" || state === "ended") stop();
        if (state === "open") resolve(this.#welcome as Welcome);
        if (state === "ended") reject(this.#lost());
      });
    });
  }

  onState(listener: (state: ClientState) => void): () => void {
    this.#stateListeners.add(listener);
    return () => void this.#stateListeners.delete(listener);
  }

  /** Ids of runs that the server knows no more: nothing comes of them. Returns what ends that. */
  onUnknown(listener: (runId: string) => void): () => void {
    this.#unknownListeners.add(listener);
    return () => void this.#unknownListeners.delete(listener);
  }

  /** Every event from now on, each of a run once. Returns what ends that. */
  onEvent(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Waits until the client is in. Rejects with {@link RequestError}; when the connection is lost before the answer it is not sent again. */
  async request<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>> {
    await this.ready();
    return this.#ask(method, params);
  }

  /**
   * Starts a run and follows it. Safe over a lost connection: it is sent again under the same key until it is answered. `follow` gives
   * a run that goes on already.
   */
  async send(params: SendParams): Promise<RunHandle> {
    const { sessionKey, idempotencyKey = createKey() } = params;
    const run = new FollowedRun(this, idempotencyKey, sessionKey);
    try {
      const { runId } = await this.post("chat.send", { ...params, idempotencyKey });
      if (runId === idempotencyKey && (run.isOver || !this.#seen.hasEnded(runId))) {
        run.begin();
        return run;
      }
      // Another, or one whose end was heard before: it was sent under this key already.
      run.end();
      return await this.follow(sessionKey, runId);
    } catch (error) {
      run.end();
      throw error;
    }
  }

  /** Hands a message over, as safely; what comes of it is for {@link onEvent}. Rejects with {@link RequestError}. */
  async post(method: "chat.send" | "chat.steer" | "chat.followUp", params: SendParams): Promise<SendResult> {
    const { sessionKey, idempotencyKey = createKey() } = params;
    this.#seen.follow(sessionKey);
    for (;;) {
      try {
        const result = await this.request(method, { ...params, idempotencyKey });
        const missed = this.#seen.expect(sessionKey, result.runId);
        // It was taken before the connection was lost: what came meanwhile is asked for.
        if (missed !== undefined && (result.status === "in_flight" || result.status === "finished"))
          void this.#resubscribe(missed);
        return result;
      } catch (error) {
        const isLost = error instanceof RequestError && error.code === "connection_lost";
        if (!isLost || this.#state === "ended") throw error;
      }
    }
  }

  /** A run of the session, from what it has said so far, which {@link onEvent} hears, too. */
  async follow(sessionKey: string, runId: string): Promise<RunHandle> {
    const run = new FollowedRun(this, runId, sessionKey);
    run.begin();
    this.#seen.forgetEnd(runId);
    const { runs } = await this.subscribe(sessionKey, runId).catch((error: unknown) => {
      run.end();
      throw error;
    });
    if (runs.some(({ runId: other, state }) => other === runId && state === "unknown")) run.end();
    else this.#seen.expect(sessionKey, runId); // what was on its way is asked for when the connection is lost
    return run;
  }

  /** The session's events, now and after each reconnect. Gives the runs that go on. */
  async subscribe(sessionKey: string, runId?: string): Promise<{ readonly runs: readonly RunInfo[] }> {
    this.#seen.follow(sessionKey);
    return this.request("chat.subscribe", { sessionKey, ...(runId !== undefined && { runId }) });
  }

  async unsubscribe(sessionKey: string): Promise<void> {
    this.#seen.leave(sessionKey);
    await this.request("chat.unsubscribe", { sessionKey });
  }

  /** For good. What waits for an answer is rejected. */
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
      socket.send(JSON.stringify({ type: "auth", token, events: "all", ...(name !== undefined && { client: name }) }));
    });
    socket.addEventListener("message", ({ data }: { data: unknown }) => {
      if (this.#socket === socket && typeof data === "string") this.#receive(data);
    });
    socket.addEventListener("error", () => {}); // "close" follows
    socket.addEventListener("close", ({ code }: { code: number }) => {
      if (this.#socket === socket) this.#closed(code);
    });
    this.#listen(); // one that is never let in is as dead
  }

  #receive(text: string): void {
    const frame = JSON.parse(text) as AuthReply | EventFrame | { id: number; result?: unknown; error?: FrameError };
    if ("type" in frame) this.#enter(frame);
    else if ("event" in frame) this.#hear(frame);
    else this.#settle(frame);
    this.#listen();
  }

  #settle({ id, result, error }: { id: number; result?: unknown; error?: FrameError }): void {
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
    void this.#resume();
    this.#set("open");
  }

  /** One after the other: a server refuses who asks for too much at once. */
  async #resume(): Promise<void> {
    const socket = this.#socket;
    for (const params of this.#seen.toResume()) {
      if (this.#socket === socket && this.#seen.follows(params.sessionKey)) await this.#resubscribe(params);
    }
  }

  #resubscribe(params: Params<"chat.subscribe">): Promise<void> {
    return this.#ask("chat.subscribe", params).then(
      ({ runs }) => {
        for (const { runId, state } of runs) if (state === "unknown") this.#drop(params.sessionKey, runId);
      },
      () => {}, // the next connection tries again
    );
  }

  #drop(sessionKey: string, runId: string): void {
    this.#seen.drop(sessionKey, runId);
    for (const listener of this.#unknownListeners) listener(runId);
  }

  /** Passes on what is new. */
  #hear(frame: EventFrame): void {
    const taken = this.#seen.take(frame);
    if (typeof taken === "object") void this.#resubscribe(taken);
    else if (taken) for (const listener of this.#listeners) listener(frame);
  }

  #closed(code: number): void {
    clearTimeout(this.#silence);
    for (const { reject } of this.#requests.values()) reject(this.#lost());
    this.#requests.clear();
    if (this.#state === "ended" || code === closeCodes.unauthorized) return this.#end();
    const { backoff: { firstMs = 250, maxMs = 10_000 } = {}, random = Math.random } = this.#options;
    const longest = Math.min(maxMs, firstMs * 2 ** this.#tries++);
    const wait = Math.max(longest * (0.5 + random() / 2), this.#failure?.retryAfterMs ?? 0);
    this.#failure = undefined;
    this.#set("waiting");
    this.#retry = setTimeout(() => this.#connect(), wait);
  }

  #ask<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>> {
    const id = this.#nextId++;
    const frame = JSON.stringify({ id, method, params });
    const { maxFrameBytes = Infinity } = this.#welcome?.limits ?? {};
    // The server would end the connection for it, each time that it is sent again.
    if (new TextEncoder().encode(frame).length > maxFrameBytes)
      return Promise.reject(
        refusal("bad_request", `The server takes ${maxFrameBytes} bytes in one request, not more.`),
      );
    return new Promise((resolve, reject) => {
      this.#requests.set(id, { resolve, reject });
      this.#socket?.send(frame);
    });
  }

  /** A connection on which not even ticks come is dead, whatever the system says. */
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
    for (const { reject } of this.#requests.values()) reject(this.#lost());
    this.#requests.clear();
  }

  #set(state: ClientState): void {
    if (this.#state === state || this.#state === "ended") return;
    this.#state = state;
    for (const listener of this.#stateListeners) listener(state);
  }

  #lost(): RequestError {
    if (this.#failure !== undefined) return this.#failure;
    const isEnded = this.#state === "ended";
    return refusal("connection_lost", isEnded ? "The client was closed." : "The connection was lost.", !isEnded);
  }
}

export type { RunEvent, RunHandle, RunOutcome } from "./followed-run.ts";
export { RequestError } from "./request-error.ts";
export type { SocketClass } from "./socket-class.ts";
export type { Block, EventData, EventFrame, EventName, MethodName, Params, Result, RunInfo, Welcome };
