/** A whole cluster on loopback: each server, gateway and worker is a process that can be killed. */
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import {
  postgresIsMissing,
  startPostgres,
  type PostgresServer,
} from "../../test/support/postgres.ts";
import type { Addresses } from "./addresses.ts";
import { createBalancer } from "./balancer-service.ts";
import type { Front } from "./balancer.ts";
import { freePorts } from "../../test/support/free-ports.ts";
import { createNatsCluster, natsIsMissing, type Nats } from "./nats.ts";
import { NodeService } from "./node-service.ts";
import { loopback, type Place } from "./place.ts";
import { Postgres } from "./postgres.ts";
import { restateIsMissing, startRestate, type Restate } from "./restate.ts";
import type { Handle, Service } from "./service.ts";

export interface SystemOptions {
  /**
   * A file that exports `agents`, as the option of `createCluster`. Default: the processes are
   * `bowline serve --cluster`, with the agents of their workspace.
   */
  readonly agentModule?: string;
  /** For data and logs. Default: a folder of the system's, removed at the end. */
  readonly folder?: string;
  /** Three replicate to two. Default 3. */
  readonly restateNodes?: 1 | 3;
  /** Default 2. */
  readonly natsServers?: number;
  /** Default 2. */
  readonly gateways?: number;
  /** Default 3. They are one deployment: Restate reaches them at one address. */
  readonly workers?: number;
  /** The environment of gateways and workers, such as the address of a model. */
  readonly env?: Readonly<Record<string, string>>;
  /** The token of the gateways. Default: a random one. */
  readonly token?: string;
  /** Where a process runs, by its name. Default: on loopback. Needs `agentModule`. */
  readonly placeOf?: (name: string) => Place;
  /** Gets a line for a person before each part starts. */
  readonly onStart?: (line: string) => void;
}

export type { Addresses };

