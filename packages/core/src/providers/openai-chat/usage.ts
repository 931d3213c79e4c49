/**
 * Reads the token counts of Chat Completions servers, which differ in where and what they count.
 */
// Q095 to Q099
import { asCount, asRecord, defined, isRecord } from "../../json-value.ts";
import type { Usage } from "../../llm/usage.ts";

/** Returns the usage in a chunk, wherever the server puts it, or undefined. */
// Q096
export function findUsage(
  chunk: Record<string, unknown>,
  choice: Record<string, unknown> | undefined,
): Usage | undefined {
  const { usage, x_groq, timings } = chunk;
  const found = usage ?? choice?.usage ?? (x_groq && asRecord(x_groq).usage);
  if (isRecord(found)) return toUsage(found);
  if (!timings) return undefined; // the usual case
  const { prompt_n: prompt_tokens, predicted_n: completion_tokens } = asRecord(timings); // llama.cpp
  return toUsage({ prompt_tokens, completion_tokens });
}

/** Maps one usage object. A field that is missing or not a number stays absent. */
function toUsage(wire: Record<string, unknown>): Usage {
  const details = asRecord(wire.prompt_tokens_details ?? wire.input_tokens_details);
  const prompt = asCount(wire.prompt_tokens);
  const cacheRead = asCount(
    details.cached_tokens ?? wire.prompt_cache_hit_tokens ?? wire.cached_tokens,
  );
  const cacheWrite = asCount(details.cache_write_tokens ?? details.cache_creation_input_tokens);
  // May be undefined, like the others; sums are then NaN.
  const completion = asCount(wire.completion_tokens) as number;
  const total = asCount(wire.total_tokens) as number;
  // Some servers count reasoning in addition to the completion (Q099). The total shows it; without
  // a total, the numbers do.
  const rest = total - (prompt as number) - completion;
  const given = asRecord(wire.completion_tokens_details).reasoning_tokens ?? wire.reasoning_tokens;
  // Gemini counts it only in the total.
  const reasoning = asCount(given ?? ((!cacheRead && rest) || undefined)) as number;
  const isBeside = rest === reasoning || (rest !== 0 && reasoning > completion);
  const cost = asCount(wire.cost);
  return defined({
    input: prompt && Math.max(0, prompt - (cacheRead ?? 0) - (cacheWrite ?? 0)),
    output: isBeside ? completion + reasoning : completion,
    cacheRead,
    cacheWrite,
    reasoning,
    totalTokens: total,
    cost: cost === undefined ? cost : { total: cost },
  });
}
