/**
 * A client over bare sockets that does what docs/gateway.md says: it resends under the same key, and asks for
 * a run's missed events by the last number that it has. It loses answers on purpose.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { EventFrame, MethodName, Params, Result } from "bowline/client";
import { WebSocket } from "ws";
import type { Random } from "../seeded.ts";
import { Refusal, type DrillClient, type SendMethod, type SendParams } from "./drill-client.ts";
import type { Journal } from "./journal.ts";
import type { ClientOptions } from "./library-client.ts";
import type { RunFrame, RunStream } from "./run-stream.ts";

interface ErrorFrame {
  readonly code: number;
  readonly message: string;
  readonly data?: { readonly code?: string; readonly retryable?: boolean };
}

interface Answer {
  readonly id?: number;
  readonly type?: string;
  readonly ok?: boolean;
  readonly result?: unknown;
  readonly error?: ErrorFrame;
  readonly event?: string;
}

interface Asked {
  /** Called with the answer, before later events are read. */
  readonly settle: (answer: Answer | undefined) => void;
}

const CONNECT_MS = 3000;
const ANSWER_MS = 20_000;
/** An open run that is silent for this long makes the client reconnect. */
const SILENT_MS = 20_000;
const PAUSE_MS = 100;

export class RawClient implements DrillClient {
  readonly name: string;
  readonly #options: ClientOptions;
  readonly #random: Random;
  readonly #journal: Journal;
  readonly #asked = new Map<number, Asked>();
  /** The open runs that it has to receive. */
  readonly #runs = new Map<string, RunStream>();
  readonly #sessions = new Set<string>();
  /** The runs of which no event is missing on the present connection. */
  #followed = new Set<string>();
  /** Runs that ended on the present connection. Nothing may follow, unless something is asked. */
  #endedHere = new Set<string>();
  /** How many answers to `chat.subscribe` are due, by session. */
  readonly #asking = new Map<string, number>();
  /** Followed runs of which events may come that are known since the request. */
  #catching = new Set<string>();
  /** The runs that were asked for on the present connection, since each answer has the missed events. */
  #requested = new Set<string>();
  #socket: WebSocket | undefined;
  #connecting: Promise<WebSocket | undefined> | undefined;
  #nextId = 1;
  #nextUrl: number;
  #isClosed = false;
  #heardAt = performance.now();

  constructor(options: ClientOptions) {
    this.#options = options;
    this.name = options.name;
    this.#random = options.random;
    this.#journal = options.journal;
    this.#nextUrl = options.random.between(0, options.urls.length - 1);
    void this.#stayConnected();
  }

