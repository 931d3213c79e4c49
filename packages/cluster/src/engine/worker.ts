/** The half of a process that runs agents: Restate calls it, and it publishes their events. */
import type { Clock } from "@bowline/core";
import type { PostgresStore } from "@bowline/postgres";
import { createRestateRuns, type RestateRuns } from "@bowline/restate";
import type { AgentHost, ReadyPart } from "bowline/engine";
import type { RunPublisher } from "../worker/publisher.ts";
import { SessionChoices } from "./choices.ts";
import { WorkerEndpoint } from "./endpoint.ts";
import { readMetadata } from "./message-metadata.ts";
import type { NewsWire } from "./news.ts";
import type { ClusterRestateOptions, ClusterWorkerOptions } from "./options.ts";
import { Registration } from "./registration.ts";
import { createAgentFor } from "./worker-agents.ts";
import { WorkerEvents } from "./worker-events.ts";

const DEFAULT_HOST = "127.0.0.1";

export interface ClusterWorkerParts {
  readonly store: PostgresStore;
  readonly publisher: RunPublisher;
  readonly news: NewsWire;
  readonly host: AgentHost;
  readonly restate: ClusterRestateOptions;
  readonly worker: ClusterWorkerOptions;
  readonly clock: Clock;
  readonly report: (error: unknown) => void;
}

export class ClusterWorker {
  readonly #parts: ClusterWorkerParts;
  readonly #runs: RestateRuns;
  readonly #endpoint: WorkerEndpoint;
  #registration: Registration | undefined;
  #isListening = false;

  constructor(parts: ClusterWorkerParts) {
    this.#parts = parts;
    const { store, publisher, news, host, restate, worker, report } = parts;
    const events = new WorkerEvents(publisher, news);
    const choices = new SessionChoices(store);
    const { serviceName } = restate;
    const { identityKeys } = worker;
    this.#runs = createRestateRuns({
      store,
      holdsLeft: true,
      ...(serviceName !== undefined && { serviceName }),
      createAgent(request) {
        const { sessionId, runId, metadata } = request;
        events.expect(sessionId, runId, readMetadata(metadata).isAnnounced === true);
        return createAgentFor({ store, host, choices }, request);
      },
      onEvent: (event, source) => events.tell(event, source),
      onEnd: (end, source) => events.end(end, source),
    });
    const logger = ({ level }: { readonly level: string }, ...told: readonly unknown[]): void => {
      if (level === "error") report(new Error(told.map(String).join(" ")));
    };
    const handle = this.#runs.endpoint({ logger, ...(identityKeys && { identityKeys }) });
    this.#endpoint = new WorkerEndpoint(handle);
  }

  get readiness(): ReadyPart {
    const name = "worker";
    if (!this.#isListening) return { name, isReady: false, message: "does not listen" };
    if (this.#registration?.isDone === false)
      return { name, isReady: false, message: "is not registered at Restate yet" };
    return { name, isReady: true };
  }

  /** Listens, and registers the worker in the background. Rejects if the port is taken. */
  async start(): Promise<void> {
    const { restate, worker, clock, report } = this.#parts;
    const { host = DEFAULT_HOST, register = true } = worker;
    const port = await this.#endpoint.listen(worker.port, host);
    this.#isListening = true;
    const { admin, headers = {} } = restate;
    if (!register || admin === undefined) return;
    const url = worker.url ?? `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
    this.#registration = new Registration({ admin, headers, url, clock, report });
    void this.#registration.run();
  }

  /** Takes no new runs. Resolves when the running steps have ended, at the latest after `graceMs`. */
  async drain(graceMs: number): Promise<void> {
    this.#isListening = false;
    this.#registration?.stop();
    this.#endpoint.drain();
    let stop = (): void => {};
    const late = new Promise<void>((resolve) => {
      stop = this.#parts.clock.setTimer(graceMs, resolve);
    });
    await Promise.race([this.#runs.drain(), late]);
    stop();
  }

  /** Ends what is left. Restate attempts it again, elsewhere or later. */
  async close(): Promise<void> {
    this.#isListening = false;
    this.#registration?.stop();
    await this.#endpoint.close();
  }
}
