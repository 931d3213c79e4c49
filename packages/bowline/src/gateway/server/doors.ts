/** Answers the gateway's HTTP requests and upgrades. The HTTP server belongs to the caller. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { getRequestListener, RequestError, type HttpBindings } from "@hono/node-server";
import { systemClock } from "@bowline/core";
import { WebSocketServer, type WebSocket } from "ws";
import { defined } from "../../defined.ts";
import { Entry } from "../access/access.ts";
import { Connection } from "./connection.ts";
import { closeCodes } from "../protocol/frame.ts";
import { GatewayError, toFrameError } from "../protocol/gateway-error.ts";
import { createHttp, toResponse } from "./http.ts";
import { defaultLimits, type GatewayLimits } from "../protocol/limits.ts";
import { Listeners } from "./listeners.ts";
import type { DoorContext } from "./methods.ts";
import type { Engine } from "../engine/engine.ts";
import type { EnginePorts } from "../engine/engine-ports.ts";
import type { FrontOptions } from "./options.ts";
import { createSecretFilter } from "../../secrets.ts";
import { createWelcome } from "./welcome.ts";
import { originRefusal } from "../access/origin.ts";

/** The longest header of a WebSocket frame: 2 bytes, 8 of its length, 4 of its mask. */
const MAX_HEADER_BYTES = 14;

/**
 * `path` is the path under which the application mounts the gateway. Throws `invalid_argument` for
 * invalid tokens and proxies.
 */
export async function createDoors(
  options: FrontOptions,
  path: string,
  create: (ports: EnginePorts & { readonly clients: Listeners }) => Engine | Promise<Engine>,
): Promise<Doors> {
  const { clock = systemClock, createId = randomUUID, secrets = [], version = "0" } = options;
  const limits: GatewayLimits = { ...defaultLimits, ...defined(options.limits ?? {}) };
  const entry = new Entry(options, limits, clock);
  const listeners = new Listeners();
  const filter = createSecretFilter([...secrets, ...entry.secrets]);
  const ports = { limits, clock, createId, filter };
  const engine = await create({ ...ports, clients: listeners });
  const { runs, approvals, sessions, store } = engine;
  const context: DoorContext = {
    ...ports,
    runs,
    approvals,
    sessions,
    store,
    agents: () => engine.agents(),
    backendFor: (agent) => engine.backendFor(agent),
    modelFor: (agent) => engine.modelFor(agent),
    version,
    startedAt: clock.now(),
    connections: () => listeners.size,
  };
  return new Doors(options, path, { entry, listeners, engine, context });
}

interface Inside {
  readonly entry: Entry;
  readonly listeners: Listeners;
  readonly engine: Engine;
  readonly context: DoorContext;
}

export class Doors {
  readonly limits: GatewayLimits;
  readonly #options: FrontOptions;
  readonly #inside: Inside;
  readonly #connections = new Set<Connection>();
  readonly #streams = new Set<ServerResponse>();
  readonly #webSockets: WebSocketServer;
  readonly #listener: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  /**
   * Resolves when the pending messages of an earlier process are restored. Clients wait for it;
   * otherwise a message that a client sends again would not be recognised.
   */
  readonly #isOpen: Promise<void>;
  #open = (): void => {};
  #closing: string | undefined;
  #stopTicks = (): void => {};