export interface System extends AsyncDisposable {
  readonly folder: string;
  readonly token: string;
  readonly addresses: Addresses;
  /** The gateways' addresses, one each. */
  readonly urls: readonly string[];
  readonly restate: Restate;
  readonly nats: readonly Nats[];
  readonly postgres: Postgres;
  /** Passes connections on to running nodes, workers and gateways. */
  readonly balancer: Service;
  readonly gateways: readonly NodeService[];
  readonly workers: readonly NodeService[];
  /** Every process. */
  readonly handles: readonly Handle[];
  /** Kills every process. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** The reason to skip tests of a system, or false. */
export function systemIsMissing(): string | false {
  return restateIsMissing() || postgresIsMissing() || natsIsMissing();
}

/** Starts all parts and waits until all are ready. Kills them if one does not start. */
export async function startSystem(options: SystemOptions): Promise<System> {
  const { natsServers = 2, restateNodes = 3, onStart = () => {} } = options;
  const { placeOf = () => loopback } = options;
  await using starting = new AsyncDisposableStack();
  const folder = options.folder ?? temporaryFolder(starting);
  mkdirSync(folder, { recursive: true });
  onStart(`Restate, ${restateNodes} node(s); NATS, ${natsServers} server(s); PostgreSQL`);
  const nats = await createNatsCluster(join(folder, "nats"), natsServers, placeOf);
  for (const server of nats) starting.use(server);
  const [restate, postgres] = await allOf([
    startRestate({ folder: join(folder, "restate"), nodes: restateNodes, placeOf }).then(
      (started) => starting.use(started),
    ),
    startPostgresAt(placeOf("postgres")).then((server) => new Postgres(starting.use(server))),
    ...nats.map((server) => server.start()),
  ] as const);
  const local = await postgres.server.createDatabase("bowline");
  const database = addressOf(placeOf("postgres"), local);
  const nodes = await createNodes(options, { folder, restate, database, nats });
  const { balancer, workers, gateways, addresses, token } = nodes;
  for (const one of [balancer, ...workers, ...gateways]) starting.use(one);
  onStart(`${workers.length} worker(s), ${gateways.length} gateway(s)`);
  await balancer.start();
  await allOf([...workers, ...gateways].map((node) => node.start()));
  const started = starting.move();
  return {
    folder,
    token,
    addresses,
    urls: gateways.map(({ url }) => url),
    restate,
    nats,
    postgres,
    balancer,
    gateways,
    workers,
    handles: [...restate.nodes, ...nats, postgres, balancer, ...workers, ...gateways],
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

interface Servers {
  readonly folder: string;
  readonly restate: Restate;
  readonly database: string;
  readonly nats: readonly Nats[];
}

/** Chooses the ports and creates what runs Bowline's own code, and the balancer. Starts nothing. */
async function createNodes(options: SystemOptions, { folder, restate, database, nats }: Servers) {
  const { agentModule, gateways: gatewayCount = 2, workers: workerCount = 3, env = {} } = options;
  const { placeOf = () => loopback } = options;
  const front = placeOf("balancer");
  const { token = randomBytes(24).toString("base64url") } = options;
  const [ingress = 0, admin = 0, worker = 0, gateway = 0, ...others] = await freePorts(
    4 + gatewayCount + 2 * workerCount,
  );
  const address = (port: number): string => `http://${front.address}:${port}`;
  const addresses: Addresses = {
    postgres: database,
    ingress: address(ingress),
    admin: address(admin),
    nats: nats.map(({ url }) => url),
    worker: address(worker),
    gateway: address(gateway),
  };
  const shared = {
    agentModule: agentModule === undefined ? undefined : pathToFileURL(resolve(agentModule)).href,
    token,
  };
  const create = (role: "gateway" | "worker", count: number): NodeService[] =>
    Array.from({ length: count }, (_, index) => {
      const port = others.pop() ?? 0;
      const workerPort = role === "worker" ? { workerPort: others.pop() ?? 0 } : {};
      const name = `${role}-${index + 1}`;
      const own = { ...addresses, postgres: named(database, name) };
      const place = placeOf(name);
      const ports = { host: place.address, port, ...workerPort };
      return new NodeService({
        ...shared,
        ...ports,
        addresses: own,
        name,
        role,
        place,
        folder,
        env,
      });
    });
  const workers = create("worker", workerCount);
  const gateways = create("gateway", gatewayCount);
  const fronts: Front[] = [
    {
      address: front.address,
      port: ingress,
      targets: restate.nodes.map((node) => node.ingressTarget),
    },
    { address: front.address, port: admin, targets: restate.nodes.map((node) => node.adminTarget) },
    { address: front.address, port: worker, targets: workers.map((node) => node.workerTarget) },
    { address: front.address, port: gateway, targets: gateways.map((node) => node.target) },
  ];
  const balancer = createBalancer({ folder, fronts, place: front });
  return { balancer, workers, gateways, addresses, token };
}

/** On a host of its own, the server also listens on its address. */
function startPostgresAt({ address, prefix }: Place): Promise<PostgresServer> {
  if (prefix.length === 0) return startPostgres();
  return startPostgres({
    settings: ["fsync = off", `listen_addresses = '${address}'`],
    access: ["host all all 10.0.0.0/8 trust"],
    prefix,
  });
}

/** The database's address for other hosts. On loopback its socket. */
function addressOf({ address, prefix }: Place, local: string): string {
  if (prefix.length === 0) return local;
  const url = new URL(local.replace("@/", `@${address}/`));
  return `${url.protocol}//${url.username}@${address}:${url.searchParams.get("port")}${url.pathname}`;
}

/** The database knows its clients by name. */
function named(database: string, name: string): string {
  return `${database}${database.includes("?") ? "&" : "?"}application_name=${name}`;
}

function temporaryFolder(starting: AsyncDisposableStack): string {
  const folder = mkdtempSync(join(tmpdir(), "bowline-system-"));
  starting.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** As `Promise.all`, but rejects only when all have settled, so that all can be disposed. */
async function allOf<T extends readonly unknown[]>(
  work: T,
): Promise<{ -readonly [Key in keyof T]: Awaited<T[Key]> }> {
  await Promise.allSettled(work);
  return Promise.all(work);
}
