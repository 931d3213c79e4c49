/**
 * Reads the token counts of Messages servers. They are cumulative, and split between start and end.
 */
// Q145, Q146
import { asCount, asRecord, defined } from "../../json-value.ts";
import type { Usage } from "../../llm/usage.ts";
import { toolUses } from "../tool-uses.ts";

/**
 * Maps one usage object. A field that is missing or not a number stays absent. `input` excludes the
 * cache, here as in {@link Usage}.
 */
export function toUsage(wire: Record<string, unknown>): Usage {
  return defined({
    input: asCount(wire.input_tokens),
    output: asCount(wire.output_tokens),
    cacheRead: asCount(wire.cache_read_input_tokens),
    cacheWrite: asCount(wire.cache_creation_input_tokens),
    reasoning: asCount(asRecord(wire.output_tokens_details).thinking_tokens),
    providerTools: toolUses(wire.server_tool_use),
  });
}
