/** A gateway or a worker of a system, as a process. Its settings are in the environment. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createCluster } from "@bowline/cluster";
import { createPage, type CreateAgent } from "bowline/gateway";
import type { Addresses } from "./addresses.ts";

/** Passed as JSON in `NODE_SETTINGS`. */
export interface NodeSettings {
  readonly role: "gateway" | "worker";
  /** The address on which it listens. */
  readonly host: string;
  /** Of the doors, and of the health checks. */
  readonly port: number;
  /** The URL of a module that exports `agents`: as the option of `createCluster`. */
  readonly agentModule: string;
  readonly token: string;
  readonly addresses: Addresses;
  /** Where a worker listens for Restate. */
  readonly workerPort?: number;
}

interface AgentModule {
  readonly agents: CreateAgent | Readonly<Record<string, CreateAgent>>;
}

const { role, host, port, agentModule, token, addresses, workerPort } = JSON.parse(
  process.env.NODE_SETTINGS ?? "{}",
) as NodeSettings;
const { agents } = (await import(agentModule)) as AgentModule;
const { postgres, ingress, admin, nats } = addresses;

const cluster = await createCluster({
  role,
  agents,
  token,
  page: createPage(),
  // Hosts of the tests have addresses of their own.
  exposed: host !== "127.0.0.1",
  postgres: { connectionString: postgres },
  nats: { servers: nats },
  restate: {
    ingress,
    admin,
    ...(workerPort !== undefined && { worker: { host, port: workerPort, url: addresses.worker } }),
  },
});

const server = createServer((request, response) => {
  if (!cluster.handleRequest(request, response)) void answerProbe(request, response);
});
server.on("upgrade", (request, socket, head) => {
  if (!cluster.handleUpgrade(request, socket, head)) socket.destroy();
});
server.listen(port, host);

process.once("SIGTERM", () => {
  const end = (): void => process.exit();
  cluster.close("the process was stopped").then(end, end);
});

/** A worker has no doors. */
async function answerProbe({ url = "" }: IncomingMessage, response: ServerResponse): Promise<void> {
  if (url !== "/ready") return void response.writeHead(404).end();
  const ready = await cluster.ready();
  response.writeHead(ready.isReady ? 200 : 503).end(JSON.stringify(ready));
}
