/**
 * Creates the HTTP server of the gateway, with its timeouts, its connection limits and its
 * shutdown.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "@bowline/core";
import { inTurn } from "./in-turn.ts";
import type { GatewayLimits } from "../protocol/limits.ts";

export interface HttpServer {
  readonly server: Server;
  /** Resolves when the server is listening. Rejects with the error of the system. */
  listen(port: number, host: string): Promise<void>;
  /**
   * Refuses new connections. Resolves when all connections have closed. Connections that are open
   * after `graceMs` are destroyed.
   */
  close(graceMs: number): Promise<void>;
}

/** The timeout of a whole request, as a multiple of the timeout of its headers. */
const BODY_FACTOR = 6;
/** An inactive connection is closed after this many ticks. */
const QUIET_TICKS = 4;

export function createHttpServer(
  answer: RequestListener,
  limits: GatewayLimits,
  clock: Clock,
): HttpServer {
  const patience = {
    headersTimeout: limits.authTimeoutMs,
    requestTimeout: limits.authTimeoutMs * BODY_FACTOR,
    connectionsCheckingInterval: Math.ceil(limits.authTimeoutMs / 2),
  };
  // Some clients, such as Java's, offer an upgrade to another protocol and accept a plain response.
  // Node before 24.9 ignores this option.
  const shouldUpgradeCallback = ({ headers }: IncomingMessage): boolean =>
    headers.upgrade?.toLowerCase() === "websocket";
  const server = createServer(
    { ...patience, shouldUpgradeCallback },
    inTurn(answer, limits.maxPendingRequests),
  );
  // Closes the connections of clients that do not read their response. A stream writes at each
  // tick, so this limit does not affect it.
  server.timeout = Math.max(patience.requestTimeout, limits.tickIntervalMs * QUIET_TICKS);
  server.maxConnections = limits.maxConnections + limits.maxStrangers;
  // A client may half-close its connection after the request and still wait for the response (RFC
  // 9112, 9.6). Without this flag Node closes the connection.
  Object.assign(server, { httpAllowHalfOpen: true });
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  return {
    server,
    async listen(port, host) {
      server.listen(port, host);
      await once(server, "listening");
    },
    async close(graceMs) {
      const closed = once(server, "close");
      server.close();
      server.closeIdleConnections();
      // Browsers preconnect. Node does not count a connection as idle before its first request.
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
      const stop = clock.setTimer(graceMs, () => {
        for (const socket of sockets) socket.destroy();
      });
      await closed;
      stop();
    },
  };
}
