/**
 * The usage of one run: its total, and what it takes from its own budget and from shared budgets.
 */
import type { Clock } from "../../clock.ts";
import { BowlineError } from "../../errors.ts";
import { defined } from "../../json-value.ts";
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
import type { NestedUse } from "../contract/step.ts";
import type { InterruptedRun } from "./run-result.ts";

/** Maximum number of unfinished runs that a budget stores. */
const MAX_UNFINISHED = 100;

const DEFAULT_LIMIT = " This is the default of an agent. Set budget.maxTurns to change it.";

export interface SpendingOptions {
  readonly budget: Budget | SharedBudget | undefined;
  readonly clock: Clock;
  /** The time for the checks of time limits. */
  readonly now: () => number;
  readonly runId: string;
  /** The run before it was interrupted. */
  readonly resume: InterruptedRun | undefined;
  /** Maximum number of model calls when no budget has `maxTurns`. Default: no limit. */
  readonly turnLimit: number | undefined;
  /** Called when a time limit has passed. Undefined: no timer runs, and the caller waits. */
  readonly onLate: ((error: BowlineError) => void) | undefined;
}

export class Spending {
  /**
   * The run's own budget, inside the shared one if any. Nested runs draw on it, so it includes
   * their usage.
   */
  readonly budget: SharedBudget;
  readonly #chain: readonly SharedBudget[];
  readonly #uses: ReturnType<typeof usesOf>;
  readonly #runId: string;
  readonly #now: () => number;
  readonly #timers: readonly (() => void)[];
  /** Usage of the last call, as the estimate for the next call. */
  #last: Usage | undefined;
  #reserved: Usage | undefined;
  readonly #turnLimit: number;
  /** The run's own calls. `budget` also counts those of nested runs. */
  #turns: number;

  constructor({ budget, clock, now, runId, resume, turnLimit, onLate }: SpendingOptions) {
    const { turns = 0, usage = {}, guess = 0, deadline } = resume ?? {};
    const isShared = budget !== undefined && "used" in budget;
    this.budget = isShared ? createBudget({}, budget) : createBudget(budget);
    this.budget.used.reported = {};
    this.#chain = budgetChain(this.budget);
    this.#uses = usesOf(this.#chain);
    const isLimited = this.#chain.some(({ maxTurns }) => maxTurns !== undefined);
    this.#turnLimit = isLimited ? Infinity : (turnLimit ?? Infinity);
    this.#turns = turns;
    this.#runId = runId;
    this.#now = now;
    this.#timers = this.#chain.map(({ maxTimeMs, used }) => {
      if (maxTimeMs === undefined) return () => {};
      used.deadline ??= deadline ?? now() + maxTimeMs;
      if (onLate === undefined) return () => {};
      return clock.setTimer(used.deadline - clock.now(), () => onLate(exceeded(`${maxTimeMs} ms`)));
    });
    const isNew = ({ unfinished = [] }: SharedBudget["used"]): boolean =>
      !unfinished.includes(runId);
    const before = [...this.#uses].filter(isNew);
    charge(before, turns, usage, (usage.totalTokens ?? 0) + guess);
    for (const used of this.#uses)
      if (used !== this.budget.used && isNew(used))
        used.unfinished = [...(used.unfinished ?? []), runId].slice(-MAX_UNFINISHED);
  }

  /** The reported usage of all model calls that were made for the run. */
  get usage(): Usage {
    return this.budget.used.reported as Usage;
  }

  /** Whether a budget limits the cost. */
  get hasCostLimit(): boolean {
    return this.#chain.some(({ maxCost = Infinity }) => maxCost < Infinity);
  }

  /** The earliest end of a time limit, and the error of a run that reaches it. */
  get deadline(): { readonly at: number; readonly error: BowlineError } | undefined {
    let first: SharedBudget | undefined;
    for (const budget of this.#chain)
      if ((budget.used.deadline ?? Infinity) < (first?.used.deadline ?? Infinity)) first = budget;
    const at = first?.used.deadline;
    return at === undefined ? undefined : { at, error: exceeded(`${first?.maxTimeMs} ms`) };
  }

  /** Whether unreported tokens must be estimated. */
  get countsTokens(): boolean {
    return this.#chain.some(({ maxTokens }) => maxTokens);
  }

  /** Reserves the next model call. Returns `budget_exceeded` instead if a budget is used up. */
  reserve(): BowlineError | undefined {
    this.#last ??= this.#chain.find(({ used }) => used.last)?.used.last ?? {};
    const error = exceededBudget(this.#chain, this.#last, this.#now());
    if (error) return error;
    if (this.#turns >= this.#turnLimit)
      return exceeded(`${this.#turnLimit} turns`, false, DEFAULT_LIMIT);
    reserve(this.#uses, (this.#reserved = this.#last), 1);
    return undefined;
  }

  /**
   * Releases the reservation and charges the call's usage, if the call was made. `guess` estimates
   * tokens that the server did not report.
   */
  settle(usage?: Usage, guess?: number): void {
    if (!this.#reserved) return;
    reserve(this.#uses, this.#reserved, -1);
    this.#reserved = undefined;
    if (!usage) return;
    const tokens = usage.totalTokens ?? guess;
    charge(this.#uses, 1, usage, tokens);
    this.#turns++;
    this.#last = { ...usage, ...defined({ totalTokens: tokens }) };
    if (tokens) for (const used of this.#uses) used.last = this.#last;
  }

  /** Charges a model call whose usage is in no message of the run. Also charges `budget`. */
  add(usage: Usage, budget?: SharedBudget): void {
    const chain = budget ? [...this.#chain, ...budgetChain(budget)] : this.#chain;
    charge(usesOf(chain), 0, usage);
  }

  /** Charges what nested runs drew in a step that this process did not run. */
  addNested({ turns, usage, guess = 0 }: NestedUse): void {
    charge(this.#uses, turns, usage, (usage.totalTokens ?? 0) + guess);
  }

  stopTimers(): void {
    for (const stop of this.#timers) stop();
  }

  /** Releases the reservation and stops the timers. A run that `endedWell` will not be resumed. */
  end(endedWell: boolean): void {
    this.settle();
    this.stopTimers();
    if (!endedWell) return;
    for (const used of this.#uses) {
      const rest = used.unfinished?.filter((runId) => runId !== this.#runId) ?? [];
      if (rest.length > 0) used.unfinished = rest;
      else delete used.unfinished;
    }
  }
}

/** Returns an error if one more call like the last one would exceed a budget. */
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

/**
 * Creates the error. `spent` is set if the budget is not used up but has no room for another call.
 */
function exceeded(budget: string, spent: string | false = false, hint = ""): BowlineError {
  const message = spent
    ? `The run used ${spent} of its budget of ${budget}, which has no room for another model call.`
    : `The run used its budget of ${budget}.${hint}`;
  return new BowlineError("budget_exceeded", message);
}

function isOver(used: number, next = 0, limit: number): boolean {
  return !(used < limit && used + next <= limit);
}
