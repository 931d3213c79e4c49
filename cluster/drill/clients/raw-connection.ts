/** One connection of a client over bare sockets, and what the client knows of runs because of it. */
import type { EventFrame, MethodName, Result } from "bowline/client";
import { WebSocket } from "ws";
import { Refusal } from "./drill-client.ts";

export interface Answer {
  readonly result?: unknown;
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: { readonly code?: string; readonly retryable?: boolean };
  };
}

interface Frame extends Answer {
  readonly id?: number;
  readonly type?: string;
  readonly ok?: boolean;
  readonly event?: string;
}

export interface ConnectionOptions {
  readonly url: string;
  readonly token: string;
  /** The client's name. */
  readonly name: string;
  readonly onEvent: (frame: EventFrame, connection: RawConnection) => void;
}

const CONNECT_MS = 3000;
const ANSWER_MS = 20_000;

export class RawConnection {
  /** The runs of which no event is missing. */
  readonly followed = new Set<string>();
  /** Runs that ended here. Nothing may follow, unless something is asked. */
  readonly ended = new Set<string>();
  /** Followed runs of which events may come that are known since the request. */
  readonly catching = new Set<string>();
  /** The runs that were asked for, since each answer has the missed events. */
  readonly requested = new Set<string>();
  readonly url: string;
  readonly #socket: WebSocket;
  /** Called with the answer, before later events are read. */
  readonly #asked = new Map<number, (answer: Answer | undefined) => void>();
  #nextId = 1;
  #heardAt = performance.now();

  private constructor(socket: WebSocket, onEvent: ConnectionOptions["onEvent"]) {
    this.#socket = socket;
    this.url = socket.url;
    socket.on("message", (data: Buffer) => {
      this.#heardAt = performance.now();
      const frame = JSON.parse(data.toString()) as Frame;
      if (frame.id !== undefined) this.#asked.get(frame.id)?.(frame);
      else if (frame.event !== undefined) onEvent(frame as unknown as EventFrame, this);
    });
    socket.once("close", () => {
      for (const settle of this.#asked.values()) settle(undefined);
    });
  }

  /** Resolves with undefined if the gateway does not admit the client in time. */
  static async open(options: ConnectionOptions): Promise<RawConnection | undefined> {
    const { url, token, name, onEvent } = options;
    const socket = new WebSocket(url);
    socket.on("error", () => {}); // "close" follows
    const limit = setTimeout(() => socket.terminate(), CONNECT_MS);
    const isAdmitted = await new Promise<boolean>((resolve) => {
      socket.once("close", () => resolve(false));
      socket.once("open", () =>
        socket.send(JSON.stringify({ type: "auth", token, events: "all", client: name })),
      );
      socket.once("message", (data: Buffer) => {
        const { type, ok } = JSON.parse(data.toString()) as Frame;
        resolve(type === "auth" && ok === true);
      });
    });
    clearTimeout(limit);
    if (isAdmitted && socket.readyState === WebSocket.OPEN)
      return new RawConnection(socket, onEvent);
    socket.terminate();
    return undefined;
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  /** How long nothing came, in milliseconds. */
  get silentMs(): number {
    return performance.now() - this.#heardAt;
  }

  terminate(): void {
    this.#socket.terminate();
  }

  /** Resolves with undefined if the connection is lost, or is silent for too long. */
  ask(
    method: MethodName,
    params: unknown,
    onAnswer: (answer: Answer | undefined) => void = () => {},
  ): Promise<Answer | undefined> {
    const id = this.#nextId++;
    return new Promise((resolve) => {
      const limit = setTimeout(() => this.terminate(), ANSWER_MS);
      const settle = (answer: Answer | undefined): void => {
        clearTimeout(limit);
        this.#asked.delete(id);
        onAnswer(answer);
        resolve(answer);
      };
      this.#asked.set(id, settle);
      if (!this.isOpen) return settle(undefined);
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }
}

/** Throws a {@link Refusal} for an error. */
export function resultOf<M extends MethodName>({ result, error }: Answer): Result<M> {
  if (error === undefined) return result as Result<M>;
  const { code = String(error.code), retryable = false } = error.data ?? {};
  throw new Refusal(code, error.message, retryable);
}
