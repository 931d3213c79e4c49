/** Gateways over the relay alone: they follow runs, and accept no messages. */
import assert from "node:assert/strict";
import { connectNats, Relay, RunPublisher, type Bus } from "@bowline/cluster";
import { systemClock } from "@bowline/core";
import { createMemoryStore, createSession, type Session, type Store } from "@bowline/core/session";
import {
  createSecretFilter,
  startEngine,
  type Engine,
  type EngineApprovals,
  type EngineSessions,
  type Gateway,
} from "bowline/engine";
import type { GatewayLimits } from "bowline/gateway";
import { WebSocket } from "ws";
import { GatewayClient } from "bowline/client";

export const token = "the-token-of-this-test";
export const secret = "a-secret-of-the-worker";

export interface RelayGateway {
  readonly gateway: Gateway;
  readonly relay: Relay;
  readonly bus: Bus;
  close(): Promise<void>;
}

export async function startRelayGateway(
  servers: string,
  store: Store,
  limits: Partial<GatewayLimits> = {},
): Promise<RelayGateway> {
  const bus = await connectNats({ servers });
  let relay: Relay | undefined;
  const gateway = await startEngine({ port: 0, token, limits }, (ports) => {
    const { clients, filter, clock } = ports;
    relay = new Relay({ bus, clients, store, filter, limits: ports.limits, clock });
    return engineOf(relay, store);
  });
  assert.ok(relay !== undefined);
  const own = relay;
  return {
    gateway,
    relay: own,
    bus,
    async close() {
      await gateway.close();
      own.close();
      await bus.close();
    },
  };
}

function engineOf(relay: Relay, store: Store): Engine {
  return {
    runs: {
      count: () => relay.size,
      accept: () => assert.fail("no message is sent"),
      abort: async () => [],
      follow: (params) => relay.follow(params),
      followRun: (run) => relay.followRun(run),
      waitingIn: () => [],
      sessionOf: () => undefined,
      sessionOfMessage: () => undefined,
    },
    approvals: { list: () => [], sessionOf: () => undefined } as unknown as EngineApprovals,
    sessions: {} as EngineSessions,
    store,
    agents: async () => [],
    backendFor: async () => undefined,
    modelFor: async () => undefined,
    open: async () => {},
    tick: () => {},
    closing: () => {},
    close: async () => {},
  };
}

export async function startWorker(servers: string): Promise<{ bus: Bus; publisher: RunPublisher }> {
  const bus = await connectNats({ servers });
  const filter = createSecretFilter([secret]);
  return { bus, publisher: new RunPublisher({ bus, filter, clock: systemClock }) };
}

/** A session with one run that has begun. */
export async function openRun(
  sessionKey: string,
  runId: string,
): Promise<{ readonly store: Store; readonly session: Session }> {
  const store = createMemoryStore();
  const session = await createSession(store, { id: sessionKey });
  await session.append({ type: "run_start", runId });
  return { store, session };
}

/** A client that goes to the next gateway whenever it connects. */
export class MovingClient {
  readonly client: GatewayClient;
  #socket: WebSocket | undefined;
  moves = 0;

  constructor(gateways: readonly { readonly gateway: Pick<Gateway, "port"> }[], own = token) {
    const moved = (socket: WebSocket): void => void (this.#socket = socket);
    const next = (): string => {
      const { gateway } = gateways[this.moves++ % gateways.length] as (typeof gateways)[number];
      return `ws://127.0.0.1:${gateway.port}`;
    };
    class Moving extends WebSocket {
      constructor() {
        super(next());
        moved(this);
      }
    }
    this.client = new GatewayClient({
      url: next(),
      token: own,
      WebSocket: Moving,
      backoff: { firstMs: 1, maxMs: 5 },
    });
  }

  /** Loses the connection, and connects to the next gateway. */
  move(): void {
    this.#socket?.terminate();
  }
}
