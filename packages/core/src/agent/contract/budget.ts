/**
 * What a run may use. Each model call is reserved in the budget before it is made, so that runs
 * that share one keep it together.
 */
import { addUsage, type Usage } from "../../llm/usage.ts";

/**
 * Limits; whatever is absent is unlimited. Checked before each model call; time also during calls
 * and tools.
 */
export interface Budget {
  /**
   * Model calls. Default of an agent that shares no budget with it: 50 a run; `Infinity` lifts that.
   * The loop without an agent has no default.
   */
  maxTurns?: number | undefined;
  /** Tokens over all calls; what a server does not report is estimated. */
  maxTokens?: number | undefined;
  /** US dollars over all calls, as far as prices are known. */
  maxCost?: number | undefined;
  /** Since the run began, or the first run of a shared budget. */
  maxTimeMs?: number | undefined;
}

/**
 * A budget that several runs draw on, at the same time or one after the other. Plain data, so it
 * can be kept.
 */
export interface SharedBudget extends Budget {
  readonly used: BudgetUse;
  /** Another budget that is drawn on too. */
  readonly parent?: SharedBudget | undefined;
}

interface Amounts {
  turns: number;
  tokens: number;
  cost: number;
}

/** What the calls that have ended used. */
interface BudgetUse extends Amounts {
  /** What the last call used: the first of a run is taken to use as much. */
  last?: Usage;
  /** Milliseconds since the epoch; set by the first run, from `maxTimeMs`. */
  deadline?: number;
  /** Runs that drew on it and did not end well: their calls are not charged again on resume. */
  unfinished?: string[];
  /** Of calls that are going on. Not enumerable: nothing goes on in what was kept. */
  readonly reserved?: Amounts;
  /** The budget of one run: what its calls reported. */
  reported?: Usage;
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

/** What the budgets count in: each once, also where it stands in the chain twice. */
export function usesOf(chain: readonly SharedBudget[]): ReadonlySet<BudgetUse> {
  return new Set(chain.map(({ used }) => used));
}

/** Counts what calls used. */
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

/** Reserves one call that uses as much; `sign` -1 gives it back. */
export function reserve(uses: Iterable<BudgetUse>, usage: Usage, sign: 1 | -1): void {
  for (const used of uses) {
    const reserved = reservedIn(used);
    add(reserved, sign, usage.totalTokens, usage, sign);
    if (reserved.turns === 0) reserved.cost = 0; // not what rounding leaves
  }
}

/** What calls that are going on are taken to use. */
export function reservedIn(used: BudgetUse): Amounts {
  if (!used.reserved)
    Object.defineProperty(used, "reserved", { value: { turns: 0, tokens: 0, cost: 0 } });
  return used.reserved as Amounts;
}

function add(amounts: Amounts, turns: number, tokens = 0, { cost }: Usage, sign = 1): void {
  amounts.turns += turns;
  amounts.tokens += tokens * sign;
  amounts.cost += (cost?.total ?? 0) * sign;
}
