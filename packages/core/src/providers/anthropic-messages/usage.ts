/** Token counts as Messages servers give them: partly at the start, partly at the end, cumulative (Q145, Q146). */
import type { Usage } from "../../llm/usage.ts";

/** Maps one usage object; a field that is missing or no number stays absent. `input` excludes the cache on this wire as in ours. */
export function toUsage(wire: Record<string, unknown>): Usage {
  const details = wire.output_tokens_details as Record<string, unknown> | null | undefined;
  const fields: Usage = {};
  set(fields, "input", wire.input_tokens);
  set(fields, "output", wire.output_tokens);
  set(fields, "cacheRead", wire.cache_read_input_tokens);
  set(fields, "cacheWrite", wire.cache_creation_input_tokens);
  set(fields, "reasoning", details?.thinking_tokens);
  return fields;
}

function set(usage: Usage, field: Exclude<keyof Usage, "cost">, value: unknown): void {
  if (typeof value === "number" && Number.isFinite(value) && value >= 0) usage[field] = value;
}
