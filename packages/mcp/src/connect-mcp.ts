/** The way in: reads the options and connects to the servers. */
import process from "node:process";
import { BowlineError, isBowlineError, systemClock } from "@bowline/core";
import { checkNames } from "@bowline/core/agent";
import { readEntry, readServers } from "./config/read-servers.ts";
import type { Mcp } from "./mcp.ts";
import { defaultLimits, optionNames, type FilledLimits, type McpOptions } from "./options.ts";
import { McpServer } from "./server/mcp-server.ts";
import { ServerGroup } from "./server-group.ts";

/**
 * Connects to MCP servers and gives an agent their tools. Resolves when each server is ready or has
 * failed, unless `wait` is false: `mcp.servers` says which. Rejects with `invalid_argument` for an option that cannot work,
 * with `aborted` when `signal` fires, and with `onServerError: "throw"` for a server that does not
 * start. Then nothing is left running.
 */
export async function connectMcp(options: McpOptions): Promise<Mcp> {
  checkNames(options, optionNames);
  const limits = fillLimits(options.limits ?? {});
  const { env = process.env, clock = systemClock, onServerError = "report", signal } = options;
  if (onServerError !== "report" && onServerError !== "throw")
    throw new BowlineError("invalid_argument", 'onServerError must be "report" or "throw".');
  if (options.wait === false && onServerError === "throw")
    throw new BowlineError(
      "invalid_argument",
      'With wait: false nothing can be thrown later. Leave out onServerError: "throw".',
    );
  const configs = readServers(options.servers, env);
  const mcp = new ServerGroup(options, limits, clock);
  const shared = { options, env, clock, limits };
  const starting = mcp.start((listener) =>
    configs.map((config) => {
      const auth = config.reach.kind === "stdio" ? undefined : options.auth?.(config.name);
      return new McpServer({ ...shared, config, auth }, listener);
    }),
  );
  if (options.wait === false) return mcp;
  await starting;
  const failed = mcp.servers.find(({ status }) => status !== "ready");
  if (signal?.aborted) {
    await mcp.close();
    throw new BowlineError("aborted", "The connecting was aborted.", { cause: signal.reason });
  }
  if (failed === undefined || onServerError === "report") return mcp;
  await mcp.close();
  const { code = "connection_failed", message = "" } = failed.error ?? {};
  throw new BowlineError(code, `The server "${failed.name}" did not start: ${message}`);
}

/**
 * Returns why `connectMcp` would refuse an entry with these variables; undefined if it would not.
 * Starts nothing. A program can so leave out one bad entry of a file and connect to the others.
 */
export function whyNotServer(
  name: string,
  entry: unknown,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  try {
    readEntry(name, entry, env);
    return undefined;
  } catch (error) {
    if (!isBowlineError(error)) throw error;
    return error.message;
  }
}

function fillLimits(given: NonNullable<McpOptions["limits"]>): FilledLimits {
  checkNames(given, Object.keys(defaultLimits), "limit");
  const filled = { ...defaultLimits };
  for (const [name, value] of Object.entries(given) as [keyof FilledLimits, unknown][]) {
    if (value === undefined) continue;
    if (typeof value !== "number" || !(value >= 0))
      throw new BowlineError("invalid_argument", `The limit ${name} must be a number from 0 up.`);
    filled[name] = value;
  }
  return filled;
}
