/** Starts the gateway on its own port. */
import type { AddressInfo } from "node:net";
import { BowlineError, systemClock } from "@bowline/core";
import type { CreateEngine } from "../engine/engine-ports.ts";
import { createContext } from "./context.ts";
import { createDoors } from "./doors.ts";
import { createHttpServer } from "./http-server.ts";
import { checkFrontOptions, checkOptions, type DoorOptions, type FrontOptions } from "./options.ts";
import { inUrl, isLoopbackName } from "../access/origin.ts";

interface Listening {
  /** Default 127.0.0.1. A host other than loopback needs `exposed`. */
  readonly host?: string;
  /** Default 18789. With 0 the system chooses a free port. */
  readonly port?: number;
}

export type GatewayOptions = DoorOptions & Listening;

/** The options of {@link startEngine}. */
export type StartEngineOptions = FrontOptions & Listening;

export interface Gateway {
  readonly host: string;
  readonly port: number;
  /** http://HOST:PORT */
  readonly url: string;
  /**
   * Sends `shutdown` to the clients and stops the server. The next server on this store resumes the
   * runs that are still open.
   */
  close(reason?: string): Promise<void>;
}

export const DEFAULT_PORT = 18_789;

/**
 * Starts the server and resumes the runs of an earlier process. Rejects with `invalid_argument` for
 * an unknown option or limit, a host beyond loopback without `exposed`, an empty token, or if no
 * option authenticates clients. Rejects with the error of the system if the port is in use. If the
 * pending messages cannot be read, it stops listening and rejects.
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  checkOptions(options, ["host", "port"]);
  return listen(options, (ports) => createContext(options, ports));
}

/**
 * As `startGateway`, for runs, approvals and sessions that something other than this process
 * provides, such as a cluster. Rejects as `startGateway` does, and as the engine's `open` does.
 */
export async function startEngine(
  options: StartEngineOptions,
  create: CreateEngine,
): Promise<Gateway> {
  checkFrontOptions(options, ["host", "port"]);
  return listen(options, create);
}

async function listen(
  options: StartEngineOptions,
  create: Parameters<typeof createDoors>[2],
): Promise<Gateway> {
  const { host = "127.0.0.1", port = DEFAULT_PORT, exposed = false, clock = systemClock } = options;
  if (!isLoopbackName(host) && !exposed)
    throw new BowlineError(
      "invalid_argument",
      `${host} can be reached by other machines: pass --expose (exposed: true) to allow that.`,
    );
  const doors = await createDoors(options, "", create);
  const { limits } = doors;
  const { server, ...listening } = createHttpServer(
    (request, response) => void doors.answer(request, response),
    limits,
    clock,
  );
  server.on("upgrade", (...upgrade) => doors.upgrade(...upgrade));
  await listening.listen(port, host);
  try {
    await doors.restore();
  } catch (error) {
    await listening.close(0);
    throw error;
  }
  const { port: actual } = server.address() as AddressInfo;
  return {
    host,
    port: actual,
    url: `http://${inUrl(host)}:${actual}`,
    async close(reason = "the server was stopped") {
      await doors.close(reason);
      await listening.close(limits.closeGraceMs);
    },
  };
}
