/** All processes of one test file: Restate, PostgreSQL, workers, and what agents call. */
import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { openSession, type AnyEntry, type SessionMessage } from "@bowline/core/session";
import { createPostgresStore, type PostgresStore } from "@bowline/postgres";
import { createRestateClient, type RestateClient, type RunOutcome } from "@bowline/restate";
import {
  postgresIsMissing,
  startPostgres,
  type PostgresServer,
} from "../../test/support/postgres.ts";
import { accepts } from "./accepts.ts";
import { freePorts } from "../../test/support/free-ports.ts";
import { ManagedProcess } from "./managed-process.ts";
import { startOutside, type Outside, type Turn } from "./outside.ts";
import { restateIsMissing, startRestate, type Restate } from "./restate.ts";
import type { WorkerSettings } from "./worker.ts";

/** The reason to skip a file, or false. */
export function clusterIsMissing(): string | false {
  return restateIsMissing() || postgresIsMissing();
}

export class Worker {
  readonly uri: string;
  readonly #folder: string;
  readonly #settings: WorkerSettings;
  #process: ManagedProcess | undefined;

  constructor(folder: string, settings: WorkerSettings) {
    this.#folder = folder;
    this.#settings = settings;
    this.uri = `http://127.0.0.1:${settings.port}`;
  }

  get port(): number {
    return this.#settings.port;
  }

