/**
 * What a run may use. Each model call is taken out of the budget before it is made, so that runs
 * that share one keep it together.
 */
import type { Usage } from "../../llm/usage.ts";

/**
 * Limits; whatever is absent is unlimited. Checked before each model call; time also during calls
 * and tools.
 */
export interface Budget {
  /** Model calls. */
  maxTurns?: number;
  /** Tokens over all calls; what a server does not report is estimated. */
  maxTokens?: number;
  /** US dollars over all calls, as far as prices are known. */
  maxCost?: number;
  /** Since the run began, or the first run of a shared budget. */
  maxTimeMs?: number;
}

/**
 * A budget that several runs draw on, at the same time or one after the other. Plain data, so it
 * can be kept.
 */
export interface SharedBudget extends Budget {
  readonly used: BudgetUse;
  /** Another budget that is drawn on too. */
  readonly parent?: SharedBudget;
}

interface BudgetUse {
  turns: number;
  tokens: number;
  cost: number;
  /** What the last call used: the first of a run is taken to use as much. */
  last?: Usage;
  /** Milliseconds since the epoch; set by the first run, from `maxTimeMs`. */
  deadline?: number;
}

/**
 * A budget to share: given to several agents, what one uses is gone for all. A plain {@link Budget}
 * limits each run by itself.
 */
export function createBudget(limits: Budget = {}, parent?: SharedBudget): SharedBudget {
  return { ...limits, used: { turns: 0, tokens: 0, cost: 0 }, ...(parent && { parent }) };
}

/** The budgets a run keeps: its own, then those it shares. */
export function budgetChain(budget: SharedBudget): SharedBudget[] {
  return budget.parent ? [budget, ...budgetChain(budget.parent)] : [budget];
}

/** Takes a call's use out of every budget of the chain; `sign` -1 gives it back. */
export function charge(
  chain: readonly SharedBudget[],
  turns: number,
  usage: Usage,
  sign: 1 | -1 = 1,
): void {
  for (const { used } of chain) {
    used.turns += turns * sign;
    used.tokens += (usage.totalTokens ?? 0) * sign;
    used.cost += (usage.cost?.total ?? 0) * sign;
  }
}
