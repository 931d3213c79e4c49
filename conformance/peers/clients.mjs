// The clients, by the name they have in the table: the protocols each speaks, and how it is loaded.
import { readAnthropicHelper, readAnthropicRaw } from "./anthropic.mjs";
import { readAiSdk } from "./ai-sdk.mjs";
import { readGenai, readLangchain, readPi } from "./others.mjs";
import { readOpenaiHelper, readOpenaiRaw } from "./openai.mjs";

const chat = "openai-chat";
const messages = "anthropic-messages";
const responses = "openai-responses";
const google = "google-generate";

export const clients = {
  "openai raw": { packages: ["openai"], protocols: [chat, responses], load: readOpenaiRaw },
  "openai helper": { packages: ["openai"], protocols: [chat, responses], load: readOpenaiHelper },
  "anthropic raw": {
    packages: ["@anthropic-ai/sdk"],
    protocols: [messages],
    load: readAnthropicRaw,
  },
  "anthropic helper": {
    packages: ["@anthropic-ai/sdk"],
    protocols: [messages],
    load: readAnthropicHelper,
  },
  "ai + openai-compatible": {
    packages: ["ai", "@ai-sdk/openai-compatible"],
    protocols: [chat],
    load: () => readAiSdk("openai-compatible"),
  },
  "ai + openai": {
    packages: ["ai", "@ai-sdk/openai"],
    protocols: [chat, responses],
    load: () => readAiSdk("openai"),
  },
  "ai + anthropic": {
    packages: ["ai", "@ai-sdk/anthropic"],
    protocols: [messages],
    load: () => readAiSdk("anthropic"),
  },
  "ai + google": {
    packages: ["ai", "@ai-sdk/google"],
    protocols: [google],
    load: () => readAiSdk("google"),
  },
  langchain: {
    packages: ["@langchain/openai", "@langchain/core"],
    protocols: [chat, responses],
    load: readLangchain,
  },
  "pi-ai": {
    packages: ["@earendil-works/pi-ai"],
    protocols: [chat, messages, responses, google],
    load: readPi,
  },
  "@google/genai": { packages: ["@google/genai"], protocols: [google], load: readGenai },
};
