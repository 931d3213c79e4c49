/** The state of a cluster's parts, as an operator asks for it. Changes nothing. */
import { setTimeout } from "node:timers/promises";
import { createPostgresStore, type PostgresStoreOptions, type ServerInfo } from "@bowline/postgres";
import { createRestateAdmin, type RestateStatus } from "@bowline/restate";
import { openNats } from "../bus/nats-connection.ts";
import type { NatsOptions } from "../bus/nats-options.ts";

/** Where the parts are: options of `createCluster`. */
export interface ClusterParts {
  readonly postgres: PostgresStoreOptions;
  readonly restate: {
    readonly ingress: string;
    /** Without it, the deployments and failing runs are unknown. */
    readonly admin?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly serviceName?: string;
  };
  readonly nats: NatsOptions;
}

/** What a part says of itself; or that it is not ready, and why. */
export type PartStatus<T> =
  | ({ readonly isReady: true } & T)
  | { readonly isReady: false; readonly message: string };

export interface ClusterStatus {
  /** Whether all parts are ready, the tables are current, and a worker is registered. */
  readonly isReady: boolean;
  readonly postgres: PartStatus<PostgresStatus>;
  readonly restate: PartStatus<Partial<RestateStatus>>;
  readonly nats: PartStatus<NatsStatus>;
}

export interface PostgresStatus extends ServerInfo {
  readonly runs: { readonly queued: number; readonly running: number };
  /** Approvals that people have to answer, counted up to 10,000. */
  readonly openApprovals: number;
}

export interface NatsStatus {
  readonly version: string;
  /** The server that answered, and the others of its cluster that it knows. */
  readonly servers: readonly string[];
}

/** The time limit of each part, in milliseconds. */
const LIMIT_MS = 5000;
const MAX_APPROVALS = 10_000;

/**
 * Asks all parts at once, each for at most 5 s. Never rejects for a part that does not answer. Rejects
 * with `invalid_argument` for options that cannot work.
 */
export async function readClusterStatus(parts: ClusterParts): Promise<ClusterStatus> {
  const [postgres, restate, nats] = await Promise.all([
    postgresStatus(parts.postgres),
    restateStatus(parts.restate),
    natsStatus(parts.nats),
  ]);
  const isReady = postgres.isReady && restate.isReady && nats.isReady;
  return { isReady, postgres, restate, nats };
}

async function postgresStatus(options: PostgresStoreOptions): Promise<PartStatus<PostgresStatus>> {
  const limits = { retryMs: 0, timeoutMs: LIMIT_MS, migrations: "manual" } as const;
  const store = createPostgresStore({ ...options, ...limits });
  try {
    return await part(async () => {
      const pending = await store.pendingMigrations();
      if (pending > 0)
        throw new Error(
          `The tables are ${pending} version(s) behind. A process of the cluster upgrades them at its start.`,
        );
      const [info, runs, approvals] = await Promise.all([
        store.serverInfo(),
        store.durable.countRuns(),
        store.durable.openApprovals({ limit: MAX_APPROVALS }),
      ]);
      return { ...info, runs, openApprovals: approvals.length };
    });
  } finally {
    await store.close();
  }
}

async function restateStatus({
  ingress,
  admin: address,
  ...options
}: ClusterParts["restate"]): Promise<PartStatus<Partial<RestateStatus>>> {
  const admin =
    address === undefined
      ? undefined
      : createRestateAdmin({ ...options, ingress, admin: address, timeoutMs: LIMIT_MS });
  return part(async () => {
    await assertHealthy(ingress, options.headers);
    const status = await admin?.status();
    if (status?.deployments.length === 0)
      throw new Error("No worker is registered. Start one, or register it with Restate.");
    return { ...status };
  });
}

async function assertHealthy(
  ingress: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const url = `${ingress.replace(/\/$/, "")}/restate/health`;
  const signal = AbortSignal.timeout(LIMIT_MS);
  let response: Response;
  try {
    response = await fetch(url, { headers, signal });
    await response.arrayBuffer();
  } catch (error) {
    throw new Error(`Restate's ingress does not answer: ${causeOf(error)}.`, { cause: error });
  }
  if (!response.ok) throw new Error(`Restate's ingress answered ${response.status}.`);
}

async function natsStatus(options: NatsOptions): Promise<PartStatus<NatsStatus>> {
  return part(async () => {
    const connection = await openNats({ ...options, timeoutMs: LIMIT_MS });
    try {
      await connection.flush();
      const { info } = connection;
      const others = (info?.connect_urls ?? []).map(String);
      return {
        version: info?.version ?? "",
        servers: [...new Set([connection.getServer(), ...others])].toSorted(),
      };
    } finally {
      await connection.close();
    }
  });
}

async function part<T extends object>(ask: () => Promise<T>): Promise<PartStatus<T>> {
  const stop = new AbortController();
  try {
    return { isReady: true, ...(await Promise.race([ask(), late(stop.signal)])) };
  } catch (error) {
    return { isReady: false, message: error instanceof Error ? error.message : String(error) };
  } finally {
    stop.abort();
  }
}

/** Rejects after the limit. */
async function late(signal: AbortSignal): Promise<never> {
  await setTimeout(LIMIT_MS, undefined, { signal });
  throw new Error(`It did not answer in ${LIMIT_MS / 1000} s.`);
}

/** `fetch` says only that it failed; the reason is in its cause. */
function causeOf(error: unknown): string {
  const { cause, message } = error as Error;
  const { code } = (cause ?? {}) as NodeJS.ErrnoException;
  return code ?? message;
}
