/** Token counts as generateContent servers give them: on any chunk, cumulative, not all of them on each. */
import type { Usage } from "../../llm/usage.ts";
import { field, type Json } from "./fields.ts";

const names = [
  "promptTokenCount",
  "cachedContentTokenCount",
  "toolUsePromptTokenCount",
  "candidatesTokenCount",
  "thoughtsTokenCount",
  "totalTokenCount",
] as const;

export type TokenCounts = { [name in (typeof names)[number]]?: number };

/** The counts of one chunk; one that is missing or no number stays absent. */
export function readCounts(wire: Json): TokenCounts {
  const counts: TokenCounts = {};
  for (const name of names) {
    const value = field(wire, name);
    if (typeof value === "number" && Number.isFinite(value) && value >= 0) counts[name] = value;
  }
  return counts;
}

/** On this wire the prompt includes the cache, and thoughts and the prompts of server tools stand apart (Q218). */
export function toUsage(counts: TokenCounts): Usage {
  const { promptTokenCount: prompt, candidatesTokenCount: candidates, thoughtsTokenCount: thoughts } = counts;
  const { cachedContentTokenCount: cached, toolUsePromptTokenCount: toolUse = 0, totalTokenCount: total } = counts;
  return {
    ...(prompt !== undefined && { input: Math.max(0, prompt - (cached ?? 0)) + toolUse }),
    ...((candidates ?? thoughts) !== undefined && { output: (candidates ?? 0) + (thoughts ?? 0) }),
    ...(cached !== undefined && { cacheRead: cached }),
    ...(thoughts !== undefined && { reasoning: thoughts }),
    ...(total !== undefined && { totalTokens: total }),
  };
}
