/** Serves agents from any number of processes, over PostgreSQL, Restate and NATS. */
import {
  createPostgresStore,
  type PostgresStore,
  type PostgresStoreOptions,
} from "@bowline/postgres";
import {
  createSecretFilter,
  type MountedGateway,
  type Readiness,
  type SecretFilter,
} from "bowline/engine";
import { connect, type Common, type Ending } from "./engine/common.ts";
import { checkOptions, secretsIn, type ClusterOptions } from "./engine/options.ts";
import { ReadinessCheck } from "./engine/readiness.ts";
import { startGateway } from "./engine/start-gateway.ts";
import { startWorker } from "./engine/start-worker.ts";
import type { ClusterWorker } from "./engine/worker.ts";
import { Subjects } from "./wire/subjects.ts";

const DEFAULT_GRACE_MS = 25_000;

export interface DrainOptions {
  /** How long to wait for running steps, in milliseconds. Default 25,000. */
  readonly graceMs?: number;
}

/** A process of a cluster. */
export interface Cluster extends MountedGateway {
  /** The sessions. Closed with the cluster, unless it was passed in the options. */
  readonly store: PostgresStore;
  /** Asks each part whether it can serve. Never rejects. Resolves within 3 seconds. */
  ready(): Promise<Readiness>;
  /**
   * Prepares for the end of the process: {@link ready} says `draining`, and no new run begins here.
   * Resolves when the running steps of this worker have ended, at the latest after `graceMs`. Other
   * workers go on with their runs. Clients stay connected until `close`.
   */
  drain(options?: DrainOptions): Promise<void>;
  /**
   * Drains, unless {@link drain} was called before. Then sends `shutdown` to the clients, closes their
   * connections as `createGateway` does, and closes the connections to NATS and PostgreSQL.
   */
  close(reason?: string): Promise<void>;
}

/**
 * Creates a process of a cluster: a gateway, a worker, or both. It has no state of its own, and any
 * number of processes may have the same options. Clients notice no difference to `createGateway`.
 *
 * Rejects with `invalid_argument` for options that cannot work, with `connection_failed` if NATS does
 * not answer, with `storage_failed` if PostgreSQL does not, and if the port of the worker is taken.
 * Restate may be away: messages are accepted, and run when it is back.
 */
export async function createCluster(options: ClusterOptions): Promise<Cluster> {
  checkOptions(options);
  const ending: Ending[] = [];
  try {
    return await start(options, ending);
  } catch (error) {
    await endAll(ending).catch(() => {}); // the first error says what is wrong
    throw error;
  }
}

async function start(options: ClusterOptions, ending: Ending[]): Promise<Cluster> {
  const { role = "both", restate, prefix = "bowline", postgres } = options;
  const filter = createSecretFilter(secretsIn(options));
  const store = isStore(postgres) ? postgres : createPostgresStore(postgres);
  if (store !== postgres) ending.unshift(() => store.close());
  const { news: subject } = new Subjects(prefix);
  const common: Common = {
    options,
    store,
    filter,
    report: guarded(options.onError ?? printing(filter)),
    prefix,
    subject,
    ending,
  };
  await store.durable.countRuns(); // rejects without a database
  const worker = role === "gateway" ? undefined : await startWorker(common);
  const bus = await connect(common);
  const { ingress, headers = {} } = restate;
  const readiness = new ReadinessCheck({ store, bus, ingress, headers, worker });
  const gateway = role === "worker" ? undefined : await startGateway(common, bus, readiness);
  return new Process({ store, worker, gateway, readiness, ending });
}

interface ProcessParts {
  readonly store: PostgresStore;
  readonly worker: ClusterWorker | undefined;
  readonly gateway: MountedGateway | undefined;
  readonly readiness: ReadinessCheck;
  readonly ending: readonly Ending[];
}

class Process implements Cluster {
  readonly store: PostgresStore;
  readonly #parts: ProcessParts;
  #draining: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(parts: ProcessParts) {
    this.store = parts.store;
    this.#parts = parts;
  }

  /** Bound, because servers take it as a function. */
  readonly handleRequest: MountedGateway["handleRequest"] = (...request) =>
    this.#parts.gateway?.handleRequest(...request) ?? false;

  readonly handleUpgrade: MountedGateway["handleUpgrade"] = (...request) =>
    this.#parts.gateway?.handleUpgrade(...request) ?? false;

  ready(): Promise<Readiness> {
    return this.#parts.readiness.ready();
  }

  drain({ graceMs = DEFAULT_GRACE_MS }: DrainOptions = {}): Promise<void> {
    const { readiness, worker } = this.#parts;
    readiness.isDraining = true;
    return (this.#draining ??= worker?.drain(graceMs) ?? Promise.resolve());
  }

  close(reason?: string): Promise<void> {
    return (this.#closing ??= this.#close(reason));
  }

  async #close(reason: string | undefined): Promise<void> {
    await this.drain();
    await this.#parts.gateway?.close(reason);
    await endAll(this.#parts.ending);
  }
}

/** Ends everything, then rejects with the first error. */
async function endAll(ending: readonly Ending[]): Promise<void> {
  const failures: unknown[] = [];
  for (const end of ending)
    try {
      await end();
    } catch (error) {
      failures.push(error);
    }
  if (failures.length > 0) throw failures[0];
}

/** An error of the application's function must not end the work in the background. */
function guarded(report: (error: unknown) => void): (error: unknown) => void {
  return (error) => {
    try {
      report(error);
    } catch {
      // the application's own
    }
  };
}

function isStore(given: PostgresStoreOptions | PostgresStore): given is PostgresStore {
  return "durable" in given;
}

function printing(filter: SecretFilter): (error: unknown) => void {
  return (error) => {
    const text = error instanceof Error ? error.message : String(error);
    console.error(`bowline: ${filter.text(text)}`);
  };
}
