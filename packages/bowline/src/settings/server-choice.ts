/**
 * Chooses model, server and key from options and settings. A key of the user never goes to an
 * address that a project names, unless the user named the key for that address.
 */
import { vendors } from "@bowline/core";
import type { LoadedSettings, SettingsSource } from "./settings.ts";

/** The options of a command that name a model server. */
export interface ServerOptions {
  readonly model?: string;
  readonly baseUrl?: string;
  readonly apiKeyEnv?: string;
  readonly profile?: string;
}

export interface ServerChoice extends ServerOptions {
  /** Where the model's name came from. Absent if it came from an option. */
  readonly origin?: string;
  /** True if no key may be sent: a project named the address. */
  readonly isKeyless?: boolean;
  readonly notices: readonly string[];
}

interface Server {
  readonly model?: string;
  readonly baseUrl?: string;
  readonly apiKeyEnv?: string;
  /** The source of the address. */
  readonly addressFrom?: SettingsSource;
  /** The source of the model. */
  readonly modelFrom?: SettingsSource;
}

/**
 * Joins the options with the settings. `environmentModel` is the value of `BOWLINE_MODEL`, which
 * ranks between them.
 */
export function chooseServer(
  options: ServerOptions,
  { sources, merged }: Pick<LoadedSettings, "sources" | "merged">,
  environmentModel?: string,
): ServerChoice {
  const ofUser = merged.keys ?? {};
  if (options.profile !== undefined) return { ...options, notices: [] };
  if (options.baseUrl !== undefined) {
    const apiKeyEnv = options.apiKeyEnv ?? keyFor(options.baseUrl, ofUser);
    return { ...options, ...(apiKeyEnv !== undefined && { apiKeyEnv }), notices: [] };
  }
  const configured = serverOf(sources);
  const named = options.model ?? environmentModel;
  const server = named === undefined ? configured : withModel(configured, named);
  const { model, baseUrl, addressFrom, modelFrom } = server;
  const at = {
    ...(model !== undefined && { model }),
    ...(baseUrl !== undefined && { baseUrl }),
    ...(options.model === undefined &&
      (modelFrom !== undefined || addressFrom !== undefined) && {
        origin: `from ${(modelFrom ?? addressFrom)?.path}`,
      }),
  };
  if (named !== undefined && options.model === undefined && baseUrl === undefined) {
    // The name of the variable is shown as the model's origin, so the command reads it itself.
    const { apiKeyEnv = server.apiKeyEnv } = options;
    return { ...(apiKeyEnv !== undefined && { apiKeyEnv }), notices: [] };
  }
  if (baseUrl === undefined || addressFrom === undefined || addressFrom.scope === "user") {
    const own = baseUrl === undefined ? undefined : keyFor(baseUrl, ofUser);
    const apiKeyEnv = options.apiKeyEnv ?? server.apiKeyEnv ?? own;
    return { ...at, ...(apiKeyEnv !== undefined && { apiKeyEnv }), notices: [] };
  }
  const apiKeyEnv = keyFor(baseUrl, ofUser);
  const where = `${addressFrom.path} names the model server ${baseUrl}.`;
  if (apiKeyEnv !== undefined)
    return { ...at, apiKeyEnv, notices: [`${where} It gets the key in ${apiKeyEnv}.`] };
  const how = `{"keys": {"${baseUrl}": "<variable>"}}`;
  return {
    ...at,
    isKeyless: true,
    notices: [`${where} It gets none of your keys. To send one, add ${how} to your own settings.`],
  };
}

/** An address or a vendor's model replaces the server of the files before. */
function serverOf(sources: readonly SettingsSource[]): Server {
  let server: Server = {};
  for (const source of sources) {
    const { model, baseUrl, apiKeyEnv } = source.settings ?? {};
    if (baseUrl !== undefined) server = { baseUrl, addressFrom: source };
    if (model !== undefined) {
      server =
        baseUrl === undefined
          ? { ...withModel(server, model), modelFrom: source }
          : { ...server, model, modelFrom: source };
    }
    if (apiKeyEnv !== undefined) server = { ...server, apiKeyEnv };
  }
  return server;
}

/**
 * Replaces the model. One of a known vendor goes to that vendor, with the key that was named for
 * it; any other name is an id of the same server.
 */
function withModel(server: Server, model: string): Server {
  const vendor = vendorOf(model);
  if (vendor === undefined) {
    const { modelFrom: _, ...rest } = server;
    return { ...rest, model };
  }
  const isSame = server.baseUrl === undefined && vendorOf(server.model) === vendor;
  return {
    model,
    ...(isSame && server.apiKeyEnv !== undefined && { apiKeyEnv: server.apiKeyEnv }),
  };
}

function vendorOf(model: string | undefined): string | undefined {
  return vendors.find(({ id }) => model?.startsWith(`${id}/`) === true)?.id;
}

/** Returns the variable that the user named for an address. */
function keyFor(baseUrl: string, keys: Readonly<Record<string, string>>): string | undefined {
  const wanted = plainAddress(baseUrl);
  return Object.entries(keys).find(([address]) => plainAddress(address) === wanted)?.[1];
}

/** Addresses are the same if they differ only in a slash at the end or in the case of the host. */
function plainAddress(address: string): string {
  return URL.canParse(address) ? new URL(address).href.replace(/\/+$/, "") : address;
}
