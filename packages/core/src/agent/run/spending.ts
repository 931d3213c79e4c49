/** What one run uses: the sum, and what it takes out of its budget and of those that it shares. */
import type { Clock } from "../../clock.ts";
import { BowlineError } from "../../errors.ts";
import type { Usage } from "../../llm/usage.ts";
import {
  budgetChain,
  charge,
  createBudget,
  reserve,
  reservedIn,
  usesOf,
  type Budget,
  type SharedBudget,
} from "../contract/budget.ts";

/** How many unfinished runs a budget remembers. */
const MAX_UNFINISHED = 100;

const DEFAULT_LIMIT = " This is the default of an agent: set budget.maxTurns. Infinity lifts it.";

export interface SpendingOptions {
  readonly budget: Budget | SharedBudget | undefined;
  readonly clock: Clock;
  readonly runId: string;
  /** What a run that goes on had used before. */
  readonly turns: number;
  readonly usage: Usage;
  /** Model calls that the run may make where no budget has `maxTurns`. Default: any number. */
  readonly turnLimit: number | undefined;
  /** Called when a time limit is over. */
  readonly onLate: (error: BowlineError) => void;
}

export class Spending {
  /**
   * The run's own, within one that it shares. Runs that tools start draw on it, so it knows what
   * they use.
   */
  readonly budget: SharedBudget;
  readonly #chain: readonly SharedBudget[];
  readonly #uses: ReturnType<typeof usesOf>;
  readonly #runId: string;
  readonly #clock: Clock;
  readonly #timers: readonly (() => void)[];
  /** What the last call used, which the next is taken to use too. */
  #last: Usage | undefined;
  #reserved: Usage | undefined;
  readonly #turnLimit: number;
  /** The run's own calls: `budget` counts those of nested runs, too. */
  #turns: number;

  constructor({ budget, clock, runId, turns, usage, turnLimit, onLate }: SpendingOptions) {
    const isShared = budget !== undefined && "used" in budget;
    this.budget = isShared ? createBudget({}, budget) : createBudget(budget);
    this.budget.used.reported = {};
    this.#chain = budgetChain(this.budget);
    this.#uses = usesOf(this.#chain);
    const isLimited = this.#chain.some(({ maxTurns }) => maxTurns !== undefined);
    this.#turnLimit = isLimited ? Infinity : (turnLimit ?? Infinity);
    this.#turns = turns;
    this.#runId = runId;
    this.#clock = clock;
    this.#timers = this.#chain.map(({ maxTimeMs, used }) => {
      if (maxTimeMs === undefined) return () => {};
      used.deadline ??= clock.now() + maxTimeMs;
      return clock.setTimer(used.deadline - clock.now(), () => onLate(exceeded(`${maxTimeMs} ms`)));
    });
    const isNew = ({ unfinished = [] }: SharedBudget["used"]): boolean =>
      !unfinished.includes(runId);
    charge([...this.#uses].filter(isNew), turns, usage);
    for (const used of this.#uses)
      if (used !== this.budget.used && isNew(used))
        used.unfinished = [...(used.unfinished ?? []), runId].slice(-MAX_UNFINISHED);
  }

  /** The sum over all model calls that were made for the run, as far as they were reported. */
  get usage(): Usage {
    return this.budget.used.reported as Usage;
  }

  /** Whether money limits the run. */
  get hasCostLimit(): boolean {
    return this.#chain.some(({ maxCost = Infinity }) => maxCost < Infinity);
  }

  /**
   * Takes the next model call out of the budget; gives what is used up instead, if something is.
   */
  reserve(): BowlineError | undefined {
    this.#last ??= this.#chain.find(({ used }) => used.last)?.used.last ?? {};
    const error = exceededBudget(this.#chain, this.#last, this.#clock.now());
    if (error) return error;
    if (this.#turns >= this.#turnLimit)
      return exceeded(`${this.#turnLimit} turns`, false, DEFAULT_LIMIT);
    reserve(this.#uses, (this.#reserved = this.#last), 1);
    return undefined;
  }

  /**
   * Counts what the call that was reserved used; nothing when it was not made. `guess` is for
   * tokens that nobody reported.
   */
  settle(usage?: Usage, guess?: () => number): void {
    if (!this.#reserved) return;
    reserve(this.#uses, this.#reserved, -1);
    this.#reserved = undefined;
    if (!usage) return;
    let tokens = usage.totalTokens;
    if (guess && tokens === undefined && this.#chain.some(({ maxTokens }) => maxTokens))
      tokens = guess();
    charge(this.#uses, 1, usage, tokens);
    this.#turns++;
    this.#last = tokens === undefined ? usage : { ...usage, totalTokens: tokens };
    if (tokens) for (const used of this.#uses) used.last = this.#last;
  }

  /** Counts a call that is in no message of the run, in `budget` too. */
  add(usage: Usage, budget?: SharedBudget): void {
    const chain = budget ? [...this.#chain, ...budgetChain(budget)] : this.#chain;
    charge(usesOf(chain), 0, usage);
  }

  /** Gives back what is reserved, and stops the time limits. A run that has `endedWell` is not resumed. */
  end(endedWell: boolean): void {
    this.settle();
    for (const stop of this.#timers) stop();
    if (!endedWell) return;
    for (const used of this.#uses) {
      const rest = used.unfinished?.filter((runId) => runId !== this.#runId) ?? [];
      if (rest.length > 0) used.unfinished = rest;
      else delete used.unfinished;
    }
  }
}

/** What is used up, if one more call that costs as much as the last would go beyond it. */
function exceededBudget(
  chain: readonly SharedBudget[],
  last: Usage,
  now: number,
): BowlineError | undefined {
  for (const {
    maxTurns = Infinity,
    maxTokens = Infinity,
    maxCost = Infinity,
    maxTimeMs,
    used,
  } of chain) {
    const reserved = reservedIn(used);
    const dollars = `$${maxCost}`;
    if (!(used.turns + reserved.turns < maxTurns))
      return exceeded(`${maxTurns} turns`, used.turns < maxTurns && `${used.turns}`);
    if (isOver(used.tokens + reserved.tokens, last.totalTokens, maxTokens))
      return exceeded(`${maxTokens} tokens`, used.tokens < maxTokens && `${used.tokens}`);
    if (isOver(used.cost + reserved.cost, last.cost?.total, maxCost))
      return exceeded(dollars, used.cost < maxCost && `$${Number(used.cost.toPrecision(6))}`);
    if (!(now < (used.deadline ?? Infinity))) return exceeded(`${maxTimeMs} ms`);
  }
  return undefined;
}

/** `spent` is what was used of a budget that only has no room for another call. */
function exceeded(budget: string, spent: string | false = false, hint = ""): BowlineError {
  const message = spent
    ? `The run used ${spent} of its budget of ${budget}, which has no room for another model call.`
    : `The run used its budget of ${budget}.${hint}`;
  return new BowlineError("budget_exceeded", message);
}

function isOver(used: number, next = 0, limit: number): boolean {
  return !(used < limit && used + next <= limit);
}
