/**
 * Numbers a run's events and hands them out one at a time, in order, also when parallel tools emit while a listener is busy.
 * A listener that fails does not stop events; it is remembered, and the loop ends the run at its next safe point.
 */
import type { Clock } from "../clock.ts";
import { defined } from "../json-value.ts";
import { toBowlineError, type BowlineError } from "../errors.ts";
import type { AssistantMessageEvent } from "../llm/event.ts";
import type { AssistantMessage } from "../llm/message.ts";
import type { Effects, Hear } from "./effects.ts";
import { MessageUpdate, type AgentEvent, type AgentEventBody } from "./event.ts";

/** How long a run may keep the process to itself, in milliseconds, and how many events it lets pass between looks at the clock. */
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
  /** Waits for a listener as long as it may take. `giveUp` is called instead when the run was aborted and it ignores that. */
  readonly patiently: (result: PromiseLike<void>, giveUp: () => void) => void | Promise<void>;
  /** Called once, with the first failure. */
  readonly onFailure: (error: BowlineError) => void;
}

export interface Emitter {
  /** Resolves when the event's listeners are done; undefined when nothing had to be waited for. Never rejects. */
  emit(this: void, event: AgentEventBody | AgentEvent): Promise<void> | undefined;
  /** The same for the event that comes by the thousand. */
  update(event: AssistantMessageEvent, message: AssistantMessage): Promise<void> | undefined;
  /** The first failure of a listener. */
  failure: BowlineError | undefined;
}

export function createEmitter({
  runId,
  parentRunId,
  seq: first,
  effects,
  clock,
  signal,
  patiently,
  onFailure,
}: EmitterOptions): Emitter {
  const parent = defined({ parentRunId });
  let seq = first;
  let sent = 0;
  let yielded = clock.now();
  /** After an abort a listener that hangs is waited for once, not for each event that is left. */
  const leftBehind = new Set<object>();
  /** The event that is being handled, and all that wait behind it. */
  let tail: Promise<void> | undefined;
  const emitter: Emitter = {
    // A nested run's event is passed on as it is, in its turn.
    emit: (event) => send("runId" in event ? event : { ...event, runId, seq: seq++, ...parent }),
    update(event, message) {
      const update = new MessageUpdate(runId, seq++, event, message);
      return send(parentRunId === undefined ? update : Object.assign(update, parent));
    },
    failure: undefined,
  };
  return emitter;

  function send(event: AgentEvent): Promise<void> | undefined {
    const waiting = tail ? tail.then(() => inTurn(event)) : inTurn(event);
    if (!waiting) return undefined;
    const own = waiting.then(() => {
      if (tail === own) tail = undefined;
    });
    tail = own;
    return own;
  }

  /** A run that never waits for anything would keep timers and sockets waiting: its events pause now and then. */
  function inTurn(event: AgentEvent): Promise<void> | undefined {
    if (++sent % EVENTS_PER_LOOK > 0 || !clock.yield || clock.now() - yielded < BUSY_MS)
      return effects.publish(event, hear) ?? undefined;
    return clock.yield().then(() => {
      yielded = clock.now();
      return effects.publish(event, hear);
    });
  }

  function hear(listener: Listener, event: AgentEvent): Promise<void> | undefined {
    try {
      const result = listener(event);
      return isThenable(result) ? settle(result, listener, event) : undefined;
    } catch (error) {
      fail(error, event.type);
      return undefined;
    }
  }

  function settle(result: PromiseLike<void>, listener: Listener, { type }: AgentEvent): Promise<void> | undefined {
    // What an answer or a tool had still said may be much: after an abort it is told without a pause.
    const isAwaited = !leftBehind.has(listener) && !(signal.aborted && type.endsWith("_update"));
    const heard = isAwaited ? patiently(result, () => leftBehind.add(listener)) : result;
    const settled = Promise.resolve(heard).catch((error: unknown) => fail(error, type));
    return isAwaited ? settled : undefined;
  }

  function fail(thrown: unknown, type: string): void {
    if (emitter.failure) return;
    emitter.failure = toBowlineError(thrown, "listener_failed", `A listener failed on ${type}`);
    onFailure(emitter.failure);
  }
}

export function isThenable<T = void>(value: unknown): value is PromiseLike<T> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === "function";
}
