/**
 * Numbers a run's events and hands them out one at a time, in order, also when parallel tools emit
 * while a listener is busy. A listener that fails does not stop events; it is remembered, and the
 * loop ends the run at its next safe point.
 */
import type { Clock } from "../../clock.ts";
import { toBowlineError, type BowlineError } from "../../errors.ts";
import type { AssistantMessageEvent } from "../../llm/event.ts";
import type { AssistantMessage } from "../../llm/message.ts";
import type { Effects, Hear } from "../contract/effects.ts";
import type { AgentEvent, AgentEventBody } from "../contract/event.ts";
import { isThenable } from "./is-thenable.ts";
import { MessageUpdate } from "./message-update.ts";

/**
 * How long a run may keep the process to itself, in milliseconds, and how many events it lets pass
 * between looks at the clock.
 */
const BUSY_MS = 25;
const EVENTS_PER_LOOK = 16;

type Listener = Parameters<Hear>[0];

export interface EmitterOptions {
  readonly runId: string;
  readonly parentRunId?: string | undefined;
  /** The first event's number. */
  readonly seq: number;
  readonly effects: Pick<Effects, "publish">;
  readonly clock: Clock;
  /** Fires when the run is aborted. */
  readonly signal: AbortSignal;
  /**
   * Waits for a listener as long as it may take. `giveUp` is called instead when the run was
   * aborted and it ignores that.
   */
  readonly patiently: (result: PromiseLike<void>, giveUp: () => void) => void | Promise<void>;
  /** Called once, with the first failure. */
  readonly onFailure: (error: BowlineError) => void;
}

export class Emitter {
  readonly #options: EmitterOptions;
  readonly #runId: string;
  readonly #effects: EmitterOptions["effects"];
  readonly #clock: Clock;
  /** What a nested run's events carry besides. */
  readonly #parent: { readonly parentRunId?: string } | undefined;
  readonly #hear: Hear = this.#call.bind(this);
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
    const { runId, parentRunId, seq, effects, clock } = options;
    this.#options = options;
    this.#runId = runId;
    this.#effects = effects;
    this.#clock = clock;
    this.#parent = parentRunId === undefined ? undefined : { parentRunId };
    this.#seq = seq;
    this.#yielded = clock.now();
  }

  /**
   * Resolves when the event's listeners are done; undefined when nothing had to be waited for.
   * Never rejects.
   */
  emit(event: AgentEventBody | AgentEvent): Promise<void> | undefined {
    // A nested run's event is passed on as it is, in its turn.
    return this.#send(
      "runId" in event
        ? event
        : { ...event, runId: this.#runId, seq: this.#seq++, ...this.#parent },
    );
  }

  /** The same for the event that comes by the thousand. */
  update(event: AssistantMessageEvent, message: AssistantMessage): Promise<void> | undefined {
    const update = new MessageUpdate(this.#runId, this.#seq++, event, message);
    return this.#send(this.#parent ? Object.assign(update, this.#parent) : update);
  }

  #send(event: AgentEvent): Promise<void> | undefined {
    const waiting = this.#tail ? this.#tail.then(() => this.#inTurn(event)) : this.#inTurn(event);
    if (!waiting) return undefined;
    const own = waiting.then(() => {
      if (this.#tail === own) this.#tail = undefined;
    });
    this.#tail = own;
    return own;
  }

  /**
   * A run that never waits for anything would keep timers and sockets waiting: its events pause now
   * and then.
   */
  #inTurn(event: AgentEvent): Promise<void> | undefined {
    if (
      ++this.#sent % EVENTS_PER_LOOK > 0 ||
      !this.#clock.yield ||
      this.#clock.now() - this.#yielded < BUSY_MS
    )
      return this.#effects.publish(event, this.#hear) ?? undefined;
    return this.#clock.yield().then(() => {
      this.#yielded = this.#clock.now();
      return this.#effects.publish(event, this.#hear);
    });
  }

  #call(listener: Listener, event: AgentEvent): Promise<void> | undefined {
    try {
      const result = listener(event);
      return isThenable(result) ? this.#settle(result, listener, event) : undefined;
    } catch (error) {
      this.#fail(error, event.type);
      return undefined;
    }
  }

  #settle(
    result: PromiseLike<void>,
    listener: Listener,
    { type }: AgentEvent,
  ): Promise<void> | undefined {
    const { signal, patiently } = this.#options;
    // What an answer or a tool had still said may be much: after an abort it is told without a
    // pause.
    const isAwaited =
      !this.#leftBehind.has(listener) && !(signal.aborted && type.endsWith("_update"));
    const heard = isAwaited ? patiently(result, () => this.#leftBehind.add(listener)) : result;
    const settled = Promise.resolve(heard).catch((error: unknown) => this.#fail(error, type));
    return isAwaited ? settled : undefined;
  }

  #fail(thrown: unknown, type: string): void {
    if (this.failure) return;
    this.failure = toBowlineError(thrown, "listener_failed", `A listener failed on ${type}`);
    this.#options.onFailure(this.failure);
  }
}
