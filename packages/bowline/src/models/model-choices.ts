/** The models that a person can choose: those of the server in use and of vendors with a key. */
import { vendors } from "@bowline/core";
import { set } from "../defined.ts";
import { listedModels, modelsUrl } from "../doctor/index.ts";
import type { Discovered, Wanted } from "./discover.ts";
import { vendorAddress } from "./vendor-address.ts";

interface ModelChoice {
  readonly label: string;
  readonly detail: string;
  readonly wanted: Wanted;
}

export interface ModelChoices {
  readonly items: readonly ModelChoice[];
  /** Servers that gave no list, and why. */
  readonly notices: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

interface Source {
  readonly name: string;
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly wanted: (id: string) => Wanted;
  /** A server that was only probed for says nothing if it is not there. */
  readonly isProbed: boolean;
}

const LIMIT_MS = 5000;
const LOCAL_LIMIT_MS = 400;

/** Lists are asked for at once. A server without a list offers its default model. */
export async function listChoices(
  current: Discovered,
  env: Environment,
  signal: AbortSignal,
): Promise<ModelChoices> {
  const fetch = current.fetch ?? globalThis.fetch;
  const notices: string[] = [];
  const lists = await Promise.all(
    sourcesOf(current, env).map(async (source): Promise<ModelChoice[]> => {
      try {
        const limit = AbortSignal.timeout(source.isProbed ? LOCAL_LIMIT_MS : LIMIT_MS);
        const ids = await idsOf(source, fetch, AbortSignal.any([signal, limit]));
        return ids.map((id) => ({ label: id, detail: source.name, wanted: source.wanted(id) }));
      } catch (error) {
        signal.throwIfAborted();
        const why = error instanceof Error ? error.message : String(error);
        if (!source.isProbed) notices.push(`${source.name} gave no list of models (${why}).`);
        return [];
      }
    }),
  );
  return { items: lists.flat(), notices };
}

async function idsOf(
  { baseUrl, headers }: Source,
  fetch: typeof globalThis.fetch,
  signal: AbortSignal,
): Promise<string[]> {
  const response = await fetch(modelsUrl(baseUrl), { headers, signal });
  if (!response.ok) {
    await response.body?.cancel(); // an unread body would keep the process alive
    throw new Error(`HTTP ${response.status}`);
  }
  const models = listedModels(await response.json());
  if (models === undefined) throw new Error("the answer is not a list");
  return models.map(({ id }) => id.replace(/^models\//, ""));
}

function sourcesOf({ model, apiKey, keyFrom }: Discovered, env: Environment): Source[] {
  const own: Source[] =
    model.provider === "practice" || vendors.some(({ id }) => id === model.provider)
      ? []
      : [
          {
            name: new URL(model.baseUrl).host,
            baseUrl: model.baseUrl,
            headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
            isProbed: false,
            wanted: (id) => ({
              model: id,
              baseUrl: model.baseUrl,
              origin: "from /model",
              ...(keyFrom.isSet && keyFrom.variable !== undefined
                ? { apiKeyEnv: keyFrom.variable }
                : {}),
            }),
          },
        ];
  const others = vendors.flatMap((vendor): Source[] => {
    const { id: provider, name, keyVariable, api } = vendor;
    const baseUrl = vendorAddress(vendor, env)?.baseUrl ?? vendor.baseUrl;
    const key = keyVariable === undefined ? undefined : set(env[keyVariable]);
    if (baseUrl === undefined || (keyVariable !== undefined && key === undefined)) return [];
    if (keyVariable === undefined && env.BOWLINE_DISCOVERY === "off") return [];
    return [
      {
        name,
        baseUrl,
        headers: key === undefined ? {} : keyHeaders(api, key),
        isProbed: keyVariable === undefined,
        wanted: (id) => ({ model: `${provider}/${id}`, origin: "from /model" }),
      },
    ];
  });
  return [...own, ...others];
}

function keyHeaders(api: string, key: string): Readonly<Record<string, string>> {
  switch (api) {
    case "anthropic-messages":
      return { "x-api-key": key, "anthropic-version": "2023-06-01" };
    case "google-generate":
      return { "x-goog-api-key": key };
    default:
      return { authorization: `Bearer ${key}` };
  }
}
