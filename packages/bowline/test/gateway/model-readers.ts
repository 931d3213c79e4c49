/**
 * The readers of runs in the random test: sockets that check each frame, an EventSource as in HTML
 * 9.2, and a `fetch` reader.
 */
import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { WebSocket } from "ws";
import type { MethodName, Params, Result, RunInfo } from "../../src/gateway/protocol/protocol.ts";
import { token, wait } from "./gateway.ts";
import { isEnd, isOpenRun, Sight, type Ledger, type RunFrame } from "./model-ledger.ts";

/** Limit of the time for an answer, in milliseconds. */
const ANSWER_MS = 30_000;

export type Reply<M extends MethodName> =
  | { readonly result: Result<M> }
  | { readonly refused: string }
  | "lost";

interface Answer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly data?: { readonly code?: string } };
}

export class SocketReader {
  readonly name: string;
  readonly socket: WebSocket;
  /** Ids of the approval requests received. */
  readonly asked: string[] = [];
  readonly #ledger: Ledger;
  readonly #sights = new Map<string, Sight>();
  readonly #follows = new Set<string>();
  readonly #answers = new Map<number, (answer: Answer) => void>();
  /** Runs whose end must still arrive, and their sessions. */
  readonly #owed = new Map<string, string>();
  readonly #lost: Promise<"lost">;
  #next = 1;

  private constructor(ledger: Ledger, name: string, socket: WebSocket) {
    this.name = name;
    this.socket = socket;
    this.#ledger = ledger;
    this.#lost = new Promise((resolve) => socket.on("close", () => resolve("lost")));
    socket.on("message", (data: Buffer) => this.#hear(JSON.parse(data.toString()) as never));
    socket.on("error", () => {});
  }

  /** Returns undefined when the connection was cut before authentication. */
  static async enter(
    ledger: Ledger,
    name: string,
    port: number,
  ): Promise<SocketReader | undefined> {
    const socket = new WebSocket(`ws://127.0.0.1:${port}`);
    socket.on("error", () => {});
    const isIn = Promise.race([
      once(socket, "close").then(() => false),
      once(socket, "open").then(() => true),
    ]);
    if (!(await isIn.catch(() => false))) return undefined;
    socket.send(JSON.stringify({ type: "auth", token, events: "all" }));
    const entered = Promise.race([
      once(socket, "close").then(() => false),
      once(socket, "message").then(() => true),
    ]);
    return (await entered.catch(() => false)) ? new SocketReader(ledger, name, socket) : undefined;
  }

  get isOpen(): boolean {
    return this.socket.readyState === WebSocket.OPEN;
  }

  /** Runs whose end should have arrived and has not. */
  get owed(): readonly string[] {
    return this.isOpen ? [...this.#owed.keys()] : [];
  }

  async ask<M extends MethodName>(method: M, params: Params<M>): Promise<Reply<M>> {
    if (!this.isOpen) return "lost";
    const id = this.#next++;
    const answered = new Promise<Reply<M>>((resolve) => {
      this.#answers.set(id, ({ result, error }) => {
        if (error === undefined) this.#note(method, params, result);
        resolve(
          error === undefined
            ? { result: result as Result<M> }
            : { refused: error.data?.code ?? "?" },
        );
      });
    });
    this.socket.send(JSON.stringify({ id, method, params }));
    const late = wait(ANSWER_MS).then(() => "late" as const);
    const reply = await Promise.race([answered, this.#lost, late]);
    if (reply !== "late") return reply;
    this.#ledger.fault(`${this.name}: no answer to ${method} ${JSON.stringify(params)}`);
    return "lost";
  }

  #note(method: MethodName, params: unknown, result: unknown): void {
    const { sessionKey, runId, seq } = params as {
      sessionKey: string;
      runId?: string;
      seq?: number;
    };
    if (method === "chat.unsubscribe") {
      this.#follows.delete(sessionKey);
      for (const [run, key] of this.#owed) if (key === sessionKey) this.#owed.delete(run);
    }
    if (method === "chat.send" || method === "chat.steer" || method === "chat.followUp") {
      const { runId: given, status } = result as Result<"chat.send">;
      this.#join(sessionKey);
      if (status === "started" || status === "queued" || status === "steered")
        this.#owe(given, sessionKey);
    }
    if (method === "chat.subscribe") {
      this.#join(sessionKey);
      for (const run of (result as { runs: RunInfo[] }).runs) {
        if (run.state === "unknown") continue;
        this.#sightOf(run.runId).askAgain(run.runId === runId ? seq : undefined);
        if (isOpenRun(run)) this.#owe(run.runId, sessionKey);
      }
    }
  }

  #owe(runId: string, sessionKey: string): void {
    if (this.#sights.get(runId)?.isEnded !== true) this.#owed.set(runId, sessionKey);
  }

  /**
   * Forgets the known runs of a session on a new subscription, because they may have continued
   * meanwhile.
   */
  #join(sessionKey: string): void {
    if (this.#follows.has(sessionKey)) return;
    this.#follows.add(sessionKey);
    this.#sights.clear();
  }

  #sightOf(runId: string): Sight {
    const known = this.#sights.get(runId);
    if (known !== undefined) return known;
    const sight = new Sight(this.#ledger, this.name);
    this.#sights.set(runId, sight);
    return sight;
  }

  #hear(frame: RunFrame | Answer): void {
    if ("id" in frame) {
      const answer = this.#answers.get(frame.id);
      if (answer === undefined)
        this.#ledger.fault(`${this.name}: an answer to nothing: ${JSON.stringify(frame)}`);
      this.#answers.delete(frame.id);
      answer?.(frame);
      return;
    }
    const { event, data } = frame;
    if (event === "exec.approval_request")
      this.asked.push((data as unknown as { approvalId: string }).approvalId);
    if (!("runId" in data)) return;
    if (!this.#follows.has(data.sessionKey)) {
      if (!event.startsWith("exec."))
        this.#ledger.fault(`${this.name}: ${event} of a session that it does not follow`);
      return;
    }
    this.#sightOf(data.runId).take(frame);
    if (isEnd(event)) this.#owed.delete(data.runId);
  }
}

interface Served {
  readonly event: string;
  readonly id: string;
  readonly data: string;
}

/** Parses an event stream, and drops an incomplete last event. */
class EventParser {
  #rest = "";

