/** `bowline cluster status`: the state of a cluster's parts. */
import { explained } from "../command-error.ts";
import { loadClusterPackage, type ClusterStatus } from "../serve/cluster/cluster-package.ts";
import { readClusterConfig } from "../serve/cluster/read-config.ts";
import { oneLine, printableJson } from "../terminal.ts";
import { parseClusterOptions } from "./cluster-options.ts";
import { exitCode } from "./exit.ts";
import { clusterHelp } from "./help.ts";

/** Returns the exit code. Throws `UsageError` and `CommandError` for errors that fit one line. */
export async function cluster(args: readonly string[], host: NodeJS.Process): Promise<number> {
  const options = parseClusterOptions(args);
  if (options.help) {
    host.stdout.write(clusterHelp());
    return exitCode.done;
  }
  const { config } = await readClusterConfig(options.cluster, host.env);
  const { postgres, restate, nats } = config;
  const { ingress, admin, headers, serviceName } = restate;
  const clusters = await loadClusterPackage();
  const status = await explained(() =>
    clusters.readClusterStatus({
      postgres,
      nats,
      restate: {
        ingress,
        ...(admin !== undefined && { admin }),
        ...(headers !== undefined && { headers }),
        ...(serviceName !== undefined && { serviceName }),
      },
    }),
  );
  const lines = options.json ? [printableJson(status)] : linesOf(status);
  host.stdout.write(lines.map((text) => `${text}\n`).join(""));
  return status.isReady ? exitCode.done : exitCode.failed;
}

function linesOf({ postgres, restate, nats }: ClusterStatus): string[] {
  return [
    line(
      "PostgreSQL",
      postgres,
      ({ version, connections, maxConnections, runs, openApprovals }) =>
        `${version}, ${connections} of ${maxConnections} connections, ${runs.running} running, ${runs.queued} queued, ${openApprovals} to approve`,
    ),
    line("Restate", restate, ({ version, nodes, deployments, failing }) =>
      version === undefined
        ? "no admin address in the file, so workers are unknown"
        : `${version}, ${nodes} node(s), ${deployments?.length} deployment(s), ${failing?.length} failing run(s)`,
    ),
    ...(restate.isReady ? workersOf(restate) : []),
    line("NATS", nats, ({ version, servers }) => `${version}, ${servers.join(" ")}`),
  ];
}

function workersOf({
  deployments = [],
  failing = [],
}: Extract<ClusterStatus["restate"], { isReady: true }>): string[] {
  return [
    ...deployments.map(({ url, openRuns, isCurrent }) => {
      const runs = isCurrent ? "takes new runs" : "takes no new runs";
      return oneLine(`Workers at ${url}: ${openRuns} open run(s), ${runs}`, 1000);
    }),
    ...failing.map(({ sessionId, attempts, failure }) =>
      oneLine(`Failing run in session ${sessionId}, ${attempts} attempts: ${failure}`, 1000),
    ),
  ];
}

type Part<T> =
  | ({ readonly isReady: true } & T)
  | { readonly isReady: false; readonly message: string };

function line<T>(name: string, part: Part<T>, say: (part: T) => string): string {
  const state = part.isReady ? `ready, ${say(part)}` : `not ready: ${part.message}`;
  return oneLine(`${name}: ${state}`, 1000);
}
