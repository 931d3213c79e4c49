/** Starts the half of a process that runs agents. */
import { randomUUID } from "node:crypto";
import { systemClock } from "@bowline/core";
import { isListed, resolveAgents } from "bowline/engine";
import { defaultLimits, loadRules, type GatewayLimits } from "bowline/gateway";
import { RunPublisher } from "../worker/publisher.ts";
import { connect, type Common } from "./common.ts";
import { NewsWire } from "./news.ts";
import type { ClusterOptions } from "./options.ts";
import { remembers, SharedRules } from "./shared-rules.ts";
import { ClusterWorker } from "./worker.ts";

/** Undefined without a worker in the options. */
export async function startWorker(common: Common): Promise<ClusterWorker | undefined> {
  const { options, store, filter, report, prefix, subject, ending } = common;
  const { restate, clock = systemClock, createId = randomUUID } = options;
  if (restate.worker === undefined) return undefined;
  const bus = await connect(common);
  const limits = limitsOf(options);
  const { workspacePath: workingDir = process.cwd() } = options;
  const rules = options.rules ?? (await loadRules());
  const patterns = remembers(rules);
  const publisher = new RunPublisher({ bus, prefix, filter, limits, clock, workingDir, patterns });
  const worker = new ClusterWorker({
    store,
    publisher,
    news: new NewsWire(bus, subject),
    host: {
      ...resolveAgents(options),
      rules: new SharedRules({ rules, durable: store.durable, clock, report }),
      isRuled: isListed(options) || options.rules !== undefined,
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

function limitsOf({ limits = {} }: ClusterOptions): GatewayLimits {
  const given = Object.entries(limits).filter(([, limit]) => limit !== undefined);
  return { ...defaultLimits, ...Object.fromEntries(given) };
}
