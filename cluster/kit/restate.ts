/** Restate servers on loopback: a single one, or a cluster of three nodes. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePorts } from "./free-ports.ts";
import { ManagedProcess } from "./managed-process.ts";

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
}

interface Ports {
  readonly ingress: number;
  readonly admin: number;
  readonly fabric: number;
}

export class RestateNode {
  readonly name: string;
  readonly #folder: string;
  readonly #ports: Ports;
  #process: ManagedProcess | undefined;

  constructor(name: string, folder: string, ports: Ports) {
    this.name = name;
    this.#folder = folder;
    this.#ports = ports;
  }

  get ingress(): string {
    return `http://127.0.0.1:${this.#ports.ingress}`;
  }

  get admin(): string {
    return `http://127.0.0.1:${this.#ports.admin}`;
  }

  /** For `restatectl --address`. */
  get fabric(): string {
    return `http://127.0.0.1:${this.#ports.fabric}`;
  }

  get pid(): number {
    if (this.#process === undefined) throw new Error(`${this.name} is not running.`);
    return this.#process.pid;
  }

  /** Starts the node on its data, and waits until it answers. */
  async start(): Promise<void> {
    const started = (this.#process = new ManagedProcess({
      name: this.name,
      command: serverProgram,
      args: ["--config-file", join(this.#folder, `${this.name}.toml`)],
      folder: this.#folder,
    }));
    await started.whenReady(() => this.isHealthy());
  }

  async isHealthy(): Promise<boolean> {
    const urls = [`${this.admin}/health`, `${this.ingress}/restate/health`];
    const answers = await Promise.all(urls.map((url) => answersOk(url)));
    return !answers.includes(false);
  }

  /** Kills the node, as a crash would. Its data stay. */
  async crash(): Promise<void> {
    await this.#process?.kill();
    this.#process = undefined;
  }
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
    await Promise.all(this.nodes.map((node) => node.crash()));
  }
}

/** Starts the nodes and waits until all are healthy. Listens on loopback only. */
export async function startRestate({ folder, nodes: count = 1 }: RestateOptions): Promise<Restate> {
  console.error(`cluster: starting Restate, ${count} node(s)`);
  const free = await freePorts(count * 3);
  const ports = Array.from({ length: count }, (_, index) => {
    const [ingress, admin, fabric] = free.slice(index * 3) as [number, number, number];
    return { ingress, admin, fabric };
  });
  const nodes = await Promise.all(
    ports.map(async (own, index) => {
      const node = new RestateNode(`restate-${index + 1}`, folder, own);
      const text = configuration({ node, own, all: ports, folder, isFirst: index === 0 });
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

interface Settings {
  readonly node: RestateNode;
  readonly own: Ports;
  readonly all: readonly Ports[];
  readonly folder: string;
  readonly isFirst: boolean;
}

function configuration({ node, own, all, folder, isFirst }: Settings): string {
  const isCluster = all.length > 1;
  const peers = all.map(({ fabric }) => `"http://127.0.0.1:${fabric}"`).join(", ");
  return `
cluster-name = "bowline-tests"
node-name = "${node.name}"
base-dir = "${folder}"
auto-provision = ${isFirst}
default-num-partitions = ${isCluster ? 4 : 1}
default-replication = ${isCluster ? 2 : 1}
listen-mode = "tcp"
bind-ip = "127.0.0.1"
bind-port = ${own.fabric}
advertised-host = "127.0.0.1"
disable-telemetry = true
log-filter = "warn"
log-disable-ansi-codes = true
rocksdb-total-memory-size = "256 MiB"

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

async function answersOk(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(1000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
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
