/**
 * Chooses the model: the named one, else one by a key, else one on this machine, else the practice
 * model.
 */
import { readFile } from "node:fs/promises";
import { getModel, parseModelRef, vendors, type Model } from "@bowline/core";
import { withPrices } from "@bowline/core/custom-prices";
import { calcPrice } from "@pydantic/genai-prices";
import { parseProfile, type Profile } from "../doctor/index.ts";
import { set } from "../defined.ts";
import { isHttp } from "../is-http.ts";
import { createNetworkFetch } from "../network.ts";
import { vendorAddress, type VendorAddress } from "./vendor-address.ts";
import { explained, UsageError } from "../command-error.ts";
import { firstModel, localModel } from "./first-model.ts";
import type { Patience } from "./patience.ts";
import { sourceOf, type KeySource } from "./key-advice.ts";

export interface Wanted {
  readonly model?: string;
  readonly baseUrl?: string;
  /**
   * The address of the model's vendor. Default: the address in the environment, else the vendor's
   * own.
   */
  readonly vendorUrl?: string;
  readonly apiKeyEnv?: string;
  /** True if the server at `baseUrl` gets no key, because a project named it. Default false. */
  readonly isKeyless?: boolean;
  /** A file that `bowline doctor` wrote. */
  readonly profile?: string;
  /** Where the model's name came from. Default `from --model`. */
  readonly origin?: string;
}

