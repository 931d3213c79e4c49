import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { checkChatRequest, checkMessagesRequest } from "../src/testing/index.ts";

/** A rule: what it refuses, by a change to a good body, and a piece of what it says. */
type Rule = readonly [name: string, change: (body: Body) => unknown, says: string];
// A request as a test pulls it about.
type Body = Record<string, unknown> & { messages: Record<string, unknown>[]; tools: Record<string, unknown>[] };

const png = "iVBORw0KGgo=";
const schema = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };

const chat = (): Body => ({
  model: "m",
  stream: true,
  stream_options: { include_usage: true },
  max_tokens: 100,
  temperature: 1.5,
  reasoning_effort: "low",
  metadata: { run: "1" },
  tools: [{ type: "function", function: { name: "read", description: "Reads", parameters: structuredClone(schema) } }],
  tool_choice: { type: "function", function: { name: "read" } },
  messages: [
    { role: "system", content: "Be brief." },
    {
      role: "user",
      content: [
        { type: "text", text: "Look" },
        { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } },
      ],
    },
    {
      role: "assistant",
      content: null,
      reasoning_content: "",
      tool_calls: [
        { id: "a", type: "function", function: { name: "read", arguments: '{"path":"x"}' } },
        {
          id: "functions.read:1",
          type: "function",
          function: { name: "read", arguments: "{}" },
          extra_content: { google: { thought_signature: "S" } },
        },
      ],
    },
    { role: "tool", tool_call_id: "a", content: "one" },
    { role: "tool", tool_call_id: "functions.read:1", content: "two" },
    { role: "assistant", content: "Well." },
    { role: "user", content: "Go on" },
  ],
});

/** The tool calls of the third message. */
const calls = (body: Body): Record<string, unknown>[] => body.messages[2]?.tool_calls as Record<string, unknown>[];
const set = (target: unknown, fields: Record<string, unknown>): unknown => Object.assign(target as object, fields);

