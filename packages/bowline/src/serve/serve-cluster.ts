/**
 * `bowline serve --cluster`: the workspace's agents as one of many processes, which share the runs
 * through PostgreSQL, Restate and NATS.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";
import { BowlineError, systemClock } from "@bowline/core";
import { makeFolder } from "@bowline/core/session/node";
import { set } from "../defined.ts";
import { createPage } from "../page/node/page.ts";
import { secretsOf } from "../secrets.ts";
import { inUrl, isLoopbackName } from "../gateway/access/origin.ts";
import type { Tokens } from "../gateway/access/tokens.ts";
import { defaultLimits, type GatewayLimits } from "../gateway/protocol/limits.ts";
import { createHttpServer, type HttpServer } from "../gateway/server/http-server.ts";
import {
  loadClusterPackage,
  type ClusterConfig,
  type RunningCluster,
} from "./cluster/cluster-package.ts";
import type { Role } from "./cluster/config-fields.ts";
import { answerProbe } from "./cluster/probes.ts";
import { readClusterConfig } from "./cluster/read-config.ts";
import { tokensOf } from "./own-token.ts";
import {
  agentsOf,
  inFolder,
  noticesOf,
  openDesk,
  rulesOf,
  settingsOf,
  type Notice,
  type ServeSettings,
} from "./serve-settings.ts";
import type { ServeOptions } from "./serve.ts";

export interface ServeClusterOptions extends ServeOptions {
  /** The file that says where the parts of the cluster are. */
  readonly cluster: string;
  /** What this process is. Default: that of the file, else `both`. */
  readonly role?: Role;
}

export interface ServedCluster {
  readonly role: Role;
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Whether other machines can reach the server. */
  readonly isExposed: boolean;
  readonly workspace: string;
  /** Workspace files that were created. */
  readonly made: readonly string[];
  readonly notices: readonly Notice[];
  /**
   * Takes no new runs and lets running steps end, then closes the connections. `/ready` answers 503
   * from the beginning.
   */
  stop(reason?: string): Promise<void>;
}

const HTTP_GRACE_MS = 2000;

/**
 * Starts the process. Rejects with `CommandError` for a wrong file or missing packages, with
 * `invalid_argument` for invalid options, and with `connection_failed` if a part of the cluster does
 * not answer.
 */
export async function serveCluster(options: ServeClusterOptions): Promise<ServedCluster> {
  const { print = () => {} } = options;
  const settings = await settingsOf(options);
  const { env, home, workspace, host, backends } = settings;
  const { config, secrets } = await readClusterConfig(options.cluster, env);
  const role = options.role ?? config.role ?? "both";
  const isExposed = assertExposed(host, options.exposed === true);
  const tokens = role === "worker" ? undefined : tokensFrom(env);
  const clusters = await loadClusterPackage();
  const made = await openDesk(options, settings);
  await inFolder(home, () => makeFolder(home));
  const { rules, notices: ruleNotices } = await rulesOf(options, settings);
  const { drain, ...parts } = config;
  const limits = { ...config.limits, ...options.limits };
  const cluster = await clusters.createCluster({
    ...parts,
    ...agentsOf(options, settings, rules),
    ...frontOf(options, env, tokens, secrets),
    limits,
    role,
  });
  const server = await listen(cluster, limits, settings).catch(async (error: unknown) => {
    await cluster.close();
    await backends.close();
    throw error;
  });
  const { port } = server.server.address() as AddressInfo;
  const { notices } = await noticesOf(settings, ruleNotices);
  const served: ServedCluster = {
    role,
    url: `http://${inUrl(host)}:${port}`,
    host,
    port,
    isExposed,
    workspace,
    made,
    notices,
    async stop(reason) {
      await drained(cluster, drain);
      await cluster.close(reason);
      await server.close(HTTP_GRACE_MS);
      await backends.close();
    },
  };
  greet(served, config, print);
  return served;
}

/** `/ready` answers 503 for at least `notReadyMs`, so that a load balancer notices. */
async function drained(
  cluster: RunningCluster,
  { notReadyMs = 0, graceMs }: NonNullable<ClusterConfig["drain"]> = {},
): Promise<void> {
  await Promise.all([
    cluster.drain(graceMs === undefined ? {} : { graceMs }),
    setTimeout(notReadyMs),
  ]);
}

function frontOf(
  { page = createPage(), version, exposed = false, trustProxy }: ServeClusterOptions,
  env: ServeSettings["env"],
  tokens: Tokens | undefined,
  secrets: readonly string[],
) {
  const { full, read } = tokens ?? {};
  const own = [full, read, ...secrets].filter((secret) => secret !== undefined);
  return {
    ...(tokens && { tokens }),
    page,
    exposed,
    ...(version !== undefined && { version }),
    ...(trustProxy && { trustProxy }),
    secrets: secretsOf(env, own),
  };
}

/** Each gateway must accept the same tokens, so none is generated. */
function tokensFrom(env: ServeSettings["env"]): Tokens {
  const full = set(env.BOWLINE_TOKEN);
  if (full === undefined)
    throw new BowlineError(
      "invalid_argument",
      "All gateways of a cluster need the same token. Set BOWLINE_TOKEN.",
    );
  return tokensOf(full, set(env.BOWLINE_READ_TOKEN));
}

/** Returns whether other machines can reach the host. */
function assertExposed(host: string, mayBeExposed: boolean): boolean {
  const isExposed = !isLoopbackName(host);
  if (isExposed && !mayBeExposed)
    throw new BowlineError(
      "invalid_argument",
      `${host} can be reached by other machines: pass --expose (exposed: true) to allow that.`,
    );
  return isExposed;
}

async function listen(
  cluster: RunningCluster,
  limits: Partial<GatewayLimits>,
  { host, port }: ServeSettings,
): Promise<HttpServer> {
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    if (!cluster.handleRequest(request, response)) void answerProbe(cluster, request, response);
  };
  const http = createHttpServer(answer, { ...defaultLimits, ...limits }, systemClock);
  http.server.on("upgrade", (request, socket, head) => {
    if (!cluster.handleUpgrade(request, socket, head)) socket.destroy();
  });
  await http.listen(port, host);
  return http;
}

function greet(
  { role, url, isExposed, workspace, made, notices }: ServedCluster,
  { restate }: ClusterConfig,
  print: (line: string) => void,
): void {
  const reach = isExposed ? " (other machines can reach it)" : "";
  if (role === "worker") print(`Health checks on ${url}/ready${reach}`);
  else {
    print(`Listening on ${url}${reach}`);
    print(`Token: BOWLINE_TOKEN. Open ${url}/`);
  }
  const { host = "127.0.0.1", port } = restate.worker ?? {};
  if (role !== "gateway") print(`Worker: listens for Restate on ${host}:${port}`);
  print(`Workspace: ${workspace}${made.length > 0 ? ` (made ${made.join(", ")})` : ""}`);
  for (const { agent, message } of notices) print(`${agent}: ${message}`);
}
