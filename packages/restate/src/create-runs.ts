/** Runs of agents on Restate: the service that a worker serves. */
import {
  createEndpointHandler,
  handlers,
  object,
  TerminalError,
  type NodeEndpointOptions,
  type ObjectContext,
  type ObjectSharedContext,
  type VirtualObjectDefinition,
} from "@restatedev/restate-sdk";
import { BowlineError, isBowlineError } from "@bowline/core";
import { toEngineContext, toEngineError } from "./engine/restate-context.ts";
import { abortRun, answerQuestion, readState, recoverSession } from "./handlers.ts";
import { readOptions, type RestateRunsOptions, type RunsSettings } from "./options.ts";
import { Adoptions } from "./run/adoptions.ts";
import { runAttempt } from "./run/attempt.ts";
import { readAbort, readAnswer, readRecover, readRun, readWake } from "./read-input.ts";
import type {
  AbortInput,
  AnswerCall,
  RecoverInput,
  RunInput,
  RunOutcome,
  SessionRuns,
  WakeInput,
} from "./wire.ts";

/** The handlers of a session, as Restate calls them. Use `createRestateClient` to call them. */
export interface SessionHandlers {
  run(context: ObjectContext, input: RunInput): Promise<RunOutcome>;
  wake(context: ObjectContext, input: WakeInput): Promise<RunOutcome>;
  recover(context: ObjectContext, input: RecoverInput): Promise<void>;
  abort(context: ObjectSharedContext, input: AbortInput): Promise<boolean>;
  answer(context: ObjectSharedContext, input: AnswerCall): Promise<void>;
  state(context: ObjectSharedContext): Promise<SessionRuns>;
}

export interface RestateRuns {
  /** The virtual object whose keys are the sessions. */
  readonly service: VirtualObjectDefinition<string, SessionHandlers>;
  /**
   * Returns a request handler for `http2.createServer()`. Listen on a private address, or pass
   * `identityKeys`: whoever reaches it can run the agents.
   */
  endpoint(
    options?: Omit<NodeEndpointOptions, "services" | "defaultServiceOptions">,
  ): ReturnType<typeof createEndpointHandler>;
}

/**
 * Creates the service. Register its endpoint with Restate (`restate deployments register`). Throws
 * `invalid_argument` for options that cannot work, and `invalid_state` on a runtime without
 * `Promise.withResolvers`, on which the SDK fails in silence.
 */
export function createRestateRuns(options: RestateRunsOptions): RestateRuns {
  checkRuntime();
  const settings = readOptions(options);
  const service = createService(settings);
  return {
    service,
    endpoint: (endpointOptions) =>
      createEndpointHandler({ ...endpointOptions, services: [service] }),
  };
}

/** Throws where each invocation would fail and be retried, with nothing to see. */
export function checkRuntime(
  runtime: { readonly withResolvers?: unknown } = Promise as { readonly withResolvers?: unknown },
): void {
  if (typeof runtime.withResolvers === "function") return;
  throw new BowlineError(
    "invalid_state",
    "Runs on Restate need Promise.withResolvers, which is in Node 22 and later. Use a newer Node, or define it before this call.",
  );
}

function createService(settings: RunsSettings): VirtualObjectDefinition<string, SessionHandlers> {
  const adoptions = new Adoptions();
  const { store, inactivityMs, maxStepMs, retentionMs } = settings;
  const start = (context: ObjectContext, input: RunInput | WakeInput): Promise<RunOutcome> =>
    toEngine(() => runAttempt(toEngineContext(context), settings, adoptions, input));
  return object({
    name: settings.serviceName,
    handlers: {
      run: (context: ObjectContext, input: RunInput) => start(context, readRun(input)),
      wake: (context: ObjectContext, input: WakeInput) => start(context, readWake(input)),
      recover: handlers.object.exclusive(
        { explicitCancellation: false },
        (context: ObjectContext, input: RecoverInput) =>
          toEngine(() => recoverSession(context, store, readRecover(input))),
      ),
      abort: handlers.object.shared((context: ObjectSharedContext, input: AbortInput) =>
        abortRun(context, readAbort(input)),
      ),
      answer: handlers.object.shared((context: ObjectSharedContext, input: AnswerCall) =>
        answerQuestion(context, readAnswer(input)),
      ),
      state: handlers.object.shared((context: ObjectSharedContext) => readState(context)),
    },
    options: {
      explicitCancellation: true,
      inactivityTimeout: inactivityMs,
      abortTimeout: maxStepMs,
      journalRetention: retentionMs,
      idempotencyRetention: retentionMs,
      retryPolicy: {
        initialInterval: 100,
        maxInterval: 10_000,
        exponentiationFactor: 2,
        // Also counts while no worker answers. A run that cannot go on is for `createRestateAdmin`.
        maxAttempts: 1_000_000,
        onMaxAttempts: "pause",
      },
    },
  });
}

/** Converts errors that no retry changes. */
async function toEngine<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TerminalError) throw error;
    throw isBowlineError(error) ? toEngineError(error) : error;
  }
}
