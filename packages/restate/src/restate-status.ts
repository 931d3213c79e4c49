/** What Restate knows of the workers and of runs that do not get on. */
import type { AdminRequests } from "./admin-requests.ts";

/** A version of the workers' code, which Restate reaches at one address. */
export interface Deployment {
  readonly id: string;
  readonly url: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Open runs that only this deployment can continue. */
  readonly openRuns: number;
  /** Whether new runs begin here. */
  readonly isCurrent: boolean;
}

/** A run whose attempts fail. */
export interface FailingRun {
  readonly sessionId: string;
  readonly invocationId: string;
  readonly attempts: number;
  /** What Restate says of the last attempt. */
  readonly failure: string;
}

export interface RestateStatus {
  readonly version: string;
  /** Nodes that are up. */
  readonly nodes: number;
  /** Those of the service, the latest first. */
  readonly deployments: readonly Deployment[];
  /** At most 100, those with the most attempts first. */
  readonly failing: readonly FailingRun[];
}

interface StatusQuery {
  readonly serviceName: string;
  /** Failed attempts from which a run is reported. */
  readonly attempts: number;
}

interface ListedDeployments {
  readonly deployments: readonly {
    readonly id: string;
    readonly uri?: string;
    readonly arn?: string;
    readonly created_at: string;
    readonly services: readonly { readonly name: string }[];
  }[];
}

export async function readRestateStatus(
  requests: AdminRequests,
  { serviceName, attempts }: StatusQuery,
): Promise<RestateStatus> {
  const ofService = `target_service_name = '${serviceName}'`;
  const [version, health, listed, service, pinned, failing] = await Promise.all([
    requests.send("GET", "/version") as Promise<{ readonly version: string }>,
    requests.send("GET", "/cluster-health") as Promise<ClusterHealth>,
    requests.send("GET", "/deployments") as Promise<ListedDeployments>,
    requests.query(`select deployment_id from sys_service where name = '${serviceName}'`),
    requests.query(`select pinned_deployment_id as id, count(*) as runs from sys_invocation
      where ${ofService} and status <> 'completed' and pinned_deployment_id is not null group by 1`),
    requests.query(`select id, target_service_key, retry_count, last_failure from sys_invocation
      where ${ofService} and status in ('backing-off', 'running', 'paused')
      and retry_count >= ${attempts} and last_failure is not null
      order by retry_count desc limit 100`),
  ]);
  const runs = new Map(pinned.map(({ id, runs: count }) => [id, Number(count)]));
  const current = service[0]?.deployment_id;
  return {
    version: version.version,
    nodes: health.metadata_cluster_health?.members.length ?? 1,
    deployments: listed.deployments
      .filter(({ services }) => services.some(({ name }) => name === serviceName))
      .map(({ id, uri, arn, created_at: createdAt }) => ({
        id,
        url: uri ?? arn ?? "",
        createdAt: Date.parse(createdAt),
        openRuns: runs.get(id) ?? 0,
        isCurrent: id === current,
      }))
      .toSorted((a, b) => b.createdAt - a.createdAt),
    failing: failing.map((row) => ({
      sessionId: row.target_service_key ?? "",
      invocationId: row.id ?? "",
      attempts: Number(row.retry_count),
      failure: row.last_failure ?? "",
    })),
  };
}

interface ClusterHealth {
  /** Absent for a server that is no cluster. */
  readonly metadata_cluster_health?: { readonly members: readonly number[] } | null;
}
