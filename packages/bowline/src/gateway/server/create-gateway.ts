/** Mounts the gateway under a path of a server that the application owns. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { BowlineError, systemClock, type Clock } from "@bowline/core";
import type { CreateEngine } from "../engine/engine-ports.ts";
import { createContext } from "./context.ts";
import { createDoors, type Doors } from "./doors.ts";
import { checkFrontOptions, checkOptions, type DoorOptions, type FrontOptions } from "./options.ts";
import { inTurn } from "./in-turn.ts";
import { isPath } from "../access/trusted-proxies.ts";

interface Mounting {
  /**
   * The path of the gateway, such as `/agents`, URL-encoded. Default: the gateway answers all paths
   * of the server.
   */
  readonly path?: string;
}

export type MountOptions = DoorOptions & Mounting;

/** The options of {@link mountEngine}. */
export type MountEngineOptions = FrontOptions & Mounting;

/**
 * Both handlers return false for a request outside the path, and leave that request untouched. They
 * answer all other requests.
 */
export interface MountedGateway {
  /** Handles a request of `node:http` or `node:https`. Its body must not have been read. */
  handleRequest(request: IncomingMessage, response: ServerResponse): boolean;
  /** For the server's event `upgrade`. */
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  /**
   * Sends `shutdown` to the clients and closes their connections, at the latest after
   * `closeGraceMs`. The server keeps listening, and later requests under the path are refused. The
   * next gateway on this store resumes the runs that are still open.
   */
  close(reason?: string): Promise<void>;
}

/**
 * Resumes the runs of an earlier process. Opens no port. Rejects with `invalid_argument` for an
 * unknown option or limit, an invalid path, an empty token, or if no option authenticates clients.
 * Also rejects if the pending messages cannot be read.
 */
export async function createGateway(options: MountOptions): Promise<MountedGateway> {
  checkOptions(options, ["path"]);
  const path = pathOf(options);
  return mount(await createDoors(options, path, (ports) => createContext(options, ports)), {
    path,
    clock: options.clock,
  });
}

/**
 * As `createGateway`, for runs, approvals and sessions that something other than this process
 * provides, such as a cluster. Rejects as `createGateway` does, and as the engine's `open` does.
 */
export async function mountEngine(
  options: MountEngineOptions,
  create: CreateEngine,
): Promise<MountedGateway> {
  checkFrontOptions(options, ["path"]);
  const path = pathOf(options);
  return mount(await createDoors(options, path, create), { path, clock: options.clock });
}

function pathOf({ path: given = "" }: Mounting): string {
  const path = given.replace(/\/$/, "");
  if (isPath(path)) return path;
  throw new BowlineError(
    "invalid_argument",
    `path must be like "/agents", not ${JSON.stringify(given)}.`,
  );
}

interface Mounted {
  readonly path: string;
  readonly clock: Clock | undefined;
}

async function mount(
  doors: Doors,
  { path, clock = systemClock }: Mounted,
): Promise<MountedGateway> {
  const { limits } = doors;
  await doors.restore();
  /**
   * Requests and upgrades in progress: a request until its response has ended, a socket until it
   * has closed.
   */
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
    // A queued response gets no "close" event when its connection ends.
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
      // Sets `originalUrl`, as frameworks do when they mount one handler below another.
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
 * Returns the URL after the path: `/…`, a query alone, or an empty text. Returns undefined for a
 * URL outside the path.
 */
function restOf({ url = "" }: IncomingMessage, path: string): string | undefined {
  if (path === "") return url;
  const address = url.replace(/^https?:\/\/[^/?#]*/i, ""); // absolute URLs, as sent to a proxy
  const rest = address.startsWith(path) ? address.slice(path.length) : undefined;
  return rest === undefined || /^(?:[/?#]|$)/.test(rest) ? rest : undefined;
}

/**
 * Redirects to the path with a trailing slash. Without it the browser would resolve the page's
 * relative URLs against the parent folder.
 */
function toFolder(response: ServerResponse, path: string, query: string): void {
  response
    .writeHead(308, {
      location: `${path.slice(path.lastIndexOf("/") + 1)}/${query}`,
      "content-length": 0,
    })
    .end();
}
