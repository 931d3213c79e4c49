/** The client of `bowline/client`, on sockets that go from gateway to gateway. */
import {
  GatewayClient,
  RequestError,
  type EventFrame,
  type MethodName,
  type Params,
  type Result,
} from "bowline/client";
import { WebSocket } from "ws";
import type { Random } from "../seeded.ts";
import { Refusal, type DrillClient, type SendMethod, type SendParams } from "./drill-client.ts";
import type { Journal } from "./journal.ts";
import type { RunFrame } from "./run-stream.ts";

export interface ClientOptions {
  readonly name: string;
  /** WebSocket addresses of the gateways. */
  readonly urls: readonly string[];
  readonly token: string;
  readonly journal: Journal;
  readonly random: Random;
}

export class LibraryClient implements DrillClient {
  readonly name: string;
  readonly #client: GatewayClient;
  readonly #journal: Journal;
  readonly #sessions = new Set<string>();
  #socket: WebSocket | undefined;

  constructor({ name, urls, token, journal, random }: ClientOptions) {
    this.name = name;
    this.#journal = journal;
    let next = random.between(0, urls.length - 1);
    const url = (): string => urls[next++ % urls.length] as string;
    const moved = (socket: WebSocket): void => void (this.#socket = socket);
    class Moving extends WebSocket {
      constructor() {
        super(url());
        moved(this);
      }
    }
    this.#client = new GatewayClient({
      url: url(),
      token,
      name,
      WebSocket: Moving,
      backoff: { firstMs: 50, maxMs: 1000 },
      random: () => random.next(),
    });
    this.#client.onEvent((frame) => this.#hear(frame));
    this.#client.onUnknown((runId) =>
      journal.complain(name, "", `the gateway says that the run ${runId} is unknown`),
    );
  }

  async post(method: SendMethod, params: SendParams): Promise<Result<"chat.send">> {
    this.#sessions.add(params.sessionKey);
    return toRefusal(() => this.#client.post(method, params));
  }

  async subscribe(session: string): Promise<void> {
    this.#sessions.add(session);
    await toRefusal(() => this.#client.subscribe(session));
  }

  /** The client follows the runs of the sessions to which it sent. */
  expect(session: string, runId: string): void {
    this.#journal.stream(this.name, session, runId, true);
  }

  request<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>> {
    return toRefusal(() => this.#client.request(method, params));
  }

  move(): void {
    this.#socket?.terminate();
  }

  close(): void {
    this.#client.close();
  }

  #hear(frame: EventFrame): void {
    const { data } = frame;
    if (!("runId" in data) || !("seq" in data)) return;
    // Approvals go to every client, also to those that do not follow their session.
    if (!this.#sessions.has(data.sessionKey)) return;
    this.#journal.stream(this.name, data.sessionKey, data.runId, false).take(frame as RunFrame);
  }
}

async function toRefusal<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    throw new Refusal(error.code, error.message, error.retryable);
  }
}
