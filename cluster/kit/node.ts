/** A gateway or a worker of a system, as a process. Its settings are in the environment. */
import { createServer } from "node:http";
import { createServer as createHttp2 } from "node:http2";
import { connectNats, RunPublisher } from "@bowline/cluster";
import { createPostgresStore } from "@bowline/postgres";
import { createRestateRuns } from "@bowline/restate";
import { createSecretFilter } from "bowline/engine";
import type { Agent } from "@bowline/core";
import type { Addresses } from "./addresses.ts";

/** Passed as JSON in `NODE_SETTINGS`. */
export interface NodeSettings {
  readonly role: "gateway" | "worker";
  /** Of the doors, and of the health checks. */
  readonly port: number;
  /** The URL of a module that exports `agents`: as the option of `createCluster`. */
  readonly agentModule: string;
  readonly token: string;
  readonly addresses: Addresses;
  /** Where a worker listens for Restate. */
  readonly workerPort?: number;
}

type CreateAgent = (sessionKey: string, user: object) => Agent | Promise<Agent>;

interface AgentModule {
  readonly agents: CreateAgent | Readonly<Record<string, CreateAgent>>;
}

const settings = JSON.parse(process.env.NODE_SETTINGS ?? "{}") as NodeSettings;
const { addresses } = settings;
const { agents } = (await import(settings.agentModule)) as AgentModule;
const makers = typeof agents === "function" ? { assistant: agents } : agents;

const store = createPostgresStore({ connectionString: addresses.postgres });
const bus = await connectNats({ servers: addresses.nats });
const publisher = new RunPublisher({ bus, filter: createSecretFilter([]) });
const runs = createRestateRuns({
  store,
  onEvent(event, { sessionId: sessionKey, attempt, isRepeated, runId }) {
    publisher.tell({ sessionKey, attempt, isRepeated, runId }, event);
  },
  createAgent({ agent = "assistant", sessionId }) {
    const create = makers[agent];
    if (create === undefined) throw new Error(`There is no agent ${agent}.`);
    return create(sessionId, {});
  },
});
const endpoint = createHttp2(runs.endpoint({ logger: () => {} }));
endpoint.listen(settings.workerPort, "127.0.0.1");
createServer((_, response) => response.end("{}")).listen(settings.port, "127.0.0.1");
