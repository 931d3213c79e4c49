/**
 * Which model answers: what was named, else a key, else a server on this machine, else the practice
 * model.
 */
import { readFile } from "node:fs/promises";
import { getModel, parseModelRef, vendors, type Model } from "@bowline/core";
import { withPrices } from "@bowline/core/custom-prices";
import { calcPrice } from "@pydantic/genai-prices";
import { parseProfile, type Profile } from "../doctor/index.ts";
import { set } from "../defined.ts";
import { isHttp } from "../is-http.ts";
import { startPracticeServer } from "../practice/index.ts";
import { createNetworkFetch } from "../network.ts";
import { vendorAddress, type VendorAddress } from "./vendor-address.ts";
import { explained, UsageError } from "../command-error.ts";
import { firstModel, localModel } from "./first-model.ts";
import type { Patience } from "./patience.ts";
import { sourceOf, type KeySource } from "./key-advice.ts";

export interface Wanted {
  readonly model?: string;
  readonly baseUrl?: string;
  /** Where the model's vendor is. Default where the environment says, else its own address. */
  readonly vendorUrl?: string;
  readonly apiKeyEnv?: string;
  /** A file that `bowline doctor` wrote. */
  readonly profile?: string;
  /** Who named the model. Default `from --model`. */
  readonly origin?: string;
}

export interface Discovered {
  readonly model: Model;
  readonly apiKey?: string;
  /** Reaches its server. Absent for the practice model. */
  readonly fetch?: typeof globalThis.fetch;
  readonly keyFrom: KeySource;
  /** One line for a person: which model, and why. */
  readonly why: string;
  /** Releases what discovery started. */
  close(): Promise<void>;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Throws `UsageError` for a reference or variable that names nothing, `CommandError` when a server
 * cannot be asked, with `patience` as long as that says.
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
 * The one rule of which model answers, for every command: what was named, else a key, else a
 * server on this machine. Where none is there, why the practice model answers. Throws as
 * {@link discoverModel} does.
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

/** With what reaches servers. */
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
 * What the profile says, with what was named beside it. The model is the server's own id:
 * `openai/x` is no vendor here.
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
 * A server of the user's own. Its protocol is the named vendor's, else openai-chat; without a model
 * its first is taken.
 */
async function atBaseUrl(
  baseUrl: string,
  reference: string | undefined,
  wanted: Search,
  env: Environment,
): Promise<Discovered> {
  checkedUrl(baseUrl);
  const vendor = vendors.find((row) => reference?.startsWith(`${row.id}/`) === true);
  const variable = wanted.apiKeyEnv ?? vendor?.keyVariable;
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
    // What speaks this wire elsewhere may be any server, with models of its own.
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
 * For a person. Not the whole address: what else stands in one of the environment may be a secret.
 */
function place(moved: VendorAddress | undefined): string {
  return moved === undefined ? "" : `, at ${new URL(moved.baseUrl).origin} by ${moved.variable}`;
}

/** All are asked at once; the first in the table's order that lists a model counts. */
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
    why: `practice model, which is no LLM (${why}); for a real one set a key such as ANTHROPIC_API_KEY, or start Ollama`,
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

/** The key in a variable. One that was named by the user must be there. */
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
