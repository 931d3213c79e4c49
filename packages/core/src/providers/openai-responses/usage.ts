/**
 * Reads the token counts of Responses servers. They come at the end, and the input includes the
 * cache.
 */
import { asCount, asRecord, defined } from "../../json-value.ts";
import type { Usage } from "../../llm/usage.ts";
import { toolUses } from "../tool-uses.ts";

/** Maps one usage object. A field that is missing or not a number stays absent. */
export function toUsage(wire: Record<string, unknown>): Usage {
  const details = asRecord(wire.input_tokens_details);
  const input = asCount(wire.input_tokens);
  const output = asCount(wire.output_tokens);
  const cacheRead = asCount(details.cached_tokens);
  const cacheWrite = asCount(details.cache_write_tokens);
  const reasoning = asCount(asRecord(wire.output_tokens_details).reasoning_tokens);
  const totalTokens = asCount(wire.total_tokens);
  return defined({
    input: input && Math.max(0, input - (cacheRead ?? 0) - (cacheWrite ?? 0)),
    output,
    cacheRead,
    cacheWrite,
    reasoning,
    totalTokens,
    providerTools: toolUses(wire.server_side_tool_usage_details), // xAI
  });
}
