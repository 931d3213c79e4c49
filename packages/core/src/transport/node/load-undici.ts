/**
 * Loads undici only when a request needs it and the caller passed no replacement. A program may
 * have undici where this package cannot resolve it.
 */
import type { Dispatcher, fetch } from "undici";
import { BowlineError, errorText } from "../../errors.ts";

/**
 * Creates an agent whose only time limit is that for connecting. Imports the agent alone: the whole
 * of undici takes three times as long to load, and adds 3.5 MB to every garbage collection.
 */
export async function createAgent(connectTimeoutMs: number): Promise<Dispatcher> {
  const { default: Agent } = await load(import("undici/lib/dispatcher/agent.js"));
  return new Agent({ connect: { timeout: connectTimeoutMs }, headersTimeout: 0, bodyTimeout: 0 });
}

/** undici's own `fetch`. */
export const undiciFetch: typeof fetch = async (input, init) =>
  await (await load(import("undici"))).fetch(input, init);

async function load<T>(module: Promise<T>): Promise<T> {
  try {
    return await module;
  } catch (cause) {
    throw new BowlineError(
      "invalid_argument",
      `@bowline/core/undici cannot load undici (${errorText(cause)}). Run \`npm install undici\`, ` +
        "or pass `dispatcher` and `fetch` from your own undici to `createUndiciFetch`.",
      { cause },
    );
  }
}
