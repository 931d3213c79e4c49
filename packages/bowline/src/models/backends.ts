/**
 * Finds an agent's backend: its own model, or the configured fallback. An agent with a preset model
 * may also use the model that commands take when none is named.
 */
import { BowlineError, getModel, parseModelRef, vendors } from "@bowline/core";
import { withPrices } from "@bowline/core/custom-prices";
import { calcPrice } from "@pydantic/genai-prices";
import type { PracticeServer } from "../practice/index.ts";
import { set } from "../defined.ts";
import { createNetworkFetch } from "../network.ts";
import { chooseModel } from "./discover.ts";
import { vendorAddress } from "./vendor-address.ts";
import type { Backend } from "./backend.ts";

export interface BackendOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `provider/model` to use when the agent's model has no key. Default none. */
  readonly fallback?: string;
}

/** An agent and its model. */
interface AskedAgent {
  readonly id?: string;
  /** `provider/model`. */
  readonly model: string;
  readonly description?: string;
  /**
   * True if the model is a preset: without its key, a model of another vendor may answer. Default
   * false.
   */
  readonly isPreset?: boolean;
}

export interface Backends {
  /**
   * Rejects with `invalid_argument` for an unknown reference. Also rejects for a chosen model
   * without a key, unless there is a fallback.
   */
  for(agent: AskedAgent): Promise<Backend>;
  close(): Promise<void>;
}

/** Throws `invalid_argument` for an unknown fallback and for an invalid proxy. */
export function createBackends({ env, fallback }: BackendOptions): Backends {
  const fetch = createNetworkFetch(env);
  const instead = fallback === undefined ? undefined : assertFallback(fallback, env);
  /**
   * One model object per reference: what a server refuses is remembered by object, for all runs.
   */
  const known = new Map<string, Backend>();
  let practice: Promise<PracticeServer> | undefined;
  const discovered = createDiscovery(env);
  return {
    async for({ model: wanted, isPreset = false }) {
      const own = known.get(wanted) ?? find(wanted, env);
      if (own !== undefined) known.set(wanted, own);
      if (own !== undefined) return { ...own, fetch };
      const neither =
        fallback === undefined
          ? ""
          : `, nor has ${fallback} (${keyVariableOf(fallback)} is not set)`;
      const why = `${wanted} has no key (${keyVariableOf(wanted)} is not set)`;
      if (instead !== undefined) {
        const message = `${why}. The fallback ${fallback} answers instead.`;
        return { ...instead, fetch, notice: { code: "fallback_model", message } };
      }
      if (!isPreset)
        throw new BowlineError(
          "invalid_argument",
          `${why}${neither}. Set it, or pass another model with --fallback.`,
        );
      const other = await discovered();
      if (other !== undefined) {
        const message = `${why}${neither}. ${other.why} answers instead.`;
        return { ...other.backend, fetch, notice: { code: "fallback_model", message } };
      }
      const { baseUrl } = await (practice ??= startPractice());
      const model = getModel("practice", "practice", {
        baseUrl,
        name: "practice model",
        reasoning: false,
        input: ["text"],
      });
      const message = `${why}${neither}. The practice model answers; it is not an LLM.`;
      return { model, isPractice: true, notice: { code: "practice_model", message } };
    },
    async close() {
      await (await practice)?.close();
    },
  };
}

/** Loads the practice model when it is needed: most gateways ask other models. */
async function startPractice(): Promise<PracticeServer> {
  const { startPracticeServer } = await import("../practice/index.ts");
  return startPracticeServer();
}

interface OtherModel {
  readonly backend: Backend;
  /** The model, and the reason for it. */
  readonly why: string;
}

/**
 * Finds the model to use when none is named. Returns undefined if there is none. The next call
 * searches again, because a server may be started later.
 */
function createDiscovery(env: BackendOptions["env"]): () => Promise<OtherModel | undefined> {
  let found: OtherModel | undefined;
  return async () => {
    if (found !== undefined) return found;
    const chosen = await chosenFrom(env);
    if (!("model" in chosen)) return undefined;
    const { model, apiKey, keyFrom, why } = chosen;
    const { variable: keyVariable } = keyFrom;
    const backend = {
      model,
      isPractice: false,
      ...(apiKey !== undefined && { apiKey, ...(keyVariable !== undefined && { keyVariable }) }),
    };
    return (found = { backend, why });
  };
}

/** Rejects with `invalid_argument` if the environment names something that does not exist. */
async function chosenFrom(env: BackendOptions["env"]): ReturnType<typeof chooseModel> {
  try {
    return await chooseModel({}, env);
  } catch (error) {
    throw new BowlineError("invalid_argument", (error as Error).message, { cause: error });
  }
}

function assertFallback(reference: string, env: BackendOptions["env"]): Backend | undefined {
  try {
    return find(reference, env);
  } catch (error) {
    throw new BowlineError("invalid_argument", `The fallback: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** Returns undefined if the key is missing. */
function find(reference: string, env: BackendOptions["env"]): Backend | undefined {
  const { provider, model: id } = parseModelRef(reference);
  const vendor = vendors.find((row) => row.id === provider);
  if (vendor === undefined) {
    const known = vendors.map((row) => row.id).join(", ");
    throw new BowlineError(
      "invalid_argument",
      `${reference} names an unknown provider. Known ones: ${known}.`,
    );
  }
  const apiKey = vendor.keyVariable === undefined ? undefined : set(env[vendor.keyVariable]);
  if (vendor.keyVariable !== undefined && apiKey === undefined) return undefined;
  const address = vendorAddress(vendor, env);
  const known = getModel(provider, id, address && { baseUrl: address.baseUrl });
  const model = withPrices(known, calcPrice);
  const { keyVariable } = vendor;
  return {
    model,
    isPractice: false,
    ...(keyVariable !== undefined && apiKey !== undefined && { apiKey, keyVariable }),
  };
}

function keyVariableOf(reference: string): string {
  const { provider } = parseModelRef(reference);
  return vendors.find((row) => row.id === provider)?.keyVariable ?? "its key";
}
