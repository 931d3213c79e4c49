/** Which pages may open a socket: those that this server itself served. Programs send no origin. */
import { isIPv6 } from "node:net";

/**
 * A request without an origin passes. One with an origin must be of the host it asks, and a server on loopback must be asked by a
 * name of loopback: else a page whose own name was made to lead here (DNS rebinding) would pass.
 */
export function isAllowedOrigin(
  headers: { readonly origin?: string | undefined; readonly host?: string | undefined },
  isLoopback: boolean,
): boolean {
  const { origin, host = "" } = headers;
  if (isLoopback && !isLoopbackName(hostname(host))) return false;
  if (origin === undefined) return true;
  try {
    return new URL(origin).host.toLowerCase() === host.toLowerCase() && host !== "";
  } catch {
    return false; // "null", of a page in a sandbox or a file
  }
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