  async post(method: SendMethod, params: SendParams): Promise<Result<"chat.send">> {
    this.#sessions.add(params.sessionKey);
    for (let isFirst = true; ; isFirst = false) {
      const socket = await this.#connected();
      if (socket === undefined)
        throw new Refusal("connection_lost", "The client is closed.", false);
      const sent = this.#ask(socket, method, params, (answer) => {
        const { runId, status } = (answer?.result ?? {}) as Partial<Result<"chat.send">>;
        // All events of a new run come on this connection, after the answer.
        if (runId !== undefined && isFirst && (status === "started" || status === "queued"))
          this.#followed.add(runId);
      });
      if (isFirst && this.#random.chance(0.15)) this.#loseAnswer();
      const answer = await sent;
      if (answer !== undefined) return resultOf<"chat.send">(answer);
    }
  }

  async subscribe(session: string): Promise<void> {
    this.#sessions.add(session);
    const socket = await this.#connected();
    if (socket !== undefined) await this.#resumeSession(socket, session);
  }

  expect(session: string, runId: string): void {
    const stream = this.#journal.stream(this.name, session, runId, true);
    if (stream.end !== undefined) return;
    this.#runs.set(runId, stream);
    if (this.#socket !== undefined && !this.#followed.has(runId))
      void this.#resumeRun(this.#socket, stream);
  }

  async request<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>> {
    const socket = await this.#connected();
    const answer = socket && (await this.#ask(socket, method, params));
    if (answer === undefined)
      throw new Refusal("connection_lost", "The connection was lost.", true);
    return resultOf<M>(answer);
  }

  move(): void {
    this.#socket?.terminate();
  }

  close(): void {
    this.#isClosed = true;
    this.#socket?.terminate();
  }

  #loseAnswer(): void {
    this.#journal.counts.lostAnswers++;
    const socket = this.#socket;
    globalThis.setTimeout(() => socket?.terminate(), this.#random.between(0, 30));
  }

  async #stayConnected(): Promise<void> {
    while (!this.#isClosed) {
      const socket = await this.#connected();
      if (socket === undefined) return;
      // A session with a known run is followed by the run's number, else its snapshot would come too.
      const known = new Set([...this.#runs.values()].map(({ session }) => session));
      for (const stream of this.#runs.values()) await this.#resumeRun(socket, stream);
      for (const session of this.#sessions)
        if (!known.has(session)) await this.#resumeSession(socket, session);
      while (socket.readyState === WebSocket.OPEN) {
        await sleep(PAUSE_MS);
        const isSilent = performance.now() - this.#heardAt > SILENT_MS;
        if (isSilent && this.#runs.size > 0) socket.terminate();
        for (const stream of this.#runs.values())
          if (!this.#followed.has(stream.runId)) await this.#resumeRun(socket, stream);
      }
    }
  }

  async #resumeSession(socket: WebSocket, sessionKey: string): Promise<void> {
    const answer = await this.#subscribing(sessionKey, () =>
      this.#ask(socket, "chat.subscribe", { sessionKey }, () => this.#catchUp(sessionKey)),
    );
    if (answer?.error !== undefined && answer.error.data?.retryable !== true)
      this.#journal.complain(this.name, sessionKey, `chat.subscribe: ${answer.error.message}`);
  }

  /** Asks for what is missing of a run. */
  async #resumeRun(socket: WebSocket, stream: RunStream): Promise<void> {
    const { session: sessionKey, runId } = stream;
    if (this.#followed.has(runId) || this.#requested.has(runId)) return;
    if (stream.end !== undefined) return;
    const requested = this.#requested.add(runId);
    const params = { sessionKey, runId, ...(stream.seq >= 0 && { seq: stream.seq }) };
    const onAnswer = (given: Answer | undefined): void => {
      if (given?.result === undefined || socket !== this.#socket) return;
      this.#followed.add(runId);
      this.#catching.add(runId);
      this.#catchUp(sessionKey);
    };
    const answer = await this.#subscribing(sessionKey, () =>
      this.#ask(socket, "chat.subscribe", params, onAnswer),
    );
    requested.delete(runId);
    if (answer?.error !== undefined && answer.error.data?.retryable !== true)
      this.#journal.complain(this.name, sessionKey, `chat.subscribe: ${answer.error.message}`);
    const { runs = [] } = (answer?.result ?? {}) as Partial<Result<"chat.subscribe">>;
    if (runs.some((run) => run.runId === runId && run.state === "unknown"))
      this.#journal.complain(
        this.name,
        sessionKey,
        `the gateway says that the run ${runId} is unknown`,
      );
  }

  /** An answer for a session, or for another run of it, has the open run from its beginning. */
  #catchUp(sessionKey: string): void {
    for (const { session, runId } of this.#runs.values())
      if (session === sessionKey && this.#followed.has(runId)) this.#catching.add(runId);
  }

  async #subscribing<T>(session: string, work: () => Promise<T>): Promise<T> {
    this.#asking.set(session, (this.#asking.get(session) ?? 0) + 1);
    this.#endedHere.clear();
    try {
      return await work();
    } finally {
      this.#asking.set(session, (this.#asking.get(session) ?? 1) - 1);
    }
  }

  #isAsking(session: string): boolean {
    return (this.#asking.get(session) ?? 0) > 0;
  }

  async #connected(): Promise<WebSocket | undefined> {
    while (!this.#isClosed) {
      if (this.#socket?.readyState === WebSocket.OPEN) return this.#socket;
      this.#connecting ??= this.#connect().finally(() => (this.#connecting = undefined));
      const socket = await this.#connecting;
      if (socket !== undefined) return socket;
      await sleep(PAUSE_MS);
    }
    return undefined;
  }

  /** Connects to the next gateway. Resolves with undefined if it does not admit the client in time. */
  async #connect(): Promise<WebSocket | undefined> {
    const { urls, token } = this.#options;
    const socket = new WebSocket(urls[this.#nextUrl++ % urls.length] as string);
    socket.on("error", () => {}); // "close" follows
    const limit = globalThis.setTimeout(() => socket.terminate(), CONNECT_MS);
    const isAdmitted = await new Promise<boolean>((resolve) => {
      socket.once("close", () => resolve(false));
      socket.once("open", () =>
        socket.send(JSON.stringify({ type: "auth", token, events: "all", client: this.name })),
      );
      socket.once("message", (data: Buffer) => {
        const { type, ok } = JSON.parse(data.toString()) as Answer;
        resolve(type === "auth" && ok === true);
      });
    });
    clearTimeout(limit);
    if (!isAdmitted || socket.readyState !== WebSocket.OPEN) {
      socket.terminate();
      return undefined;
    }
    this.#socket = socket;
    this.#followed = new Set();
    this.#requested = new Set();
    this.#endedHere = new Set();
    this.#catching = new Set();
    this.#heardAt = performance.now();
    socket.on("message", (data: Buffer) =>
      this.#hear(socket, JSON.parse(data.toString()) as Answer),
    );
    socket.once("close", () => this.#lose(socket));
    return socket;
  }

  /** Resolves with undefined if the connection is lost, or is silent for too long. */
  #ask(
    socket: WebSocket,
    method: string,
    params: unknown,
    onAnswer: (answer: Answer | undefined) => void = () => {},
  ): Promise<Answer | undefined> {
    const id = this.#nextId++;
    return new Promise((resolve) => {
      const limit = globalThis.setTimeout(() => socket.terminate(), ANSWER_MS);
      const settle = (answer: Answer | undefined): void => {
        clearTimeout(limit);
        this.#asked.delete(id);
        onAnswer(answer);
        resolve(answer);
      };
      this.#asked.set(id, { settle });
      if (socket !== this.#socket || socket.readyState !== WebSocket.OPEN) return settle(undefined);
      socket.send(JSON.stringify({ id, method, params }));
    });
  }

  #hear(socket: WebSocket, frame: Answer): void {
    if (this.#socket !== socket) return;
    this.#heardAt = performance.now();
    if (frame.id !== undefined) return this.#asked.get(frame.id)?.settle(frame);
    const { data } = frame as unknown as EventFrame;
    if (frame.event === undefined || !("runId" in data) || !("seq" in data)) return;
    const { runId, sessionKey } = data;
    // Approvals go to every client, also to those that do not follow their session.
    if (!this.#sessions.has(sessionKey)) return;
    const own = this.#runs.get(runId);
    if (own === undefined && !this.#followed.has(runId)) {
      // A run of somebody else, which began while this connection followed the session.
      const isBegin = data.seq === 0 || frame.event === "chat.snapshot";
      if (!isBegin) return;
      this.#followed.add(runId);
    }
    const stream = own ?? this.#journal.stream(this.name, sessionKey, runId, false);
    if (own === undefined) this.#runs.set(runId, stream);
    // An answer to a request may have a run whose end came meanwhile.
    if (stream.end !== undefined && !this.#endedHere.has(runId)) return;
    if (!this.#isDue(stream, frame as unknown as RunFrame)) return;
    stream.take(frame as unknown as RunFrame);
    if (stream.end === undefined) return;
    this.#runs.delete(runId);
    if (!this.#isAsking(sessionKey)) this.#endedHere.add(runId);
  }

  /**
   * Until the answer to its request came, a client takes only what follows what it has. Then it may get
   * again what it took meanwhile. After that each event has to be new.
   */
  #isDue({ runId, seq: last }: RunStream, { event, data }: RunFrame): boolean {
    const first = ("firstSeq" in data && data.firstSeq) || data.seq;
    const isSnapshot = event === "chat.snapshot";
    // The answer for another run has the open run too.
    if (isSnapshot && data.seq < last) return false;
    if (!this.#followed.has(runId)) return isSnapshot ? data.seq >= last : first === last + 1;
    if (!this.#catching.has(runId)) return true;
    if (isSnapshot ? data.seq < last : data.seq <= last) return false;
    this.#catching.delete(runId);
    return true;
  }

  #lose(socket: WebSocket): void {
    if (this.#socket !== socket) return;
    this.#socket = undefined;
    for (const { settle } of this.#asked.values()) settle(undefined);
  }
}

function resultOf<M extends MethodName>({ result, error }: Answer): Result<M> {
  if (error === undefined) return result as Result<M>;
  const { code = String(error.code), retryable = false } = error.data ?? {};
  throw new Refusal(code, error.message, retryable);
}
