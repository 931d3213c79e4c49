/** What the agents of runs are made from and given. */
import type { Clock } from "@bowline/core";
import type { ResolvedAgents } from "../agents/resolve-agents.ts";
import type { GatewayLimits } from "../protocol/limits.ts";
import type { Rules } from "../../policy/rules.ts";

export interface AgentHost extends ResolvedAgents {
  readonly rules: Pick<Rules, "judge">;
  /** True if the application gave the rules, or gave agents as a list, which always has rules. */
  readonly isRuled: boolean;
  readonly limits: GatewayLimits;
  readonly clock: Clock;
  readonly createId: () => string;
}
