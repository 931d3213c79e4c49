/**
 * Limits on what runs may use. Each model call is reserved in the budget before it starts, so
 * concurrent runs cannot exceed a shared budget together.
 */
import { addUsage, type Usage } from "../../llm/usage.ts";

/**
 * Limits of a run. An absent field means no limit. All limits are checked before each model call;
 * the time limit also applies during model calls and tools.
 */
export interface Budget {
  /**
   * Maximum number of model calls. Default for an agent: 50 per run, unless it has a shared budget
   * with `maxTurns`; `Infinity` removes the limit. The loop without an agent has no default.
   */
  maxTurns?: number | undefined;
  /**
   * Maximum number of tokens over all calls. Tokens that a server does not report are estimated.
   */
  maxTokens?: number | undefined;
  /** Maximum cost over all calls, in US dollars. Calls without known prices do not count. */
  maxCost?: number | undefined;
  /**
   * Maximum duration in milliseconds, from the start of the run, or of the first run of a shared
   * budget.
   */
  maxTimeMs?: number | undefined;
}

/**
 * A budget that several runs share, at the same time or in sequence. It is plain data and can be
 * stored.
 */
export interface SharedBudget extends Budget {
  readonly used: BudgetUse;
  /** Another budget that the runs also draw on. */
  readonly parent?: SharedBudget | undefined;
}

interface Amounts {
  turns: number;
  tokens: number;
  cost: number;
}

/** Usage of the finished calls. */
interface BudgetUse extends Amounts {
  /** Usage of the last call, as the estimate for the next run's first call. */
  last?: Usage;
  /** Milliseconds since the epoch. The first run sets it from `maxTimeMs`. */
  deadline?: number;
  /**
   * Ids of runs that drew on the budget and did not finish. Their calls are not charged again on
   * resume.
   */
  unfinished?: string[];
  /**
   * Reservations of calls in flight. Not enumerable, because a stored budget has no calls in
   * flight.
   */
  readonly reserved?: Amounts;
  /** Only in the budget of one run: what its calls reported. */
  reported?: Usage;
}

/**
 * Creates a budget that several agents share: what one agent uses is gone for all. A plain {@link
 * Budget} limits each run separately.
 */
export function createBudget(limits: Budget = {}, parent?: SharedBudget): SharedBudget {
  return { ...limits, used: { turns: 0, tokens: 0, cost: 0 }, ...(parent && { parent }) };
}

/** Returns the budgets of a run: its own first, then the shared ones. */
export function budgetChain(budget: SharedBudget): SharedBudget[] {
  return budget.parent ? [budget, ...budgetChain(budget.parent)] : [budget];
}

/** Returns the counters of a chain of budgets. A budget that is in the chain twice counts once. */
export function usesOf(chain: readonly SharedBudget[]): ReadonlySet<BudgetUse> {
  return new Set(chain.map(({ used }) => used));
}

/** Adds the usage of calls to budgets. */
export function charge(
  uses: Iterable<BudgetUse>,
  turns: number,
  usage: Usage,
  tokens: number | undefined = usage.totalTokens,
): void {
  for (const used of uses) {
    add(used, turns, tokens, usage);
    if (used.reported) used.reported = addUsage(used.reported, usage);
  }
}

/** Reserves one call of the given usage. `sign` -1 releases the reservation. */
export function reserve(uses: Iterable<BudgetUse>, usage: Usage, sign: 1 | -1): void {
  for (const used of uses) {
    const reserved = reservedIn(used);
    add(reserved, sign, usage.totalTokens, usage, sign);
    if (reserved.turns === 0) reserved.cost = 0; // removes rounding errors
  }
}

/** Returns the amounts reserved for calls in flight. */
export function reservedIn(used: BudgetUse): Amounts {
  if (!used.reserved)
    Object.defineProperty(used, "reserved", { value: { turns: 0, tokens: 0, cost: 0 } });
  return used.reserved as Amounts;
}

function add(amounts: Amounts, turns: number, tokens = 0, { cost }: Usage, sign = 1): void {
  amounts.turns += turns;
  amounts.tokens += sign * tokens;
  amounts.cost += sign * (cost?.total ?? 0);
}
