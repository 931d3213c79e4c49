/**
 * Excuses for the behaviour of a run: it was slow because something else was slow, or ended because
 * something else failed.
 */
import type { RunRecord } from "./facts.ts";
import type { AgentPlan } from "./plan.ts";

export const DEFAULT_HOOK_TIMEOUT_MS = 60_000;
export const DEFAULT_ABORT_GRACE_MS = 1000;

/** The circumstances of one agent. Those of `parent`, the agent whose tool it is, also count. */
export class Circumstances {
  /** All runs of the agent so far. */
  readonly runs: RunRecord[] = [];
  /** A listener or hook has failed in this run, or will fail. */
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

  /** Nothing fails on purpose any more, because the simulation is ending. */
  get isCalm(): boolean {
    return this.#isCalm || this.#parent?.isCalm === true;
  }

  calmDown(): void {
    this.#isCalm = true;
  }

  /** The runs that share a budget with the last one. */
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

  /** How long all listeners of one event may take. */
  get listening(): number {
    return this.#listening.reduce((sum, wait) => sum + wait);
  }

  /** How long each listener may take; the last value is for the caller's listeners. */
  get #listening(): number[] {
    const own = this.#plan.listeners.map(({ does, wait = 0 }) =>
      does === "never" ? Infinity : wait,
    );
    return [...own, this.#parent?.listening ?? 0];
  }

  /** A tool's end may be emitted some time after it happened. */
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
   * How many grace periods may pass between an abort and the end: one, but listeners are awaited,
   * too.
   */
  get graces(): number {
    return this.#plan.listeners.length > 0 ? Infinity : (this.#parent?.graces ?? 1);
  }
}
