/** The engine behind the entry points of a gateway in a cluster. */
import type { RestateAdmin } from "@bowline/restate";
import type { Engine } from "bowline/engine";
import { ClusterApprovals } from "./approvals.ts";
import type { GatewayParts } from "./parts.ts";
import type { ReadinessCheck } from "./readiness.ts";
import { ClusterRuns } from "./runs.ts";
import { ClusterSessions } from "./sessions.ts";
import { Sweeper } from "./sweeper.ts";

export function createGatewayEngine(parts: GatewayParts, readiness: ReadinessCheck): Engine {
  const { store, agents, relay, news, admin, report } = parts;
  const runs = new ClusterRuns(parts);
  const stopping = new AbortController();
  let sweeper: Sweeper | undefined;
  let watching: Promise<void> | undefined;
  return {
    runs,
    approvals: new ClusterApprovals(parts),
    sessions: new ClusterSessions(parts, runs),
    store,
    agents: agents.agents,
    backendFor: agents.backendFor,
    modelFor: agents.modelFor,
    ready: () => readiness.ready(),
    async open() {
      await store.durable.countRuns(); // rejects without a database
      sweeper = new Sweeper(parts);
      watching = admin && watch(admin, stopping.signal, report);
    },
    tick() {},
    closing: () => news.flush(),
    async close() {
      stopping.abort();
      await Promise.all([sweeper?.close(), watching]);
      news.close();
      relay.close();
    },
  };
}

/** Ends runs that cannot go on. All gateways do it; a run that was ended is not ended again. */
async function watch(
  admin: RestateAdmin,
  signal: AbortSignal,
  report: (error: unknown) => void,
): Promise<void> {
  await admin.watch({ signal, onError: report });
}
