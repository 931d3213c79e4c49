/** Token counts as Responses servers give them: all at the end, the cache within the input. */
import { asRecord } from "../../json-value.ts";
import type { Usage } from "../../llm/usage.ts";

/** Maps one usage object; a field that is missing or no number stays absent. */
export function toUsage(wire: Record<string, unknown>): Usage {
  const details = asRecord(wire.input_tokens_details);
  const input = count(wire.input_tokens);
  const output = count(wire.output_tokens);
  const cacheRead = count(details.cached_tokens);
  const cacheWrite = count(details.cache_write_tokens);
  const reasoning = count(asRecord(wire.output_tokens_details).reasoning_tokens);
  const total = count(wire.total_tokens);
  return {
    ...(input !== undefined && { input: Math.max(0, input - (cacheRead ?? 0) - (cacheWrite ?? 0)) }),
    ...(output !== undefined && { output }),
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite !== undefined && { cacheWrite }),
    ...(reasoning !== undefined && { reasoning }),
    ...(total !== undefined && { totalTokens: total }),
  };
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}
