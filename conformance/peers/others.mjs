// LangChain, pi-ai and Google's own client.
import { deliverParsed, heed, load, parameters, prompt } from "./common.mjs";

export async function readLangchain() {
  const { ChatOpenAI } = await load("@langchain/openai");
  return async ({ url, protocol, tools }, outcome) => {
    const model = new ChatOpenAI({
      model: "m",
      apiKey: "dummy",
      maxRetries: 0,
      configuration: { baseURL: url },
      useResponsesApi: protocol === "openai-responses",
    });
    const declared = tools.map((name) => ({
      type: "function",
      function: { name, description: name, parameters },
    }));
    let message;
    for await (const chunk of await model.bindTools(declared).stream(prompt))
      message = message === undefined ? chunk : message.concat(chunk);
    if (message === undefined) return;
    outcome.text = message.text;
    for (const { name, args } of message.tool_calls ?? []) deliverParsed(outcome, name, args);
    outcome.refused += message.invalid_tool_calls?.length ?? 0;
    const {
      finish_reason: reason,
      incomplete_details: incomplete,
      status,
    } = message.response_metadata;
    heed(outcome, incomplete?.reason ?? reason ?? status);
  };
}

const piApis = {
  "openai-chat": "openai-completions",
  "anthropic-messages": "anthropic-messages",
  "openai-responses": "openai-responses",
  "google-generate": "google-generative-ai",
};

export async function readPi() {
  const { stream } = await load("@earendil-works/pi-ai/compat");
  return async ({ url, protocol, tools }, outcome) => {
    const model = {
      id: "m",
      name: "m",
      api: piApis[protocol],
      provider: "fixture",
      // Like the client it builds on, it adds /v1 itself.
      baseUrl: protocol === "anthropic-messages" ? url.replace(/\/v1$/, "") : url,
      reasoning: true,
      input: ["text"],
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
      contextWindow: 100_000,
      maxTokens: 1000,
    };
    const context = {
      messages: [{ role: "user", content: prompt, timestamp: 0 }],
      tools: tools.map((name) => ({ name, description: name, parameters })),
    };
    const message = await stream(model, context, { apiKey: "dummy", maxRetries: 0 }).result();
    for (const part of message.content) {
      if (part.type === "text") outcome.text += part.text;
      else if (part.type === "toolCall") deliverParsed(outcome, part.name, part.arguments);
    }
    if (message.stopReason === "error" || message.stopReason === "aborted") {
      outcome.calls = []; // its own loop runs none of a failed answer
      throw new Error(message.errorMessage);
    }
    heed(outcome, message.stopReason);
  };
}

export async function readGenai() {
  const { GoogleGenAI } = await load("@google/genai");
  return async ({ url, tools }, outcome) => {
    const client = new GoogleGenAI({ apiKey: "dummy", httpOptions: { baseUrl: url } });
    const functionDeclarations = tools.map((name) => ({ name, parametersJsonSchema: parameters }));
    const request = { model: "m", contents: prompt, config: { tools: [{ functionDeclarations }] } };
    let reason;
    for await (const chunk of await client.models.generateContentStream(request)) {
      for (const part of chunk.candidates?.[0]?.content?.parts ?? [])
        if (part.thought !== true) outcome.text += part.text ?? "";
      for (const { name, args } of chunk.functionCalls ?? [])
        deliverParsed(outcome, name, args ?? {});
      reason = chunk.candidates?.[0]?.finishReason ?? chunk.promptFeedback?.blockReason ?? reason;
    }
    heed(outcome, reason);
  };
}
