/** Which pages may open a socket: those that this server itself served. Programs send no origin. */
import { isIPv6 } from "node:net";

/** How much of what a stranger says is said again. */
const MAX_NAME = 100;

/**
 * Undefined for one that may pass, else why not. A request without an origin passes. One with an
 * origin must be of the host it asks, and a server that is not exposed must be asked by a name of
 * loopback: else a page whose own name was made to lead here (DNS rebinding) would pass.
 */
export function originRefusal(
  headers: { readonly origin?: string | undefined; readonly host?: string | undefined },
  exposed: boolean,
): string | undefined {
  const { origin, host = "" } = headers;
  if (!exposed && !isLoopbackName(hostname(host)))
    return `This server is asked as localhost or 127.0.0.1, not as ${shown(host)}: for other names it needs --expose (exposed: true).`;
  if (origin === undefined || isOf(origin, host)) return undefined;
  return `Pages of ${shown(origin)} are not let in, only those that this server itself served from ${shown(host)}.`;
}

function isOf(origin: string, host: string): boolean {
  try {
    return new URL(origin).host.toLowerCase() === host.toLowerCase() && host !== "";
  } catch {
    return false; // "null", of a page in a sandbox or a file
  }
}

function shown(name: string): string {
  return JSON.stringify(name.slice(0, MAX_NAME));
}

export function isLoopbackName(name: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i.test(name);
}

/** Without the port. */
function hostname(host: string): string {
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(host)?.[1];
  return bracketed ?? host.replace(/:\d+$/, "");
}

/** As it stands in an address. */
export function inUrl(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}