const chatRules: readonly Rule[] = [
  ["a body that is no object", () => [], "body must be an object"],
  ["a missing model", (body) => delete body.model, "model is required"],
  ["an empty model", (body) => set(body, { model: "" }), "model must not be blank"],
  ["a field of nobody", (body) => set(body, { store: false }), "store is no field"],
  ["a field that is null for absent", (body) => set(body, { temperature: null }), "temperature must be a number"],
  ["a request that does not stream", (body) => set(body, { stream: false }), "stream must be one of true"],
  ["stream options without usage", (body) => set(body, { stream_options: {} }), "include_usage is required"],
  ["no tokens", (body) => set(body, { max_tokens: 0 }), "max_tokens must be a whole number"],
  ["both limits of tokens", (body) => set(body, { max_completion_tokens: 5 }), "one option"],
  ["a temperature out of range", (body) => set(body, { temperature: 2.1 }), "temperature must be a number from 0 to 2"],
  ["metadata that are not strings", (body) => set(body, { metadata: { n: 1 } }), "metadata must hold strings"],
  ["two thinking switches", (body) => set(body, { enable_thinking: true }), "ask for one thing"],
  ["an unknown effort", (body) => set(body, { reasoning_effort: "off" }), "reasoning_effort must be one of"],
  ["an empty list of tools", (body) => set(body, { tools: [] }), "tools must be a list with something in it"],
  ["a tool choice without tools", (body) => delete (body as Partial<Body>).tools, "refused without tools"],
  ["a choice of a tool that is not there", (body) => set(body, { tool_choice: { type: "function", function: { name: "x" } } }), "tool_choice.function.name must be"],
  ["a tool name with a slash", (body) => set(body.tools[0]?.function, { name: "fs/read" }), "tools[0].function.name must match"],
  ["a tool name that is too long", (body) => set(body.tools[0]?.function, { name: "x".repeat(65) }), "must match"],
  ["two tools of one name", (body) => body.tools.push(structuredClone(body.tools[0] ?? {})), "is there twice"],
  ["a schema with a choice at the root", (body) => set(body.tools[0]?.function, { parameters: { anyOf: [schema] } }), "anyOf is refused"],
  ["a schema without properties", (body) => set(body.tools[0]?.function, { parameters: { type: "object" } }), "properties must be an object"],
  ["a schema of no object", (body) => set(body.tools[0]?.function, { parameters: { type: "string", properties: {} } }), 'type must be "object"'],
  ["no messages", (body) => set(body, { messages: [] }), "messages must be a list with something in it"],
  ["an unknown role", (body) => set(body.messages[0], { role: "function" }), "role must be one of"],
  ["a system message that is not first", (body) => body.messages.push({ role: "system", content: "x" }), "not the first"],
  ["a history that ends with the assistant", (body) => body.messages.pop(), "must end with a user's message"],
  ["blank text of a user", (body) => set(body.messages[6], { content: " \n" }), "content must not be blank"],
  ["an empty list of parts", (body) => set(body.messages[1], { content: [] }), "content must be a list with something in it"],
  ["a list of text parts only", (body) => set(body.messages[1], { content: [{ type: "text", text: "x" }] }), "plain string"],
  ["a name on a user", (body) => set(body.messages[6], { name: "me" }), "name is no field"],
  ["an image that is no base64", (body) => set(body.messages[1], { content: [{ type: "image_url", image_url: { url: "data:image/png;base64,?" } }] }), "base64"],
  ["an image of an unknown kind", (body) => set(body.messages[1], { content: [{ type: "image_url", image_url: { url: `data:image/tiff;base64,${png}` } }] }), "image/png"],
  ["an image in a result", (body) => set(body.messages[3], { content: [{ type: "image_url", image_url: { url: "https://x" } }] }), "messages[3].content must be text"],
  ["an image of the assistant", (body) => set(body.messages[5], { content: [{ type: "image_url", image_url: { url: "https://x" } }] }), "messages[5].content must be text"],
  ["an assistant with neither text nor calls", (body) => set(body.messages[5], { content: null }), "messages[5].content must be text"],
  ["an assistant without content", (body) => delete body.messages[2]?.content, "content is required"],
  ["an empty text beside calls", (body) => set(body.messages[2], { content: "" }), "content must not be blank"],
  ["an empty list of calls", (body) => set(body.messages[5], { tool_calls: [] }), "tool_calls must be a list with something in it"],
  ["a field of a call that is unknown", (body) => set(calls(body)[0], { index: 0 }), "index is no field"],
  ["arguments that are an object", (body) => set(calls(body)[0]?.function, { arguments: {} }), "must be JSON text"],
  ["arguments that are no JSON", (body) => set(calls(body)[0]?.function, { arguments: '{"a":' }), "must be JSON"],
  ["arguments that are no object", (body) => set(calls(body)[0]?.function, { arguments: "[]" }), "JSON of an object"],
  ["a NUL that hides in the arguments", (body) => set(calls(body)[0]?.function, { arguments: '{"a":"\\u0000"}' }), "holds NUL"],
  ["a called name with a space", (body) => set(calls(body)[0]?.function, { name: "a b" }), "name must match"],
  ["an empty id", (body) => set(calls(body)[0], { id: "" }), "id must match"],
  ["an id of 41 characters", (body) => set(calls(body)[0], { id: "x".repeat(41) }), "id must match"],
  ["an id outside ASCII", (body) => set(calls(body)[0], { id: "é" }), "id must match"],
  ["one id for two calls", (body) => set(calls(body)[1], { id: "a" }), "is there twice"],
  ["a call without its result", (body) => body.messages.splice(4, 1), "before the results of functions.read:1"],
  ["a history that ends with an open call", (body) => body.messages.splice(4), "end before the results of functions.read:1"],
  ["results in another order", (body) => body.messages.splice(3, 2, ...body.messages.slice(3, 5).toReversed()), "is due"],
  ["a result without its call", (body) => body.messages.push({ role: "tool", tool_call_id: "z", content: "x" }), "answers no call"],
  ["two results of one call", (body) => body.messages.splice(5, 0, { role: "tool", tool_call_id: "a", content: "x" }), "answers no call"],
  ["a message between the results", (body) => body.messages.splice(4, 0, { role: "user", content: "x" }), "before the results of"],
  ["an empty result", (body) => set(body.messages[3], { content: "" }), "messages[3].content must not be blank"],
  ["a name on a result", (body) => set(body.messages[3], { name: "read" }), "name is no field"],
  ["a lone surrogate", (body) => set(body.messages[6], { content: "\ud83d" }), "lone surrogate"],
  ["a lone surrogate in the name of a field", (body) => set(body.tools[0]?.function, { parameters: { ...schema, "\udc00": 1 } }), "lone surrogate"],
  ["NUL", (body) => set(body.messages[6], { content: "a\u0000" }), "holds NUL"],
  ["what JSON does not know", (body) => set(body, { max_tokens: Number.NaN }), "must be JSON"],
];