export interface Discovered {
  readonly model: Model;
  readonly apiKey?: string;
  /** The `fetch` for the model's server. Absent for the practice model. */
  readonly fetch?: typeof globalThis.fetch;
  readonly keyFrom: KeySource;
  /** One line for a person: the model and the reason for it. */
  readonly why: string;
  /** Releases what discovery started. */
  close(): Promise<void>;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Finds the model for a command. Throws `UsageError` for an unknown reference or variable. Throws
 * `CommandError` when a server does not answer, after the retries of `patience`.
 */
export async function discoverModel(
  wanted: Wanted,
  env: Environment,
  patience?: Patience,
): Promise<Discovered> {
  const chosen = await chooseModel(wanted, env, patience);
  return "model" in chosen ? chosen : practice(chosen.practiceReason);
}

/**
 * Applies the rule for choosing a model, shared by all commands: the named one, else one by a key,
 * else one on this machine. If there is none, returns the reason for the practice model. Throws
 * like {@link discoverModel}.
 */
export async function chooseModel(
  wanted: Wanted,
  env: Environment,
  patience?: Patience,
): Promise<Discovered | { readonly practiceReason: string }> {
  const fetch = await explained(() => createNetworkFetch(env));
  const chosen = await find({ ...wanted, fetch, patience }, env);
  return "model" in chosen ? { ...chosen, fetch } : chosen;
}

/** The request, with the means to reach servers. */
interface Search extends Wanted {
  readonly fetch: typeof globalThis.fetch;
  readonly patience: Patience | undefined;
}

async function find(
  wanted: Search,
  env: Environment,
): Promise<Discovered | { readonly practiceReason: string }> {
  if (wanted.profile !== undefined) return byProfile(wanted.profile, wanted, env);
  const reference = wanted.model ?? set(env.BOWLINE_MODEL);
  if (reference === "practice" || reference === "practice/practice")
    return { practiceReason: "asked for" };
  if (wanted.baseUrl !== undefined) return atBaseUrl(wanted.baseUrl, reference, wanted, env);
  if (reference !== undefined) return named(reference, wanted, env);
  if (env.BOWLINE_DISCOVERY === "off") return { practiceReason: "BOWLINE_DISCOVERY is off" };
  return (
    (await byKey(wanted, env)) ??
    (await onThisMachine()) ?? {
      practiceReason: "no key in the environment and no model server on this machine",
    }
  );
}

/**
 * Takes server and model from a profile, unless they are named. The model is the server's own id:
 * `openai/x` does not name a vendor here.
 */
async function byProfile(file: string, wanted: Search, env: Environment): Promise<Discovered> {
  let profile: Profile;
  try {
    profile = parseProfile(await readFile(file, "utf8"));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new UsageError(
      `--profile ${file}: ${code === undefined ? message : `cannot be read (${code})`}.`,
    );
  }
  const baseUrl = wanted.baseUrl === undefined ? profile.baseUrl : checkedUrl(wanted.baseUrl);
  const model = getModel("custom", wanted.model ?? profile.model, {
    baseUrl,
    compat: profile.compat,
  });
  return found(
    model,
    keyOf(wanted.apiKeyEnv, wanted, env),
    `at ${baseUrl}, from ${file}`,
    wanted.apiKeyEnv,
  );
}

async function named(reference: string, wanted: Search, env: Environment): Promise<Discovered> {
  const { provider, model } = usage(() => parseModelRef(reference));
  const vendor = vendors.find((row) => row.id === provider);
  if (vendor === undefined) {
    throw new UsageError(
      `Unknown provider "${provider}": use one of ${vendors.map((row) => row.id).join(", ")}, or give --base-url.`,
    );
  }
  const variable = wanted.apiKeyEnv ?? vendor.keyVariable;
  const apiKey = keyOf(variable, wanted, env);
  if (apiKey === undefined && vendor.keyVariable !== undefined) {
    throw new UsageError(
      `${vendor.name} needs a key: set ${variable}, or name another variable with --api-key-env.`,
    );
  }
  const origin =
    wanted.model === undefined ? "from BOWLINE_MODEL" : (wanted.origin ?? "from --model");
  if (wanted.vendorUrl !== undefined)
    return found(
      getModel(provider, model, { baseUrl: wanted.vendorUrl }),
      apiKey,
      origin,
      variable,
    );
  const moved = usage(() => vendorAddress(vendor, env));
  return found(
    usage(() => modelAt(provider, model, moved)),
    apiKey,
    `${origin}${place(moved)}`,
    variable,
  );
}

/**
 * Uses the user's own server. Its protocol is that of the named vendor, else openai-chat. Without a
 * model, the first in its list is used.
 */
async function atBaseUrl(
  baseUrl: string,
  reference: string | undefined,
  wanted: Search,
  env: Environment,
): Promise<Discovered> {
  checkedUrl(baseUrl);
  const vendor = vendors.find((row) => reference?.startsWith(`${row.id}/`) === true);
  const variable =
    wanted.isKeyless === true ? undefined : (wanted.apiKeyEnv ?? vendor?.keyVariable);
  const apiKey = keyOf(variable, wanted, env);
  const id =
    reference === undefined
      ? await firstModel(wanted, baseUrl, apiKey, variable)
      : vendor === undefined
        ? reference
        : parseModelRef(reference).model;
  return found(
    getModel(vendor?.id ?? "custom", id, { baseUrl }),
    apiKey,
    `at ${baseUrl}`,
    variable,
  );
}

function checkedUrl(baseUrl: string): string {
  if (isHttp(baseUrl)) return baseUrl;
  throw new UsageError(
    `--base-url takes an http or https address, not ${JSON.stringify(baseUrl)}.`,
  );
}

async function byKey(wanted: Search, env: Environment): Promise<Discovered | undefined> {
  for (const vendor of vendors) {
    const { id: provider, keyVariable, baseUrl, defaultModel } = vendor;
    if (keyVariable === undefined || baseUrl === undefined) continue;
    const apiKey = set(env[keyVariable]);
    if (apiKey === undefined) continue;
    const moved = usage(() => vendorAddress(vendor, env));
    // At another address, this protocol can be any server, with its own models.
    const isKnown =
      defaultModel !== undefined && (moved === undefined || vendor.api !== "openai-chat");
    const id = isKnown
      ? defaultModel
      : await firstModel(wanted, moved?.baseUrl ?? baseUrl, apiKey, keyVariable, defaultModel);
    return found(
      modelAt(provider, id, moved),
      apiKey,
      `${keyVariable} is set${place(moved)}`,
      keyVariable,
    );
  }
  if (wanted.apiKeyEnv !== undefined)
    throw new UsageError("--api-key-env needs --model or --base-url, to know whose key it is.");
  return undefined;
}

function modelAt(provider: string, id: string, moved: VendorAddress | undefined): Model {
  return getModel(provider, id, moved && { baseUrl: moved.baseUrl });
}

/**
 * Describes the address to a person. Shows the origin only, since the rest may contain a secret.
 */
function place(moved: VendorAddress | undefined): string {
  return moved === undefined ? "" : `, at ${new URL(moved.baseUrl).origin} by ${moved.variable}`;
}

/** Probes all local servers at once. Uses the first in table order that lists a model. */
async function onThisMachine(): Promise<Discovered | undefined> {
  const local = vendors.filter((vendor) => vendor.keyVariable === undefined);
  const lists = await Promise.all(local.map((vendor) => localModel(vendor)));
  const index = lists.findIndex((id) => id !== undefined);
  const [vendor, id] = [local[index], lists[index]];
  return vendor === undefined || id === undefined
    ? undefined
    : found(getModel(vendor.id, id), undefined, `${vendor.name} runs on this machine`);
}

async function practice(why: string): Promise<Discovered> {
  // Its hundreds of patterns take time to compile, and most runs ask another model.
  const { startPracticeServer } = await import("../practice/index.ts");
  const server = await startPracticeServer();
  const model = getModel("practice", "practice", {
    baseUrl: server.baseUrl,
    reasoning: false,
    input: ["text"],
    name: "practice model",
  });
  return {
    model,
    keyFrom: { isSet: false },
    why: `practice model, not an LLM (${why}); for an LLM set a key such as ANTHROPIC_API_KEY, or start Ollama`,
    close: () => server.close(),
  };
}

function found(
  known: Model,
  apiKey: string | undefined,
  why: string,
  variable?: string,
): Discovered {
  const model = withPrices(known, calcPrice);
  return {
    model,
    keyFrom: { ...sourceOf(variable, apiKey), baseUrl: model.baseUrl },
    why: `${model.provider}/${model.id} (${why})`,
    close: async () => {},
    ...(apiKey !== undefined && { apiKey }),
  };
}

/** Returns the key in a variable. A variable that the user named must be set. */
function keyOf(variable: string | undefined, wanted: Search, env: Environment): string | undefined {
  if (variable === undefined) return undefined;
  const key = set(env[variable]);
  if (key === undefined && variable === wanted.apiKeyEnv)
    throw new UsageError(`--api-key-env: the variable ${variable} is not set.`);
  return key;
}

function usage<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
