/**
 * The administrator's half. Finds runs that cannot go on, and ends them: a run whose code no longer
 * fits its journal fails in each attempt, and its session accepts no further run. Removes what Restate
 * has of a session.
 */
import { setTimeout } from "node:timers/promises";
import { connect, rpc } from "@restatedev/restate-sdk-clients";
import { isBowlineError } from "@bowline/core";
import { checkNames } from "@bowline/core/agent";
import { AdminRequests } from "./admin-requests.ts";
import { toClientError } from "./client-error.ts";
import { checkServiceName, invalid } from "./options.ts";
import { readRestateStatus, type RestateStatus } from "./restate-status.ts";
import { DEFAULT_SERVICE, type RecoverInput, type RecoverOutcome } from "./wire.ts";

export interface RestateAdminOptions {
  /** The address of Restate's admin interface, such as `http://restate:9070`. */
  readonly admin: string;
  /** The address of Restate's ingress, such as `http://restate:8080`. */
  readonly ingress: string;
  /** The name of the virtual object. Default `bowline`. */
  readonly serviceName?: string | undefined;
  /** Headers for Restate, such as `authorization`. Default: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Number of failed attempts from which a run is ended. Default 4. */
  readonly attempts?: number | undefined;
  /** The time limit of a request, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number | undefined;
}

/** A run that was ended. */
export interface EndedRun {
  readonly sessionId: string;
  readonly invocationId: string;
  /** What Restate says of its last attempt. */
  readonly failure: string;
  /** Absent: the run had not begun, or its end was stored already. */
  readonly runId?: string;
}

export interface RestateAdmin {
  /** Reads the deployments, and the runs whose attempts have failed `attempts` times. */
  status(): Promise<RestateStatus>;
  /**
   * Ends the runs that cannot go on: kills their invocations, gives their open calls results, and
   * writes `run_end` with the reason `interrupted`. Messages that a run had taken, and that its
   * transcript does not have, go in with the next message. Resolves with the runs.
   */
  endStuckRuns(): Promise<readonly EndedRun[]>;
  /**
   * Ends the session's run if Restate has no invocation for it any more, as after somebody killed it or
   * Restate's data were lost. Resolves with the id of the run, or undefined if there was none to end.
   */
  endLostRun(sessionId: string): Promise<string | undefined>;
  /**
   * Returns those of the sessions that Restate has no invocation for. A session with a running run is
   * among them if its run was lost: pass its id to `endLostRun`.
   */
  idleSessions(sessionIds: readonly string[]): Promise<readonly string[]>;
  /**
   * Checks at this interval until `signal` fires. `onEnded` gets each ended run, `onError` the error
   * of a check that failed; the next check comes nevertheless.
   */
  watch(options: {
    readonly signal: AbortSignal;
    /** In milliseconds. Default 10,000. */
    readonly everyMs?: number;
    readonly onEnded?: (run: EndedRun) => void;
    readonly onError?: (error: unknown) => void;
  }): Promise<void>;
  /**
   * Kills the session's runs and removes their journals and the session's state, which hold messages
   * and results. For `beforeDelete` of `store.deleteSessions()`.
   */
  forget(sessionId: string): Promise<void>;
}

const names: Readonly<Record<keyof RestateAdminOptions, true>> = {
  admin: true,
  ingress: true,
  serviceName: true,
  headers: true,
  attempts: true,
  timeoutMs: true,
};

/** Restate's code of an attempt that went another way than its journal. */
const MISMATCH = "RT0016";
const DEFAULT_ATTEMPTS = 4;
const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_EVERY_MS = 10_000;
const PURGE_ATTEMPTS = 20;
const PURGE_PAUSE_MS = 100;

/** Creates the administrator's half. Throws `invalid_argument` for options that cannot work. */
export function createRestateAdmin(options: RestateAdminOptions): RestateAdmin {
  checkNames(options, Object.keys(names));
  const { admin, ingress, serviceName = DEFAULT_SERVICE } = options;
  for (const [name, url] of Object.entries({ admin, ingress }))
    if (!URL.canParse(url)) throw invalid(`The option ${name} must be a URL.`);
  checkServiceName(serviceName);
  return new Admin({ ...options, admin: admin.replace(/\/$/, ""), serviceName });
}

class Admin implements RestateAdmin {
  readonly #options: RestateAdminOptions;
  readonly #requests: AdminRequests;

