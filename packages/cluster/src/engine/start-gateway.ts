/** Starts the half of a process that serves clients. */
import { createRestateAdmin, createRestateClient } from "@bowline/restate";
import { loadRules } from "bowline/gateway";
import {
  mountEngine,
  resolveAgents,
  type MountedGateway,
  type MountEngineOptions,
} from "bowline/engine";
import type { Bus } from "../bus/bus.ts";
import { Relay } from "../relay/relay.ts";
import { SessionChoices } from "./choices.ts";
import type { Common } from "./common.ts";
import { createGatewayEngine } from "./gateway-engine.ts";
import { InOrder } from "./in-order.ts";
import { NewsDesk, NewsWire } from "./news.ts";
import { openRunsFor } from "./open-runs.ts";
import { secretsIn, type ClusterOptions } from "./options.ts";
import type { ReadinessCheck } from "./readiness.ts";
import { findMessage } from "./sent-again.ts";
import { remembers } from "./shared-rules.ts";

/** The time limit of a request to Restate, in milliseconds. */
const REQUEST_MS = 10_000;

export async function startGateway(
  { options, store, report, prefix, subject }: Common,
  bus: Bus,
  readiness: ReadinessCheck,
): Promise<MountedGateway> {
  const { restate, workspacePath: workingDir = process.cwd(), maxRunsPerUser } = options;
  const { ingress, admin: adminUrl, headers, serviceName } = restate;
  const shared = { ingress, headers, serviceName, timeoutMs: REQUEST_MS };
  const isRemembering = remembers(options.rules ?? (await loadRules()));
  const front: MountEngineOptions = { ...frontOf(options), secrets: secretsIn(options) };
  return mountEngine(front, ({ clients, filter, limits, clock, createId }) => {
    const isCancelled = async (sessionKey: string, runId: string): Promise<boolean> =>
      (await findMessage(store, sessionKey, runId))?.state === "cancelled";
    const about = { bus, prefix, clients, store, filter, limits, clock };
    const relay = new Relay({
      ...about,
      isCancelled,
      openRuns: (...asked) => openRunsFor({ store, filter, limits }, ...asked),
    });
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
      inOrder: new InOrder(),
      workingDir,
      isRemembering,
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
