/**
 * The gateway without a server of its own: what answers requests and upgrades, over agents whose
 * runs live here.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { getRequestListener, RequestError, type HttpBindings } from "@hono/node-server";
import { systemClock } from "@bowline/core";
import { WebSocketServer, type WebSocket } from "ws";
import { defined } from "../../defined.ts";
import { Entry, type EntryOptions } from "../access/access.ts";
import { Connection } from "./connection.ts";
import { createContext, createWelcome, type ContextOptions } from "./context.ts";
import { closeCodes } from "../protocol/frame.ts";
import { GatewayError, toFrameError } from "../protocol/gateway-error.ts";
import { createHttp, toResponse } from "./http.ts";
import { defaultLimits, type GatewayLimits } from "../protocol/limits.ts";
import { Listeners } from "./listeners.ts";
import { originRefusal } from "../access/origin.ts";

export interface DoorOptions extends ContextOptions, EntryOptions {
  /**
   * Whether other machines may be let in, on loopback by a proxy on this one, and under whatever
   * name. Default false.
   */
  readonly exposed?: boolean;
  readonly limits?: Partial<GatewayLimits>;
  /** Answers what is no address of the gateway's own: a page, such as that of `createPage()`. */
  readonly page?: (request: Request) => Response | Promise<Response>;
}

export interface Doors {
  readonly limits: GatewayLimits;
  readonly answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /**
   * Takes up what an earlier process left; then who has come is let in. After a rejection nobody
   * is.
   */
  restore(): Promise<void>;
  /**
   * Says goodbye to clients, and resolves when runs have stopped. Sockets may take `closeGraceMs`
   * to go.
   */
  close(reason: string): Promise<void>;
}

/**
 * `path` is where a server of somebody else's has it. Throws `invalid_argument` for tokens and
 * proxies that cannot be some.
 */
export async function createDoors(options: DoorOptions, path: string): Promise<Doors> {
  const { exposed = false, clock = systemClock, page, tokens, secrets = [] } = options;
  const limits: GatewayLimits = { ...defaultLimits, ...defined(options.limits ?? {}) };
  const entry = new Entry(options, limits, clock);
  const connections = new Set<Connection>();
  const listeners = new Listeners();
  const own =
    tokens === undefined ? [] : [tokens.full, ...(tokens.read === undefined ? [] : [tokens.read])];
  const context = await createContext(
    { ...options, secrets: [...secrets, ...own] },
    { limits, clock, listeners },
  );
  const streams = new Set<ServerResponse>();
  let closing: string | undefined;
  const noRoom = (): string | undefined => {
    if (closing !== undefined) return "The server is shutting down.";
    return connections.size + streams.size < limits.maxConnections
      ? undefined
      : "Too many are connected.";
  };
  const http = createHttp({
    context,
    entry,
    listeners,
    exposed,
    closing: () => closing,
    noRoom,
    streams,
    path,
    page,
  });
  // It would put classes of its own in the place of the process's Request and Response.
  const listener = getRequestListener(
    (request, bindings) => http(request, bindings as HttpBindings),
    {
      overrideGlobalObjects: false,
      errorHandler: refuseRequest,
    },
  );
  // A message that is sent again must be known: nobody is let in before what an earlier process
  // left is taken up.
  let open = (): void => {};
  const isOpen = new Promise<void>((resolve) => (open = resolve));
  const webSockets = new WebSocketServer({
    noServer: true,
    maxPayload: limits.maxFrameBytes,
    clientTracking: false,
  });
  let stopTicks = (): void => {};
  return {
    limits,
    answer: (request, response) => isOpen.then(() => listener(request, response)),
    upgrade(request, socket, head) {
      const refusal = originRefusal(request.headers, exposed);
      if (refusal !== undefined) return refuse(socket, "403 Forbidden", refusal);
      const strangers = [...connections].filter(({ hasEntered }) => !hasEntered).length;
      const why = strangers < limits.maxStrangers ? noRoom() : "Too many are connected.";
      if (why !== undefined) return refuse(socket, "503 Service Unavailable", why);
      webSockets.handleUpgrade(request, socket, head, (webSocket) => admit(webSocket, request));
    },
    async restore() {
      try {
        await context.runs.restore();
      } catch (error) {
        closing = "the server cannot start";
        leave(closeCodes.failed, closing);
        throw error;
      }
      open();
      stopTicks = tick();
    },
    async close(reason) {
      closing = reason; // who asked while this was on its way would stay
      stopTicks();
      context.sessionChanges.close();
      listeners.broadcast("shutdown", { reason });
      await context.runs.close();
      leave(closeCodes.shutdown, "shutdown");
    },
  };

  function leave(code: number, reason: string): void {
    for (const connection of connections) connection.close(code, reason);
  }

  function admit(socket: WebSocket, request: IncomingMessage): void {
    const connection = new Connection(socket, {
      id: context.createId(),
      request,
      entry,
      limits,
      context,
      welcome: (id, access) => isOpen.then(() => createWelcome(context, id, access)),
      listeners,
      onClose: () => void connections.delete(connection),
    });
    connections.add(connection);
    // Before it is let in, a client's bytes are not even gathered.
    let received = 0;
    const count = (chunk: Buffer): void => {
      received += chunk.length;
      if (connection.hasEntered) request.socket.off("data", count);
      else if (received > limits.maxAuthFrameBytes)
        connection.close(closeCodes.tooLarge, "the auth frame is too large");
    };
    request.socket.on("data", count);
  }

  function tick(): () => void {
    return clock.setTimer(limits.tickIntervalMs, () => {
      listeners.broadcast("tick", { time: clock.now() });
      for (const connection of connections) connection.ping();
      context.runs.forgetEnded();
      stopTicks = tick();
    });
  }
}

/** Of what is no request to anybody here, such as one with a host that is no name. */
function refuseRequest(error: unknown): Response {
  const isTheirs = error instanceof RequestError;
  return toResponse(
    toFrameError(isTheirs ? new GatewayError("bad_request", `${error.message}.`) : error),
  );
}

function refuse(socket: Duplex, status: string, why: string): void {
  // Nobody else listens: it may be gone by now, and it would stay for ever if the client did not
  // end it.
  socket.on("error", () => {});
  socket.once("finish", () => socket.destroy());
  const headers = `content-type: text/plain; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(why)}`;
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\n${headers}\r\n\r\n${why}`);
}
