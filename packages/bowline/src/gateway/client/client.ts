/**
 * `bowline/client`: a gateway's client, for pages and Node. It reconnects automatically, resumes
 * from the last event it saw, and passes on each event once. It imports only types and constants of
 * the server.
 */
import { createKey } from "./create-key.ts";
import { FollowedRun, type RunHandle } from "./followed-run.ts";
import type { EventFrame, Welcome } from "../protocol/frame.ts";
import type { HistoryMessage } from "../protocol/history-message.ts";
import { Link, type ClientOptions, type ClientState } from "./link.ts";
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
} from "../protocol/protocol.ts";
import { RequestError } from "./request-error.ts";
import { SeenRuns } from "./seen-runs.ts";

type Listener = (frame: EventFrame) => void;

export class GatewayClient {
  readonly #link: Link;
  readonly #listeners = new Set<Listener>();
  readonly #unknownListeners = new Set<(runId: string) => void>();
  readonly #seen = new SeenRuns();

  /** Connects at once. */
  constructor(options: ClientOptions) {
    const ports = {
      onOpen: () => void this.#resume(),
      onEvent: (frame: EventFrame) => this.#hear(frame),
    };
    this.#link = new Link(options, ports);
  }

  get state(): ClientState {
    return this.#link.state;
  }

  /** The server's welcome frame of the last authentication. */
  get welcome(): Welcome | undefined {
    return this.#link.welcome;
  }

  /** Resolves when the client is authenticated. Rejects when it cannot be. */
  ready(): Promise<Welcome> {
    return this.#link.ready();
  }

  onState(listener: (state: ClientState) => void): () => void {
    return this.#link.onState(listener);
  }

  /**
   * Calls `listener` with the ids of runs that the server no longer knows. Returns a function that
   * removes the listener.
   */
  onUnknown(listener: (runId: string) => void): () => void {
    this.#unknownListeners.add(listener);
    return () => void this.#unknownListeners.delete(listener);
  }

