/**
 * Vendors as data: their address, their wire, and their deviations from it. An unknown host needs
 * no row.
 */
import type { Compat } from "../llm/model.ts";
import {
  anthropicFamilies,
  cerebrasKeywords,
  geminiKeywords,
  openaiFamilies,
  type ModelFamily,
} from "./model-families.ts";

export interface Vendor {
  /** The part of a model reference before the slash. */
  readonly id: string;
  readonly name: string;
  readonly api: "openai-chat" | "anthropic-messages" | "openai-responses" | "google-generate";
  /** Absent if each customer has its own address, which the caller must then pass. */
  readonly baseUrl?: string;
  /** The environment variable that holds the API key; absent for servers without keys. */
  readonly keyVariable?: string;
  /** The model to use if none is named. If absent, the first that `/models` lists. */
  readonly defaultModel?: string;
  /** Whether its models can think. Default true. */
  readonly reasoning?: boolean;
  readonly compat?: Compat;
  /** Model families that differ from this row. */
  readonly families?: readonly ModelFamily[];
}

const openai: Compat = {
  maxTokensField: "max_completion_tokens",
  systemRole: "developer",
  structuredOutput: "json_schema",
  cacheKeyField: "prompt_cache_key",
};

/**
 * Local model servers force every word of an answer into the schema, so a request with a schema
 * could not call tools. Many chat templates accept only one user message in a row.
 */
// Q125
const local: Compat = { structuredOutput: "no_tools", mergeUsers: true };

