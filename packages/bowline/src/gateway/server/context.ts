/** Creates the engine of one process: stores, agents, models and the listeners to events. */
import { createMemoryStore } from "@bowline/core/session";
import { isListed } from "../agents/agent-options.ts";
import { resolveAgents } from "../agents/resolve-agents.ts";
import { Approvals } from "../approvals/approvals.ts";
import { Choices } from "../agents/choices.ts";
import type { Host } from "../runs/host.ts";
import type { Engine } from "../engine/engine.ts";
import type { EnginePorts } from "../engine/engine-ports.ts";
import type { Listeners } from "./listeners.ts";
import { createMemoryPending } from "../runs/pending.ts";
import { loadRules } from "../../policy/rules.ts";
import type { DoorOptions } from "./options.ts";
import { Runs } from "../runs/runs.ts";
import { SessionChanges } from "../runs/session-changes.ts";
import { Sessions } from "../sessions/sessions.ts";

interface Ports extends Omit<EnginePorts, "clients"> {
  readonly clients: Listeners;
}

/** What the methods and runs of one process share. */
export interface MethodContext extends Host, Engine {
  readonly runs: Runs;
  readonly sessions: Sessions;
  readonly approvals: Approvals;
}

export async function createContext(options: DoorOptions, ports: Ports): Promise<MethodContext> {
  const { store = createMemoryStore(), workspacePath = process.cwd() } = options;
  const { limits, clock, createId, filter, clients } = ports;
  const { rules = await loadRules(), pending = createMemoryPending() } = options;
  const host: Host = {
    store,
    pending,
    rules,
    isRuled: isListed(options) || options.rules !== undefined,
    filter,
    limits,
    clock,
    createId,
    workspacePath,
    ...resolveAgents(options),
    approvals: new Approvals(rules, filter, workspacePath),
    choices: new Choices(store),
    publish: (...told) => clients.publish(...told),
    sessionChanges: new SessionChanges(clock, (change) =>
      clients.broadcast("sessions.changed", change),
    ),
  };
  const runs = new Runs(host);
  const sessions = new Sessions(host, runs);
  return {
    ...host,
    runs,
    sessions,
    open: () => runs.restore(),
    tick: () => runs.forgetEnded(),
    closing: () => host.sessionChanges.close(),
    close: () => runs.close(),
  };
}
