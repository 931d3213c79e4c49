/**
 * What may excuse what a run did: it was slow because something else was, or ended because
 * something else failed.
 */
import type { RunRecord } from "./facts.ts";
import type { AgentPlan } from "./plan.ts";

export const DEFAULT_HOOK_TIMEOUT_MS = 60_000;
export const DEFAULT_ABORT_GRACE_MS = 1000;

/** Of one agent; `parent`: of the one whose tool it is, which excuses as much. */
export class Circumstances {
  /** All runs of the agent so far. */
  readonly runs: RunRecord[] = [];
  /** A listener or hook has failed in this run, or will. */
  hasFailed = false;
  readonly #plan: AgentPlan;
  readonly #now: () => number;
  readonly #parent: Circumstances | undefined;
  #isCalm = false;

  constructor(plan: AgentPlan, now: () => number, parent: Circumstances | undefined) {
    this.#plan = plan;
    this.#now = now;
    this.#parent = parent;
  }

  /** Nothing misbehaves any more: the world is being wound up. */
  get isCalm(): boolean {
    return this.#isCalm || this.#parent?.isCalm === true;
  }

  calmDown(): void {
    this.#isCalm = true;
  }

  /** The runs that draw on one budget with the last. */
  get together(): readonly RunRecord[] {
    return this.#plan.sharesBudget === true ? this.runs : this.runs.slice(-1);
  }

  /** Something other than the stream or an abort may have ended the last run. */
  get isStopped(): boolean {
    const { budget: { maxTimeMs = Infinity } = {}, hookTimeoutMs = DEFAULT_HOOK_TIMEOUT_MS } =
      this.#plan.settings;
    const [first] = this.together;
    if (first === undefined || this.hasFailed || this.#parent?.isStopped === true) return true;
    if (this.isCalm) return false;
    return (
      this.#now() - first.startedAt >= maxTimeMs || Math.max(...this.#listening) >= hookTimeoutMs
    );
  }

  /** How long the listeners of one event may take together. */
  get listening(): number {
    return this.#listening.reduce((sum, wait) => sum + wait);
  }

  /** How long each may take; the last are the caller's. */
  get #listening(): number[] {
    const own = this.#plan.listeners.map(({ does, wait = 0 }) =>
      does === "never" ? Infinity : wait,
    );
    return [...own, this.#parent?.listening ?? 0];
  }

  /** A tool's end may be heard some time after it. */
  get isLate(): boolean {
    const { hooks, listeners, yields, steps } = this.#plan;
    const isSlow = listeners.some(
      ({ does }) => does === "waits" || does === "rejects" || does === "never",
    );
    return (
      yields === true ||
      isSlow ||
      steps !== undefined ||
      hooks.some(({ hook }) => hook === "afterToolCall") ||
      this.#parent?.isLate === true
    );
  }

  get isNested(): boolean {
    return this.#parent !== undefined;
  }

  get hasBudget(): boolean {
    return this.#plan.settings.budget !== undefined || this.#parent?.hasBudget === true;
  }

  /**
   * How many graces may pass between an abort and the end: one, but listeners are waited for, too.
   */
  get graces(): number {
    return this.#plan.listeners.length > 0 ? Infinity : (this.#parent?.graces ?? 1);
  }
}
