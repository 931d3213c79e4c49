/**
 * Prices and context windows from `@pydantic/genai-prices`, an optional peer dependency. Install it
 * to use this entry. `custom-prices.ts` takes the price function from its caller instead. A cost
 * that the server itself reports always wins over these prices.
 */
import { calcPrice } from "@pydantic/genai-prices";
import * as custom from "./custom-prices.ts";
import type { Model } from "./llm/model.ts";

/**
 * Returns the model with its `cost` (US dollars per million tokens) and `contextWindow`. Fields
 * that the model already has win. Returns an unknown model as is.
 */
export function withPrices(model: Model): Model {
  return custom.withPrices(model, calcPrice);
}
