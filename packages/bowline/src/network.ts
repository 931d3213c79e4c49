/** How the command and the gateway reach model servers. */
import { BowlineError } from "@bowline/core";
import type { Agent, Dispatcher } from "undici";

type Environment = Readonly<Record<string, string | undefined>>;

/** Hosts that never go through a proxy: it would look for them on its own machine. */
const LOOPBACK = "localhost,127.0.0.1,[::1]";

/**
 * Creates a `fetch` without the timeouts of Node's own. Uses the proxies in `HTTP_PROXY`,
 * `HTTPS_PROXY` and `NO_PROXY`, in upper or lower case. Throws `invalid_argument` for an invalid
 * proxy address; the message names the variable, not its value.
 */
export function createNetworkFetch(env: Environment): typeof globalThis.fetch {
  const httpProxy = proxyOf(env, "HTTP_PROXY");
  const httpsProxy = proxyOf(env, "HTTPS_PROXY") || httpProxy;
  const others = valueOf(env, "NO_PROXY");
  const noProxy = others === "*" ? "*" : `${others},${LOOPBACK}`;
  let made: Promise<typeof globalThis.fetch> | undefined;
  return async (input, init) => await (await (made ??= make()))(input, init);

  /**
   * Loads undici with the first request, because loading it would delay the start. Takes undici
   * from this package: core may not resolve it, for example when both are installed globally.
   */
  async function make(): Promise<typeof globalThis.fetch> {
    const { createUndiciFetch } = await import("@bowline/core/undici");
    const limits = { headersTimeout: 0, bodyTimeout: 0 };
    return createUndiciFetch({
      dispatcher: await makeDispatcher(limits),
      fetch: async (input, init) => (await import("undici")).fetch(input, init),
    });
  }

  async function makeDispatcher(limits: Agent.Options): Promise<Dispatcher> {
    if (httpProxy + httpsProxy === "") {
      // Import the agent alone: it loads in a third of the time of the whole package.
      const { default: Agent } = await import("undici/lib/dispatcher/agent.js");
      return new Agent(limits);
    }
    const { EnvHttpProxyAgent } = await import("undici");
    return new EnvHttpProxyAgent({ httpProxy, httpsProxy, noProxy, ...limits });
  }
}

function proxyOf(env: Environment, name: string): string {
  const value = valueOf(env, name);
  if (value === "") return value;
  const url = value.includes("://") ? value : `http://${value}`;
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  throw new BowlineError(
    "invalid_argument",
    `${name} is not the address of a proxy, such as http://proxy.example:8080.`,
  );
}

function valueOf(env: Environment, name: string): string {
  return (env[name.toLowerCase()] ?? env[name] ?? "").trim();
}
