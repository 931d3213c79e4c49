/** Vendors are data: where they are, which wire they speak, what they want otherwise. An unknown host needs no row. */
import { BowlineError } from "../errors.ts";
import type { Compat, Model } from "../llm/model.ts";

export interface Vendor {
  /** What stands before the slash of a model reference. */
  readonly id: string;
  readonly name: string;
  readonly api: "openai-chat" | "anthropic-messages" | "openai-responses" | "google-generate";
  /** Absent where each customer has an own address: it must be given. */
  readonly baseUrl?: string;
  /** The environment variable that holds the key; none for servers that need no key. */
  readonly keyVariable?: string;
  /** Asked when no model is named; without it, the first that `/models` lists. */
  readonly defaultModel?: string;
  /** Whether its current models can think. Default true. */
  readonly reasoning?: boolean;
  readonly compat?: Compat;
}

/** In the order in which the command looks for keys, then servers on this machine. */
export const vendors: readonly Vendor[] = [
  {
    id: "anthropic",
    name: "Anthropic",
    api: "anthropic-messages",
    baseUrl: "https://api.anthropic.com/v1",
    keyVariable: "ANTHROPIC_API_KEY",
    defaultModel: "claude-sonnet-4-5",
  },
  {
    id: "openai",
    name: "OpenAI",
    api: "openai-chat",
    baseUrl: "https://api.openai.com/v1",
    keyVariable: "OPENAI_API_KEY",
    defaultModel: "gpt-5-mini",
    compat: { maxTokensField: "max_completion_tokens", systemRole: "developer" },
  },
  {
    id: "google",
    name: "Google Gemini",
    api: "google-generate",
    baseUrl: "https://generativelanguage.googleapis.com/v1beta",
    keyVariable: "GEMINI_API_KEY",
    defaultModel: "gemini-2.5-flash",
  },
  {
    id: "openrouter",
    name: "OpenRouter",
    api: "openai-chat",
    baseUrl: "https://openrouter.ai/api/v1",
    keyVariable: "OPENROUTER_API_KEY",
    defaultModel: "openrouter/auto",
    compat: { thinkingFormat: "reasoning" },
  },
  {
    id: "groq",
    name: "Groq",
    api: "openai-chat",
    baseUrl: "https://api.groq.com/openai/v1",
    keyVariable: "GROQ_API_KEY",
    defaultModel: "openai/gpt-oss-120b",
  },
  {
    id: "deepseek",
    name: "DeepSeek",
    api: "openai-chat",
    baseUrl: "https://api.deepseek.com",
    keyVariable: "DEEPSEEK_API_KEY",
    defaultModel: "deepseek-chat",
    compat: { thinkingFormat: "thinking", replayReasoning: true },
  },
  {
    id: "mistral",
    name: "Mistral",
    api: "openai-chat",
    baseUrl: "https://api.mistral.ai/v1",
    keyVariable: "MISTRAL_API_KEY",
    defaultModel: "mistral-large-latest",
    compat: { streamUsage: false, thinkingFormat: "none" },
  },
  {
    id: "xai",
    name: "xAI",
    api: "openai-chat",
    baseUrl: "https://api.x.ai/v1",
    keyVariable: "XAI_API_KEY",
    defaultModel: "grok-4",
    compat: { thinkingFormat: "none" },
  },
  {
    id: "together",
    name: "Together",
    api: "openai-chat",
    baseUrl: "https://api.together.xyz/v1",
    keyVariable: "TOGETHER_API_KEY",
  },
  {
    id: "fireworks",
    name: "Fireworks",
    api: "openai-chat",
    baseUrl: "https://api.fireworks.ai/inference/v1",
    keyVariable: "FIREWORKS_API_KEY",
  },
  {
    id: "cerebras",
    name: "Cerebras",
    api: "openai-chat",
    baseUrl: "https://api.cerebras.ai/v1",
    keyVariable: "CEREBRAS_API_KEY",
    compat: { maxTokensField: "max_completion_tokens" },
  },
  {
    id: "moonshot",
    name: "Moonshot",
    api: "openai-chat",
    baseUrl: "https://api.moonshot.ai/v1",
    keyVariable: "MOONSHOT_API_KEY",
    compat: { thinkingFormat: "none", replayReasoning: true },
  },
  {
    id: "zai",
    name: "Z.AI",
    api: "openai-chat",
    baseUrl: "https://api.z.ai/api/paas/v4",
    keyVariable: "ZAI_API_KEY",
    compat: { thinkingFormat: "thinking" },
  },
  {
    id: "dashscope",
    name: "DashScope",
    api: "openai-chat",
    baseUrl: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
    keyVariable: "DASHSCOPE_API_KEY",
    compat: { thinkingFormat: "enable_thinking" },
  },
  {
    id: "azure",
    name: "Azure OpenAI",
    api: "openai-chat",
    keyVariable: "AZURE_OPENAI_API_KEY",
    compat: { maxTokensField: "max_completion_tokens", systemRole: "developer", keyHeader: "api-key" },
  },
  {
    id: "copilot",
    name: "GitHub Copilot",
    api: "openai-chat",
    baseUrl: "https://api.githubcopilot.com",
    keyVariable: "COPILOT_TOKEN",
    compat: { thinkingFormat: "none" },
  },
  { id: "ollama", name: "Ollama", api: "openai-chat", baseUrl: "http://127.0.0.1:11434/v1" },
  { id: "lmstudio", name: "LM Studio", api: "openai-chat", baseUrl: "http://127.0.0.1:1234/v1" },
  { id: "llamacpp", name: "llama.cpp", api: "openai-chat", baseUrl: "http://127.0.0.1:8080/v1" },
  { id: "vllm", name: "vLLM", api: "openai-chat", baseUrl: "http://127.0.0.1:8000/v1" },
  { id: "litellm", name: "LiteLLM", api: "openai-chat", baseUrl: "http://127.0.0.1:4000/v1" },
  { id: "sglang", name: "SGLang", api: "openai-chat", baseUrl: "http://127.0.0.1:30000/v1" },
];

