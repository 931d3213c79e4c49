/** An HTTP server with routes and sockets of a program, and a gateway mounted under a path. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createMemoryStore, type Store } from "@bowline/core/session";
import { createScriptedModel, type ScriptedStep } from "@bowline/core/testing";
import {
  createGateway,
  type MountedGateway,
  type MountOptions,
} from "../../src/gateway/server/create-gateway.ts";
import { agents, TestClient, token, type TestOptions } from "./gateway.ts";

export interface Mounted extends AsyncDisposable {
  readonly gateway: MountedGateway;
  readonly server: Server;
  readonly store: Store;
  /** http://127.0.0.1:PORT */
  readonly origin: string;
  /** The origin with the path. */
  readonly url: string;
  /** Paths of the requests that reached the program. */
  readonly own: string[];
  client(token?: string): Promise<TestClient>;
}

export type MountedOptions = Omit<TestOptions, "host" | "port"> & Pick<MountOptions, "path">;

export async function mounted(
  script: readonly ScriptedStep[],
  options: MountedOptions = {},
): Promise<Mounted> {
  const { pace, store = createMemoryStore(), path = "/agents", ...given } = options;
  const { model, streamFn } = createScriptedModel(script, pace);
  const gateway = await createGateway({
    tokens: { full: token, read: "for-reading-only" },
    store,
    agents: () => agents,
    backendFor: () => ({ model, streamFn, isPractice: false }),
    systemPrompt: () => "You are a test.",
    workspacePath: "/work",
    path,
    ...given,
  });
  const own: string[] = [];
  const program: RequestListener = (request, response) => {
    own.push(request.url ?? "");
    response.end("the program's");
  };
  const server = createServer((request, response) => {
    if (!gateway.handleRequest(request, response)) program(request, response);
  });
  server.on("upgrade", (request: IncomingMessage, socket, head: Buffer) => {
    if (gateway.handleUpgrade(request, socket, head)) return;
    own.push(request.url ?? "");
    socket.end("HTTP/1.1 418 the program's\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const clients: TestClient[] = [];
  return {
    gateway,
    server,
    store,
    origin: `http://127.0.0.1:${port}`,
    url: `http://127.0.0.1:${port}${path}`,
    own,
    async client(bearer = token) {
      const client = await TestClient.enter(`ws://127.0.0.1:${port}${path}`, bearer, "all");
      clients.push(client);
      return client;
    },
    async [Symbol.asyncDispose]() {
      for (const { socket } of clients) socket.terminate();
      await gateway.close();
      server.closeAllConnections();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    },
  };
}
