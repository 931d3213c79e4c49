// The official Anthropic client: its raw stream in a plain loop, and its stream helper.
import { deliver, deliverParsed, heed, load, parameters, prompt } from "./common.mjs";

const request = (tools) => ({
  model: "m",
  max_tokens: 1000,
  messages: [{ role: "user", content: prompt }],
  tools: tools.map((name) => ({ name, input_schema: parameters })),
});

async function connect() {
  const { default: Anthropic } = await load("@anthropic-ai/sdk");
  // The client appends /v1 itself.
  return (url) =>
    new Anthropic({ apiKey: "dummy", baseURL: url.replace(/\/v1$/, ""), maxRetries: 0 });
}

export async function readAnthropicRaw() {
  const client = await connect();
  return async ({ url, tools }, outcome) => {
    const calls = new Map();
    let reason;
    for await (const event of await client(url).messages.create({
      ...request(tools),
      stream: true,
    })) {
      if (event.type === "content_block_start" && event.content_block.type === "tool_use")
        calls.set(event.index, { block: event.content_block, text: "" });
      else if (event.type === "content_block_delta") {
        if (event.delta.type === "text_delta") outcome.text += event.delta.text;
        else if (event.delta.type === "input_json_delta" && calls.has(event.index))
          calls.get(event.index).text += event.delta.partial_json;
      } else if (event.type === "message_delta") reason = event.delta.stop_reason ?? reason;
    }
    for (const { block, text } of calls.values()) {
      if (text === "") deliverParsed(outcome, block.name, block.input);
      else deliver(outcome, block.name, text);
    }
    heed(outcome, reason);
  };
}

export async function readAnthropicHelper() {
  const client = await connect();
  return async ({ url, tools }, outcome) => {
    const message = await client(url).messages.stream(request(tools)).finalMessage();
    for (const block of message.content) {
      if (block.type === "text") outcome.text += block.text;
      else if (block.type === "tool_use") deliverParsed(outcome, block.name, block.input);
    }
    heed(outcome, message.stop_reason);
  };
}