  get pid(): number {
    if (this.#process === undefined) throw new Error("The worker is not running.");
    return this.#process.pid;
  }

  get log(): string {
    return this.#process?.log ?? "";
  }

  /** Starts the process, on the same port as before. */
  async start(changes: Partial<WorkerSettings> = {}): Promise<void> {
    const worker = (this.#process = new ManagedProcess({
      name: `worker-${this.#settings.port}`,
      command: process.execPath,
      args: ["--conditions=@bowline/source", join(import.meta.dirname, "worker.ts")],
      env: {
        WORKER: JSON.stringify({ ...this.#settings, ...changes }),
        NODE_COMPILE_CACHE: join(tmpdir(), "bowline-cluster-cache"),
      },
      folder: this.#folder,
    }));
    await worker.whenReady(() => accepts(this.#settings.port));
  }

  /** Kills the process with SIGKILL. */
  async kill(): Promise<void> {
    await this.#process?.kill();
    this.#process = undefined;
  }

  signal(name: NodeJS.Signals): void {
    process.kill(this.pid, name);
  }
}

export interface HarnessOptions {
  readonly nodes?: 1 | 3;
  readonly worker?: Partial<WorkerSettings>;
}

export interface Run {
  readonly sessionId: string;
  readonly name: string;
  readonly invocationId: string;
  readonly messageId: string;
}

export class Harness implements AsyncDisposable {
  readonly folder: string;
  readonly restate: Restate;
  readonly postgres: PostgresServer;
  readonly postgresUrl: string;
  readonly store: PostgresStore;
  readonly outside: Outside;
  readonly client: RestateClient;
  readonly worker: Worker;
  readonly #workers: Worker[] = [];
  readonly #settings: Partial<WorkerSettings>;

  constructor(parts: {
    folder: string;
    restate: Restate;
    postgres: PostgresServer;
    postgresUrl: string;
    outside: Outside;
    port: number;
    settings: Partial<WorkerSettings>;
  }) {
    const { restate, postgresUrl: connectionString } = parts;
    this.folder = parts.folder;
    this.restate = restate;
    this.postgres = parts.postgres;
    this.postgresUrl = connectionString;
    this.outside = parts.outside;
    this.#settings = parts.settings;
    this.store = createPostgresStore({ connectionString });
    this.client = createRestateClient({ ingress: restate.ingress, store: this.store });
    this.worker = this.#newWorker(parts.port);
  }

  /** Another worker process, not started and not registered. */
  async addWorker(): Promise<Worker> {
    const [port = 0] = await freePorts(1);
    return this.#newWorker(port);
  }

  #newWorker(port: number): Worker {
    const { postgresUrl: postgres, outside } = this;
    const events = join(this.folder, "events.jsonl");
    const settings = { port, postgres, outside: outside.url, events, ...this.#settings };
    const worker = new Worker(this.folder, settings);
    this.#workers.push(worker);
    return worker;
  }

  /** Creates a session and begins a run with these answers of the model. */
  async begin(turns: readonly Turn[], sessionId: string = randomUUID()): Promise<Run> {
    const name = randomUUID();
    const messageId = `message-${name}`;
    await this.client.ensure(sessionId);
    const message = this.outside.script(name, withScript(turns, name));
    const sent = await this.client.submit(sessionId, { messageId, message });
    if (sent.state !== "accepted") throw new Error(`The message is ${sent.state}.`);
    return { sessionId, name, invocationId: sent.invocationId, messageId };
  }

  async outcome({ invocationId }: Run, limitMs = 30_000): Promise<Ended> {
    const signal = AbortSignal.timeout(limitMs);
    const outcome = await this.client.outcome(invocationId, { signal });
    if (outcome.state !== "ended") throw new Error(`The run is ${outcome.state}.`);
    return outcome;
  }

  async messages(sessionId: string): Promise<SessionMessage[]> {
    return (await openSession(this.store, sessionId, { readOnly: true })).allMessages();
  }

  /** The roles of the transcript, and the texts of its tool results. */
  async shape(sessionId: string): Promise<string[]> {
    return (await this.messages(sessionId)).map((message) =>
      message.role === "toolResult" ? `result: ${textOf(message).slice(0, 60)}` : message.role,
    );
  }

  async entries(sessionId: string): Promise<AnyEntry[]> {
    const session = await openSession(this.store, sessionId, { readOnly: true });
    const entries: AnyEntry[] = [];
    for await (const entry of session.entries()) entries.push(entry);
    return entries;
  }

  /** The state of an invocation in Restate. */
  async invocation(id: string): Promise<Record<string, unknown> | undefined> {
    const rows = await this.restate.query(
      `select status, retry_count, last_failure from sys_invocation where id = '${id}'`,
    );
    return rows[0];
  }

  /** The events of a session's runs, of all workers. */
  events(sessionId: string): SeenEvent[] {
    return readFileSync(join(this.folder, "events.jsonl"), "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as SeenEvent)
      .filter((event) => event.sessionId === sessionId);
  }

  /** The number of attempts at the runs of a session so far. */
  async attempts(sessionId: string): Promise<number> {
    const sql = `select epoch from bowline.sessions where id = '${sessionId}'`;
    return Number(await this.postgres.sql(sql, "bowline"));
  }

  /** Waits until `isTrue` resolves with true. */
  async until(isTrue: () => Promise<boolean>, limitMs = 20_000): Promise<void> {
    const end = performance.now() + limitMs;
    while (!(await isTrue())) {
      if (performance.now() > end) throw new Error(`never: ${String(isTrue)}`);
      await setTimeout(25);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.kill()));
    await this.store.close();
    await this.restate[Symbol.asyncDispose]();
    await this.outside[Symbol.asyncDispose]();
    await this.postgres.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export interface SeenEvent {
  readonly type: string;
  readonly runId: string;
  readonly sessionId: string;
  readonly attempt: number;
  readonly number: number;
}

export type Ended = Extract<RunOutcome, { state: "ended" }>;

/** Starts everything, and registers one worker. */
export async function startHarness({ nodes, worker = {} }: HarnessOptions = {}): Promise<Harness> {
  const folder = mkdtempSync(join(tmpdir(), "bowline-cluster-"));
  const [restate, postgres, outside, [port = 0]] = await Promise.all([
    startRestate({ folder, ...(nodes && { nodes }) }),
    startPostgres(),
    startOutside(),
    freePorts(1),
  ]);
  const postgresUrl = await postgres.createDatabase("bowline");
  const parts = { folder, restate, postgres, postgresUrl, outside, port, settings: worker };
  const harness = new Harness(parts);
  try {
    await harness.worker.start();
    await restate.register(harness.worker.uri);
    return harness;
  } catch (error) {
    await harness[Symbol.asyncDispose]();
    throw error;
  }
}

/** Tools tell the outside to which script they belong. */
function withScript(turns: readonly Turn[], script: string): Turn[] {
  return turns.map(({ calls, ...turn }) => ({
    ...turn,
    ...(calls && {
      calls: calls.map(({ name, args }) => ({ name, args: { script, ...args } })),
    }),
  }));
}

export function textOf(message: SessionMessage): string {
  const { content } = message as { readonly content?: unknown };
  if (typeof content === "string") return content;
  const parts = (content ?? []) as readonly { readonly text?: string }[];
  return parts.map(({ text = "" }) => text).join("");
}