  /**
   * Calls `listener` with every event from now on, each event of a run once. Returns a function
   * that removes the listener.
   */
  onEvent(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * Sends a request when the client is authenticated. Rejects with {@link RequestError}. It is not
   * sent again if the connection is lost before the response.
   */
  async request<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>> {
    await this.ready();
    return this.#link.ask(method, params);
  }

  /**
   * Starts a run and follows it. After a lost connection it is sent again under the same key until
   * the server answers. Use `follow` for a run that was already started.
   */
  async send(params: SendParams): Promise<RunHandle> {
    const { sessionKey, idempotencyKey = createKey() } = params;
    const run = new FollowedRun(this, idempotencyKey, sessionKey);
    try {
      const { runId, status } = await this.post("chat.send", { ...params, idempotencyKey });
      if (status === "waiting") run.end(); // it was sent into another run, and has none of its own
      if (runId === idempotencyKey && (run.isOver || !this.#seen.hasEnded(runId))) return run;
      // The key was sent before: the run has another id, or its end was already received.
      run.end();
      return await this.follow(sessionKey, runId);
    } catch (error) {
      run.end();
      throw error;
    }
  }

  /**
   * Sends a message, retried like {@link send}. The run's events go to {@link onEvent}. Rejects
   * with {@link RequestError}.
   */
  async post(
    method: "chat.send" | "chat.steer" | "chat.followUp",
    params: SendParams,
  ): Promise<SendResult> {
    const { sessionKey, idempotencyKey = createKey() } = params;
    this.#seen.follow(sessionKey);
    for (;;) {
      try {
        const result = await this.request(method, { ...params, idempotencyKey });
        if (result.status === "waiting") {
          // No run to follow. The one that takes the message may begin before this connection follows the session.
          void this.#resubscribe({ sessionKey });
          return result;
        }
        const missed = this.#seen.expect(sessionKey, result.runId);
        // The message was accepted before the connection was lost: request the missed events.
        if (missed !== undefined && (result.status === "in_flight" || result.status === "finished"))
          void this.#resubscribe(missed);
        return result;
      } catch (error) {
        const isLost = error instanceof RequestError && error.code === "connection_lost";
        if (!isLost || this.state === "ended") throw error;
      }
    }
  }

  /**
   * Follows a run of the session. It starts with the run's content so far, which {@link onEvent}
   * listeners also receive.
   */
  async follow(sessionKey: string, runId: string): Promise<RunHandle> {
    const run = new FollowedRun(this, runId, sessionKey);
    this.#seen.forgetEnd(runId);
    const { runs } = await this.subscribe(sessionKey, runId).catch((error: unknown) => {
      run.end();
      throw error;
    });
    if (runs.some(({ runId: other, state }) => other === runId && state === "unknown")) run.end();
    else this.#seen.expect(sessionKey, runId); // events in flight are requested again if the connection is lost
    return run;
  }

  /**
   * Subscribes to the session's events, now and after each reconnect. Resolves with the open runs.
   */
  async subscribe(
    sessionKey: string,
    runId?: string,
  ): Promise<{ readonly runs: readonly RunInfo[] }> {
    this.#seen.follow(sessionKey);
    return this.request("chat.subscribe", { sessionKey, ...(runId !== undefined && { runId }) });
  }

  /** Loads a whole message of the history, which `chat.history` may have cut. */
  async message(sessionKey: string, id: string): Promise<HistoryMessage> {
    let whole = "";
    for (;;) {
      const asked = { sessionKey, id, offset: whole.length };
      const { json, length } = await this.request("chat.message", asked);
      whole += json;
      if (json === "" || whole.length >= length) return JSON.parse(whole) as HistoryMessage;
    }
  }

  async unsubscribe(sessionKey: string): Promise<void> {
    this.#seen.leave(sessionKey);
    await this.request("chat.unsubscribe", { sessionKey });
  }

  /** Closes the client permanently. Rejects pending requests. */
  close(): void {
    this.#link.close();
  }

  /** Resubscribes one by one: the server refuses too many concurrent requests. */
  async #resume(): Promise<void> {
    const { lost } = this.#link;
    for (const params of this.#seen.toResume()) {
      if (lost.aborted) return;
      await this.#resubscribe(params);
    }
  }

  /**
   * Retries while the server is busy. Stops when the connection is lost; the next one resumes
   * everything.
   */
  async #resubscribe(params: Params<"chat.subscribe">): Promise<void> {
    const { sessionKey, runId } = params;
    const { lost } = this.#link;
    for (let tries = 0; !lost.aborted && this.#seen.follows(sessionKey); tries++) {
      try {
        const { runs } = await this.#link.ask("chat.subscribe", params);
        for (const run of runs) if (run.state === "unknown") this.#drop(sessionKey, run.runId);
        return;
      } catch (error) {
        if (lost.aborted) return;
        if (!(error instanceof RequestError && error.retryable)) {
          if (runId !== undefined) this.#drop(sessionKey, runId);
          return;
        }
        await pause(this.#link.backoff(tries), lost);
      }
    }
  }

  #drop(sessionKey: string, runId: string): void {
    this.#seen.drop(sessionKey, runId);
    for (const listener of this.#unknownListeners) listener(runId);
  }

  /** Passes on new events. */
  #hear(frame: EventFrame): void {
    const taken = this.#seen.take(frame);
    if (typeof taken === "object") void this.#resubscribe(taken);
    else if (taken) for (const listener of this.#listeners) listener(frame);
  }
}

/** Waits, or returns early when the signal fires. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", go);
      resolve();
    };
    const timer = setTimeout(go, ms);
    signal.addEventListener("abort", go);
  });
}

export type { ClientOptions, ClientState } from "./link.ts";
export type { RunEvent, RunHandle, RunOutcome } from "./followed-run.ts";
export { RequestError } from "./request-error.ts";
export type { SocketClass } from "./socket-class.ts";
export type {
  Block,
  EventData,
  EventFrame,
  EventName,
  HistoryMessage,
  MethodName,
  Params,
  Result,
  RunInfo,
  Welcome,
};
