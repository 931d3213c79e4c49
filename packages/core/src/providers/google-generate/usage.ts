/**
 * Reads the token counts of generateContent servers. They are cumulative and may come on any chunk,
 * not all on each.
 */
import { asCount } from "../../json-value.ts";
import type { Usage } from "../../llm/usage.ts";
import type { Json } from "./fields.ts";

export class TokenCounts {
  #prompt: number | undefined;
  #cached: number | undefined;
  #toolUse: number | undefined;
  #candidates: number | undefined;
  #thoughts: number | undefined;
  #total: number | undefined;

  /**
   * Adds one chunk's counts and returns the usage. A count that is missing or not a number keeps
   * its value. On this wire the prompt includes the cache; thoughts and the prompts of server tools
   * are counted separately.
   */
  // Q218
  add(wire: Json): Usage {
    // Read directly in both spellings (Q215), since this runs for every chunk.
    this.#prompt = asCount(wire.promptTokenCount ?? wire.prompt_token_count) ?? this.#prompt;
    this.#cached =
      asCount(wire.cachedContentTokenCount ?? wire.cached_content_token_count) ?? this.#cached;
    this.#toolUse =
      asCount(wire.toolUsePromptTokenCount ?? wire.tool_use_prompt_token_count) ?? this.#toolUse;
    this.#candidates =
      asCount(wire.candidatesTokenCount ?? wire.candidates_token_count) ?? this.#candidates;
    this.#thoughts =
      asCount(wire.thoughtsTokenCount ?? wire.thoughts_token_count) ?? this.#thoughts;
    this.#total = asCount(wire.totalTokenCount ?? wire.total_token_count) ?? this.#total;
    const usage: Usage = {};
    const output = this.#candidates ?? this.#thoughts;
    if (this.#prompt !== undefined)
      usage.input = Math.max(0, this.#prompt - (this.#cached ?? 0)) + (this.#toolUse ?? 0);
    if (output !== undefined) usage.output = (this.#candidates ?? 0) + (this.#thoughts ?? 0);
    if (this.#cached !== undefined) usage.cacheRead = this.#cached;
    if (this.#thoughts !== undefined) usage.reasoning = this.#thoughts;
    if (this.#total !== undefined) usage.totalTokens = this.#total;
    return usage;
  }
}
