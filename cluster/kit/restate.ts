/** Restate servers on loopback: a single one, or a cluster of three nodes. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { answersOk } from "./answers-ok.ts";
import type { Target } from "./balancer.ts";
import { freePorts } from "../../test/support/free-ports.ts";
import { loopback, type Place } from "./place.ts";
import { Service } from "./service.ts";

const execute = promisify(execFile);
const root = join(import.meta.dirname, "..", "node_modules", "@restatedev");
const platform = `${process.platform}-${process.arch}`;
const serverProgram = join(root, `restate-server-${platform}`, "bin", "restate-server");
const controlProgram = join(root, `restatectl-${platform}`, "bin", "restatectl");
const REQUEST_MS = 10_000;

/** The reason to skip tests of Restate, or false. */
export function restateIsMissing(): string | false {
  return existsSync(serverProgram)
    ? false
    : "the Restate server is not installed (npm ci --prefix cluster)";
}

export interface RestateOptions {
  /** A folder for the nodes' data and logs. */
  readonly folder: string;
  /** Number of nodes: 1, or 3 that replicate to two. Default 1. */
  readonly nodes?: 1 | 3;
  /** A PEM file: the key with which requests to workers are signed. Default: they are not. */
  readonly identityKey?: string;
  /** Where a node runs, by its name. Default: on loopback. */
  readonly placeOf?: (name: string) => Place;
}

interface Ports {
  readonly ingress: number;
  readonly admin: number;
  readonly fabric: number;
  readonly place: Place;
}

export class RestateNode extends Service {
  readonly ingress: string;
  readonly admin: string;
  /** For `restatectl --address`. */
  readonly fabric: string;
  /** For a balancer in front of the nodes. */
  readonly ingressTarget: Target;
  readonly adminTarget: Target;

  constructor(name: string, folder: string, ports: Ports) {
    const [ingress, admin, fabric] = [ports.ingress, ports.admin, ports.fabric].map(
      (port) => `http://${ports.place.address}:${port}`,
    ) as [string, string, string];
    super({
      kind: "restate",
      process: {
        name,
        command: serverProgram,
        args: ["--config-file", join(folder, `${name}.toml`)],
        folder,
        place: ports.place,
      },
      isReady: () => isHealthy({ ingress, admin }),
    });
    this.ingress = ingress;
    this.admin = admin;
    this.fabric = fabric;
    this.ingressTarget = {
      address: ports.place.address,
      port: ports.ingress,
      health: `${ingress}/restate/health`,
    };
    this.adminTarget = {
      address: ports.place.address,
      port: ports.admin,
      health: `${admin}/health`,
    };
  }
}

async function isHealthy(node: Pick<RestateNode, "ingress" | "admin">): Promise<boolean> {
  const urls = [`${node.admin}/health`, `${node.ingress}/restate/health`];
  const answers = await Promise.all(urls.map((url) => answersOk(url)));
  return !answers.includes(false);
}

export class Restate implements AsyncDisposable {
  readonly nodes: readonly RestateNode[];

  constructor(nodes: readonly RestateNode[]) {
    this.nodes = nodes;
  }

  get first(): RestateNode {
    return this.nodes[0] as RestateNode;
  }

  get ingress(): string {
    return this.first.ingress;
  }

  get admin(): string {
    return this.first.admin;
  }

  /**
   * Registers the endpoint of a worker. With `isAgain`, the same code with other time limits, which
   * Restate reads at this moment only.
   */
  async register(uri: string, { isAgain = false } = {}): Promise<void> {
    await postJson(`${this.admin}/deployments`, { uri, force: isAgain });
  }

  /** Runs a query over the server's own tables, such as `sys_invocation`. */
  async query(sql: string, admin: string = this.admin): Promise<Record<string, unknown>[]> {
    const { rows } = (await postJson(`${admin}/query`, { query: sql })) as {
      rows: Record<string, unknown>[];
    };
    return rows;
  }

  /** Runs `restatectl`. Returns what it prints. */
  async control(...args: readonly string[]): Promise<string> {
    const { stdout } = await execute(controlProgram, ["--address", this.first.fabric, ...args], {
      env: { DO_NOT_TRACK: "1", NO_COLOR: "1" },
      timeout: REQUEST_MS,
    });
    return stdout;
  }

  /** Waits until all partitions have a leader. */
  async whenServing(limitMs = 20_000): Promise<void> {
    const end = performance.now() + limitMs;
    for (;;) {
      try {
        await this.query("select count(*) from sys_invocation");
        return;
      } catch (error) {
        if (performance.now() > end) throw error;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.kill()));
  }
}

/** Starts the nodes and waits until all are healthy. Listens on loopback only. */
export async function startRestate({
  folder,
  nodes: count = 1,
  identityKey,
  placeOf = () => loopback,
}: RestateOptions): Promise<Restate> {
  console.error(`cluster: starting Restate, ${count} node(s)`);
  await mkdir(folder, { recursive: true });
  const free = await freePorts(count * 3);
  const ports = Array.from({ length: count }, (_, index) => {
    const [ingress, admin, fabric] = free.slice(index * 3) as [number, number, number];
    return { ingress, admin, fabric, place: placeOf(nameOf(index)) };
  });
  const nodes = await Promise.all(
    ports.map(async (own, index) => {
      const node = new RestateNode(nameOf(index), folder, own);
      const text = configuration({
        node,
        own,
        all: ports,
        folder,
        isFirst: index === 0,
        identityKey,
      });
      await writeFile(join(folder, `${node.name}.toml`), text);
      return node;
    }),
  );
  const restate = new Restate(nodes);
  try {
    await Promise.all(nodes.map((node) => node.start()));
    await restate.whenServing();
    return restate;
  } catch (error) {
    await restate[Symbol.asyncDispose]();
    throw error;
  }
}

function nameOf(index: number): string {
  return `restate-${index + 1}`;
}

interface Settings {
  readonly node: RestateNode;
  readonly own: Ports;
  readonly all: readonly Ports[];
  readonly folder: string;
  readonly isFirst: boolean;
  readonly identityKey: string | undefined;
}

function configuration({ node, own, all, folder, isFirst, identityKey }: Settings): string {
  const isCluster = all.length > 1;
  const peers = all.map(({ fabric, place }) => `"http://${place.address}:${fabric}"`).join(", ");
  return `
cluster-name = "bowline-tests"
node-name = "${node.name}"
base-dir = "${folder}"
auto-provision = ${isFirst}
default-num-partitions = ${isCluster ? 4 : 1}
default-replication = ${isCluster ? 2 : 1}
listen-mode = "tcp"
bind-ip = "${own.place.address}"
bind-port = ${own.fabric}
advertised-host = "${own.place.address}"
disable-telemetry = true
log-filter = "warn"
log-disable-ansi-codes = true
rocksdb-total-memory-size = "256 MiB"
${identityKey === undefined ? "" : `request-identity-private-key-pem-file = "${identityKey}"`}

[metadata-client]
addresses = [${peers}]

[admin]
bind-port = ${own.admin}

[ingress]
bind-port = ${own.ingress}

[default-retry-policy]
initial-interval = "100ms"
max-interval = "1s"
`;
}

export async function postJson(url: string, body: unknown): Promise<unknown> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(REQUEST_MS),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`POST ${url} answered ${response.status}: ${text}`);
  return text === "" ? undefined : (JSON.parse(text) as unknown);
}
