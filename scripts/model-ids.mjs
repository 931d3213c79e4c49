// Generates the model ids that an editor completes, from the data of genai-prices. They are only
// types: any other id works too. `node scripts/model-ids.mjs --write` writes the file. Without
// `--write` the script fails if the file is stale.
import { findProvider } from "@pydantic/genai-prices";
import { keepMade } from "./made-file.mjs";
import { vendors } from "../packages/core/dist/providers/vendor-list.js";

const file = "packages/core/src/providers/model-ids.ts";

/**
 * The vendors whose ids in genai-prices are those of their servers: the vendor's name there, and a
 * pattern for the ids.
 */
const sources = {
  anthropic: ["anthropic", /^claude-(?:fable|haiku|opus|sonnet)-[4-9]/],
  openai: ["openai", /^(?:gpt-(?:4\.1|4o|[5-9])|o[1-9])/],
  google: ["google", /^gemini-(?:[2-9])/],
  groq: ["groq", /^(?:llama-3\.[13]-\d+b-(?:instant|versatile)|[a-z]+\/)/],
  deepseek: ["deepseek", /^deepseek-(?:chat|reasoner|v\d)/],
  mistral: ["mistral", /^(?:codestral|devstral|magistral|ministral|mistral).*-(?:latest|\d{4})$/],
  xai: ["x-ai", /^grok-(?:[4-9]|code)/],
  cerebras: ["cerebras", /./],
  moonshot: ["moonshotai", /^kimi-/],
};

const noChat = /embed|whisper|tts|audio|realtime|image|transcribe|voice|live|search|deep-research/;

function idsOf(providerId, accepted) {
  const { models } = findProvider({ providerId });
  return models
    .filter(
      ({ deprecated, prices }) => !deprecated && JSON.stringify(prices).includes("output_mtok"),
    )
    .map(({ id }) => id)
    .filter((id) => accepted.test(id) && !noChat.test(id) && /^[a-z0-9./-]+[a-z0-9]$/.test(id))
    .toSorted();
}

function withDefault(vendor, ids) {
  const { defaultModel } = vendors.find(({ id }) => id === vendor);
  return ids.includes(defaultModel) || defaultModel === undefined ? ids : [defaultModel, ...ids];
}

const union = (ids) => ids.map((id) => `\n    | ${JSON.stringify(id)}`).join("");
const text = `/**
 * The vendors and models that an editor completes. Made by \`node scripts/model-ids.mjs --write\` from
 * the list of vendors and the data of genai-prices; \`npm run check\` compares.
 */

/** The part before the slash of a model reference. */
export type VendorId =${union(vendors.map(({ id }) => id))};

/** Models by vendor. Servers have others, too: every id is accepted. */
export interface ModelIds {
${Object.entries(sources)
  .map(
    ([vendor, source]) => `  readonly ${vendor}:${union(withDefault(vendor, idsOf(...source)))};`,
  )
  .join("\n")}
}
`;

/** The formatter puts short unions on one line. */
const plain = (code) => code.replaceAll(/[\s|]+/g, " ");
keepMade(file, text, "node scripts/model-ids.mjs --write", plain);
