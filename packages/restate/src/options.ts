/** The options of runs on Restate. */
import {
  BowlineError,
  type Agent,
  type AgentEvent,
  type Clock,
  type Effects,
  type ErrorInfo,
  type RunEndReason,
  type RunResult,
} from "@bowline/core";
import { checkNames } from "@bowline/core/agent";
import type { SessionHeader } from "@bowline/core/session";
import type { PostgresStore } from "@bowline/postgres";
import { DEFAULT_SERVICE } from "./wire.ts";

/** For which run an agent is created. */
export interface AgentRequest {
  readonly sessionId: string;
  /** The session's header, with its metadata. */
  readonly header: SessionHeader;
  readonly runId: string;
  /** The name that the gateway gave, or that of the session's last run. */
  readonly agent: string | undefined;
  /**
   * The metadata of the message that began the run. Undefined for a run that began with the messages
   * of the inbox.
   */
  readonly metadata: Readonly<Record<string, unknown>> | undefined;
}

/** Where an event comes from. */
export interface EventSource {
  readonly sessionId: string;
  /** The run. Events of nested runs, of sub-agents, have another `runId`. */
  readonly runId: string;
  /**
   * The attempt at the run. Another attempt has a higher number and publishes the run's events again:
   * forget what lower ones published.
   */
  readonly attempt: number;
  /** Whether an earlier attempt may have published events of the run. */
  readonly isRepeated: boolean;
  /** Number of the event within the attempt, from 0. */
  readonly number: number;
}

/** How a run ended. */
export interface RunEnding {
  readonly reason: RunEndReason;
  readonly error?: ErrorInfo;
  /** False if `createAgent` rejected: the run had no agent, and published no events. */
  readonly hasAgent: boolean;
}

export interface RestateRunsOptions {
  /** The sessions. */
  readonly store: PostgresStore;
  /**
   * Creates the agent of a run: an agent without messages, from the main entry of `@bowline/core`.
   * Called once per attempt. The model, the tools and the hooks must be the same in each attempt of a
   * run, so change them with a new deployment. Listeners of the agent are not called. A rejection with
   * an error that is not retryable ends the run with it; the run is attempted again after any other.
   */
  readonly createAgent: (request: AgentRequest) => Agent | Promise<Agent>;
  /**
   * A schema for the run's output, as for `agent.prompt()`. Called once per attempt. Default: none.
   */
  readonly outputOf?: ((request: AgentRequest) => unknown) | undefined;
  /**
   * Called with each event of each attempt, at once. It is not awaited, and its errors are ignored. It
   * must not write to the session: the committed entries are the record.
   */
  readonly onEvent?: ((event: AgentEvent, source: EventSource) => void) | undefined;
  /**
   * Called when the end of a run is stored, again by an attempt that repeats the end. It is not
   * awaited, and its errors are ignored. Not called for a run whose session was deleted, or that was
   * ended by `createRestateAdmin`.
   */
  readonly onEnd?: ((end: RunEnding, source: Omit<EventSource, "number">) => void) | undefined;
  /**
   * Whether messages that a failed or aborted run leaves wait for the next message. By default they
   * begin a run of their own. Default false.
   */
  readonly holdsLeft?: boolean | undefined;
  /** The name of the virtual object. Default `bowline`. */
  readonly serviceName?: string | undefined;
  /**
   * How long Restate waits for news of a run before it asks the process to let go of it, in
   * milliseconds. A run that waits for a person then occupies no process. Default 60,000.
   */
  readonly inactivityMs?: number | undefined;
  /**
   * How long a step may go on after that, in milliseconds. Must be longer than the longest model call
   * and the longest tool, because a step that is cut begins anew. Default 3,600,000, an hour.
   */
  readonly maxStepMs?: number | undefined;
  /**
   * How long the journal and the outcome of a run are kept after its end, in milliseconds. Default
   * 3,600,000, an hour.
   */
  readonly retentionMs?: number | undefined;
  /**
   * How long a step retries when the database is away, in milliseconds. The run is attempted again
   * after that. Default 300,000.
   */
  readonly storageRetryMs?: number | undefined;
  /**
   * Results of tools above this size of JSON are kept in the session instead of the journal, in
   * bytes. Default 262,144.
   */
  readonly maxJournaledBytes?: number | undefined;
}

type Names = Readonly<Record<keyof RestateRunsOptions, true>>;

const names: Names = {
  store: true,
  createAgent: true,
  outputOf: true,
  onEvent: true,
  onEnd: true,
  holdsLeft: true,
  serviceName: true,
  inactivityMs: true,
  maxStepMs: true,
  retentionMs: true,
  storageRetryMs: true,
  maxJournaledBytes: true,
};

/**
 * Observes attempts from inside, for core's cases of effects, which stop an attempt at each moment. No
 * option sets it.
 */
interface AttemptProbe {
  /** Returns the effects that the loop gets. */
  readonly watch: (effects: Effects) => Effects;
  /** Called with the result of the loop, before the end of the run is written. */
  readonly onResult: (result: RunResult) => void;
  /** The time of steps and of the journal. Default: the system's. */
  readonly clock?: Clock;
  /** Resolves when the loop has nothing to do but to wait. Default: after one turn of the event loop. */
  readonly rest?: () => Promise<unknown>;
}

/** The options with their defaults. */
export type RunsSettings = {
  readonly [Name in keyof RestateRunsOptions]-?: Exclude<RestateRunsOptions[Name], undefined>;
} & { readonly probe?: AttemptProbe };

const HOUR_MS = 3_600_000;

/** Throws `invalid_argument` for options that cannot work. */
export function readOptions(options: RestateRunsOptions): RunsSettings {
  checkNames(options, Object.keys(names));
  const { store, createAgent } = options;
  if (typeof (store as Partial<PostgresStore> | undefined)?.durable?.append !== "function")
    throw invalid("The option store must be a store from createPostgresStore().");
  if (typeof createAgent !== "function")
    throw invalid("The option createAgent must be a function that returns an agent.");
  const settings: RunsSettings = {
    store,
    createAgent,
    outputOf: options.outputOf ?? (() => undefined),
    onEvent: options.onEvent ?? (() => {}),
    onEnd: options.onEnd ?? (() => {}),
    holdsLeft: options.holdsLeft ?? false,
    serviceName: options.serviceName ?? DEFAULT_SERVICE,
    inactivityMs: options.inactivityMs ?? 60_000,
    maxStepMs: options.maxStepMs ?? HOUR_MS,
    retentionMs: options.retentionMs ?? HOUR_MS,
    storageRetryMs: options.storageRetryMs ?? 300_000,
    maxJournaledBytes: options.maxJournaledBytes ?? 262_144,
  };
  checkServiceName(settings.serviceName);
  for (const [name, value] of Object.entries(settings))
    if (typeof value === "number" && !(Number.isSafeInteger(value) && value >= 0))
      throw invalid(`The option ${name} must be a whole number of at least 0, not ${value}.`);
  return settings;
}

/** Throws `invalid_argument` for a name that Restate refuses. */
export function checkServiceName(name: string): void {
  if (!/^[A-Za-z_]\w*$/.test(name))
    throw invalid(`The option serviceName must be letters, digits and _, not "${name}".`);
}

export function invalid(message: string): BowlineError {
  return new BowlineError("invalid_argument", message);
}
