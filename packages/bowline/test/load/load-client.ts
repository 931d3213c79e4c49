/** One socket under load: it follows sessions, checks every run, and can pause reading. */
import { once } from "node:events";
import { WebSocket } from "ws";
import type { Shape } from "./shape.ts";
import { WatchedRun, type Counts, type RunFrame } from "./watched-run.ts";

export interface LoadOptions {
  readonly url: string;
  readonly token: string;
  readonly shape: Shape;
  readonly counts: Counts;
  readonly fault: (what: string) => void;
  readonly late?: (us: number) => void;
}

/** Every event of a run, without those that go to all clients. */
const events = [
  "chat.user",
  "chat.queued",
  "chat.delta",
  "chat.turn",
  "chat.notice",
  "chat.snapshot",
  "chat.final",
  "chat.error",
];

export class LoadClient {
  readonly runs = new Map<string, WatchedRun>();
  /** The session of each run. */
  readonly sessions = new Map<string, string>();
  closeCode: number | undefined;
  onBegin = (_sessionKey: string, _runId: string): void => {};
  onEnd = (_sessionKey: string): void => {};
  readonly #options: LoadOptions;
  readonly #socket: WebSocket;
  #answers = new Map<string, (answer: { readonly error?: unknown }) => void>();
  #next = 0;

  private constructor(options: LoadOptions) {
    this.#options = options;
    this.#socket = new WebSocket(options.url, {
      perMessageDeflate: false,
      maxPayload: 64 * 1024 * 1024,
    });
    this.#socket.on("error", () => {}); // "close" follows
    this.#socket.on("close", (code) => (this.closeCode = code));
    this.#socket.on("message", (data: Buffer) => this.#receive(data.toString()));
  }

  static async enter(options: LoadOptions): Promise<LoadClient> {
    const client = new LoadClient(options);
    const socket = client.#socket;
    await Promise.race([once(socket, "open"), once(socket, "close")]);
    socket.send(JSON.stringify({ type: "auth", token: options.token, events }));
    await Promise.race([once(socket, "message"), once(socket, "close")]);
    if (client.closeCode !== undefined) throw new Error(`connection refused: ${client.closeCode}`);
    return client;
  }

  async request(method: string, params: Readonly<Record<string, unknown>>): Promise<void> {
    const id = String(this.#next++);
    this.#socket.send(JSON.stringify({ id, method, params }));
    const { error } = await new Promise<{ readonly error?: unknown }>((resolve) =>
      this.#answers.set(id, resolve),
    );
    if (error !== undefined) this.#options.fault(`${method}: ${JSON.stringify(error)}`);
  }

  /** Resumes the runs of a previous connection, as a reconnecting client does. */
  async resume(before: LoadClient): Promise<void> {
    for (const [runId, run] of before.runs) {
      if (run.isEnded) continue;
      const sessionKey = before.sessions.get(runId) ?? "";
      this.runs.set(runId, run);
      await this.request("chat.subscribe", { sessionKey, runId, seq: run.seq });
    }
  }

  look(away: boolean): void {
    if (away) this.#socket.pause();
    else this.#socket.resume();
  }

  /** Whether every run seen so far has ended. */
  get isDone(): boolean {
    return [...this.runs.values()].every(({ isEnded }) => isEnded);
  }

  get isOpen(): boolean {
    return this.closeCode === undefined;
  }

  close(): void {
    this.#socket.terminate();
  }

  #receive(text: string): void {
    const frame = JSON.parse(text) as RunFrame & { readonly id?: string };
    if (frame.id !== undefined) {
      this.#answers.get(frame.id)?.(frame as { readonly error?: unknown });
      this.#answers.delete(frame.id);
    } else if (frame.event !== undefined) this.#hear(frame);
  }

  #hear(frame: RunFrame): void {
    const { runId, sessionKey } = frame.data;
    const { shape, counts, fault, late } = this.#options;
    let run = this.runs.get(runId);
    if (run === undefined) {
      const width = isWide(sessionKey, shape) ? shape.wideWidth : shape.width;
      run = new WatchedRun(shape, width, (what) => fault(`${sessionKey}: ${what}`));
      this.runs.set(runId, run);
      this.sessions.set(runId, sessionKey);
      this.onBegin(sessionKey, runId);
    }
    run.take(frame, counts, late);
    if (run.isEnded) this.onEnd(sessionKey);
  }
}

export const keyOf = (index: number): string => `session ${index}`;

export function isWide(sessionKey: string, { wideRuns }: Shape): boolean {
  return Number(sessionKey.slice("session ".length)) < wideRuns;
}
