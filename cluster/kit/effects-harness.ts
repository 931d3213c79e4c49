/**
 * Core's cases of effects over a Restate server and a PostgreSQL server. An attempt ends because its
 * connection is cut, and Restate starts the next one from its journal.
 */
import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { Agent, BowlineError, isBowlineError, systemClock, type RunResult } from "@bowline/core";
import type { AgentMessage, InboxKind } from "@bowline/core/agent";
import { openSession } from "@bowline/core/session";
import type { AttemptSetup, EffectsHarness } from "@bowline/core/testing";
import type { PostgresStore } from "@bowline/postgres";
import { createRestateClient, createRestateRuns, type RestateClient } from "@bowline/restate";
import { createRuns } from "../../packages/restate/src/create-runs.ts";
import { readOptions } from "../../packages/restate/src/options.ts";
import { CutEndpoint } from "./cut-endpoint.ts";
import type { Restate } from "./restate.ts";

const POLL_MS = 20;
const PATIENCE_MS = 20_000;

/** Servers that the cases share. */
export interface EffectsServers {
  readonly restate: Restate;
  readonly store: PostgresStore;
}

/** An endpoint of one service, for one run at a time. */
interface Worker {
  readonly serviceName: string;
  readonly endpoint: CutEndpoint;
}

/** Endpoints that the cases take in turn: as many runs go on at the same time. */
export class EffectsWorkers implements AsyncDisposable {
  readonly #servers: EffectsServers;
  readonly #all: readonly Worker[];
  readonly #free: Worker[];
  readonly #waiting: ((worker: Worker) => void)[] = [];

  private constructor(servers: EffectsServers, workers: readonly Worker[]) {
    this.#servers = servers;
    this.#all = workers;
    this.#free = [...workers];
  }

  /** Registers the endpoints with Restate. */
  static async start(servers: EffectsServers, count: number): Promise<EffectsWorkers> {
    const workers: Worker[] = [];
    for (let number = 0; number < count; number++) {
      const serviceName = `kit_${number}`;
      const createAgent = (): never => {
        throw new Error("The endpoint that describes itself runs nothing.");
      };
      const runs = createRestateRuns({ store: servers.store, createAgent, serviceName });
      const endpoint = await CutEndpoint.start(runs.endpoint({ logger: () => {} }));
      workers.push({ serviceName, endpoint });
      await servers.restate.register(endpoint.uri);
    }
    return new EffectsWorkers(servers, workers);
  }

  async createHarness(): Promise<RestateEffects> {
    const worker =
      this.#free.pop() ?? (await new Promise<Worker>((resolve) => this.#waiting.push(resolve)));
    return new RestateEffects(this.#servers, worker, () => {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free.push(worker);
      else next(worker);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { endpoint } of this.#all) await endpoint[Symbol.asyncDispose]();
  }
}

export class RestateEffects implements EffectsHarness {
  readonly replays = true;
  readonly canRepeat = true;
  readonly clock = systemClock;
  readonly overheadMs = 3500;
  readonly hangMs = 60_000;
  readonly sessionId = randomUUID();
  readonly #servers: EffectsServers;
  readonly #worker: Worker;
  readonly #release: () => void;
  readonly #client: RestateClient;
  readonly #disposed = new AbortController();
  #invocationId: string | undefined;
  #result: RunResult | undefined;
  #pushed = 0;
  /** Whether a run of all attempts has come to its end once. */
  #hasEnded = false;

  constructor(servers: EffectsServers, worker: Worker, release: () => void) {
    this.#servers = servers;
    this.#worker = worker;
    this.#release = release;
    const { store, restate } = servers;
    const { serviceName } = worker;
    this.#client = createRestateClient({ ingress: restate.ingress, store, serviceName });
  }

  async attempt(setup: AttemptSetup): Promise<RunResult> {
    const { endpoint } = this.#worker;
    const over = Promise.withResolvers<RunResult>();
    let isOver = false;
    const end = (): void => {
      isOver = true;
      endpoint.cut();
    };
    setup.stopped.addEventListener("abort", end, { once: true });
    const isRepeated = this.#hasEnded;
    endpoint.serve(
      this.#handlerOf(setup, {
        // Not stopped by the case: the effects have failed.
        onOver: () => {
          if (isOver) return;
          end();
          this.#lastFailure().then((failure) => over.reject(new Error(failure)), over.reject);
        },
        onEnd: (result, number) => {
          if (number !== setup.attempt)
            over.reject(new Error(`Attempt ${setup.attempt} is Restate's attempt ${number}.`));
          this.#hasEnded = true;
          isOver = true;
          // Restate gets the outcome of the run that is replayed whole, and no earlier one.
          if (!isRepeated) endpoint.cut();
          over.resolve(result);
        },
      }),
    );
    if (this.#invocationId === undefined) await this.#begin(setup.prompt);
    const result = await over.promise;
    if (isRepeated) await this.#checkOutcome(result);
    return result;
  }

