/**
 * Numbers a run's events and hands them out one at a time, in order, also when parallel tools emit
 * while a listener is busy. A listener that fails does not stop events; it is remembered, and the
 * loop ends the run at its next safe point.
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
 * How long a run may keep the process to itself, in milliseconds, and how many events it lets pass
 * between looks at the clock.
 */
const BUSY_MS = 25;
const EVENTS_PER_LOOK = 16;

export interface EmitterOptions {
  readonly runId: string;
  /** Absent for a run that no tool started. */
  readonly parent?: ParentCall | undefined;
  /** The first event's number. */
  readonly seq: number;
  readonly effects: Pick<Effects, "publish">;
  readonly clock: Clock;
  readonly grace: AbortGrace;
  /** The longest one listener may take for an event, in milliseconds; 0 is no limit. */
  readonly hookTimeoutMs: number;
  /** Called once, with the first failure. */
  readonly onFailure: (error: BowlineError) => void;
}

export class Emitter {
  readonly #options: EmitterOptions;
  /** What a nested run's events carry besides. */
  readonly #parent: ParentCall | undefined;
  #seq: number;
  #sent = 0;
  #yielded: number;
  /** After an abort a listener that hangs is waited for once, not for each event that is left. */
  readonly #leftBehind = new Set<object>();
  /** The event that is being handled, and all that wait behind it. */
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
   * Resolves when the event's listeners are done; undefined when nothing had to be waited for.
   * Never rejects. What has a number, as a nested run's events have, is passed on as it is.
   */
  emit(event: AgentEventBody | AgentEvent): Promise<void> | undefined {
    return this.#send("runId" in event ? event : this.#number(event));
  }

  /** The same for a `message_update`, of which there are thousands. */
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
        : this.#options.effects.publish(event, this.#hear);
    if (!waiting) return undefined;
    const own = waiting.then(() => {
      if (this.#tail === own) this.#tail = undefined;
    });
    this.#tail = own;
    return own;
  }

  /** In its turn; without others before it, when the rest of the process has had its own. */
  async #sendLater(event: AgentEvent, before: Promise<void> | undefined): Promise<void> {
    const { clock, effects } = this.#options;
    await before;
    if (!before || this.#isBusy()) {
      await clock.yield?.();
      this.#yielded = monotonicNow(clock);
    }
    return effects.publish(event, this.#hear);
  }

  /**
   * A run that never waits for anything would keep timers and sockets waiting: its events pause now
   * and then.
   */
  #isBusy(): boolean {
    if (++this.#sent % EVENTS_PER_LOOK > 0) return false;
    const { clock } = this.#options;
    return clock.yield !== undefined && monotonicNow(clock) - this.#yielded >= BUSY_MS;
  }

  readonly #hear: Hear = (listener, event) => {
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
    // What an answer or a tool had still said may be much: after an abort it is told without a
    // pause.
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
