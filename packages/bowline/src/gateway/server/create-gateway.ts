/** The gateway on a server of the program's own, under a path. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { BowlineError, systemClock } from "@bowline/core";
import { createDoors } from "./doors.ts";
import { checkOptions, type DoorOptions } from "./options.ts";
import { inTurn } from "./in-turn.ts";
import { isPath } from "../access/trusted-proxies.ts";

export type MountOptions = DoorOptions & {
  /** Where it is: `/agents`, as addresses have it. Default: all of the server is the gateway's. */
  readonly path?: string;
};

/**
 * Both give false for what is not under the path, and have not touched it. What is, they answer.
 */
export interface MountedGateway {
  /** As what comes from `node:http` or `node:https`: nothing of the body was read. */
  handleRequest(request: IncomingMessage, response: ServerResponse): boolean;
  /** For the server's event `upgrade`. */
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  /**
   * Says goodbye to clients, ends what is open here, at the latest after `closeGraceMs`, and leaves
   * the server; runs that are open are taken up again by the next gateway on this store. What comes
   * under the path from now on is refused.
   */
  close(reason?: string): Promise<void>;
}

/**
 * Takes up the runs that an earlier process left, and listens nowhere. Rejects with
 * `invalid_argument` for an unknown option or limit, for what is no path, for an empty token, and
 * without anything that lets somebody in; also when what was left cannot be read.
 */
export async function createGateway(options: MountOptions): Promise<MountedGateway> {
  checkOptions(options, ["path"]);
  const { clock = systemClock } = options;
  const path = (options.path ?? "").replace(/\/$/, "");
  if (!isPath(path))
    throw new BowlineError(
      "invalid_argument",
      `A path is as "/agents", not ${JSON.stringify(options.path)}.`,
    );
  const doors = await createDoors(options, path);
  const { limits } = doors;
  await doors.restore();
  /** Who is being served: a request until its answer is out, a socket until it is gone. */
  const served = new Map<object, Duplex>();
  let onIdle = (): void => {};
  const serve = (one: ServerResponse | Duplex, socket: Duplex): void => {
    const done = (): void => {
      one.off("close", done);
      socket.off("close", done);
      served.delete(one);
      if (served.size === 0) onIdle();
    };
    served.set(one, socket);
    one.once("close", done);
    // An answer that waited behind another hears nothing of the end of its connection.
    if (socket !== one) socket.once("close", done);
  };
  const answer = inTurn(
    (request, response) => void doors.answer(request, response),
    limits.maxPendingRequests,
  );
  return {
    handleRequest(request, response) {
      const rest = restOf(request, path);
      if (rest === undefined) return false;
      serve(response, request.socket);
      // As frameworks have it that put one handler below another.
      if (path !== "") Object.assign(request, { originalUrl: request.url, url: rest });
      if (rest.startsWith("/")) answer(request, response);
      else toFolder(response, path, rest);
      return true;
    },
    handleUpgrade(request, socket, head) {
      if (restOf(request, path) === undefined) return false;
      serve(socket, socket);
      doors.upgrade(request, socket, head);
      return true;
    },
    async close(reason = "the server was stopped") {
      await doors.close(reason);
      const idle = new Promise<void>((resolve) => (onIdle = resolve));
      const stop = clock.setTimer(limits.closeGraceMs, () => {
        for (const socket of served.values()) socket.destroy();
        onIdle();
      });
      if (served.size > 0) await idle;
      stop();
    },
  };
}

/**
 * The address behind the path: `/…`, or nothing but a query. Undefined for what is not under it.
 */
function restOf({ url = "" }: IncomingMessage, path: string): string | undefined {
  if (path === "") return url;
  const address = url.replace(/^https?:\/\/[^/?#]*/i, ""); // as proxies are asked
  const rest = address.startsWith(path) ? address.slice(path.length) : undefined;
  return rest === undefined || /^(?:[/?#]|$)/.test(rest) ? rest : undefined;
}

/** What the page names is beside it: without the last slash it would be looked for elsewhere. */
function toFolder(response: ServerResponse, path: string, query: string): void {
  response
    .writeHead(308, {
      location: `${path.slice(path.lastIndexOf("/") + 1)}/${query}`,
      "content-length": 0,
    })
    .end();
}
