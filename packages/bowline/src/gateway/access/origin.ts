/**
 * Checks the `Origin` of requests. Only pages that this server served may use it. Other programs
 * send no origin.
 */
import { isIPv6 } from "node:net";

/** The most characters of a header that a refusal quotes. */
const MAX_NAME = 100;

/**
 * Returns the reason for which a request is refused, or undefined if it may pass.
 *
 * A request without an origin passes. The origin's host must be the host of the request. A server
 * that is not exposed must be addressed by a loopback name. Otherwise a page could map its own name
 * to this server (DNS rebinding).
 */
export function originRefusal(
  headers: { readonly origin?: string | undefined; readonly host?: string | undefined },
  exposed: boolean,
): string | undefined {
  const { origin, host = "" } = headers;
  if (!exposed && !isLoopbackName(hostname(host)))
    return `This server answers requests to localhost or 127.0.0.1, not to ${shown(host)}. For other names, start it with --expose (exposed: true).`;
  if (origin === undefined || isOf(origin, host)) return undefined;
  return `Pages of ${shown(origin)} may not connect. Only pages that this server served from ${shown(host)} may.`;
}

function isOf(origin: string, host: string): boolean {
  try {
    return new URL(origin).host.toLowerCase() === host.toLowerCase() && host !== "";
  } catch {
    return false; // "null" is sent by sandboxed pages and files
  }
}

function shown(name: string): string {
  return JSON.stringify(name.slice(0, MAX_NAME));
}

export function isLoopbackName(name: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i.test(name);
}

/** Removes the port. */
function hostname(host: string): string {
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(host)?.[1];
  return bracketed ?? host.replace(/:\d+$/, "");
}

/** Formats the host for a URL. */
export function inUrl(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}
