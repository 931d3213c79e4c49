/** The gateway: one HTTP server with a socket, over agents whose runs live here. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { getRequestListener, RequestError, type HttpBindings } from "@hono/node-server";
import { BowlineError, systemClock } from "@bowline/core";
import { WebSocketServer, type WebSocket } from "ws";
import { defined } from "../defined.ts";
import { Connection } from "./connection.ts";
import { createContext, createWelcome, type ContextOptions } from "./context.ts";
import { closeCodes } from "./frame.ts";
import { GatewayError, toFrameError } from "./gateway-error.ts";
import { createHttp, toResponse } from "./http.ts";
import { createHttpServer } from "./http-server.ts";
import { defaultLimits, type GatewayLimits } from "./limits.ts";
import { Listeners } from "./listeners.ts";
import { inUrl, isLoopbackName, originRefusal } from "./origin.ts";
import { FailedTries, type Tokens } from "./tokens.ts";

export interface GatewayOptions extends ContextOptions {
  readonly tokens: Tokens;
  /** Default 127.0.0.1. Anything else than loopback needs `exposed`. */
  readonly host?: string;
  /** Default 18789; 0 is any free one. */
  readonly port?: number;
  /** Whether other machines may be let in, on loopback by a proxy on this one, and under whatever name. Default false. */
  readonly exposed?: boolean;
  readonly limits?: Partial<GatewayLimits>;
  /** Answers what is no address of the gateway's own: a page. */
  readonly page?: (request: Request) => Response | Promise<Response>;
}

export interface Gateway {
  readonly host: string;
  readonly port: number;
  /** http://HOST:PORT */
  readonly url: string;
  /** Says goodbye to clients and stops; runs that are open are taken up again by the next server on this store. */
  close(reason?: string): Promise<void>;
}

export const DEFAULT_PORT = 18_789;

/**
 * Listens, and takes up the runs that an earlier process left. Throws `invalid_argument` for a host beyond loopback without `exposed`
 * and for an empty token; rejects with the system's error when the port is taken, and when what was left cannot be read: then it
 * does not listen any more.
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { host = "127.0.0.1", port = DEFAULT_PORT, exposed = false, tokens, clock = systemClock } = options;
  if (!isLoopbackName(host) && !exposed)
    throw new BowlineError(
      "invalid_argument",
      `${host} can be reached by other machines: that has to be asked for (--expose, or exposed: true).`,
    );
  if (tokens.full === "" || tokens.read === "" || tokens.full === tokens.read)
    throw new BowlineError("invalid_argument", "The tokens must not be empty, nor the same.");
  const limits: GatewayLimits = { ...defaultLimits, ...defined(options.limits ?? {}) };
  const connections = new Set<Connection>();
  const listeners = new Listeners();
  const context = await createContext(options, { limits, clock, listeners });
  const failures = new FailedTries(limits.maxAuthFailures, clock);
  const streams = new Set<ServerResponse>();
  let closing: string | undefined;
  const noRoom = (): string | undefined => {
    if (closing !== undefined) return "The server is shutting down.";
    return connections.size + streams.size < limits.maxConnections ? undefined : "Too many are connected.";
  };
  const { page } = options;
  const http = createHttp({
    context,
    tokens,
    failures,
    listeners,
    exposed,
    closing: () => closing,
    noRoom,
    streams,
    page,
  });
  // It would put classes of its own in the place of the process's Request and Response.
  const answer = getRequestListener((request, bindings) => http(request, bindings as HttpBindings), {
    overrideGlobalObjects: false,
    errorHandler: refuseRequest,
  });
  // A message that is sent again must be known: nobody is let in before what an earlier process left is taken up.
  let open = (): void => {};
  const isOpen = new Promise<void>((resolve) => (open = resolve));
  const { server, ...listening } = createHttpServer(
    (request, response) => void isOpen.then(() => answer(request, response)),
    limits,
    clock,
  );
  const webSockets = new WebSocketServer({ noServer: true, maxPayload: limits.maxFrameBytes, clientTracking: false });
  server.on("upgrade", (request, socket, head) => {
    const refusal = originRefusal(request.headers, exposed);
    if (refusal !== undefined) return refuse(socket, "403 Forbidden", refusal);
    const strangers = [...connections].filter(({ hasEntered }) => !hasEntered).length;
    const why = strangers < limits.maxStrangers ? noRoom() : "Too many are connected.";
    if (why !== undefined) return refuse(socket, "503 Service Unavailable", why);
    webSockets.handleUpgrade(request, socket, head, (webSocket) => admit(webSocket, request));
  });
  await listening.listen(port, host);
  try {
    await context.runs.restore();
  } catch (error) {
    closing = "the server cannot start";
    await leave(closeCodes.failed, "the server cannot start", 0);
    throw error;
  }
  open();
  let stopTicks = tick();
  const { port: actual } = server.address() as AddressInfo;
  return {
    host,
    port: actual,
    url: `http://${inUrl(host)}:${actual}`,
    async close(reason = "the server was stopped") {
      closing = reason; // who asked while this was on its way would stay
      stopTicks();
      context.sessionChanges.close();
      listeners.broadcast("shutdown", { reason });
      await context.runs.close();
      await leave(closeCodes.shutdown, "shutdown", limits.closeGraceMs);
    },
  };

  async function leave(code: number, reason: string, graceMs: number): Promise<void> {
    for (const connection of connections) connection.close(code, reason);
    await listening.close(graceMs);
  }

  function admit(socket: WebSocket, request: IncomingMessage): void {
    const connection = new Connection(socket, {
      id: context.createId(),
      address: request.socket.remoteAddress ?? "",
      tokens,
      failures,
      limits,
      context,
      welcome: (id, scope) => isOpen.then(() => createWelcome(context, id, scope)),
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
  return toResponse(toFrameError(isTheirs ? new GatewayError("bad_request", `${error.message}.`) : error));
}

function refuse(socket: Duplex, status: string, why: string): void {
  // Nobody else listens: it may be gone by now, and it would stay for ever if the client did not end it.
  socket.on("error", () => {});
  socket.once("finish", () => socket.destroy());
  const headers = `content-type: text/plain; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(why)}`;
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\n${headers}\r\n\r\n${why}`);
}
