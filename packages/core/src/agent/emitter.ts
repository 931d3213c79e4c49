/**
 * Numbers a run's events and hands them out one at a time, in order, also when parallel tools emit while a listener is busy.
 * A listener that fails does not stop events; it is remembered, and the loop ends the run at its next safe point.
 */
import type { Clock } from "../clock.ts";
import { BowlineError, toBowlineError } from "../errors.ts";
import type { AssistantMessageEvent } from "../llm/event.ts";
import type { AssistantMessage } from "../llm/message.ts";
import { MessageUpdate, type AgentEvent, type AgentEventBody, type AgentEventSink } from "./event.ts";

export interface EmitterOptions {
  readonly runId: string;
  readonly parentRunId?: string | undefined;
  readonly publish: AgentEventSink;
  readonly clock: Clock;
  /** The longest one event's listeners may take together; 0 is no limit. */
  readonly timeoutMs: number;
  /** Called once, with the first failure. */
  readonly onFailure: (error: BowlineError) => void;
}

export class Emitter {
  readonly #options: EmitterOptions;
  #seq = 0;
  #tail: Promise<void> | undefined;
  failure: BowlineError | undefined;

  constructor(options: EmitterOptions) {
    this.#options = options;
  }

  /** Resolves when the event's listeners are done; undefined when nothing had to be waited for. Never rejects. */
  emit(body: AgentEventBody): Promise<void> | undefined {
    const { runId, parentRunId } = this.#options;
    return this.#send({
      ...body,
      runId,
      seq: this.#seq++,
      ...(parentRunId !== undefined && { parentRunId }),
    });
  }

  /** The same for the event that comes by the thousand. */
  update(event: AssistantMessageEvent, message: AssistantMessage): Promise<void> | undefined {
    const { runId, parentRunId } = this.#options;
    const update = new MessageUpdate(runId, this.#seq++, event, message);
    return this.#send(parentRunId === undefined ? update : Object.assign(update, { parentRunId }));
  }

  #send(event: AgentEvent): Promise<void> | undefined {
    if (this.#tail === undefined) {
      const waiting = this.#publish(event);
      return waiting === undefined ? undefined : this.#follow(waiting);
    }
    return this.#follow(this.#tail.then(() => this.#publish(event)));
  }

  #follow(waiting: Promise<void>): Promise<void> {
    const tail = waiting.then(() => {
      if (this.#tail === tail) this.#tail = undefined;
    });
    this.#tail = tail;
    return tail;
  }

  #publish(event: AgentEvent): Promise<void> | undefined {
    try {
      const result = this.#options.publish(event);
      return isThenable(result) ? this.#settle(result, event.type) : undefined;
    } catch (error) {
      this.#fail(error, event.type);
      return undefined;
    }
  }

  #settle(result: PromiseLike<void>, type: string): Promise<void> {
    const { clock, timeoutMs } = this.#options;
    return new Promise((resolve) => {
      const cancel =
        timeoutMs <= 0
          ? () => {}
          : clock.setTimer(timeoutMs, () => {
              this.#fail(
                new BowlineError("listener_failed", `A listener of ${type} took longer than ${timeoutMs} ms.`),
                type,
              );
              resolve();
            });
      const done = (): void => {
        cancel();
        resolve();
      };
      result.then(done, (error: unknown) => {
        this.#fail(error, type);
        done();
      });
    });
  }

  #fail(thrown: unknown, type: string): void {
    if (this.failure !== undefined) return;
    this.failure = toBowlineError(thrown, "listener_failed", `A listener failed on ${type}`);
    this.#options.onFailure(this.failure);
  }
}

export function isThenable(value: unknown): value is PromiseLike<void> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}
