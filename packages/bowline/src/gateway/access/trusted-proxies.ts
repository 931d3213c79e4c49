/**
 * Proxies whose word counts: for whose requests they bring, and under which path. Nobody else's
 * does, since anybody can say it.
 */
import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import { BowlineError } from "@bowline/core";

const MAX_PREFIX = 200;

export class TrustedProxies {
  readonly #list = new BlockList();

  /** Addresses, or nets of them (`10.0.0.0/8`). Throws `invalid_argument` for what is neither. */
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
   * Whose request it is: the last hop of `X-Forwarded-For` that is no trusted proxy. Each proxy
   * says from whom it has the request, so what stands before that hop is the word of a stranger.
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
   * The path under which the proxy has the gateway, `/agents`, as its `X-Forwarded-Prefix` says;
   * else nothing.
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

/** One that names no other server, as `//evil.example` would. */
export function isPath(path: string): boolean {
  return /^(?:\/[\w.~%-]+)*$/.test(path);
}

function headerOf({ headers }: IncomingMessage, name: string): string {
  return String(headers[name] ?? "");
}

/** Some proxies name the port, too. */
function hostOf(hop: string): string {
  const [, bracketed, v4] = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/.exec(hop.trim()) ?? [];
  return plain(bracketed ?? v4 ?? hop.trim());
}

/** Of a server that listens on both families. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "");
}

function familyOf(address: string): "ipv4" | "ipv6" | undefined {
  const version = isIP(address);
  if (version === 0) return undefined;
  return version === 6 ? "ipv6" : "ipv4";
}
