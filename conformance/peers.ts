/**
 * Runs the other clients on the same bytes, each in its own process, so that a crash or a hang
 * affects only one fixture.
 */
import { fork, spawnSync, type ChildProcess } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defaultTools, type Fixture, type ProtocolName } from "./fixture.ts";
import type { Outcome } from "./judge.ts";

const here = import.meta.dirname;
const LIMIT_MS = 4000;

export interface PeerClient {
  readonly name: string;
  /** The client's packages, with versions. */
  readonly packages: string;
  readonly protocols: readonly ProtocolName[];
}

interface Reply {
  readonly ready?: true;
  readonly restart?: true;
  readonly number?: number;
  readonly outcome?: Outcome;
}

/** Returns the clients. Installs them on first use. */
export async function loadPeers(): Promise<PeerClient[]> {
  const { devDependencies: pins } = JSON.parse(
    readFileSync(join(here, "package.json"), "utf8"),
  ) as {
    devDependencies: Record<string, string>;
  };
  install(pins);
  const { clients } = (await import(join(here, "peers", "clients.mjs"))) as {
    clients: Record<string, { packages: string[]; protocols: ProtocolName[] }>;
  };
  return Object.entries(clients).map(([name, { packages, protocols }]) => ({
    name,
    packages: packages.map((entry) => `${entry} ${pins[entry]}`).join(", "),
    protocols,
  }));
}

function install(pins: Readonly<Record<string, string>>): void {
  const isInstalled = ([name, version]: [string, string]): boolean => {
    const file = join(here, "node_modules", name, "package.json");
    return (
      existsSync(file) &&
      (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version === version
    );
  };
  if (Object.entries(pins).every(isInstalled)) return;
  console.log("installing the clients of conformance/package.json");
  const args = ["install", "--no-package-lock", "--no-audit", "--no-fund"];
  if (spawnSync("npm", args, { cwd: here, stdio: "inherit" }).status !== 0) process.exit(1);
}

/** Returns a client's result for each fixture, in order. */
export async function readPeer(
  client: PeerClient,
  fixtures: readonly Fixture[],
  url: (fixture: Fixture) => string,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let child: Child | undefined;
  for (const [number, fixture] of fixtures.entries()) {
    child ??= await Child.start(client.name);
    const { protocol, tools = defaultTools } = fixture;
    const outcome = await child.ask({ number, protocol, tools, url: url(fixture) });
    outcomes.push(outcome ?? { text: "", calls: [], ended: "error", threw: "hung or crashed" });
    if (outcome === undefined || child.isOver) {
      child.kill();
      child = undefined;
    }
  }
  child?.kill();
  return outcomes;
}

class Child {
  readonly #process: ChildProcess;
  #listener: ((reply: Reply | undefined) => void) | undefined;
  isOver = false;

  private constructor(process: ChildProcess) {
    this.#process = process;
    process.on("message", (reply: Reply) => {
      if (reply.restart === true) this.isOver = true;
      else this.#listener?.(reply);
    });
    process.on("exit", () => {
      this.isOver = true;
      this.#listener?.(undefined);
    });
  }

  static async start(name: string): Promise<Child> {
    // The clients' own warnings are discarded.
    const options = { stdio: ["ignore", "ignore", "ignore", "ipc"] as const, execArgv: [] };
    const child = new Child(
      fork(join(here, "peers", "child.mjs"), [name], { ...options, stdio: [...options.stdio] }),
    );
    const reply = await child.#next(30_000);
    if (reply?.ready !== true) throw new Error(`the client ${name} does not start`);
    return child;
  }

  /** Resolves to undefined if the client hangs or its process dies. */
  async ask(job: {
    readonly number: number;
    readonly [field: string]: unknown;
  }): Promise<Outcome | undefined> {
    this.#process.send(job);
    const until = performance.now() + LIMIT_MS;
    for (;;) {
      const reply = await this.#next(until - performance.now());
      if (reply === undefined) return undefined;
      if (reply.number === job.number) return reply.outcome;
    }
  }

  kill(): void {
    this.#process.kill("SIGKILL");
  }

  #next(ms: number): Promise<Reply | undefined> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(undefined), Math.max(0, ms));
      this.#listener = (reply) => {
        clearTimeout(timer);
        resolve(reply);
      };
    });
  }
}
