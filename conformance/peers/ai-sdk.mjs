// The AI SDK with each of its providers. It runs the tools itself: what it ran is what counts.
import { deliverParsed, heed, load, parameters, prompt } from "./common.mjs";

const models = {
  "openai-compatible": async () => {
    const { createOpenAICompatible } = await load("@ai-sdk/openai-compatible");
    return ({ url }) =>
      createOpenAICompatible({ name: "fixture", baseURL: url, apiKey: "dummy" })("m");
  },
  openai: async () => {
    const { createOpenAI } = await load("@ai-sdk/openai");
    return ({ url, protocol }) => {
      const provider = createOpenAI({ baseURL: url, apiKey: "dummy" });
      return protocol === "openai-chat" ? provider.chat("m") : provider.responses("m");
    };
  },
  anthropic: async () => {
    const { createAnthropic } = await load("@ai-sdk/anthropic");
    return ({ url }) => createAnthropic({ baseURL: url, apiKey: "dummy" })("m");
  },
  google: async () => {
    const { createGoogleGenerativeAI } = await load("@ai-sdk/google");
    return ({ url }) => createGoogleGenerativeAI({ baseURL: url, apiKey: "dummy" })("m");
  },
};

export async function readAiSdk(name) {
  const { streamText, tool, jsonSchema, isStepCount } = await load("ai");
  const model = await models[name]();
  return async (job, outcome) => {
    outcome.ran = true;
    const entry = (toolName) => [
      toolName,
      tool({
        inputSchema: jsonSchema(parameters),
        execute: (args) => {
          deliverParsed(outcome, toolName, args);
          return "ok";
        },
      }),
    ];
    const tools = Object.fromEntries(job.tools.map(entry));
    const stopWhen = isStepCount(1);
    const result = streamText({
      model: model(job),
      tools,
      prompt,
      maxRetries: 0,
      stopWhen,
      onError: () => {},
    });
    const reasons = [];
    let seen = 0;
    let failure;
    for await (const part of result.stream ?? result.fullStream) {
      if (part.type === "text-delta") outcome.text += part.text;
      else if (part.type === "tool-call") seen++;
      else if (part.type === "error") failure ??= part.error;
      else if (part.type === "finish") reasons.push(part.finishReason, part.rawFinishReason);
    }
    outcome.refused = Math.max(0, seen - outcome.calls.length); // shown, and not run
    if (failure !== undefined) throw failure;
    for (const reason of reasons) heed(outcome, reason);
  };
}