  *add(text: string): Generator<Served> {
    const blocks = (this.#rest + text).split("\n\n");
    this.#rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const fields = new Map(
        block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line] as const),
      );
      const valueOf = (name: string): string => fields.get(name)?.slice(name.length + 2) ?? "";
      if (fields.has("data"))
        yield { event: valueOf("event"), id: valueOf("id"), data: valueOf("data") };
    }
  }
}

export interface Stream {
  readonly runId: string;
  readonly sessionKey: string;
  readonly port: number;
}

const pathOf = ({ runId, sessionKey }: Stream): string =>
  `/api/runs/${encodeURIComponent(runId)}/events?sessionKey=${encodeURIComponent(sessionKey)}`;

/** Reconnects with the last number after every end, until it gets a 204. Then it resolves. */
export async function readAsEventSource(
  ledger: Ledger,
  stream: Stream,
  isOver: () => boolean,
): Promise<void> {
  const who = `EventSource`;
  const sight = new Sight(ledger, who);
  let [last, ends, tries] = ["", 0, 0];
  let endedAt = -Infinity;
  const fault = (what: string): void => ledger.fault(`${who} of ${stream.runId}: ${what}`);
  while (!isOver()) {
    sight.askAgain(last === "" ? undefined : Number(last));
    const [status, chunks] = await connect(stream, last);
    if (status === 204) break;
    if (status === 404 && ledger.mayBeGone(stream.runId, stream.sessionKey)) return;
    if (status !== 200 && status !== 0) return fault(`it is refused with ${status} and gives up`);
    const parser = new EventParser();
    try {
      for await (const chunk of chunks ?? [])
        for (const { event, id, data } of parser.add(String(chunk))) {
          if (id !== "") last = id;
          if (event === "shutdown") continue;
          sight.take({ event, data: JSON.parse(data) });
          if (!isEnd(event)) continue;
          const isAnew =
            Number(id) >= endedAt + 100_000 || ledger.mayBeGone(stream.runId, stream.sessionKey);
          if (++ends > 1 && !isAnew) fault(`its end came ${ends} times`);
          endedAt = Number(id);
        }
    } catch {
      // The connection was cut.
    }
    if (ends > 0 && ++tries > 30) return fault("it is not told that the run is over");
    await wait(15);
  }
  const isDone =
    ends > 0 || sight.isInterrupted || ledger.mayBeGone(stream.runId, stream.sessionKey);
  if (!isDone) fault(`it never had the end; it has ${last}`);
}

/** Returns the status, or 0 without a response, and the body. */
async function connect(stream: Stream, last: string): Promise<readonly [number, IncomingMessage?]> {
  const asked = request({
    port: stream.port,
    host: "127.0.0.1",
    path: pathOf(stream),
    agent: false,
    headers: {
      authorization: `Bearer ${token}`,
      accept: "text/event-stream",
      ...(last && { "last-event-id": last }),
    },
  });
  asked.end();
  const answer = once(asked, "response").catch(() => undefined) as Promise<
    [IncomingMessage] | undefined
  >;
  const [response] = (await answer) ?? [];
  asked.on("error", () => {});
  return response === undefined ? [0] : [response.statusCode ?? 0, response];
}

/** Reads once from `seq` over a kept-alive connection. */
export async function readWithFetch(
  ledger: Ledger,
  stream: Stream,
  seq: number | undefined,
): Promise<void> {
  const sight = new Sight(ledger, `fetch from ${seq}`);
  sight.askAgain(seq);
  const headers = {
    authorization: `Bearer ${token}`,
    ...(seq !== undefined && { "last-event-id": String(seq) }),
  };
  let isCut = false;
  let isShutdown = false;
  try {
    const response = await fetch(`http://127.0.0.1:${stream.port}${pathOf(stream)}`, { headers });
    if (response.status === 204 || response.status === 404) return;
    if (response.status !== 200)
      return ledger.fault(`fetch of ${stream.runId}: ${response.status}`);
    const parser = new EventParser();
    const decoder = new TextDecoder();
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>)
      for (const { event, data } of parser.add(decoder.decode(chunk, { stream: true }))) {
        if (event === "shutdown") isShutdown = true;
        else sight.take({ event, data: JSON.parse(data) });
      }
  } catch {
    isCut = true;
  }
  if (!isCut && !isShutdown && !sight.isEnded && !sight.isInterrupted)
    ledger.fault(`fetch of ${stream.runId} from ${seq}: the stream has no end; last ${sight.last}`);
}
