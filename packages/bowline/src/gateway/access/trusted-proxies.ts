/**
 * Reads the forwarding headers of trusted proxies. Those of other clients are ignored, since anyone
 * can send them.
 */
import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import { BowlineError } from "@bowline/core";

const MAX_PREFIX = 200;

export class TrustedProxies {
  readonly #list = new BlockList();

  /** Takes addresses or networks (`10.0.0.0/8`). Throws `invalid_argument` for anything else. */
  constructor(addresses: readonly string[]) {
    for (const entry of addresses) {
      const [, address = "", bits] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(entry) ?? [];
      const family = familyOf(plain(address));
      if (family === undefined || Number(bits ?? 0) > (family === "ipv4" ? 32 : 128))
        throw new BowlineError(
          "invalid_argument",
          `A proxy is trusted by its address, or its net as 10.0.0.0/8, not by ${JSON.stringify(entry)}.`,
        );
      if (bits === undefined) this.#list.addAddress(plain(address), family);
      else this.#list.addSubnet(plain(address), Number(bits), family);
    }
  }

  /**
   * Returns the client's address: the last hop of `X-Forwarded-For` that is not a trusted proxy.
   * Each proxy appends the address from which it got the request. Hops before the returned one are
   * unverified.
   */
  addressOf(request: IncomingMessage): string {
    let address = plain(request.socket.remoteAddress ?? "");
    const hops = headerOf(request, "x-forwarded-for").split(",");
    while (this.#has(address)) {
      const hop = hostOf(hops.pop() ?? "");
      if (isIP(hop) === 0) break;
      address = hop;
    }
    return address;
  }

  /**
   * Returns the path under which the proxy serves the gateway, such as `/agents`, from its
   * `X-Forwarded-Prefix`. Returns an empty text without one.
   */
  prefixOf(request: IncomingMessage): string {
    if (!this.#has(plain(request.socket.remoteAddress ?? ""))) return "";
    const prefix = headerOf(request, "x-forwarded-prefix").replace(/\/$/, "");
    return prefix.length <= MAX_PREFIX && isPath(prefix) ? prefix : "";
  }

  #has(address: string): boolean {
    const family = familyOf(address);
    return family !== undefined && this.#list.check(address, family);
  }
}

/** Whether the text is a path, and not an address of another server such as `//evil.example`. */
export function isPath(path: string): boolean {
  return /^(?:\/[\w.~%-]+)*$/.test(path);
}

function headerOf({ headers }: IncomingMessage, name: string): string {
  return String(headers[name] ?? "");
}

/** Removes the port, which some proxies add. */
function hostOf(hop: string): string {
  const [, bracketed, v4] = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/.exec(hop.trim()) ?? [];
  return plain(bracketed ?? v4 ?? hop.trim());
}

/** Converts an IPv4-mapped IPv6 address, as reported by a dual-stack server. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "");
}

function familyOf(address: string): "ipv4" | "ipv6" | undefined {
  const version = isIP(address);
  if (version === 0) return undefined;
  return version === 6 ? "ipv6" : "ipv4";
}
