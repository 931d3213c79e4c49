/** What one run uses: the sum, and what it takes out of its budget and of those that it shares. */
import type { Clock } from "../../clock.ts";
import { BowlineError } from "../../errors.ts";
import { addUsage, type Usage } from "../../llm/usage.ts";
import {
  budgetChain,
  charge,
  createBudget,
  type Budget,
  type SharedBudget,
} from "../contract/budget.ts";

export interface SpendingOptions {
  readonly budget: Budget | SharedBudget | undefined;
  readonly clock: Clock;
  /** What a run that goes on had used before. */
  readonly turns: number;
  readonly usage: Usage;
  /** Called when a time limit is over. */
  readonly onLate: (error: BowlineError) => void;
}

export class Spending {
  /** A plain budget is the run's own; a shared one is kept with others. */
  readonly budget: SharedBudget;
  /** The sum over the run's model calls. */
  usage: Usage;
  readonly #chain: readonly SharedBudget[];
  readonly #clock: Clock;
  readonly #timers: readonly (() => void)[];
  /** What the last call used, which the next is taken to use too. */
  #last: Usage | undefined;
  #reserved: Usage | undefined;

  constructor({ budget, clock, turns, usage, onLate }: SpendingOptions) {
    this.budget = budget && "used" in budget ? budget : createBudget(budget);
    this.usage = usage;
    this.#chain = budgetChain(this.budget);
    this.#clock = clock;
    this.#timers = this.#chain.map(({ maxTimeMs, used }) => {
      if (maxTimeMs === undefined) return () => {};
      used.deadline ??= clock.now() + maxTimeMs;
      return clock.setTimer(used.deadline - clock.now(), () => onLate(exceeded(`${maxTimeMs} ms`)));
    });
    charge(this.#chain, turns, usage);
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
    charge(this.#chain, 1, (this.#reserved = this.#last));
    return undefined;
  }

  /**
   * Counts what the call that was reserved used; nothing when it was not made. `guess` is for
   * tokens that nobody reported.
   */
  settle(usage?: Usage, guess?: () => number): void {
    if (!this.#reserved) return;
    const chain = this.#chain;
    charge(chain, 1, this.#reserved, -1);
    this.#reserved = undefined;
    if (!usage) return;
    this.usage = addUsage(this.usage, usage);
    let last = usage;
    if (guess && usage.totalTokens === undefined && chain.some(({ maxTokens }) => maxTokens))
      last = { ...usage, totalTokens: guess() };
    this.#last = last;
    charge(chain, 1, last);
    if (last.totalTokens) for (const { used } of chain) used.last = last;
  }

  /** Counts a call that was made for the run but is in no message of it. */
  add(usage: Usage): void {
    this.usage = addUsage(this.usage, usage);
    charge(this.#chain, 0, usage);
  }

  /** Gives back what is reserved, and stops the time limits. */
  end(): void {
    this.settle();
    for (const stop of this.#timers) stop();
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
    if (!(used.turns < maxTurns)) return exceeded(`${maxTurns} turns`);
    if (isOver(used.tokens, last.totalTokens, maxTokens)) return exceeded(`${maxTokens} tokens`);
    if (isOver(used.cost, last.cost?.total, maxCost)) return exceeded(`$${maxCost}`);
    if (!(now < (used.deadline ?? Infinity))) return exceeded(`${maxTimeMs} ms`);
  }
  return undefined;
}

function exceeded(what: string): BowlineError {
  return new BowlineError("budget_exceeded", `The run used its budget of ${what}.`);
}

function isOver(used: number, next = 0, limit: number): boolean {
  return !(used < limit && used + next <= limit);
}