  constructor(options: FrontOptions, path: string, inside: Inside) {
    this.limits = inside.context.limits;
    this.#options = options;
    this.#inside = inside;
    this.#isOpen = new Promise<void>((resolve) => (this.#open = resolve));
    this.#webSockets = new WebSocketServer({
      noServer: true,
      maxPayload: this.limits.maxFrameBytes,
      clientTracking: false,
    });
    const http = createHttp({
      ...inside,
      ready: async () => (await inside.engine.ready?.()) ?? { isReady: true, parts: [] },
      exposed: options.exposed ?? false,
      closing: () => this.#closing,
      noRoom: () => this.#noRoom(),
      streams: this.#streams,
      path,
      page: options.page,
    });
    // By default the listener replaces the global `Request` and `Response` of the process.
    this.#listener = getRequestListener(
      (request, bindings) => http(request, bindings as HttpBindings),
      { overrideGlobalObjects: false, errorHandler: refuseRequest },
    );
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    await this.#isOpen;
    await this.#listener(request, response);
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const refusal = originRefusal(request.headers, this.#options.exposed ?? false);
    if (refusal !== undefined) return refuse(socket, "403 Forbidden", refusal);
    const strangers = [...this.#connections].filter(({ hasEntered }) => !hasEntered).length;
    const hasRoom = strangers < this.limits.maxStrangers;
    const why = hasRoom ? this.#noRoom() : "Too many are connected.";
    if (why !== undefined) return refuse(socket, "503 Service Unavailable", why);
    this.#webSockets.handleUpgrade(request, socket, head, (webSocket) =>
      this.#admit(webSocket, request),
    );
  }

  /**
   * Restores the pending messages of an earlier process, then admits the clients that are waiting.
   * If it rejects, no client is admitted.
   */
  async restore(): Promise<void> {
    try {
      await this.#inside.engine.open();
    } catch (error) {
      this.#closing = "the server cannot start";
      this.#leave(closeCodes.failed, this.#closing);
      throw error;
    }
    this.#open();
    this.#tick();
  }

  /**
   * Sends `shutdown` to the clients and stops the runs. Resolves when the runs have stopped. The
   * sockets then have `closeGraceMs` to close.
   */
  async close(reason: string): Promise<void> {
    const { engine, listeners } = this.#inside;
    this.#closing = reason; // set first, so that no client is admitted during the shutdown
    this.#stopTicks();
    engine.closing();
    listeners.broadcast("shutdown", { reason });
    await engine.close();
    this.#leave(closeCodes.shutdown, "shutdown");
  }

  /** Returns the reason for which a new client is refused. Returns undefined if there is room. */
  #noRoom(): string | undefined {
    if (this.#closing !== undefined) return "The server is shutting down.";
    return this.#connections.size + this.#streams.size < this.limits.maxConnections
      ? undefined
      : "Too many are connected.";
  }

  #leave(code: number, reason: string): void {
    for (const connection of this.#connections) connection.close(code, reason);
  }

  #admit(socket: WebSocket, request: IncomingMessage): void {
    const { context } = this.#inside;
    const connection = new Connection(socket, {
      ...this.#inside,
      id: context.createId(),
      request,
      limits: this.limits,
      welcome: (id, access) => this.#isOpen.then(() => createWelcome(context, id, access)),
      onClose: () => void this.#connections.delete(connection),
    });
    this.#connections.add(connection);
    // Limits the bytes of a client that is not authenticated yet, so that a large first frame is
    // not buffered. The socket's bytes include the frame's header, which the limit does not.
    const most = this.limits.maxAuthFrameBytes + MAX_HEADER_BYTES;
    let received = 0;
    const count = (chunk: Buffer): void => {
      received += chunk.length;
      if (connection.hasEntered) request.socket.off("data", count);
      else if (received > most)
        connection.close(closeCodes.tooLarge, "the auth frame is too large");
    };
    request.socket.on("data", count);
  }

  #tick(): void {
    const { context, engine, listeners } = this.#inside;
    this.#stopTicks = context.clock.setTimer(this.limits.tickIntervalMs, () => {
      listeners.broadcast("tick", { time: context.clock.now() });
      for (const connection of this.#connections) connection.ping();
      engine.tick();
      this.#tick();
    });
  }
}

/** Answers an invalid request, such as one with a malformed `Host` header. */
function refuseRequest(error: unknown): Response {
  const isTheirs = error instanceof RequestError;
  return toResponse(
    toFrameError(isTheirs ? new GatewayError("bad_request", `${error.message}.`) : error),
  );
}

function refuse(socket: Duplex, status: string, why: string): void {
  // The socket has no other listeners. It may fail during the write. Without `destroy` it would
  // stay open until the client closes it.
  socket.on("error", () => {});
  socket.once("finish", () => socket.destroy());
  const headers = `content-type: text/plain; charset=utf-8\r\nx-content-type-options: nosniff\r\ncontent-length: ${Buffer.byteLength(why)}`;
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\n${headers}\r\n\r\n${why}`);
}
