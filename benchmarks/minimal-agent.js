// The smallest agent of a page: one agent, one tool, one wire. size-limit bundles this file to
// measure its size. It is never run.
import { Agent } from "@bowline/core/agent";
import { streamOpenaiChat } from "@bowline/core/openai-chat";

const clock = {
  name: "clock",
  description: "The time",
  parameters: { type: "object", properties: {} },
  execute: async () => ({ content: [{ type: "text", text: new Date().toISOString() }] }),
};

export function ask(model, text) {
  return new Agent({ model, tools: [clock], streamFn: streamOpenaiChat }).prompt(text);
}
