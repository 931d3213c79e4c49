/**
 * Running steps by name. When the engine starts a run again in the same process, the next attempt
 * takes over the steps that the one before left running, instead of repeating them.
 */

import type { AgentEvent } from "@bowline/core";
import type { ShownAnswer } from "./shown-answer.ts";

/** The attempt that started a step, or adopted it. */
export interface StepOwner {
  /** Aborts the attempt's steps. */
  readonly controller: AbortController;
  /** Fires when the attempt is over. */
  readonly ended: AbortSignal;
  /** Publishes an event of a step that it has taken over. `before` is what the answer said before it. */
  readonly takeEvent: (event: AgentEvent, before: ShownAnswer) => void;
  /** The attempt that has taken over a step. */
  heir?: StepOwner;
}

/** Passes an event of a step that goes on after its attempt to the attempt that has taken it over. */
export function passOn(event: AgentEvent, from: StepOwner, before: ShownAnswer): void {
  let owner: StepOwner | undefined = from;
  while (owner?.ended.aborted) owner = owner.heir;
  owner?.takeEvent(event, before);
}

interface RunningStep {
  readonly result: Promise<unknown>;
  owner: StepOwner;
  hasSettled: boolean;
}

/** How long the steps of an attempt that is over wait for the next one. */
const ORPHAN_MS = 5000;

export class Adoptions {
  readonly #steps = new Map<string, RunningStep>();
  readonly #watched = new WeakSet<StepOwner>();
  readonly #orphanMs: number;

  constructor(orphanMs: number = ORPHAN_MS) {
    this.#orphanMs = orphanMs;
  }

  /** Number of steps whose results the journal may not have. */
  get size(): number {
    return this.#steps.size;
  }

  /** Returns whether an earlier attempt runs this step, or has its result. */
  has(key: string): boolean {
    return this.#steps.has(key);
  }

  /** Starts a step, or takes over the one of an earlier attempt. */
  async run<T>(key: string, owner: StepOwner, work: () => Promise<T>): Promise<T> {
    this.#watch(owner);
    const found = this.#steps.get(key);
    if (found !== undefined) {
      const before = found.owner;
      found.owner = owner;
      if (before !== owner) {
        before.heir = owner;
        link(owner.controller.signal, before.controller);
      }
      return found.result as Promise<T>;
    }
    const step: RunningStep = { result: work(), owner, hasSettled: false };
    this.#steps.set(key, step);
    const settled = (): void => void (step.hasSettled = true);
    step.result.then(settled, () => {
      settled();
      this.#steps.delete(key); // the next attempt starts it anew
    });
    return step.result as Promise<T>;
  }

  /** Forgets a step whose result is in the journal. */
  forget(key: string): void {
    this.#steps.delete(key);
  }

  /** Aborts the steps of an attempt that is over, unless the next one takes them over in time. */
  #watch(owner: StepOwner): void {
    if (this.#watched.has(owner)) return;
    this.#watched.add(owner);
    const check = (): void => {
      const orphans = [...this.#steps].filter(([, step]) => step.owner === owner);
      if (orphans.some(([, { hasSettled }]) => !hasSettled)) owner.controller.abort();
      for (const [key] of orphans) this.#steps.delete(key);
    };
    const later = (): void => void setTimeout(check, this.#orphanMs).unref();
    if (owner.ended.aborted) later();
    else owner.ended.addEventListener("abort", later, { once: true });
  }
}

function link(signal: AbortSignal, controller: AbortController): void {
  const abort = (): void => controller.abort(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
}