  #handlerOf(
    { config, tools, streamFn, output, watch, onWait }: AttemptSetup,
    { onOver, onEnd }: { onOver: () => void; onEnd: (result: RunResult, attempt: number) => void },
  ): ReturnType<ReturnType<typeof createRestateRuns>["endpoint"]> {
    const settings = readOptions({
      store: this.#servers.store,
      serviceName: this.#worker.serviceName,
      createAgent: ({ sessionId }) => {
        // A message that an earlier case has left.
        if (sessionId !== this.sessionId)
          throw new BowlineError("invalid_argument", "The case of this session is over.");
        const { model, clock: _, ...hooks } = config;
        const queues = { steeringMode: "all", followUpMode: "all" } as const;
        return new Agent({ ...hooks, ...queues, model, streamFn, tools });
      },
      outputOf: () => output,
      onEnd: (_, { sessionId, attempt }) => {
        if (sessionId === this.sessionId && this.#result !== undefined)
          onEnd(this.#result, attempt);
      },
    });
    // As a process that has just started: no step of an earlier attempt is in its memory.
    const runs = createRuns({
      ...settings,
      probe: {
        watch: (effects) => {
          effects.ended?.addEventListener("abort", onOver, { once: true });
          return watch({
            ...effects,
            waitFor: (name: string, options) => {
              const answer = effects.waitFor<never>(name, options);
              onWait(name);
              return answer;
            },
          } satisfies typeof effects);
        },
        onResult: (result) => void (this.#result = result),
      },
    });
    return runs.endpoint({ logger: () => {} });
  }

  async #begin(message: AgentMessage): Promise<void> {
    const { sessionId } = this;
    await this.#client.ensure(sessionId);
    const sent = await this.#client.submit(sessionId, { messageId: "prompt", message });
    if (sent.state !== "accepted") throw new Error(`The message is ${sent.state}.`);
    this.#invocationId = sent.invocationId;
  }

  /** Throws unless Restate has the same end. */
  async #checkOutcome({ reason, text, turns, usage }: RunResult): Promise<void> {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const outcome = await this.#client.outcome(this.#invocationId ?? "", { signal });
    const known = outcome.state === "ended" ? outcome : undefined;
    const [is, was] = [known, { reason, text, turns, usage }].map((end) =>
      JSON.stringify([end?.reason, end?.text, end?.turns, end?.usage]),
    );
    if (!isDeepStrictEqual(is, was)) throw new Error(`Restate has the outcome ${is}, not ${was}.`);
  }

  /** Why Restate cannot go on with the run. */
  async #lastFailure(): Promise<string> {
    const end = performance.now() + PATIENCE_MS;
    for (;;) {
      const [row] = await this.#servers.restate.query(
        `select last_failure from sys_invocation where id = '${this.#invocationId}'`,
      );
      const { last_failure: failure } = row ?? {};
      if (typeof failure === "string") return failure;
      if (performance.now() > end) return "The attempt is over, and Restate knows no failure.";
      await setTimeout(POLL_MS);
    }
  }

  /** Answers when the question is open. A person who comes too late is refused. */
  async answer(name: string, value: unknown): Promise<void> {
    const { signal } = this.#disposed;
    while (!signal.aborted) {
      try {
        await this.#client.answer(this.sessionId, name, value as { decision: "allow" });
        return;
      } catch (error) {
        if (signal.aborted || (isBowlineError(error) && error.code === "timeout")) return;
        if (!isBowlineError(error) || error.code !== "not_found") throw error;
        await setTimeout(POLL_MS);
      }
    }
  }

  async push(kind: InboxKind, message: AgentMessage): Promise<void> {
    const sent = { messageId: `pushed-${this.#pushed++}`, message };
    const { sessionId } = this;
    await (kind === "steering"
      ? this.#client.steer(sessionId, sent)
      : this.#client.followUp(sessionId, sent));
  }

  async abort(): Promise<void> {
    while (!(await this.#client.abort(this.sessionId))) await setTimeout(POLL_MS);
  }

  async transcript(): Promise<AgentMessage[]> {
    const session = await openSession(this.#servers.store, this.sessionId, { readOnly: true });
    return (await session.allMessages()) as AgentMessage[];
  }

  /** Ends an invocation that its case has left. */
  async dispose(): Promise<void> {
    this.#disposed.abort();
    this.#worker.endpoint.cut();
    const { restate } = this.#servers;
    if (this.#invocationId !== undefined) {
      const url = `${restate.admin}/invocations/${this.#invocationId}/kill`;
      await (await fetch(url, { method: "PATCH" })).text();
    }
    this.#release();
  }
}
