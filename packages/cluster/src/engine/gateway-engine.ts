/** The engine behind the entry points of a gateway in a cluster. */
import type { Clock } from "@bowline/core";
import type { RestateAdmin } from "@bowline/restate";
import type { Engine } from "bowline/engine";
import { AnswerSweep } from "./answer-sweep.ts";
import { ClusterApprovals } from "./approvals.ts";
import { LostSweep } from "./lost-sweep.ts";
import type { GatewayParts } from "./parts.ts";
import type { ReadinessCheck } from "./readiness.ts";
import { ClusterRuns } from "./runs.ts";
import { ClusterSessions } from "./sessions.ts";
import { Sweeper } from "./sweeper.ts";

/** How long to wait for requests in progress at a shutdown, in milliseconds. */
const CLOSE_MS = 2000;

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
      const lost = admin === undefined ? [] : [new LostSweep({ ...parts, admin })];
      sweeper = new Sweeper({ ...parts, others: [new AnswerSweep(parts), ...lost] });
      watching = admin && watch(admin, stopping.signal, { news, report });
    },
    tick() {},
    closing: () => news.flush(),
    async close() {
      stopping.abort();
      // A request to Restate may take long to fail; it changes nothing any more.
      await withinMs(CLOSE_MS, Promise.all([sweeper?.close(), watching]), parts.clock);
      news.close();
      relay.close();
    },
  };
}

async function withinMs(ms: number, work: Promise<unknown>, clock: Clock): Promise<void> {
  let stop = (): void => {};
  const late = new Promise<void>((resolve) => (stop = clock.setTimer(ms, resolve)));
  await Promise.race([work, late]);
  stop();
}

/** Ends runs that cannot go on. All gateways do it; a run that was ended is not ended again. */
async function watch(
  admin: RestateAdmin,
  signal: AbortSignal,
  { news, report }: Pick<GatewayParts, "news" | "report">,
): Promise<void> {
  await admin.watch({
    signal,
    onError: report,
    // No worker tells the end. Clients read then which messages wait.
    onEnded({ sessionId: sessionKey, runId }) {
      if (runId !== undefined) news.over(sessionKey, runId);
      news.changed({ sessionKey, change: "updated" });
    },
  });
}
