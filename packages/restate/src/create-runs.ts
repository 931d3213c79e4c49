/** Runs of agents on Restate: the service that a worker serves. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import {
  createEndpointHandler,
  handlers,
  object,
  TerminalError,
  type ObjectContext,
  type ObjectSharedContext,
  type VirtualObjectDefinition,
} from "@restatedev/restate-sdk";
import { BowlineError, isBowlineError } from "@bowline/core";
import { checkNames } from "@bowline/core/agent";
import { toEngineContext, toEngineError } from "./engine/restate-context.ts";
import { StepGate } from "./engine/step-gate.ts";
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
  WakeInput,
} from "./wire.ts";

/** Restate's request handler, for HTTP/2 and HTTP/1.1. */
export interface EndpointHandler {
  (request: IncomingMessage, response: ServerResponse): void;
  (request: Http2ServerRequest, response: Http2ServerResponse): void;
}

export interface EndpointOptions {
  /** The public keys of the Restate servers that may call, such as `publickeyv1_…`. Default: anyone may. */
  readonly identityKeys?: readonly string[] | undefined;
  /** Receives what the SDK logs. Default: the console. */
  readonly logger?: ((about: LogAbout, message?: unknown, ...more: unknown[]) => void) | undefined;
}

/** Where a line of the SDK's log comes from. */
export interface LogAbout {
  readonly level: string;
  readonly replaying: boolean;
}

export interface RestateRuns {
  /**
   * The virtual object whose keys are the sessions, for an endpoint of your own with
   * `createEndpointHandler` of Restate's SDK.
   */
  readonly service: { readonly name: string };
  /**
   * Returns a request handler for `http2.createServer()`. Listen on a private address, or pass
   * `identityKeys`: whoever reaches it can run the agents.
   */
  endpoint(options?: EndpointOptions): EndpointHandler;
  /**
   * Begins no further step in this process. Resolves when Restate has the results of the running ones.
   * Then end the connections: Restate continues the runs elsewhere, and repeats nothing.
   */
  drain(): Promise<void>;
}

/**
 * Creates the service. Register its endpoint with Restate (`restate deployments register`). Throws
 * `invalid_argument` for options that cannot work, and `invalid_state` on a runtime without
 * `Promise.withResolvers`, on which the SDK fails in silence.
 */
export function createRestateRuns(options: RestateRunsOptions): RestateRuns {
  checkRuntime();
  return createRuns(readOptions(options));
}

/** Creates the service for options that were read. */
export function createRuns(settings: RunsSettings): RestateRuns {
  const gate = new StepGate();
  const service = createService(settings, gate);
  return {
    service,
    drain: () => gate.close(),
    endpoint(given = {}) {
      checkNames(given, Object.keys(endpointNames));
      const { identityKeys, logger } = given;
      return createEndpointHandler({
        services: [service],
        ...(identityKeys && { identityKeys: [...identityKeys] }),
        ...(logger && { logger }),
      });
    },
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

const endpointNames: Readonly<Record<keyof EndpointOptions, true>> = {
  identityKeys: true,
  logger: true,
};

function createService(
  settings: RunsSettings,
  gate: StepGate,
): VirtualObjectDefinition<string, unknown> {
  const adoptions = new Adoptions();
  const { store, inactivityMs, maxStepMs, retentionMs } = settings;
  const start = (context: ObjectContext, input: RunInput | WakeInput): Promise<RunOutcome> =>
    toEngine(() => runAttempt(toEngineContext(context, gate), settings, adoptions, input));
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
