/**
 * Numbers a run's events and hands them out one at a time, in order, also when parallel tools emit while a listener is busy.
 * A listener that fails does not stop events; it is remembered, and the loop ends the run at its next safe point.
 */
import type { Clock } from "../clock.ts";
import { BowlineError, toBowlineError } from "../errors.ts";
import type { AssistantMessageEvent } from "../llm/event.ts";
import type { AssistantMessage } from "../llm/message.ts";
import type { Effects } from "./effects.ts";
import { MessageUpdate, type AgentEvent, type AgentEventBody } from "./event.ts";

export interface EmitterOptions {
  readonly runId: string;
  readonly parentRunId?: string | undefined;
  readonly effects: Pick<Effects, "publish">;
  readonly clock: Clock;
  /** The longest one event's listeners may take together; 0 is no limit. */
  readonly timeoutMs: number;
  /** Called once, with the first failure. */
  readonly onFailure: (error: BowlineError) => void;
}

export interface Emitter {
  /** Resolves when the event's listeners are done; undefined when nothing had to be waited for. Never rejects. */
  emit(body: AgentEventBody): Promise<void> | undefined;
  /** The same for the event that comes by the thousand. */
  update(event: AssistantMessageEvent, message: AssistantMessage): Promise<void> | undefined;
  /** The first failure of a listener. */
  failure: BowlineError | undefined;
}

export function createEmitter({ runId, parentRunId, effects, clock, timeoutMs, onFailure }: EmitterOptions): Emitter {
  const parent = parentRunId === undefined ? {} : { parentRunId };
  let seq = 0;
  /** The event that is being handled, and all that wait behind it. */
  let tail: Promise<void> | undefined;
  const emitter: Emitter = {
    emit: (body) => send({ ...body, runId, seq: seq++, ...parent }),
    update: (event, message) => send(Object.assign(new MessageUpdate(runId, seq++, event, message), parent)),
    failure: undefined,
  };
  return emitter;

  function send(event: AgentEvent): Promise<void> | undefined {
    const waiting = tail === undefined ? hand(event) : tail.then(() => hand(event));
    if (waiting === undefined) return undefined;
    const own = waiting.then(() => {
      if (tail === own) tail = undefined;
    });
    tail = own;
    return own;
  }

  function hand(event: AgentEvent): Promise<void> | undefined {
    try {
      const result = effects.publish(event);
      return isThenable(result) ? settle(result, event.type) : undefined;
    } catch (error) {
      fail(error, event.type);
      return undefined;
    }
  }

  function settle(result: PromiseLike<void>, type: string): Promise<void> {
    return new Promise((resolve) => {
      const late = (): void => {
        fail(new BowlineError("listener_failed", `A listener of ${type} took longer than ${timeoutMs} ms.`), type);
        resolve();
      };
      const cancel = timeoutMs > 0 ? clock.setTimer(timeoutMs, late) : () => {};
      const done = (): void => {
        cancel();
        resolve();
      };
      result.then(done, (error: unknown) => {
        fail(error, type);
        done();
      });
    });
  }

  function fail(thrown: unknown, type: string): void {
    if (emitter.failure !== undefined) return;
    emitter.failure = toBowlineError(thrown, "listener_failed", `A listener failed on ${type}`);
    onFailure(emitter.failure);
  }
}

export function isThenable(value: unknown): value is PromiseLike<void> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}
