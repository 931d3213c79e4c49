/**
 * Those who listen to an agent, and the fold of its events into its state, which comes before them.
 */
import type { Hear } from "./contract/effects.ts";
import type { AgentEvent } from "./contract/event.ts";
import { applyToState, type MutableAgentState } from "./state.ts";

/**
 * Awaited in the order of subscription when it returns a promise, for `hookTimeoutMs` at most. A
 * throw ends the run with `listener_failed`. After an abort updates come without a pause, and the
 * rest is awaited for `abortGraceMs`.
 */
export type AgentListener = (event: AgentEvent, signal: AbortSignal) => unknown;

type Callee = Parameters<Hear>[0];

export class Listeners {
  readonly #state: MutableAgentState;
  /** How each is called. */
  readonly #callees = new Map<AgentListener, Callee>();
  /** Fires when the run that is going on is aborted. */
  signal: AbortSignal | undefined = undefined;
  /** Of that run. */
  parentRunId: string | undefined = undefined;
  /** How many are being called right now. */
  calling = 0;

  constructor(state: MutableAgentState) {
    this.#state = state;
  }

  add(listener: AgentListener): void {
    this.#callees.set(listener, this.#call.bind(this, listener));
  }

  remove(listener: AgentListener): void {
    this.#callees.delete(listener);
  }

  /** Each hears of it after the one before. */
  publish(event: AgentEvent, hear: Hear): Promise<void> | undefined {
    // Events of nested runs pass through; the state is of the agent's own.
    if (event.parentRunId === this.parentRunId) applyToState(this.#state, event);
    return this.#tell(this.#callees.values(), event, hear);
  }

  /** Goes on behind one that is waited for with those who are there then. */
  #tell(rest: Iterable<Callee>, event: AgentEvent, hear: Hear): Promise<void> | undefined {
    for (const callee of rest) {
      const waiting = hear(callee, event);
      if (waiting) return waiting.then(() => this.#tell(rest, event, hear));
    }
    return undefined;
  }

  #call(listener: AgentListener, event: AgentEvent): unknown {
    this.calling++;
    try {
      return listener(event, this.signal as AbortSignal);
    } finally {
      this.calling--;
    }
  }
}
