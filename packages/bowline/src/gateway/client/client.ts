/**
 * `bowline/client`: a gateway from the other side, in a page or in Node. It connects again by
 * itself, goes on with what it follows from the last number it saw, and gives each event once. It
 * imports nothing of the server's but types and constants.
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

  /** What the server said of itself when it let the client in; of the last time. */
  get welcome(): Welcome | undefined {
    return this.#link.welcome;
  }

  /** Resolves when the client is in. Rejects when it will not be. */
  ready(): Promise<Welcome> {
    return this.#link.ready();
  }

  onState(listener: (state: ClientState) => void): () => void {
    return this.#link.onState(listener);
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

  /**
   * Waits until the client is in. Rejects with {@link RequestError}; when the connection is lost
   * before the answer it is not sent again.
   */
  async request<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>> {
    await this.ready();
    return this.#link.ask(method, params);
  }

  /**
   * Starts a run and follows it. Safe over a lost connection: it is sent again under the same key
   * until it is answered. `follow` gives a run that goes on already.
   */
  async send(params: SendParams): Promise<RunHandle> {
    const { sessionKey, idempotencyKey = createKey() } = params;
    const run = new FollowedRun(this, idempotencyKey, sessionKey);
    try {
      const { runId } = await this.post("chat.send", { ...params, idempotencyKey });
      if (runId === idempotencyKey && (run.isOver || !this.#seen.hasEnded(runId))) return run;
      // Another, or one whose end was heard before: it was sent under this key already.
      run.end();
      return await this.follow(sessionKey, runId);
    } catch (error) {
      run.end();
      throw error;
    }
  }

  /**
   * Hands a message over, as safely; what comes of it is for {@link onEvent}. Rejects with {@link
   * RequestError}.
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
        const missed = this.#seen.expect(sessionKey, result.runId);
        // It was taken before the connection was lost: what came meanwhile is asked for.
        if (missed !== undefined && (result.status === "in_flight" || result.status === "finished"))
          void this.#resubscribe(missed);
        return result;
      } catch (error) {
        const isLost = error instanceof RequestError && error.code === "connection_lost";
        if (!isLost || this.state === "ended") throw error;
      }
    }
  }

  /** A run of the session, from what it has said so far, which {@link onEvent} hears, too. */
  async follow(sessionKey: string, runId: string): Promise<RunHandle> {
    const run = new FollowedRun(this, runId, sessionKey);
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
  async subscribe(
    sessionKey: string,
    runId?: string,
  ): Promise<{ readonly runs: readonly RunInfo[] }> {
    this.#seen.follow(sessionKey);
    return this.request("chat.subscribe", { sessionKey, ...(runId !== undefined && { runId }) });
  }

  /** A whole message of the history, of which `chat.history` may have a part only. */
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

  /** For good. What waits for an answer is rejected. */
  close(): void {
    this.#link.close();
  }

  /** One after the other: a server refuses who asks for too much at once. */
  async #resume(): Promise<void> {
    const { lost } = this.#link;
    for (const params of this.#seen.toResume()) {
      if (lost.aborted) return;
      await this.#resubscribe(params);
    }
  }

  /**
   * Asked again while the server has too much to do. When the connection is lost, the next asks for
   * everything once more.
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

  /** Passes on what is new. */
  #hear(frame: EventFrame): void {
    const taken = this.#seen.take(frame);
    if (typeof taken === "object") void this.#resubscribe(taken);
    else if (taken) for (const listener of this.#listeners) listener(frame);
  }
}

/** Or until the signal fires. */
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
