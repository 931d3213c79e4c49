/** Serves agents from any number of processes, over PostgreSQL, Restate and NATS. */
import { randomUUID } from "node:crypto";
import { systemClock } from "@bowline/core";
import {
  createPostgresStore,
  type PostgresStore,
  type PostgresStoreOptions,
} from "@bowline/postgres";
import { createRestateAdmin, createRestateClient } from "@bowline/restate";
import {
  createSecretFilter,
  isListed,
  mountEngine,
  resolveAgents,
  type MountedGateway,
  type MountEngineOptions,
  type Readiness,
  type SecretFilter,
} from "bowline/engine";
import { defaultLimits, loadRules, type GatewayLimits } from "bowline/gateway";
import type { Bus } from "./bus/bus.ts";
import { connectNats } from "./bus/nats-bus.ts";
import { SessionChoices } from "./engine/choices.ts";
import { createGatewayEngine } from "./engine/gateway-engine.ts";
import { NewsDesk, NewsWire } from "./engine/news.ts";
import { checkOptions, secretsIn, type ClusterOptions } from "./engine/options.ts";
import { ReadinessCheck } from "./engine/readiness.ts";
import { findMessage } from "./engine/sent-again.ts";
import { ClusterWorker } from "./engine/worker.ts";
import { Relay } from "./relay/relay.ts";
import { Subjects } from "./wire/subjects.ts";
import { RunPublisher } from "./worker/publisher.ts";

const DEFAULT_GRACE_MS = 25_000;
/** The time limit of a request to Restate, in milliseconds. */
const REQUEST_MS = 10_000;

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
    for (const end of ending) await end();
    throw error;
  }
}

/** Called at the end, in order. */
type Ending = () => unknown;

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
    report: options.onError ?? printing(filter),
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
    for (const end of this.#parts.ending) await end();
  }
}

interface Common {
  readonly options: ClusterOptions;
  readonly store: PostgresStore;
  readonly filter: SecretFilter;
  readonly report: (error: unknown) => void;
  readonly prefix: string;
  /** The subject of news. */
  readonly subject: string;
  readonly ending: Ending[];
}

/**
 * Connects to NATS. The two halves of a process have a connection each, since a connection does not
 * hear what it sent.
 */
async function connect({ options, ending }: Common): Promise<Bus> {
  const bus = await connectNats(options.nats);
  ending.unshift(() => bus.close());
  return bus;
}

async function startWorker(common: Common): Promise<ClusterWorker | undefined> {
  const { options, store, filter, report, prefix, subject, ending } = common;
  const { restate, clock = systemClock, createId = randomUUID } = options;
  if (restate.worker === undefined) return undefined;
  const bus = await connect(common);
  const limits = limitsOf(options);
  const { workspacePath: workingDir = process.cwd(), rules } = options;
  const publisher = new RunPublisher({ bus, prefix, filter, limits, clock, workingDir });
  const worker = new ClusterWorker({
    store,
    publisher,
    news: new NewsWire(bus, subject),
    host: {
      ...resolveAgents(options),
      rules: rules ?? (await loadRules()),
      isRuled: isListed(options) || rules !== undefined,
      limits,
      clock,
      createId,
    },
    restate,
    worker: restate.worker,
    clock,
    report,
  });
  ending.unshift(
    () => worker.close(),
    () => publisher.close(),
  );
  await worker.start();
  return worker;
}

async function startGateway(
  { options, store, report, prefix, subject }: Common,
  bus: Bus,
  readiness: ReadinessCheck,
): Promise<MountedGateway> {
  const { restate, workspacePath: workingDir = process.cwd(), maxRunsPerUser } = options;
  const { ingress, admin: adminUrl, headers, serviceName } = restate;
  const shared = { ingress, headers, serviceName, timeoutMs: REQUEST_MS };
  const front: MountEngineOptions = { ...frontOf(options), secrets: secretsIn(options) };
  return mountEngine(front, ({ clients, filter, limits, clock, createId }) => {
    const isCancelled = async (sessionKey: string, runId: string): Promise<boolean> =>
      (await findMessage(store, sessionKey, runId))?.state === "cancelled";
    const about = { bus, prefix, clients, store, filter, limits, clock, isCancelled };
    const relay = new Relay(about);
    const wire = new NewsWire(bus, subject);
    const parts = {
      store,
      restate: createRestateClient({ ...shared, store }),
      admin:
        adminUrl === undefined ? undefined : createRestateAdmin({ ...shared, admin: adminUrl }),
      relay,
      news: new NewsDesk({ wire, clients, relay, limits, clock, report }),
      agents: resolveAgents(options),
      choices: new SessionChoices(store),
      filter,
      limits,
      clock,
      createId,
      workingDir,
      maxRunsPerUser,
      report,
    };
    return createGatewayEngine(parts, readiness);
  });
}

/** Returns the options of the entry points. */
function frontOf(options: ClusterOptions): MountEngineOptions {
  const front: Readonly<Record<keyof MountEngineOptions, true>> = {
    authorize: true,
    clock: true,
    createId: true,
    exposed: true,
    limits: true,
    page: true,
    path: true,
    secrets: true,
    token: true,
    tokens: true,
    trustProxy: true,
    version: true,
  };
  return Object.fromEntries(Object.entries(options).filter(([name]) => Object.hasOwn(front, name)));
}

function limitsOf({ limits = {} }: ClusterOptions): GatewayLimits {
  const given = Object.entries(limits).filter(([, limit]) => limit !== undefined);
  return { ...defaultLimits, ...Object.fromEntries(given) };
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
