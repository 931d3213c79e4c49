/**
 * Prices and context windows from `@pydantic/genai-prices`, an optional peer dependency: install it
 * to use this entry. `custom-prices.ts` takes it from its caller. Prices change; what a server
 * itself says it charged is kept and never overwritten.
 */
import { calcPrice } from "@pydantic/genai-prices";
import * as custom from "./custom-prices.ts";
import type { Model } from "./llm/model.ts";

/**
 * The model with what is known of its price and context window; one that is not known stays as it
 * is.
 */
export function withPrices(model: Model): Model {
  return custom.withPrices(model, calcPrice);
}
