/**
 * The world outside the cluster, in the drill's own process: no worker can miscount by its death.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Ledger } from "./ledger.ts";
import { ToolServer, type ToolRequest } from "./tool-server.ts";
import { Vendor } from "./vendor.ts";

export interface OutsideOptions {
  /** Returns a number from 0 up to 1. */
  readonly random: () => number;
  /** Default 25 milliseconds. */
  readonly wordMs?: number;
  /** Default 1,200 milliseconds. */
  readonly toolMs?: number;
  /** The address to listen on. Default `127.0.0.1`. */
  readonly host?: string;
}

const KEEP_ALIVE_MS = 60 * 60_000;

export class Outside implements AsyncDisposable {
  readonly url: string;
  readonly ledger: Ledger;
  readonly toolServer: ToolServer;
  /** What was wrong with requests that could not be answered. */
  readonly failures: string[] = [];
  readonly #vendor: Vendor;
  readonly #server: Server;

  constructor(server: Server, options: OutsideOptions) {
    const { random, wordMs = 25, toolMs = 1200, host = "127.0.0.1" } = options;
    this.ledger = { models: [], tools: [] };
    this.toolServer = new ToolServer(this.ledger);
    this.#vendor = new Vendor({ ledger: this.ledger, random, wordMs, toolMs });
    this.#server = server;
    this.url = `http://${host}:${(server.address() as AddressInfo).port}`;
    server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      void this.#answer(request, response).catch((error: unknown) => {
        // A worker that is killed in the middle of a request is no failure.
        if (request.complete) this.failures.push(`${request.url}: ${String(error)}`);
        response.destroy();
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as unknown;
    if (request.url === "/tool") await this.toolServer.answer(body as ToolRequest, response);
    else await this.#vendor.answer(body, response);
  }
}

export async function startOutside(options: OutsideOptions): Promise<Outside> {
  // A connection that closes while a request is on its way would end a run with an error.
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }).listen(
    0,
    options.host ?? "127.0.0.1",
  );
  await once(server, "listening");
  return new Outside(server, options);
}
