/** How the command and the gateway reach model servers. */
import { BowlineError } from "@bowline/core";
import type { Agent, Dispatcher } from "undici";

type Environment = Readonly<Record<string, string | undefined>>;

/** Never through a proxy, which would look for it on its own machine. */
const LOOPBACK = "localhost,127.0.0.1,[::1]";

/**
 * A `fetch` without the limits of Node's own, by the proxies that `HTTP_PROXY`, `HTTPS_PROXY` and
 * `NO_PROXY` name, in lower case, too. Throws `invalid_argument` that names the variable, not its
 * value, for what is no address of a proxy.
 */
export function createNetworkFetch(env: Environment): typeof globalThis.fetch {
  const httpProxy = proxyOf(env, "HTTP_PROXY");
  const httpsProxy = proxyOf(env, "HTTPS_PROXY") || httpProxy;
  const others = valueOf(env, "NO_PROXY");
  const noProxy = others === "*" ? "*" : `${others},${LOOPBACK}`;
  let made: Promise<typeof globalThis.fetch> | undefined;
  return async (input, init) => await (await (made ??= make()))(input, init);

  /**
   * With the first request: what the library takes to load would keep everything else waiting. The
   * library is this package's: core may not resolve it, such as when both are installed globally.
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
      // The agent alone, which loads in a third of the time of the whole.
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