export interface ModelRef {
  readonly provider: string;
  readonly model: string;
}

/** Splits `provider/model` at the first slash, so that ids with slashes survive. Throws `invalid_argument` for anything else. */
export function parseModelRef(reference: string): ModelRef {
  const slash = reference.indexOf("/");
  const provider = reference.slice(0, slash).trim();
  const model = reference.slice(slash + 1).trim();
  if (slash < 1 || provider === "" || model === "") {
    throw new BowlineError(
      "invalid_argument",
      `A model is named provider/model, such as openai/gpt-5-mini, not ${JSON.stringify(reference)}.`,
    );
  }
  return { provider, model };
}

/**
 * A model of a vendor, by id; any id is taken, since servers know their models better than a list does. An unknown vendor needs
 * `overrides.baseUrl` and speaks openai-chat unless told otherwise; without it throws `invalid_argument`.
 */
export function getModel(provider: string, id: string, overrides: Partial<Omit<Model, "id" | "provider">> = {}): Model {
  const vendor = vendors.find((row) => row.id === provider);
  const baseUrl = overrides.baseUrl ?? vendor?.baseUrl;
  if (baseUrl === undefined) {
    const known = vendors.flatMap((row) => (row.baseUrl === undefined ? [] : [row.id])).join(", ");
    const what =
      vendor === undefined
        ? `Unknown provider ${JSON.stringify(provider)}`
        : `${vendor.name} has no address of its own`;
    throw new BowlineError("invalid_argument", `${what}: give a base URL, or use one of ${known}.`);
  }
  const compat = { ...vendor?.compat, ...overrides.compat };
  return {
    name: id,
    api: vendor?.api ?? "openai-chat",
    reasoning: vendor?.reasoning ?? true,
    input: ["text", "image"],
    ...overrides,
    id,
    provider,
    baseUrl,
    ...(Object.keys(compat).length > 0 && { compat }),
  };
}
