/**
 * Clusters in the place of the gateways of `packages/bowline/test/browser`, so that its tests run
 * unchanged: two gateways behind a balancer and one worker, with a database of their own.
 */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { createCluster, type Cluster, type ClusterOptions } from "@bowline/cluster";
import { createScriptedModel, type ScriptedStep } from "@bowline/core/testing";
import { WebSocket } from "ws";
import {
  agents,
  TestClient,
  token,
  type TestGateway,
  type TestOptions,
} from "../../packages/bowline/test/gateway/gateway.ts";
import { startPostgres } from "../../test/support/postgres.ts";
import { freePorts } from "../../test/support/free-ports.ts";
import { startNats } from "./nats.ts";
import { startRestate } from "./restate.ts";
import { systemIsMissing } from "./system.ts";

const READY_MS = 20_000;

/** The reason to skip the tests, or false. */
export const missing = systemIsMissing();

type Servers = Awaited<ReturnType<typeof startServers>>;

let servers: Promise<Servers> | undefined;
let clusters = 0;
after(async () => (await servers)?.disposeAsync());

/** As the function of the same name in `packages/bowline/test/gateway/gateway.ts`. */
export async function gatewayWith(
  script: readonly ScriptedStep[],
  { pace, ...given }: TestOptions = {},
): Promise<TestGateway> {
  const { postgres, restate, nats } = await (servers ??= startServers());
  await using starting = new AsyncDisposableStack();
  const name = `page${++clusters}`;
  const [port = 0] = await freePorts(1);
  const model = createScriptedModel(script, pace);
  const shared = {
    tokens: { full: token, read: "for-reading-only" },
    agents: () => agents,
    backendFor: () => ({ model: model.model, streamFn: model.streamFn, isPractice: false }),
    systemPrompt: () => "You are a test.",
    workspacePath: "/work",
    ...given,
    postgres: { connectionString: await postgres.createDatabase(name) },
    nats: { servers: nats.url },
    prefix: name,
  };
  const { ingress, admin } = restate;
  const at = { ingress, admin, serviceName: name };
  const start = async (role: "gateway" | "worker"): Promise<Cluster> => {
    const restateOptions = role === "worker" ? { ...at, worker: { port } } : at;
    const options = { ...shared, role, restate: restateOptions } as ClusterOptions;
    const cluster = await createCluster(options);
    starting.defer(() => cluster.close());
    return cluster;
  };
  await whenReady(await start("worker"));
  const gateways = [await start("gateway"), await start("gateway")];
  const doors = await Promise.all(gateways.map((gateway) => serve(gateway)));
  for (const door of doors)
    starting.defer(() => {
      door.closeAllConnections();
      door.close();
    });
  const front = await balance(doors.map(portOf));
  starting.defer(() => front.close());
  const clients: TestClient[] = [];
  starting.defer(() => clients.forEach(({ socket }) => socket.terminate()));
  const started = starting.move();
  const host = `127.0.0.1:${front.port}`;
  return {
    gateway: {
      host: "127.0.0.1",
      port: front.port,
      url: `http://${host}`,
      close: () => started.disposeAsync(),
    },
    store: gateways[0]?.store as Cluster["store"],
    model,
    socket: (headers = {}) => new WebSocket(`ws://${host}`, { headers }),
    async client({ token: own = token, events = "all" } = {}) {
      const client = await TestClient.enter(`ws://${host}`, own, events);
      clients.push(client);
      return client;
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

async function startServers() {
  const folder = mkdtempSync(join(tmpdir(), "bowline-page-"));
  const [restate, postgres, nats] = await Promise.all([
    startRestate({ folder }),
    startPostgres({ settings: ["fsync = off", "max_connections = 300"] }),
    startNats(folder),
  ]);
  return {
    restate,
    postgres,
    nats,
    async disposeAsync() {
      await restate[Symbol.asyncDispose]();
      await nats[Symbol.asyncDispose]();
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function whenReady(cluster: Cluster): Promise<void> {
  const end = performance.now() + READY_MS;
  for (;;) {
    const { isReady, parts } = await cluster.ready();
    if (isReady) return;
    if (performance.now() > end) throw new Error(`Not ready: ${JSON.stringify(parts)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function serve(cluster: Cluster): Promise<Server> {
  const server = createServer((request, response) => {
    if (!cluster.handleRequest(request, response)) response.writeHead(404).end();
  });
  server.on("upgrade", (request, socket, head) => {
    if (!cluster.handleUpgrade(request, socket, head)) socket.destroy();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

/** Sends connections to the ports in turn. */
async function balance(
  ports: readonly number[],
): Promise<{ readonly port: number; close(): void }> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createTcpServer((near) => {
    const far = connect(ports[connections++ % ports.length] ?? 0, "127.0.0.1");
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => other.destroy());
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: portOf(server),
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function portOf(server: { address(): unknown }): number {
  return (server.address() as AddressInfo).port;
}
