/** PostgreSQL, Restate and NATS as servers, and a cluster's gateways and workers in this process. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Agent } from "@bowline/core";
import { createCluster, type Cluster, type ClusterOptions } from "@bowline/cluster";
import { createPostgresStore, type PostgresStore } from "@bowline/postgres";
import { startPostgres, type PostgresServer } from "../../test/support/postgres.ts";
import { freePorts } from "../../test/support/free-ports.ts";
import { startNats, type Nats } from "./nats.ts";
import { startOutside, type Outside } from "./outside.ts";
import { startRestate, type Restate } from "./restate.ts";
import { createScriptedAgent } from "./scripted-agent.ts";
import { startSwitch, type Switch } from "./switch.ts";

export const token = "the-token-of-these-tests";

/** A process of the cluster that serves clients. */
export interface Place {
  readonly cluster: Cluster;
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  stop(): Promise<void>;
}

export type RigOptions = Partial<Omit<ClusterOptions, "agents" | "restate">> & {
  readonly agents?: (sessionKey: string, user: { readonly id?: string }) => Agent;
};

export class ClusterRig implements AsyncDisposable {
  readonly nats: Nats;
  readonly postgres: PostgresServer;
  readonly restate: Restate;
  readonly outside: Outside;
  readonly store: PostgresStore;
  readonly postgresUrl: string;
  /** What Restate calls. */
  readonly door: Switch;
  readonly errors: unknown[] = [];
  readonly #options: RigOptions;
  readonly #ending: (() => Promise<unknown>)[] = [];

  constructor(
    parts: Pick<ClusterRig, "nats" | "postgres" | "restate" | "outside" | "door">,
    url: string,
    options: RigOptions,
  ) {
    this.nats = parts.nats;
    this.postgres = parts.postgres;
    this.restate = parts.restate;
    this.outside = parts.outside;
    this.door = parts.door;
    this.store = createPostgresStore({ connectionString: url });
    this.postgresUrl = url;
    this.#options = options;
  }

  addGateway(more: RigOptions = {}): Promise<Place> {
    return this.#serve({ role: "gateway", ...more });
  }

  /** A process that is both. Restate calls its worker from now on. */
  async addBoth(more: RigOptions = {}): Promise<Place> {
    const [port = 0] = await freePorts(1);
    this.door.to(port);
    return this.#serve(more, port);
  }

  async #serve(more: RigOptions, port?: number): Promise<Place> {
    const cluster = await this.#create(more, port);
    const server = createServer((request, response) => {
      if (!cluster.handleRequest(request, response)) response.writeHead(418).end();
    });
    server.on("upgrade", (request, socket, head) => {
      if (!cluster.handleUpgrade(request, socket, head)) socket.destroy();
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const stop = onceOnly(async () => {
      await cluster.close();
      server.close();
      server.closeAllConnections();
    });
    this.#ending.push(stop);
    return { cluster, url, stop };
  }

  /** Restate calls this worker from now on. */
  async addWorker(more: RigOptions = {}): Promise<Cluster> {
    const [port = 0] = await freePorts(1);
    this.door.to(port);
    const cluster = await this.#create({ role: "worker", ...more }, port);
    const end = performance.now() + 20_000;
    for (;;) {
      const { parts } = await cluster.ready();
      if (parts.every(({ isReady }) => isReady)) break;
      if (performance.now() > end)
        throw new Error(`The worker is not ready: ${JSON.stringify(parts)}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    this.#ending.push(() => cluster.drain({ graceMs: 0 }).then(() => cluster.close()));
    return cluster;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const end of this.#ending.toReversed()) await end();
    await this.store.close();
    await this.door[Symbol.asyncDispose]();
    await this.restate[Symbol.asyncDispose]();
    await this.nats[Symbol.asyncDispose]();
    await this.outside[Symbol.asyncDispose]();
    await this.postgres.stop();
  }

  #create(more: RigOptions, port?: number): Promise<Cluster> {
    const { ingress, admin } = this.restate;
    const agents = (_key: string, user: { readonly id?: string }): Agent =>
      createScriptedAgent(this.outside.url, `You help ${user.id ?? "somebody"}.`);
    return createCluster({
      token,
      agents,
      postgres: { connectionString: this.postgresUrl },
      restate: {
        ingress,
        admin,
        ...(port !== undefined && { worker: { port, url: this.door.uri } }),
      },
      nats: { servers: this.nats.url },
      workspacePath: "/work",
      onError: (error) => this.errors.push(error),
      ...this.#options,
      ...more,
    } as ClusterOptions);
  }
}

/** Starts the servers. `options` are those of all processes. */
export async function startClusterRig(options: RigOptions = {}): Promise<ClusterRig> {
  const folder = mkdtempSync(join(tmpdir(), "bowline-rig-"));
  const [restate, postgres, outside, nats, door] = await Promise.all([
    startRestate({ folder }),
    startPostgres(),
    startOutside(),
    startNats(folder),
    startSwitch(1),
  ]);
  const url = await postgres.createDatabase("bowline");
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return new ClusterRig({ restate, postgres, outside, nats, door }, url, options);
}

function onceOnly(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => (done ??= work());
}
