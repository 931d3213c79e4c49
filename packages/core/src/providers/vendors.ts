/** Creates models of known vendors by name. */
import { BowlineError } from "../errors.ts";
import { defined, type Optional } from "../json-value.ts";
import type { Model } from "../llm/model.ts";
import type { ModelIds, VendorId } from "./model-ids.ts";
import { vendors } from "./vendor-list.ts";

export type { ModelFamily } from "./model-families.ts";
export type { ModelIds, VendorId } from "./model-ids.ts";
export { vendors, type Vendor } from "./vendor-list.ts";

/** Any string, without losing the literals that an editor completes. */
type AnyText = string & {};

type ModelOverrides = Optional<Omit<Model, "id" | "provider">>;

export interface ModelRef {
  readonly provider: string;
  readonly model: string;
}

/**
 * Splits `provider/model` at the first slash, so ids may contain slashes. Throws `invalid_argument`
 * for anything else.
 */
export function parseModelRef(reference: string): ModelRef {
  const slash = reference.indexOf("/");
  const provider = reference.slice(0, slash).trim();
  const model = reference.slice(slash + 1).trim();
  if (slash < 1 || provider === "" || model === "") {
    throw new BowlineError(
      "invalid_argument",
      `A model is named provider/model, such as openai/gpt-5-mini, not ${JSON.stringify(reference)}.`,
    );
  }
  return { provider, model };
}

/**
 * Returns a model of a vendor by id. Any id is accepted, since a server knows its models better
 * than a list. Settings of the model's family come from the vendor's row; `overrides` win. An
 * unknown vendor needs `overrides.baseUrl`, else this throws `invalid_argument`; its protocol is
 * openai-chat by default.
 */
export function getModel<TVendor extends keyof ModelIds>(
  provider: TVendor,
  id: ModelIds[TVendor] | AnyText,
  overrides?: ModelOverrides,
): Model;
export function getModel(
  provider: VendorId | AnyText,
  id: string,
  overrides?: ModelOverrides,
): Model;
export function getModel(provider: string, id: string, overrides: ModelOverrides = {}): Model {
  const vendor = vendors.find((row) => row.id === provider);
  const baseUrl = overrides.baseUrl ?? vendor?.baseUrl;
  if (baseUrl === undefined) {
    const known = vendors.flatMap((row) => (row.baseUrl ? [row.id] : [])).join(", ");
    const what = vendor
      ? `${vendor.name} has no default address`
      : `Unknown provider ${JSON.stringify(provider)}`;
    throw new BowlineError("invalid_argument", `${what}: give a base URL, or use one of ${known}.`);
  }
  const family = vendor?.families?.find(({ ids }) => new RegExp(ids, "i").test(id));
  const compat = { ...vendor?.compat, ...family?.compat, ...overrides.compat };
  return {
    name: id,
    api: vendor?.api ?? "openai-chat",
    reasoning: family?.reasoning ?? vendor?.reasoning ?? true,
    input: ["text", "image", "pdf", "audio", "video"],
    ...(family?.maxTokens && { maxTokens: family.maxTokens }),
    ...defined(overrides),
    id,
    provider,
    baseUrl,
    ...(Object.keys(compat).length > 0 && { compat }),
  };
}
