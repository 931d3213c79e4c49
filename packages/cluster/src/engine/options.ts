/** The options of a cluster. Unknown names are refused, not ignored. */
import { BowlineError } from "@bowline/core";
import { checkNames } from "@bowline/core/agent";
import type { PostgresStore, PostgresStoreOptions } from "@bowline/postgres";
import { checkAgents, type AgentOptions, type MountEngineOptions } from "bowline/engine";
import { defaultLimits, type Rules } from "bowline/gateway";
import type { NatsOptions } from "../bus/nats-options.ts";

/** What a process of a cluster does. */
export type ClusterRole = "both" | "gateway" | "worker";

/** The endpoint through which Restate runs agents in this process. */
export interface ClusterWorkerOptions {
  /** The address to listen on. Default `127.0.0.1`. */
  readonly host?: string;
  /** The port to listen on. 0 takes a free one. */
  readonly port: number;
  /** How Restate reaches this worker. Default: `http://host:port`. */
  readonly url?: string;
  /** Whether the worker registers its `url` at Restate's `admin` when it starts. Default true. */
  readonly register?: boolean;
  /** The public keys of the Restate servers that may call, such as `publickeyv1_…`. Default: anyone may. */
  readonly identityKeys?: readonly string[];
}

export interface ClusterRestateOptions {
  /** The address of Restate's ingress, such as `http://restate:8080`. */
  readonly ingress: string;
  /**
   * The address of Restate's admin interface, such as `http://restate:9070`. Needed to register
   * workers, to end runs that cannot go on, and to delete journals with their sessions.
   */
  readonly admin?: string;
  /** Headers for Restate, such as `authorization`. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The name of the virtual object. Default `bowline`. */
  readonly serviceName?: string;
  /** Needed unless the role is `gateway`. */
  readonly worker?: ClusterWorkerOptions;
}

interface SharedClusterOptions extends MountEngineOptions {
  /** The sessions. A store that you pass is not closed. */
  readonly postgres: PostgresStoreOptions | PostgresStore;
  readonly restate: ClusterRestateOptions;
  readonly nats: NatsOptions;
  /**
   * `gateway` serves clients, `worker` runs agents, `both` does both. A worker has no clients:
   * `handleRequest` and `handleUpgrade` return false. Default `both`.
   */
  readonly role?: ClusterRole;
  /**
   * Decides which calls run without approval, in workers. The same in all of them. Default: as in
   * `createGateway`.
   */
  readonly rules?: Rules;
  /** The folder in which tools work. Approvals show it. Default: the current folder. */
  readonly workspacePath?: string;
  /**
   * The most running and queued runs of a user, over the whole cluster. A user is what `authorize`
   * names. Further messages are refused with `busy`. Default: no limit.
   */
  readonly maxRunsPerUser?: number;
  /**
   * The first part of the subjects in NATS. The same in all processes of a cluster. Default `bowline`.
   */
  readonly prefix?: string;
  /**
   * Called with errors of the work in the background, such as telling Restate of messages that wait.
   * The work is retried, and errors of this function are ignored. Default: prints them to standard
   * error, with secrets redacted.
   */
  readonly onError?: (error: unknown) => void;
}

/** Agents are given as in `createGateway`: functions that make them, or a list with models. */
export type ClusterOptions = SharedClusterOptions & AgentOptions;

type Name<T> = T extends unknown ? keyof T : never;

const names: Readonly<Record<Name<ClusterOptions>, true>> = {
  agents: true,
  authorize: true,
  backendFor: true,
  checkCall: true,
  clock: true,
  createId: true,
  exposed: true,
  limits: true,
  maxRunsPerUser: true,
  nats: true,
  onError: true,
  page: true,
  path: true,
  postgres: true,
  prefix: true,
  providers: true,
  restate: true,
  role: true,
  rules: true,
  secrets: true,
  systemPrompt: true,
  token: true,
  tokens: true,
  tools: true,
  trustProxy: true,
  version: true,
  workspacePath: true,
};
const restateNames: Readonly<Record<keyof ClusterRestateOptions, true>> = {
  ingress: true,
  admin: true,
  headers: true,
  serviceName: true,
  worker: true,
};
const workerNames: Readonly<Record<keyof ClusterWorkerOptions, true>> = {
  host: true,
  port: true,
  url: true,
  register: true,
  identityKeys: true,
};

/** Throws `invalid_argument` for options that cannot work. */
export function checkOptions(options: ClusterOptions): void {
  checkNames(options, Object.keys(names));
  checkNames(options.limits ?? {}, Object.keys(defaultLimits), "limit");
  checkAgents(options);
  const { restate, role = "both", maxRunsPerUser, postgres, nats } = options;
  for (const [name, value] of Object.entries({ restate, postgres, nats }))
    if (typeof value !== "object" || value === null)
      throw invalid(`The option ${name} is missing. It says where the server is.`);
  checkNames(restate, Object.keys(restateNames), "option of restate:");
  if (role !== "both" && role !== "gateway" && role !== "worker")
    throw invalid('The option role must be "both", "gateway" or "worker".');
  for (const name of ["ingress", "admin"] as const) {
    const url = restate[name];
    if ((url !== undefined || name === "ingress") && !URL.canParse(String(url)))
      throw invalid(`The option restate.${name} must be a URL.`);
  }
  if (role !== "gateway") checkWorker(restate);
  if (maxRunsPerUser !== undefined && !(Number.isSafeInteger(maxRunsPerUser) && maxRunsPerUser > 0))
    throw invalid("The option maxRunsPerUser must be a whole number of at least 1.");
}

function checkWorker({ worker, admin }: ClusterRestateOptions): void {
  if (worker === undefined)
    throw invalid(
      'The option restate.worker is missing. A process that runs agents needs a port; one that does not has the role "gateway".',
    );
  checkNames(worker, Object.keys(workerNames), "option of restate.worker:");
  const { port, url, register = true } = worker;
  if (!(Number.isInteger(port) && port >= 0 && port <= 65_535))
    throw invalid("The option restate.worker.port must be a port number.");
  if (url !== undefined && !URL.canParse(url))
    throw invalid("The option restate.worker.url must be a URL.");
  if (register && admin === undefined)
    throw invalid(
      "The option restate.admin is missing. Pass it, or restate.worker.register: false if you register workers yourself.",
    );
}

function invalid(message: string): BowlineError {
  return new BowlineError("invalid_argument", message);
}

/** Returns the secrets of the options, which are redacted from everything that leaves the process. */
export function secretsIn(options: ClusterOptions): string[] {
  const { token, tokens, secrets = [], postgres, restate, nats } = options;
  const { connectionString, config } = postgres as PostgresStoreOptions;
  const url =
    connectionString !== undefined && URL.canParse(connectionString)
      ? new URL(connectionString)
      : undefined;
  const password = config?.password;
  const header = restate.headers?.authorization ?? restate.headers?.Authorization;
  const known = [
    ...secrets,
    token,
    ...Object.values(tokens ?? {}),
    url && decodeURIComponent(url.password),
    typeof password === "string" ? password : undefined,
    nats.pass,
    nats.token,
    header?.split(" ").at(-1),
  ];
  return known.filter((secret): secret is string => typeof secret === "string" && secret !== "");
}
