// Adapter for a benchmark that runs several libraries against one stub server: the wire alone, and
// an agent with a tool. The prompts come from the benchmark's own folder (BENCH_TASK, its
// task.mjs). Requests use undici. With BENCH_FETCH=node they use Node's own fetch, the default of
// the library.
import { Agent } from "@bowline/core/agent";
import { streamAnthropicMessages } from "@bowline/core/anthropic-messages";
import { streamOpenaiChat } from "@bowline/core/openai-chat";
import { createUndiciFetch } from "@bowline/core/undici";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const task = await import(pathToFileURL(resolve(process.env.BENCH_TASK ?? "task.mjs")).href);

const apis = {
  chat: { api: "openai-chat", streamFn: streamOpenaiChat },
  messages: { api: "anthropic-messages", streamFn: streamAnthropicMessages },
};

const tool = {
  name: task.TOOL_NAME,
  description: task.TOOL_DESCRIPTION,
  parameters: task.TOOL_SCHEMA,
  execute: async (_id, args) => ({ content: [{ type: "text", text: await task.saveNote(args) }] }),
};

export default function setup({ api: wire, origin }) {
  const { api, streamFn } = apis[wire];
  const model = {
    id: task.MODEL,
    name: task.MODEL,
    api,
    provider: "stub",
    baseUrl: `${origin}/v1`,
    reasoning: false,
    input: ["text"],
    maxTokens: 64_000,
  };
  const options = {
    apiKey: task.API_KEY,
    ...(process.env.BENCH_FETCH !== "node" && { fetch: createUndiciFetch() }),
  };
  return {
    async stream({ onText }) {
      const messages = [{ role: "user", content: task.PROMPT, timestamp: Date.now() }];
      const stream = streamFn(model, { systemPrompt: task.SYSTEM, messages }, options);
      for await (const event of stream) if (event.type === "text_delta") onText(event.delta);
      const { error } = await stream.result();
      if (error !== undefined) throw new Error(error.message);
    },
    async loop({ onText }) {
      const agent = new Agent({
        initialState: { systemPrompt: task.SYSTEM, model, tools: [tool] },
        budget: { maxTurns: Infinity }, // the task has up to 400 turns
        streamFn,
        ...options,
      });
      agent.subscribe((event) => {
        if (event.type !== "message_update") return;
        const { assistantMessageEvent: delta } = event;
        if (delta.type === "text_delta") onText(delta.delta);
      });
      const { error } = await agent.prompt(task.PROMPT);
      if (error !== undefined) throw error;
    },
  };
}