/** In the order in which the command looks for keys, then the servers on this machine. */
export const vendors: readonly Vendor[] = [
  {
    id: "anthropic",
    name: "Anthropic",
    api: "anthropic-messages",
    baseUrl: "https://api.anthropic.com/v1",
    keyVariable: "ANTHROPIC_API_KEY",
    defaultModel: "claude-sonnet-5",
    families: anthropicFamilies,
  },
  {
    id: "openai",
    name: "OpenAI",
    api: "openai-chat",
    baseUrl: "https://api.openai.com/v1",
    keyVariable: "OPENAI_API_KEY",
    defaultModel: "gpt-5-mini",
    compat: openai,
    families: openaiFamilies,
  },
  {
    id: "google",
    name: "Google Gemini",
    api: "google-generate",
    baseUrl: "https://generativelanguage.googleapis.com/v1beta",
    keyVariable: "GEMINI_API_KEY",
    defaultModel: "gemini-3.5-flash",
    compat: { schemaKeywords: geminiKeywords },
    families: [
      {
        ids: "gemma-[1-3]",
        reasoning: false,
        compat: { structuredOutput: "none", systemRole: "user" },
      },
      { ids: "gemma", reasoning: false, compat: { structuredOutput: "none" } },
      { ids: "gemini-(?:1|2\\.0)", reasoning: false, compat: { structuredOutput: "no_tools" } },
      { ids: "gemini-2", compat: { structuredOutput: "no_tools" } },
    ],
  },
  {
    // https://openrouter.ai/docs/guides/features/prompt-caching
    id: "openrouter",
    name: "OpenRouter",
    api: "openai-chat",
    baseUrl: "https://openrouter.ai/api/v1",
    keyVariable: "OPENROUTER_API_KEY",
    defaultModel: "openrouter/auto",
    compat: {
      thinkingFormat: "reasoning",
      structuredOutput: "no_tools",
      cacheKeyField: "session_id",
    },
  },
  {
    // https://console.groq.com/docs/reasoning: some of its models accept these efforts and some
    // none, which the wire learns
    id: "groq",
    name: "Groq",
    api: "openai-chat",
    baseUrl: "https://api.groq.com/openai/v1",
    keyVariable: "GROQ_API_KEY",
    compat: { plainEfforts: true },
    defaultModel: "openai/gpt-oss-120b",
    families: [{ ids: "llama|gemma|kimi|allam|compound", reasoning: false }],
  },
  {
    // https://api-docs.deepseek.com/guides/thinking_mode: thinks by default, and then refuses a
    // forced tool choice
    id: "deepseek",
    name: "DeepSeek",
    api: "openai-chat",
    baseUrl: "https://api.deepseek.com",
    keyVariable: "DEEPSEEK_API_KEY",
    defaultModel: "deepseek-v4-flash",
    compat: { thinkingFormat: "thinking", replayReasoning: true, toolChoice: "auto" },
  },
  {
    // https://docs.mistral.ai/api
    id: "mistral",
    name: "Mistral",
    api: "openai-chat",
    baseUrl: "https://api.mistral.ai/v1",
    keyVariable: "MISTRAL_API_KEY",
    defaultModel: "mistral-large-latest",
    compat: {
      streamUsage: false,
      thinkingFormat: "none",
      structuredOutput: "no_tools",
      cacheKeyField: "prompt_cache_key",
      callIdDigits: 9,
      assistantAfterTool: true,
      prefill: "prefix",
    },
  },
  {
    // https://docs.x.ai/developers/model-capabilities/text/reasoning
    id: "xai",
    name: "xAI",
    api: "openai-chat",
    baseUrl: "https://api.x.ai/v1",
    keyVariable: "XAI_API_KEY",
    defaultModel: "grok-4.3",
    compat: {
      plainEfforts: true,
      structuredOutput: "json_schema",
      cacheKeyHeader: "x-grok-conv-id",
    },
  },
  {
    // https://docs.together.ai/docs/inference/chat/reasoning
    id: "together",
    name: "Together",
    api: "openai-chat",
    baseUrl: "https://api.together.xyz/v1",
    keyVariable: "TOGETHER_API_KEY",
    compat: { plainEfforts: true },
  },
  {
    // https://docs.fireworks.ai/guides/reasoning
    id: "fireworks",
    name: "Fireworks",
    api: "openai-chat",
    baseUrl: "https://api.fireworks.ai/inference/v1",
    keyVariable: "FIREWORKS_API_KEY",
    compat: { structuredOutput: "no_tools", cacheKeyField: "prompt_cache_key", plainEfforts: true },
  },
  {
    // https://inference-docs.cerebras.ai/capabilities/reasoning
    id: "cerebras",
    name: "Cerebras",
    api: "openai-chat",
    baseUrl: "https://api.cerebras.ai/v1",
    keyVariable: "CEREBRAS_API_KEY",
    compat: {
      maxTokensField: "max_completion_tokens",
      structuredOutput: "no_tools",
      schemaKeywords: cerebrasKeywords,
      plainEfforts: true,
      cacheKeyField: "prompt_cache_key",
    },
  },
  {
    // https://platform.kimi.ai/docs/api/chat
    id: "moonshot",
    name: "Moonshot",
    api: "openai-chat",
    baseUrl: "https://api.moonshot.ai/v1",
    keyVariable: "MOONSHOT_API_KEY",
    compat: {
      thinkingFormat: "none",
      replayReasoning: true,
      structuredOutput: "no_tools",
      cacheKeyField: "prompt_cache_key",
      toolChoice: "auto",
      prefill: "partial",
    },
  },
  {
    // https://docs.z.ai/api-reference/llm/chat-completion
    id: "zai",
    name: "Z.AI",
    api: "openai-chat",
    baseUrl: "https://api.z.ai/api/paas/v4",
    keyVariable: "ZAI_API_KEY",
    compat: { thinkingFormat: "thinking", cutsPrompt: true },
  },
  {
    // https://www.alibabacloud.com/help/en/model-studio/deep-thinking
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
    compat: { ...openai, keyHeader: "api-key" },
    families: openaiFamilies,
  },
  {
    id: "copilot",
    name: "GitHub Copilot",
    api: "openai-chat",
    baseUrl: "https://api.githubcopilot.com",
    keyVariable: "COPILOT_TOKEN",
    compat: { thinkingFormat: "none" },
    families: [{ ids: "claude", compat: { toolsForHistory: true, prefill: "none" } }],
  },
  {
    id: "ollama",
    name: "Ollama",
    api: "openai-chat",
    baseUrl: "http://127.0.0.1:11434/v1",
    compat: local,
  },
  {
    id: "lmstudio",
    name: "LM Studio",
    api: "openai-chat",
    baseUrl: "http://127.0.0.1:1234/v1",
    compat: local,
  },
  {
    id: "llamacpp",
    name: "llama.cpp",
    api: "openai-chat",
    baseUrl: "http://127.0.0.1:8080/v1",
    compat: local,
  },
  {
    id: "vllm",
    name: "vLLM",
    api: "openai-chat",
    baseUrl: "http://127.0.0.1:8000/v1",
    compat: local,
  },
  {
    id: "litellm",
    name: "LiteLLM",
    api: "openai-chat",
    baseUrl: "http://127.0.0.1:4000/v1",
    compat: { toolsForHistory: true },
  },
  {
    id: "sglang",
    name: "SGLang",
    api: "openai-chat",
    baseUrl: "http://127.0.0.1:30000/v1",
    compat: local,
  },
];
