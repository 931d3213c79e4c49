/** A gateway on a free port with a scripted model, and clients that check every frame. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { WebSocket } from "ws";
import { createMemoryStore, type Store } from "@bowline/core/session";
import {
  createScriptedModel,
  type ScriptedModelOptions,
  type ScriptedStep,
} from "@bowline/core/testing";
import { issuesOf } from "../../src/gateway/protocol/check.ts";
import {
  startGateway,
  type Gateway,
  type GatewayOptions,
} from "../../src/gateway/server/server.ts";
import type { ListedAgents } from "../../src/gateway/agents/agent-options.ts";
import type {
  EventData,
  EventName,
  MethodName,
  Params,
  Result,
} from "../../src/gateway/protocol/protocol.ts";
import { events, methods } from "../../src/gateway/protocol/schema.ts";
import type { FrameError, Welcome } from "../../src/gateway/protocol/frame.ts";
import { PATIENCE_MS, within } from "../../../../test/support/within.ts";

export const token = "the-token-of-this-test";

export interface TestGateway extends AsyncDisposable {
  readonly gateway: Gateway;
  readonly store: Store;
  readonly model: ReturnType<typeof createScriptedModel>;
  /** An authenticated client with all events. */
  client(options?: {
    readonly token?: string;
    readonly events?: "all" | readonly string[];
  }): Promise<TestClient>;
  socket(headers?: Record<string, string>): WebSocket;
}

export type TestOptions = Partial<Extract<GatewayOptions, ListedAgents>> & {
  readonly pace?: ScriptedModelOptions;
};

export const agents = [{ id: "assistant", model: "scripted/scripted", description: "Helps." }];

export async function gatewayWith(
  script: readonly ScriptedStep[],
  options: TestOptions = {},
): Promise<TestGateway> {
  const { pace, store = createMemoryStore(), ...given } = options;
  const model = createScriptedModel(script, pace);
  const gateway = await startGateway({
    tokens: { full: token, read: "for-reading-only" },
    store,
    agents: () => agents,
    backendFor: () => ({ model: model.model, streamFn: model.streamFn, isPractice: false }),
    systemPrompt: () => "You are a test.",
    workspacePath: "/work",
    port: 0,
    ...given,
  });
  const clients: TestClient[] = [];
  return {
    gateway,
    store,
    model,
    socket: (headers = {}) => new WebSocket(`ws://127.0.0.1:${gateway.port}`, { headers }),
    async client({ token: own = token, events: wanted = "all" } = {}) {
      const client = await TestClient.enter(`ws://127.0.0.1:${gateway.port}`, own, wanted);
      clients.push(client);
      return client;
    },
    async [Symbol.asyncDispose]() {
      for (const client of clients) client.socket.terminate();
      await gateway.close();
    },
  };
}

export type AnyFrame = {
  readonly id?: string | number | null;
  readonly result?: unknown;
  readonly error?: FrameError;
  readonly event?: EventName;
  readonly data?: Record<string, unknown> & {
    readonly runId?: string;
    readonly seq?: number;
    readonly text?: string;
  };
};

export class TestClient {
  readonly socket: WebSocket;
  readonly welcome: Welcome;
  /** Every frame so far. */
  readonly frames: AnyFrame[] = [];
  #waiting: (() => void)[] = [];
  #next = 1;

  constructor(socket: WebSocket, welcome: Welcome) {
    this.socket = socket;
    this.welcome = welcome;
    socket.on("message", (data: Buffer) => {
      const frame = JSON.parse(data.toString()) as AnyFrame;
      if (frame.event !== undefined)
        assert.deepEqual(issuesOf(events[frame.event].data, frame.data), [], frame.event);
      this.frames.push(frame);
      this.#wake();
    });
    socket.on("close", () => this.#wake());
  }

  static async enter(
    url: string,
    own: string,
    wanted?: "all" | readonly string[],
  ): Promise<TestClient> {
    const socket = new WebSocket(url);
    await once(socket, "open");
    socket.send(JSON.stringify({ type: "auth", token: own, ...(wanted && { events: wanted }) }));
    // Listens immediately, because frames may arrive together with the welcome.
    const entering = new Promise<TestClient>((resolve, reject) => {
      socket.once("close", (code) => reject(new Error(`connection refused: ${code}`)));
      socket.once("message", (data: Buffer) => {
        const welcome = JSON.parse(data.toString()) as Welcome;
        if (welcome.ok) resolve(new TestClient(socket, welcome));
        else reject(new Error(data.toString()));
      });
    });
    return within("the client is let in", entering);
  }

  /** Returns the result. Throws the error of the answer. */
  async call<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>> {
    const id = `test-${this.#next++}`;
    this.socket.send(JSON.stringify({ id, method, params }));
    const { result, error } = await this.until((frame) => frame.id === id);
    if (error !== undefined) throw Object.assign(new Error(error.message), { frame: error });
    assert.deepEqual(issuesOf(methods[method].result, result), [], method);
    return result as Result<M>;
  }

  /** Returns the error code of the refusal. */
  async refused(method: MethodName, params: unknown): Promise<string | undefined> {
    try {
      await this.call(method, params as never);
    } catch (error) {
      return (error as { frame?: FrameError }).frame?.data?.code;
    }
    return assert.fail(`${method} was not refused`);
  }

  /** Returns the first frame, received or future, that matches. */
  async until(isIt: (frame: AnyFrame) => boolean): Promise<AnyFrame> {
    const deadline = Date.now() + PATIENCE_MS;
    for (let seen = 0; ;) {
      const found = this.frames.slice(seen).find(isIt);
      if (found !== undefined) return found;
      seen = this.frames.length;
      assert.ok(this.socket.readyState === WebSocket.OPEN, "the socket was closed");
      const left = deadline - Date.now();
      assert.ok(left > 0, `no such frame; came: ${JSON.stringify(this.frames.slice(-5))}`);
      await Promise.race([new Promise<void>((resolve) => this.#waiting.push(resolve)), wait(left)]);
    }
  }

  async event<E extends EventName>(event: E, runId?: string): Promise<EventData<E>> {
    const frame = await this.until(
      (one) => one.event === event && (runId === undefined || one.data?.runId === runId),
    );
    return frame.data as unknown as EventData<E>;
  }

  async end(runId: string): Promise<AnyFrame> {
    return this.until(
      ({ event = "", data }) =>
        data?.runId === runId && /^chat\.(?:final|error|aborted)$/.test(event),
    );
  }

  /** Returns the frames of a run. */
  ofRun(runId: string): AnyFrame[] {
    return this.frames.filter(({ data }) => data?.runId === runId);
  }

  text(runId: string): string {
    return this.ofRun(runId)
      .filter(({ event }) => event === "chat.delta")
      .map(({ data }) => data?.text)
      .join("");
  }

  #wake(): void {
    for (const go of this.#waiting.splice(0)) go();
  }
}

export const wait = (ms: number): Promise<void> =>
  new Promise((resolve) => void setTimeout(resolve, ms).unref());

/** Resolves with the close code of a socket. */
export async function closed(socket: WebSocket): Promise<number> {
  if (socket.readyState === WebSocket.CLOSED) return assert.fail("closed already");
  const [code] = await within("the socket is closed", once(socket, "close") as Promise<[number]>);
  return code;
}
