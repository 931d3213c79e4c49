/**
 * Node's server under the gateway: how long it waits for whom, how many it lets in, and how it
 * ends.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "@bowline/core";
import { inTurn } from "./in-turn.ts";
import type { GatewayLimits } from "../protocol/limits.ts";

export interface HttpServer {
  readonly server: Server;
  /** Resolves when it listens. Rejects with the system's error. */
  listen(port: number, host: string): Promise<void>;
  /** Takes nobody any more, and resolves when all have gone or, after the grace, are cut off. */
  close(graceMs: number): Promise<void>;
}

/** A whole request may take so many times as long as its head. */
const BODY_FACTOR = 6;
/** A connection on which nothing moves for so many ticks is cut off. */
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
  // Other protocols are offered by clients that can do without, such as Java's. Node before 24.9
  // does not ask.
  const shouldUpgradeCallback = ({ headers }: IncomingMessage): boolean =>
    headers.upgrade?.toLowerCase() === "websocket";
  const server = createServer(
    { ...patience, shouldUpgradeCallback },
    inTurn(answer, limits.maxPendingRequests),
  );
  // Who takes nothing of an answer must not stay for ever. A stream says something at each tick.
  server.timeout = Math.max(patience.requestTimeout, limits.tickIntervalMs * QUIET_TICKS);
  server.maxConnections = limits.maxConnections + limits.maxStrangers;
  // Who ends their side has said all that they will, and still waits for the answer (RFC 9112,
  // 9.6): without this Node cuts it off.
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
      // Browsers open some before they need them: Node does not take them for idle, since nothing
      // was asked yet.
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
      const stop = clock.setTimer(graceMs, () => {
        for (const socket of sockets) socket.destroy();
      });
      await closed;
      stop();
    },
  };
}
