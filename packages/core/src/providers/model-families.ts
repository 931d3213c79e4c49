/**
 * Models that are otherwise than their vendor's row says, by what their ids have in common, and
 * what they read of schemas.
 */
import type { Compat } from "../llm/model.ts";

/** Of several, the first whose pattern is found in a model's id counts. */
export interface ModelFamily {
  /** A regular expression, read without regard to case. */
  readonly ids: string;
  readonly reasoning?: boolean;
  /**
   * The most that it writes, or what is enough of that: Messages wants a number with every request.
   */
  // Q175
  readonly maxTokens?: number;
  readonly compat?: Compat;
}

const adaptive: Compat = { adaptiveThinking: true, prefill: "none" };
/**
 * From 4.5 on all write 64,000 tokens, some twice that; of those before, more would have to be free
 * in the window.
 */
const maxTokens = 64_000;
const formerMaxTokens = 32_000;

/**
 * What Claude's take:
 * https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking and, of the newest,
 * https://platform.claude.com/docs/en/models/sonnet-5-5/migration-guide
 */
// Q112, Q113, Q173
export const anthropicFamilies: readonly ModelFamily[] = [
  { ids: "claude-(?:instant|2|3-(?!7))", reasoning: false, compat: { structuredOutput: "none" } },
  {
    ids: "claude-(?:3-7|(?:opus|sonnet)-4[-@](?:0|2025))",
    maxTokens: formerMaxTokens,
    compat: { structuredOutput: "none" },
  },
  { ids: "claude-opus-4-1", maxTokens: formerMaxTokens },
  { ids: "claude-[a-z]+-4-5", maxTokens },
  { ids: "claude-(?:opus|sonnet)-4-6", maxTokens, compat: { ...adaptive, noXhigh: true } },
  {
    ids: "claude-(?:fable|mythos|[a-z]+-5-[5-9])",
    maxTokens,
    compat: { ...adaptive, noTemperature: true, toolChoice: "auto" },
  },
  {
    ids: "claude-(?:opus-4-[78]|[a-z]+-[5-9])",
    maxTokens,
    compat: { ...adaptive, noTemperature: true },
  },
];

/**
 * What OpenAI's take. One that is not here is taken for the newest, with nothing held
 * back.
 */
// Q107, Q113
export const openaiFamilies: readonly ModelFamily[] = [
  {
    ids: "^(?:ft:)?gpt-(?:3|4(?!o|\\.\\d))",
    reasoning: false,
    compat: { systemRole: "system", structuredOutput: "none" },
  },
  { ids: "^(?:ft:)?(?:chat)?gpt-(?:4|5-chat)", reasoning: false, compat: { systemRole: "system" } },
  { ids: "^gpt-5\\.[1-4](?!-(?:pro|chat|codex))", compat: { noTemperature: "thinking" } },
  { ids: "^(?:gpt-[5-9]|o\\d)", compat: { noTemperature: true } },
];

/** What Gemini says it reads of JSON Schema: https://ai.google.dev/api/generate-content */
// Q115
export const geminiKeywords: readonly string[] = (
  "$id $defs $ref $anchor type format title description enum anyOf oneOf items prefixItems minItems maxItems " +
  "minimum maximum properties required additionalProperties propertyOrdering"
).split(" ");

/** What Cerebras reads: https://inference-docs.cerebras.ai/capabilities/structured-outputs */
export const cerebrasKeywords: readonly string[] =
  "$defs $ref type title description enum const anyOf items properties required additionalProperties".split(
    " ",
  );
