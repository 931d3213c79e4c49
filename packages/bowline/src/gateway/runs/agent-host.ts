/** What the agents of runs are made from and given. */
import type { Clock } from "@bowline/core";
import type { ResolvedAgents } from "../agents/resolve-agents.ts";
import type { GatewayLimits } from "../protocol/limits.ts";
import type { Call } from "../../policy/policy.ts";
import type { Rules } from "../../policy/rules.ts";

type Judged = ReturnType<Rules["judge"]>;

/** The rules of a run's agent. A cluster reads those that people added from its database. */
export interface RunRules {
  judge(call: Call): Judged | Promise<Judged>;
}

export interface AgentHost extends ResolvedAgents {
  readonly rules: RunRules;
  /** True if the application gave the rules, or gave agents as a list, which always has rules. */
  readonly isRuled: boolean;
  readonly limits: GatewayLimits;
  readonly clock: Clock;
  readonly createId: () => string;
}
