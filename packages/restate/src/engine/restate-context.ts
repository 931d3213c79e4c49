/** Implements the engine's port with a context of Restate's SDK. */
import {
  RestatePromise,
  RetryableError,
  serde,
  TerminalError,
  type internal,
  type ObjectContext,
  type Serde,
} from "@restatedev/restate-sdk";
import { BowlineError, isBowlineError } from "@bowline/core";
import { isSessionFenced } from "@bowline/postgres";
import type { EngineContext, Handle, Outcome } from "./context.ts";
import type { StepGate } from "./step-gate.ts";

/** A handle with the promise that delivers it as an outcome. */
interface PromiseHandle extends Handle {
  readonly outcome: RestatePromise<Outcome>;
}

/** The closures encode their results themselves. */
const bytes: Serde<Uint8Array> = {
  contentType: serde.json.contentType ?? "application/json",
  serialize: (value) => value,
  deserialize: (value) => value,
};

/** How soon an attempt that lost its session to another one is repeated. */
const FENCED_RETRY_MS = 50;
const NOT_FOUND = 404;
const BAD_REQUEST = 400;

/** Steps go through the gate, so that a process can stop between two of them. */
export function toEngineContext(context: ObjectContext, gate: StepGate): EngineContext {
  const { id, attemptCompletedSignal: ended } = context.request();
  const cancelled = (context as ObjectContext & internal.ContextInternal).cancellation();
  return {
    key: context.key,
    invocationId: id,
    ended,
    run(name, work) {
      const step = gate.step();
      ended.addEventListener("abort", step.done, { once: true });
      const done = (): void => {
        ended.removeEventListener("abort", step.done);
        step.done();
      };
      const closure = rethrowing(() => step.run(work));
      return toHandle(name, context.run(name, closure, { serde: bytes }), done);
    },
    sleep: (name, ms) => toHandle(name, context.sleep(ms, name)),
    awakeable(name) {
      const { id: awakeableId, promise } = context.awakeable<unknown>();
      return { id: awakeableId, handle: toHandle(name, promise) };
    },
    cancellation: () => toHandle("cancellation", cancelled),
    get: (name) => toHandle(name, context.get<unknown>(name) as RestatePromise<unknown>),
    set: (name, value) => context.set(name, value),
    clear: (name) => context.clear(name),
    race: (handles) =>
      RestatePromise.race(handles.map((handle) => (handle as PromiseHandle).outcome)),
  };
}

/** `onSettled` is called when the engine has the result. */
function toHandle(
  name: string,
  promise: RestatePromise<unknown>,
  onSettled: () => void = () => {},
): Handle {
  const handle: { name: string; outcome?: RestatePromise<Outcome> } = { name };
  handle.outcome = promise.map((value, failure) => {
    onSettled();
    return failure === undefined ? { handle, value } : { handle, failure: toBowlineError(failure) };
  });
  return handle;
}

/** Converts the errors of a closure to those by which the engine decides whether to retry. */
function rethrowing(work: () => Promise<Uint8Array>): () => Promise<Uint8Array> {
  return async () => {
    try {
      return await work();
    } catch (error) {
      throw toEngineError(error);
    }
  };
}

/** Returns the engine's error: retryable, or terminal for what no retry changes. */
export function toEngineError(error: unknown): unknown {
  if (isSessionFenced(error)) return RetryableError.from(error, { retryAfter: FENCED_RETRY_MS });
  if (!isBowlineError(error) || error.retryable) return error;
  if (error.code === "not_found") return new TerminalError(error.message, { errorCode: NOT_FOUND });
  if (error.code === "invalid_argument")
    return new TerminalError(error.message, { errorCode: BAD_REQUEST });
  return error;
}

function toBowlineError(failure: TerminalError): BowlineError {
  const code =
    failure.code === NOT_FOUND
      ? "not_found"
      : failure.code === BAD_REQUEST
        ? "invalid_argument"
        : "internal_error";
  return new BowlineError(code, failure.message, { cause: failure });
}
