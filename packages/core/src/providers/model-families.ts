/**
 * Model families that differ from their vendor's row, matched by model id, and the schema keywords
 * that vendors support.
 */
import type { Compat } from "../llm/model.ts";

/** If several families match a model's id, the first counts. */
export interface ModelFamily {
  /** A regular expression, matched case-insensitively. */
  readonly ids: string;
  readonly reasoning?: boolean;
  /**
   * The longest answer in tokens, or a sufficient limit: Messages requires a number with every
   * request.
   */
  // Q175
  readonly maxTokens?: number;
  readonly compat?: Compat;
}

const adaptive: Compat = { adaptiveThinking: true, prefill: "none" };
/**
 * Models from 4.5 on write at least 64,000 tokens. Earlier ones get less, because the limit must be
 * free in the context window.
 */
const maxTokens = 64_000;
const formerMaxTokens = 32_000;

/**
 * Claude's families: https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking and,
 * for the newest, https://platform.claude.com/docs/en/models/sonnet-5-5/migration-guide
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

/** OpenAI's families. An unlisted model is treated like the newest ones, without restrictions. */
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

/** The JSON Schema keywords that Gemini documents: https://ai.google.dev/api/generate-content */
// Q115
export const geminiKeywords: readonly string[] = (
  "$id $defs $ref $anchor type format title description enum anyOf oneOf items prefixItems minItems maxItems " +
  "minimum maximum properties required additionalProperties propertyOrdering"
).split(" ");

/**
 * The JSON Schema keywords that Cerebras documents:
 * https://inference-docs.cerebras.ai/capabilities/structured-outputs
 */
export const cerebrasKeywords: readonly string[] =
  "$defs $ref type title description enum const anyOf items properties required additionalProperties".split(
    " ",
  );