  constructor(options: RestateAdminOptions) {
    const { admin, headers, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
    this.#options = options;
    this.#requests = new AdminRequests({ admin, headers, timeoutMs });
  }

  status(): Promise<RestateStatus> {
    const { serviceName = DEFAULT_SERVICE, attempts = DEFAULT_ATTEMPTS } = this.#options;
    const query = { serviceName, attempts: Math.trunc(attempts) };
    return readRestateStatus(this.#requests, query);
  }

  async endStuckRuns(): Promise<readonly EndedRun[]> {
    const { serviceName, attempts = DEFAULT_ATTEMPTS } = this.#options;
    const sql = `select id, target_service_key, last_failure from sys_invocation
      where target_service_name = '${serviceName}' and status in ('backing-off', 'running', 'paused')
      and last_failure_error_code = '${MISMATCH}' and retry_count >= ${Math.trunc(attempts)}`;
    const ended: EndedRun[] = [];
    for (const {
      id = "",
      target_service_key: sessionId = "",
      last_failure: failure = "",
    } of await this.#requests.query(sql)) {
      const run = { sessionId, invocationId: id, failure };
      ended.push({ ...run, ...(await this.#end(run)) });
    }
    return ended;
  }

  async endLostRun(sessionId: string): Promise<string | undefined> {
    const known = await this.#invocations(sessionId);
    if (known.some(({ status }) => status !== "completed")) return undefined;
    const reason = "The run was lost: Restate does not know it any more.";
    return (await this.#recover(sessionId, { reason })).runId;
  }

  async idleSessions(sessionIds: readonly string[]): Promise<readonly string[]> {
    if (sessionIds.length === 0) return [];
    const { serviceName = DEFAULT_SERVICE } = this.#options;
    const rows = await this.#requests.query(`select distinct target_service_key from sys_invocation
      where target_service_name = '${serviceName}' and status <> 'completed'
      and target_service_key in (${sessionIds.map(quoted).join(", ")})`);
    const busy = new Set(rows.map(({ target_service_key: key }) => key));
    return sessionIds.filter((id) => !busy.has(id));
  }

  async forget(sessionId: string): Promise<void> {
    const { serviceName = DEFAULT_SERVICE } = this.#options;
    for (const { id = "", status } of await this.#invocations(sessionId)) {
      const path = `/invocations/${encodeURIComponent(id)}`;
      if (status !== "completed") await this.#kill(path);
      await this.#purge(path);
    }
    const body = { object_key: sessionId, new_state: {} };
    await this.#requests.send("POST", `/services/${serviceName}/state`, body);
  }

  async watch({
    signal,
    everyMs = DEFAULT_EVERY_MS,
    onEnded,
    onError,
  }: Parameters<RestateAdmin["watch"]>[0]): Promise<void> {
    while (!signal.aborted) {
      try {
        for (const run of await this.endStuckRuns()) onEnded?.(run);
      } catch (error) {
        onError?.(error);
      }
      await setTimeout(everyMs, undefined, { signal }).catch(() => {});
    }
  }

  /** Returns the invocations of a session's runs, also of those that have ended. */
  #invocations(sessionId: string): ReturnType<AdminRequests["query"]> {
    const { serviceName = DEFAULT_SERVICE } = this.#options;
    return this.#requests.query(`select id, status from sys_invocation
      where target_service_name = '${serviceName}' and target_service_key = ${quoted(sessionId)}`);
  }

  async #end({ sessionId, invocationId }: EndedRun): Promise<RecoverOutcome> {
    await this.#kill(`/invocations/${encodeURIComponent(invocationId)}`);
    return this.#recover(sessionId, {
      reason: "The run could not go on, because its code no longer fits its journal.",
    });
  }

  /** After the invocations of the session's runs, since it is one of them. */
  async #recover(sessionId: string, parameter: RecoverInput): Promise<RecoverOutcome> {
    const { ingress, headers, serviceName } = this.#options;
    const { timeoutMs: timeout = DEFAULT_TIMEOUT_MS } = this.#options;
    try {
      const restate = connect({ url: ingress.replace(/\/$/, ""), headers: { ...headers } });
      const opts = rpc.opts<RecoverInput, RecoverOutcome>({ timeout });
      const to = { service: serviceName ?? DEFAULT_SERVICE, handler: "recover", key: sessionId };
      return await restate.call<RecoverInput, RecoverOutcome>({ ...to, parameter, opts });
    } catch (error) {
      throw toClientError(error);
    }
  }

  /** Ends an invocation, which may have ended by itself since it was listed. */
  async #kill(path: string): Promise<void> {
    try {
      await this.#requests.send("PATCH", `${path}/kill`);
    } catch (error) {
      const hasEnded = isBowlineError(error) && ["aborted", "not_found"].includes(error.code);
      if (!hasEnded) throw error;
    }
  }

  /** Removes an invocation. Restate refuses until a kill has taken effect, and forgets by itself. */
  async #purge(path: string): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#requests.send("PATCH", `${path}/purge`);
        return;
      } catch (error) {
        if (isBowlineError(error) && error.code === "not_found") return;
        if (attempt === PURGE_ATTEMPTS) throw error;
        await setTimeout(PURGE_PAUSE_MS);
      }
    }
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