const messages = (): Body => ({
  model: "m",
  stream: true,
  max_tokens: 4000,
  thinking: { type: "enabled", budget_tokens: 1024 },
  system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral", ttl: "1h" } }],
  metadata: { user_id: "u" },
  tools: [{ name: "read", description: "Reads", input_schema: structuredClone(schema), cache_control: { type: "ephemeral", ttl: "1h" } }],
  tool_choice: { type: "auto" },
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: "Look" },
        { type: "image", source: { type: "base64", media_type: "image/png", data: png } },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "", signature: "S" },
        { type: "redacted_thinking", data: "R" },
        { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} },
        { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] },
        { type: "text", text: "Well." },
        { type: "tool_use", id: "a", name: "read", input: { path: "x" } },
        { type: "tool_use", id: "b", name: "read", input: {} },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "a", content: "one" },
        { type: "tool_result", tool_use_id: "b", is_error: true, content: [{ type: "text", text: "two", cache_control: { type: "ephemeral" } }] },
        { type: "text", text: "And quickly", cache_control: { type: "ephemeral" } },
      ],
    },
  ],
});

const blocks = (body: Body, index: number): Record<string, unknown>[] => body.messages[index]?.content as Record<string, unknown>[];

const messagesRules: readonly Rule[] = [
  ["a body that is no object", () => null, "body must be an object"],
  ["a missing limit of tokens", (body) => delete body.max_tokens, "max_tokens is required"],
  ["a field of nobody", (body) => set(body, { stop: [] }), "stop is no field"],
  ["a request that does not stream", (body) => set(body, { stream: false }), "stream must be one of true"],
  ["a blank system prompt", (body) => set(body, { system: " " }), "system must not be blank"],
  ["a blank block of the system prompt", (body) => set(body, { system: [{ type: "text", text: "" }] }), "system[0].text must not be blank"],
  ["metadata other than the user's id", (body) => set(body, { metadata: { run: "1" } }), "metadata.run is no field"],
  ["a thinking budget that leaves no tokens", (body) => set(body, { max_tokens: 1024 }), "must be below max_tokens"],
  ["a thinking budget that is too small", (body) => set(body, { thinking: { type: "enabled", budget_tokens: 1 } }), "whole number from 1024"],
  ["a budget with adaptive thinking", (body) => set(body, { thinking: { type: "adaptive", budget_tokens: 2000 } }), "budget_tokens is no field"],
  ["a temperature with thinking", (body) => set(body, { temperature: 0.5 }), "temperature is refused with thinking"],
  ["a temperature above 1", (body) => set(body, { temperature: 1.5 }), "temperature must be a number from 0 to 1"],
  ["a forced tool with thinking", (body) => set(body, { tool_choice: { type: "any" } }), "refused with thinking"],
  ["an unknown effort", (body) => set(body, { output_config: { effort: "minimal" } }), "output_config.effort must be one of"],
  ["an empty list of tools", (body) => set(body, { tools: [] }), "tools must be a list with something in it"],
  ["a history of calls without tools", (body) => (delete (body as Partial<Body>).tools, delete body.tool_choice), "tools is required"],
  ["a tool choice without tools", (body) => delete (body as Partial<Body>).tools, "tool_choice is refused without tools"],
  ["a choice of a tool that is not there", (body) => set(body, { tool_choice: { type: "tool", name: "x" } }), "tool_choice.name must be"],
  ["a tool name with a dot", (body) => set(body.tools[0], { name: "fs.read" }), "tools[0].name must match"],
  ["two tools of one name", (body) => body.tools.push(structuredClone(body.tools[0] ?? {})), "is there twice"],
  ["a schema with a choice at the root", (body) => set(body.tools[0], { input_schema: { oneOf: [schema] } }), "oneOf is refused"],
  ["no messages", (body) => set(body, { messages: [] }), "messages must be a list with something in it"],
  ["a history that begins with the assistant", (body) => body.messages.shift(), 'role must be "user"'],
  ["two user messages in a row", (body) => body.messages.push({ role: "user", content: "x" }), 'role must be "assistant"'],
  ["a history that ends with the assistant", (body) => body.messages.push({ role: "assistant", content: "x" }), "must not end with the assistant"],
  ["an unknown role", (body) => set(body.messages[0], { role: "system" }), 'role must be "user"'],
  ["blank text", (body) => set(blocks(body, 0)[0], { text: "\n" }), "text must not be blank"],
  ["an empty message", (body) => set(body.messages[0], { content: [] }), "content must be a list with something in it"],
  ["an image of an unknown kind", (body) => set(blocks(body, 0)[1], { source: { type: "base64", media_type: "image/tiff", data: png } }), "image/png"],
  ["an image of the assistant", (body) => set(blocks(body, 1)[4], { type: "image" }), "no block of an assistant"],
  ["thinking without its signature", (body) => delete blocks(body, 1)[0]?.signature, "signature is required"],
  ["a cache mark on thinking", (body) => set(blocks(body, 1)[0], { cache_control: { type: "ephemeral" } }), "cache_control is no field"],
  ["an id outside the alphabet", (body) => set(blocks(body, 1)[5], { id: "a|b" }), "id must match"],
  ["an id of 65 characters", (body) => set(blocks(body, 1)[5], { id: "x".repeat(65) }), "id must match"],
  ["one id for two calls", (body) => set(blocks(body, 1)[6], { id: "a" }), "is there twice"],
  ["an input that is JSON text", (body) => set(blocks(body, 1)[5], { input: "{}" }), "input must be an object"],
  ["a called name with a space", (body) => set(blocks(body, 1)[5], { name: "a b" }), "name must match"],
  ["a call without its result", (body) => blocks(body, 2).splice(1, 1), 'lacks the result of "b"'],
  ["a history that ends with an open call", (body) => body.messages.pop(), "end before the results of a, b"],
  ["results in another order", (body) => blocks(body, 2).splice(0, 2, ...blocks(body, 2).slice(0, 2).toReversed()), "is due"],
  ["text before the results", (body) => blocks(body, 2).unshift({ type: "text", text: "x" }), "must come before all other content"],
  ["a result without its call", (body) => blocks(body, 0).unshift({ type: "tool_result", tool_use_id: "z", content: "x" }), "answers no call"],
  ["two results of one call", (body) => blocks(body, 2).splice(1, 0, { type: "tool_result", tool_use_id: "a", content: "x" }), "is due"],
  ["an empty result", (body) => set(blocks(body, 2)[0], { content: "" }), "content must not be blank"],
  ["a result without parts", (body) => set(blocks(body, 2)[0], { content: [] }), "content must be a list with something in it"],
  ["five cache marks", (body) => set(blocks(body, 2)[0], { cache_control: { type: "ephemeral" } }), "is there 5 times"],
  ["a long mark behind a short one", (body) => set(body, { tools: [{ ...body.tools[0], cache_control: { type: "ephemeral" } }] }), "1h must come before"],
  ["a lone surrogate in an input", (body) => set(blocks(body, 1)[5], { input: { a: "\ud83d" } }), "lone surrogate"],
  ["NUL", (body) => set(blocks(body, 0)[0], { text: "a\u0000" }), "holds NUL"],
];

const wires = [
  { name: "Chat Completions", good: chat, check: checkChatRequest, rules: chatRules },
  { name: "Messages", good: messages, check: checkMessagesRequest, rules: messagesRules },
];

for (const { name, good, check, rules } of wires) {
  describe(`the strict check of ${name} requests`, () => {
    test("accepts a request with everything in it", () => assert.deepEqual(check(good()), []));
    test("accepts the shortest request", () => {
      const body = { model: "m", stream: true, max_tokens: 1, messages: [{ role: "user", content: "x" }] };
      assert.deepEqual(check(body), []);
    });
    for (const [what, change, says] of rules) {
      test(`refuses ${what}`, () => {
        const body = good();
        const result = change(body);
        const problems = check(Array.isArray(result) || result === null ? (says.startsWith("body") ? result : body) : body);
        assert.ok(problems.some((problem) => problem.includes(says)), `expected "${says}" among ${JSON.stringify(problems)}`);
      });
    }
    test("refuses nonsense without throwing", () => {
      for (const nonsense of [undefined, 1, "x", [], {}, { messages: {} }, { messages: [null, 1, []], tools: [null], stream: 1 }]) {
        assert.ok(check(nonsense).length > 0);
      }
    });
  });
}
