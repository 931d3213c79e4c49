/**
 * A client over bare sockets that does what docs/gateway.md says: it resends under the same key, and asks for
 * a run's missed events by the last number that it has. It loses answers on purpose.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { EventFrame, MethodName, Params, Result } from "bowline/client";
import type { Random } from "../seeded.ts";
import { Refusal, type DrillClient, type SendMethod, type SendParams } from "./drill-client.ts";
import type { Journal } from "./journal.ts";
import type { ClientOptions } from "./library-client.ts";
import { RawConnection, resultOf, type Answer } from "./raw-connection.ts";
import type { RunFrame, RunStream } from "./run-stream.ts";

/** An open run that is silent for this long makes the client reconnect. */
const SILENT_MS = 20_000;
const PAUSE_MS = 100;

export class RawClient implements DrillClient {
  readonly name: string;
  readonly #options: ClientOptions;
  readonly #random: Random;
  readonly #journal: Journal;
  /** The open runs that it has to receive. */
  readonly #runs = new Map<string, RunStream>();
  readonly #sessions = new Set<string>();
  /** How many answers to `chat.subscribe` are due, by session. */
  readonly #asking = new Map<string, number>();
  #connection: RawConnection | undefined;
  #connecting: Promise<RawConnection | undefined> | undefined;
  #nextUrl: number;
  #isClosed = false;

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
      const connection = await this.#connected();
      if (connection === undefined)
        throw new Refusal("connection_lost", "The client is closed.", false);
      const sent = connection.ask(method, params, (answer) => {
        const { runId, status } = (answer?.result ?? {}) as Partial<Result<"chat.send">>;
        // All events of a new run come on this connection, after the answer.
        if (runId !== undefined && isFirst && (status === "started" || status === "queued"))
          connection.followed.add(runId);
      });
      if (isFirst && this.#random.chance(0.15)) this.#loseAnswer(connection);
      const answer = await sent;
      if (answer !== undefined) return resultOf<"chat.send">(answer);
    }
  }

  async subscribe(session: string): Promise<void> {
    this.#sessions.add(session);
    const connection = await this.#connected();
    if (connection !== undefined) await this.#resumeSession(connection, session);
  }

  expect(session: string, runId: string): void {
    const stream = this.#journal.stream(this.name, session, runId, true);
    if (stream.end !== undefined) return;
    this.#runs.set(runId, stream);
    if (this.#connection !== undefined) void this.#resumeRun(this.#connection, stream);
  }

  async request<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>> {
    const connection = await this.#connected();
    const answer = await connection?.ask(method, params);
    if (answer === undefined)
      throw new Refusal("connection_lost", "The connection was lost.", true);
    return resultOf<M>(answer);
  }

  move(): void {
    this.#connection?.terminate();
  }

  close(): void {
    this.#isClosed = true;
    this.#connection?.terminate();
  }

  #loseAnswer(connection: RawConnection): void {
    this.#journal.counts.lostAnswers++;
    globalThis.setTimeout(() => connection.terminate(), this.#random.between(0, 30));
  }

  async #stayConnected(): Promise<void> {
    while (!this.#isClosed) {
      const connection = await this.#connected();
      if (connection === undefined) return;
      // A session with a known run is followed by the run's number, else its snapshot would come too.
      const known = new Set([...this.#runs.values()].map(({ session }) => session));
      for (const stream of this.#runs.values()) await this.#resumeRun(connection, stream);
      for (const session of this.#sessions)
        if (!known.has(session)) await this.#resumeSession(connection, session);
      while (connection.isOpen) {
        await sleep(PAUSE_MS);
        if (connection.silentMs > SILENT_MS && this.#runs.size > 0) connection.terminate();
        for (const stream of this.#runs.values()) await this.#resumeRun(connection, stream);
      }
    }
  }

  async #resumeSession(connection: RawConnection, sessionKey: string): Promise<void> {
    const answer = await this.#subscribing(connection, sessionKey, () =>
      connection.ask("chat.subscribe", { sessionKey }, () => this.#catchUp(connection, sessionKey)),
    );
    if (answer?.error !== undefined && answer.error.data?.retryable !== true)
      this.#journal.complain(this.name, sessionKey, `chat.subscribe: ${answer.error.message}`);
  }

  /** Asks for what is missing of a run. */
  async #resumeRun(connection: RawConnection, stream: RunStream): Promise<void> {
    const { session: sessionKey, runId } = stream;
    const { followed, requested, catching } = connection;
    if (followed.has(runId) || requested.has(runId) || stream.end !== undefined) return;
    requested.add(runId);
    const params = { sessionKey, runId, ...(stream.seq >= 0 && { seq: stream.seq }) };
    const onAnswer = (given: Answer | undefined): void => {
      const answer = JSON.stringify(given?.result ?? given?.error ?? "connection lost");
      stream.note(`asked ${connection.url} for what follows ${params.seq ?? "nothing"}: ${answer}`);
      if (given?.result === undefined) return;
      followed.add(runId);
      catching.add(runId);
      this.#catchUp(connection, sessionKey);
    };
    const answer = await this.#subscribing(connection, sessionKey, () =>
      connection.ask("chat.subscribe", params, onAnswer),
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
  #catchUp({ followed, catching }: RawConnection, sessionKey: string): void {
    for (const { session, runId } of this.#runs.values())
      if (session === sessionKey && followed.has(runId)) catching.add(runId);
  }

  async #subscribing<T>(
    connection: RawConnection,
    session: string,
    work: () => Promise<T>,
  ): Promise<T> {
    this.#asking.set(session, (this.#asking.get(session) ?? 0) + 1);
    connection.ended.clear();
    try {
      return await work();
    } finally {
      this.#asking.set(session, (this.#asking.get(session) ?? 1) - 1);
    }
  }

  #isAsking(session: string): boolean {
    return (this.#asking.get(session) ?? 0) > 0;
  }

  async #connected(): Promise<RawConnection | undefined> {
    while (!this.#isClosed) {
      if (this.#connection?.isOpen) return this.#connection;
      this.#connecting ??= this.#connect().finally(() => (this.#connecting = undefined));
      const connection = await this.#connecting;
      if (connection !== undefined) return connection;
      await sleep(PAUSE_MS);
    }
    return undefined;
  }

  /** Connects to the next gateway. */
  async #connect(): Promise<RawConnection | undefined> {
    const { urls, token } = this.#options;
    const url = urls[this.#nextUrl++ % urls.length] as string;
    const onEvent = (frame: EventFrame, from: RawConnection): void => this.#hear(frame, from);
    const connection = await RawConnection.open({ url, token, name: this.name, onEvent });
    if (connection !== undefined) this.#connection = connection;
    return connection;
  }

  #hear(frame: EventFrame, connection: RawConnection): void {
    // The events of a connection that was lost are not lost, but the next one may have begun.
    if (this.#connection !== connection) return;
    const { event, data } = frame;
    if (!("runId" in data) || !("seq" in data)) return;
    const { runId, sessionKey } = data;
    // Approvals go to every client, also to those that do not follow their session.
    if (!this.#sessions.has(sessionKey)) return;
    const own = this.#runs.get(runId);
    if (own === undefined && !connection.followed.has(runId)) {
      // A run of somebody else, which began while this connection followed the session.
      const isBegin = data.seq === 0 || event === "chat.snapshot";
      if (!isBegin) return;
      connection.followed.add(runId);
    }
    const stream = own ?? this.#journal.stream(this.name, sessionKey, runId, false);
    if (own === undefined) this.#runs.set(runId, stream);
    // An answer to a request may have a run whose end came meanwhile.
    if (stream.end !== undefined && !connection.ended.has(runId)) return;
    if (!isDue(stream, frame as RunFrame, connection)) return;
    stream.take(frame as RunFrame);
    if (stream.end === undefined) return;
    this.#runs.delete(runId);
    if (!this.#isAsking(sessionKey)) connection.ended.add(runId);
  }
}

/**
 * Until the answer to its request came, a client takes only what follows what it has. Then it may get
 * again what it took meanwhile. After that each event has to be new.
 */
function isDue(
  { runId, seq: last }: RunStream,
  { event, data }: RunFrame,
  { followed, catching }: RawConnection,
): boolean {
  const first = ("firstSeq" in data && data.firstSeq) || data.seq;
  const isSnapshot = event === "chat.snapshot";
  // The answer for another run has the open run too.
  if (isSnapshot && data.seq < last) return false;
  if (!followed.has(runId)) return isSnapshot ? data.seq >= last : first === last + 1;
  if (!catching.has(runId)) return true;
  if (isSnapshot ? data.seq < last : data.seq <= last) return false;
  catching.delete(runId);
  return true;
}
