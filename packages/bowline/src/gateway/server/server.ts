/** The gateway on a port of its own. */
import type { AddressInfo } from "node:net";
import { BowlineError, systemClock } from "@bowline/core";
import { createDoors } from "./doors.ts";
import { createHttpServer } from "./http-server.ts";
import { checkOptions, type DoorOptions } from "./options.ts";
import { inUrl, isLoopbackName } from "../access/origin.ts";

export type GatewayOptions = DoorOptions & {
  /** Default 127.0.0.1. Anything else than loopback needs `exposed`. */
  readonly host?: string;
  /** Default 18789; 0 is any free one. */
  readonly port?: number;
};

export interface Gateway {
  readonly host: string;
  readonly port: number;
  /** http://HOST:PORT */
  readonly url: string;
  /**
   * Says goodbye to clients and stops; runs that are open are taken up again by the next server on
   * this store.
   */
  close(reason?: string): Promise<void>;
}

export const DEFAULT_PORT = 18_789;

/**
 * Listens, and takes up the runs that an earlier process left. Rejects with `invalid_argument` for
 * an unknown option or limit, for a host beyond loopback without `exposed`, for an empty token, and without anything that lets somebody
 * in; rejects with the system's error when the port is taken, and when what was left cannot be
 * read: then it does not listen any more.
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  checkOptions(options, ["host", "port"]);
  const { host = "127.0.0.1", port = DEFAULT_PORT, exposed = false, clock = systemClock } = options;
  if (!isLoopbackName(host) && !exposed)
    throw new BowlineError(
      "invalid_argument",
      `${host} can be reached by other machines: that has to be asked for (--expose, or exposed: true).`,
    );
  const doors = await createDoors(options, "");
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
