/**
 * Numbers a run's events and delivers them one at a time and in order, also when parallel tools
 * emit while a listener is busy. A failing listener does not stop events. The first failure is
 * stored, and the loop ends the run at its next safe point.
 */
import { monotonicNow, type Clock } from "../../clock.ts";
import { toBowlineError, type BowlineError } from "../../errors.ts";
import type { AssistantMessageEvent } from "../../llm/event.ts";
import type { AssistantMessage } from "../../llm/message.ts";
import type { Effects, Hear } from "../contract/effects.ts";
import type { AgentEvent, AgentEventBody, ParentCall } from "../contract/event.ts";
import type { AbortGrace } from "./abort-grace.ts";
import { isThenable } from "./is-thenable.ts";
import { MessageUpdate } from "./message-update.ts";

/**
 * How long a run may block the event loop, in milliseconds, and the number of events between checks
 * of the clock.
 */
const BUSY_MS = 25;
const EVENTS_PER_LOOK = 16;

export interface EmitterOptions {
  readonly runId: string;
  /** Undefined for a run that no tool started. */
  readonly parent?: ParentCall | undefined;
  /** Sequence number of the first event. */
  readonly seq: number;
  readonly effects: Pick<Effects, "publish">;
  readonly clock: Clock;
  readonly grace: AbortGrace;
  /** Time limit for one listener per event, in milliseconds; 0 means no limit. */
  readonly hookTimeoutMs: number;
  /** Called once, with the first failure. */
  readonly onFailure: (error: BowlineError) => void;
}

export class Emitter {
  readonly #options: EmitterOptions;
  /** Additional fields of a nested run's events. */
  readonly #parent: ParentCall | undefined;
  #seq: number;
  #sent = 0;
  #yielded: number;
  /**
   * Listeners that exceeded the grace period after an abort. They are not awaited for the remaining
   * events.
   */
  readonly #leftBehind = new Set<object>();
  /** Settles when the current event and all queued events are delivered. */
  #tail: Promise<void> | undefined;
  /** The first failure of a listener. */
  failure: BowlineError | undefined;

  constructor(options: EmitterOptions) {
    const { parent, seq, clock } = options;
    this.#options = options;
    this.#parent = parent;
    this.#seq = seq;
    this.#yielded = monotonicNow(clock);
  }

  /**
   * Emits an event. Resolves when its listeners are done, or returns undefined when none returned a
   * promise. Never rejects. An event that already has a sequence number, from a nested run, is
   * forwarded as is.
   */
  emit(event: AgentEventBody | AgentEvent): Promise<void> | undefined {
    return this.#send("runId" in event ? event : this.#number(event));
  }

  /** Emits a `message_update`, without copying its fields because there are thousands. */
  update(event: AssistantMessageEvent, message: AssistantMessage): Promise<void> | undefined {
    const update = new MessageUpdate(this.#options.runId, this.#seq++, event, message);
    return this.#send(this.#parent ? Object.assign(update, this.#parent) : update);
  }

  #number(event: AgentEventBody): AgentEvent {
    return { ...event, runId: this.#options.runId, seq: this.#seq++, ...this.#parent };
  }

  #send(event: AgentEvent): Promise<void> | undefined {
    const waiting =
      this.#tail || this.#isBusy()
        ? this.#sendLater(event, this.#tail)
        : this.#options.effects.publish(event, this.#callListener);
    if (!waiting) return undefined;
    const own = waiting.then(() => {
      if (this.#tail === own) this.#tail = undefined;
    });
    this.#tail = own;
    return own;
  }

  /**
   * Publishes an event after the ones before it. Yields to the rest of the process first if none is
   * pending or the run has been busy.
   */
  async #sendLater(event: AgentEvent, before: Promise<void> | undefined): Promise<void> {
    const { clock, effects } = this.#options;
    await before;
    if (!before || this.#isBusy()) {
      await clock.yield?.();
      this.#yielded = monotonicNow(clock);
    }
    return effects.publish(event, this.#callListener);
  }

  /**
   * Returns whether the run should yield. A run that never awaits I/O would starve timers and
   * sockets.
   */
  #isBusy(): boolean {
    if (++this.#sent % EVENTS_PER_LOOK > 0) return false;
    const { clock } = this.#options;
    return clock.yield !== undefined && monotonicNow(clock) - this.#yielded >= BUSY_MS;
  }

  readonly #callListener: Hear = (listener, event) => {
    try {
      const result = listener(event);
      return isThenable(result) ? this.#settle(result, listener, event) : undefined;
    } catch (error) {
      this.#fail(error, event.type);
      return undefined;
    }
  };

  #settle(
    result: PromiseLike<void>,
    listener: Parameters<Hear>[0],
    { type }: AgentEvent,
  ): Promise<void> | undefined {
    const { grace, hookTimeoutMs } = this.#options;
    // After an abort updates are not awaited, because there may be many left.
    const isAwaited =
      !this.#leftBehind.has(listener) && !(grace.signal.aborted && type.endsWith("_update"));
    const giveUp = (): void => void this.#leftBehind.add(listener);
    const heard = isAwaited ? grace.patiently(result, hookTimeoutMs, giveUp, true) : result;
    const settled = Promise.resolve(heard).catch((error: unknown) => this.#fail(error, type));
    return isAwaited ? settled : undefined;
  }

  #fail(thrown: unknown, type: string): void {
    if (this.failure) return;
    this.failure = toBowlineError(thrown, "listener_failed", `A listener failed on ${type}`);
    this.#options.onFailure(this.failure);
  }
}
