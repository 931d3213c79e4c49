/**
 * Known defects that worlds keep clear of until they are mended: each a name, the reason, and either how a plan avoids it or
 * which findings it explains. Whoever mends one takes its entry away.
 */
import type { AgentPlan, HookPlan, ListenerPlan, Plan } from "./plan.ts";
import type { Finding } from "./report.ts";

export interface Exclusion {
  readonly name: string;
  readonly because: string;
  /** `isNested`: the agent is a tool of another. */
  avoid?(plan: AgentPlan, world: Plan, isNested: boolean): AgentPlan;
  explains?(finding: Finding): boolean;
}

export const exclusions: readonly Exclusion[] = [
  {
    name: "live streams that slow listeners hear late",
    because: "an answer that is given up is stored with what its stream has said, not with what was published of it",
    avoid(plan, { agents }) {
      if (agents.every(({ listeners }) => listeners.length === 0) && plan.listeners.length === 0) return plan;
      const silent = Array.from({ length: 10 }, () => ({ parts: [] }));
      return { ...plan, answers: [...plan.answers, ...silent].map((answer) => ({ shape: "batches", ...answer })) };
    },
  },
  {
    name: "an event that a listener holds for longer than its time",
    because: "listeners after it get that event later than the next one, or never; the caller's of a nested run, too",
    // The order of the agent's own last listener is not checked then.
    avoid: (plan, _world, isNested) => (isNested ? { ...plan, listeners: plan.listeners.filter(isQuick) } : plan),
  },
  {
    name: "a queue's hook that answers when it is no longer waited for",
    because: "what it took from the caller's queue is lost",
    avoid: (plan) => ({ ...plan, hooks: plan.hooks.map(withoutWait(/Messages$/)) }),
  },
];

/** Hooks of these names answer at once. */
function withoutWait(names: RegExp): (hook: HookPlan) => HookPlan {
  return ({ wait, ...hook }) => (wait === undefined || names.test(hook.hook) ? hook : { ...hook, wait });
}

function isQuick({ does }: ListenerPlan): boolean {
  return does === "throws" || does === "leaves";
}
