import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { checkChatRequest } from "../../src/testing/index.ts";

/** A rule: what it refuses, a change to a valid body, and a part of the message. */
type Rule = readonly [name: string, change: (body: Body) => unknown, says: string];
// A request that tests can modify freely.
type Body = Record<string, unknown> & {
  messages: Record<string, unknown>[];
  tools: Record<string, unknown>[];
};

const png = "iVBORw0KGgo=";
const schema = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
const set = (target: unknown, fields: Record<string, unknown>): unknown =>
  Object.assign(target as object, fields);

const chat = (): Body => ({
  model: "m",
  stream: true,
  stream_options: { include_usage: true },
  max_tokens: 100,
  temperature: 1.5,
  reasoning_effort: "low",
  metadata: { run: "1" },
  tools: [
    {
      type: "function",
      function: { name: "read", description: "Reads", parameters: structuredClone(schema) },
    },
  ],
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

const PDF = "data:application/pdf;base64,JVBERi0=";
/** Adds a file with these data to the second message. */
function addFile(body: Body, data: unknown): void {
  const content = body.messages[1]?.content;
  assert.ok(Array.isArray(content));
  content.push({ type: "file", file: { filename: "a.pdf", file_data: data } });
}

/** The tool calls of the third message. */
const calls = (body: Body): Record<string, unknown>[] =>
  body.messages[2]?.tool_calls as Record<string, unknown>[];

/** A schema that OpenAI accepts as strict, with this as its only property. */
const strictly = (path: Record<string, unknown>): Record<string, unknown> => ({
  ...schema,
  properties: { path },
  additionalProperties: false,
});
/** Adds an output schema to the request. */
const format = (body: Body, json: Record<string, unknown>): unknown =>
  set(body, {
    response_format: { type: "json_schema", json_schema: { name: "answer", schema, ...json } },
  });

/** Asks for thinking with these fields instead of an effort. */
function think(body: Body, fields: Record<string, unknown>): void {
  delete body.reasoning_effort;
  set(body, fields);
}

const chatRules: readonly Rule[] = [
  [
    "an unknown type of thinking",
    (body) => think(body, { thinking: { type: "auto" } }),
    "thinking.type must be one of",
  ],
  [
    "thinking that is not an object",
    (body) => think(body, { thinking: 5 }),
    "thinking must be an object",
  ],
  [
    "words for a template that are not an object",
    (body) => think(body, { chat_template_kwargs: 5 }),
    "chat_template_kwargs must be an object",
  ],
  [
    "reasoning that is not an object",
    (body) => think(body, { reasoning: 5 }),
    "reasoning must be an object",
  ],
  [
    "an unknown effort of reasoning",
    (body) => think(body, { reasoning: { effort: "huge" } }),
    "reasoning.effort must be one of",
  ],
  [
    "a template's switch of thinking that is not a boolean",
    (body) => think(body, { chat_template_kwargs: { enable_thinking: "yes" } }),
    "chat_template_kwargs.enable_thinking must be one of",
  ],
  ["a missing model", (body) => delete body.model, "model is required"],
  ["an empty model", (body) => set(body, { model: "" }), "model must not be blank"],
  ["an unknown field", (body) => set(body, { store: false }), "store is not a field"],
  [
    "null for an absent field",
    (body) => set(body, { temperature: null }),
    "temperature must be a number",
  ],
  [
    "a request that does not stream",
    (body) => set(body, { stream: false }),
    "stream must be one of true",
  ],
  [
    "stream options without a stream",
    (body) => delete body.stream,
    "stream_options is refused without stream",
  ],
  [
    "a signature of a call that is not text",
    (body) => set(calls(body)[1], { extra_content: { google: { thought_signature: 5 } } }),
    "extra_content.google.thought_signature must be",
  ],
  [
    "an unknown field beside the signature of a call",
    (body) => set(calls(body)[1], { extra_content: { google: {}, other: 1 } }),
    "extra_content.other is not a field",
  ],
  ["a file whose data are not text", (body) => addFile(body, 5), "file.file_data must be one of"],
  [
    "a file whose data are in a list",
    (body) => addFile(body, [PDF]),
    "file.file_data must be one of",
  ],
  [
    "an unknown response format",
    (body) => set(body, { response_format: { type: "json" } }),
    "json_schema is required",
  ],
  [
    "a response format's name with a space",
    (body) => format(body, { name: "an answer" }),
    "name must match",
  ],
  [
    "a response format that is not an object",
    (body) => format(body, { schema: { type: "array" } }),
    'type must be "object"',
  ],
  [
    "an open object in strict mode",
    (body) => format(body, { strict: true }),
    "additionalProperties false in strict mode",
  ],
  [
    "an optional property in strict mode",
    (body) =>
      format(body, { strict: true, schema: { ...strictly({ type: "string" }), required: [] } }),
    "must require path in strict mode",
  ],
  [
    "a nested keyword that strict mode does not support",
    (body) =>
      format(body, {
        strict: true,
        schema: strictly({ anyOf: [{ type: "string", minLength: 1 }] }),
      }),
    "properties.path.anyOf[0].minLength is refused in strict mode",
  ],
  [
    "a cache key that is too long",
    (body) => set(body, { prompt_cache_key: "k".repeat(65) }),
    "prompt_cache_key must match",
  ],
  [
    "stream options without usage",
    (body) => set(body, { stream_options: {} }),
    "include_usage is required",
  ],
  [
    "a limit of 0 tokens",
    (body) => set(body, { max_tokens: 0 }),
    "max_tokens must be a whole number",
  ],
  ["both token limits", (body) => set(body, { max_completion_tokens: 5 }), "one option"],
  [
    "a temperature out of range",
    (body) => set(body, { temperature: 2.1 }),
    "temperature must be a number from 0 to 2",
  ],
  [
    "metadata values other than strings",
    (body) => set(body, { metadata: { n: 1 } }),
    "metadata must hold strings",
  ],
  [
    "a thinking switch that is no boolean",
    (body) => set(body, { enable_thinking: "yes" }),
    "enable_thinking must be one of true, false",
  ],
  ["two thinking switches", (body) => set(body, { enable_thinking: true }), "ask for one thing"],
  [
    "an unknown effort",
    (body) => set(body, { reasoning_effort: "off" }),
    "reasoning_effort must be one of",
  ],
  [
    "an empty list of tools",
    (body) => set(body, { tools: [] }),
    "tools must be a list that is not empty",
  ],
  [
    "a tool choice without tools",
    (body) => delete (body as Partial<Body>).tools,
    "refused without tools",
  ],
  [
    "a choice of an unknown tool",
    (body) => set(body, { tool_choice: { type: "function", function: { name: "x" } } }),
    "tool_choice.function.name must be",
  ],
  [
    "a tool name with a slash",
    (body) => set(body.tools[0]?.function, { name: "fs/read" }),
    "tools[0].function.name must match",
  ],
  [
    "a tool name that is too long",
    (body) => set(body.tools[0]?.function, { name: "x".repeat(65) }),
    "must match",
  ],
  [
    "two tools of one name",
    (body) => body.tools.push(structuredClone(body.tools[0] ?? {})),
    "is a duplicate",
  ],
  [
    "a schema with a choice at the root",
    (body) => set(body.tools[0]?.function, { parameters: { anyOf: [schema] } }),
    "anyOf is refused",
  ],
  [
    "a schema without properties",
    (body) => set(body.tools[0]?.function, { parameters: { type: "object" } }),
    "properties must be an object",
  ],
  [
    "a schema that is not an object",
    (body) => set(body.tools[0]?.function, { parameters: { type: "string", properties: {} } }),
    'type must be "object"',
  ],
  [
    "no messages",
    (body) => set(body, { messages: [] }),
    "messages must be a list that is not empty",
  ],
  ["an unknown role", (body) => set(body.messages[0], { role: "function" }), "role must be one of"],
  [
    "a system message that is not first",
    (body) => body.messages.push({ role: "system", content: "x" }),
    "not the first",
  ],
  [
    "a history that ends with the assistant",
    (body) => body.messages.pop(),
    "must end with a user's message",
  ],
  [
    "blank text of a user",
    (body) => set(body.messages[6], { content: " \n" }),
    "content must not be blank",
  ],
  [
    "an empty list of parts",
    (body) => set(body.messages[1], { content: [] }),
    "content must be a list that is not empty",
  ],
  [
    "a list of text parts only",
    (body) => set(body.messages[1], { content: [{ type: "text", text: "x" }] }),
    "plain string",
  ],
  ["a name on a user", (body) => set(body.messages[6], { name: "me" }), "name is not a field"],
  [
    "an image that is not base64",
    (body) =>
      set(body.messages[1], {
        content: [{ type: "image_url", image_url: { url: "data:image/png;base64,?" } }],
      }),
    "base64",
  ],
  [
    "an image of an unknown kind",
    (body) =>
      set(body.messages[1], {
        content: [{ type: "image_url", image_url: { url: `data:image/tiff;base64,${png}` } }],
      }),
    "image/png",
  ],
  [
    "an image in a result",
    (body) =>
      set(body.messages[3], { content: [{ type: "image_url", image_url: { url: "https://x" } }] }),
    "messages[3].content must be text",
  ],
  [
    "an image of the assistant",
    (body) =>
      set(body.messages[5], { content: [{ type: "image_url", image_url: { url: "https://x" } }] }),
    "messages[5].content must be text",
  ],
  [
    "an assistant with neither text nor calls",
    (body) => set(body.messages[5], { content: null }),
    "messages[5].content must be text",
  ],
  [
    "an assistant without content",
    (body) => delete body.messages[2]?.content,
    "content is required",
  ],
  [
    "an empty text beside calls",
    (body) => set(body.messages[2], { content: "" }),
    "content must not be blank",
  ],
  [
    "an empty list of calls",
    (body) => set(body.messages[5], { tool_calls: [] }),
    "tool_calls must be a list that is not empty",
  ],
  [
    "an unknown field of a call",
    (body) => set(calls(body)[0], { index: 0 }),
    "index is not a field",
  ],
  [
    "arguments as an object",
    (body) => set(calls(body)[0]?.function, { arguments: {} }),
    "must be JSON text",
  ],
  [
    "arguments that are not JSON",
    (body) => set(calls(body)[0]?.function, { arguments: '{"a":' }),
    "must be JSON",
  ],
  [
    "arguments that are not an object",
    (body) => set(calls(body)[0]?.function, { arguments: "[]" }),
    "JSON of an object",
  ],
  [
    "an escaped NUL in the arguments",
    (body) => set(calls(body)[0]?.function, { arguments: '{"a":"\\u0000"}' }),
    "holds NUL",
  ],
  [
    "a called name with a space",
    (body) => set(calls(body)[0]?.function, { name: "a b" }),
    "name must match",
  ],
  ["an empty id", (body) => set(calls(body)[0], { id: "" }), "id must match"],
  [
    "an id of 41 characters",
    (body) => set(calls(body)[0], { id: "x".repeat(41) }),
    "id must match",
  ],
  ["an id outside ASCII", (body) => set(calls(body)[0], { id: "é" }), "id must match"],
  ["a duplicate call id", (body) => set(calls(body)[1], { id: "a" }), "is a duplicate"],
  [
    "a call without its result",
    (body) => body.messages.splice(4, 1),
    "before the results of functions.read:1",
  ],
  [
    "a history that ends with an open call",
    (body) => body.messages.splice(4),
    "end before the results of functions.read:1",
  ],
  [
    "results in another order",
    (body) => body.messages.splice(3, 2, ...body.messages.slice(3, 5).toReversed()),
    "is due",
  ],
  [
    "a result without its call",
    (body) => body.messages.push({ role: "tool", tool_call_id: "z", content: "x" }),
    "answers no call",
  ],
  [
    "two results of one call",
    (body) => body.messages.splice(5, 0, { role: "tool", tool_call_id: "a", content: "x" }),
    "answers no call",
  ],
  [
    "a message between the results",
    (body) => body.messages.splice(4, 0, { role: "user", content: "x" }),
    "before the results of",
  ],
  [
    "an empty result",
    (body) => set(body.messages[3], { content: "" }),
    "messages[3].content must not be blank",
  ],
  ["a name on a result", (body) => set(body.messages[3], { name: "read" }), "name is not a field"],
  ["a lone surrogate", (body) => set(body.messages[6], { content: "\ud83d" }), "lone surrogate"],
  [
    "a lone surrogate in the name of a field",
    (body) => set(body.tools[0]?.function, { parameters: { ...schema, "\udc00": 1 } }),
    "lone surrogate",
  ],
  ["NUL", (body) => set(body.messages[6], { content: "a\u0000" }), "holds NUL"],
  [
    "a value that JSON cannot represent",
    (body) => set(body, { max_tokens: Number.NaN }),
    "must be JSON",
  ],
];

describe("the strict check of Chat Completions requests", () => {
  test("accepts a request with everything in it", () =>
    assert.deepEqual(checkChatRequest(chat()), []));

  test("accepts a file in base64", () => {
    const body = chat();
    addFile(body, PDF);
    assert.deepEqual(checkChatRequest(body), []);
  });

  test("accepts the shortest request", () => {
    const body = { model: "m", messages: [{ role: "user", content: "x" }] };
    assert.deepEqual(checkChatRequest(body), []);
  });

  test("accepts a strict schema, and one that is not strict", () => {
    for (const json of [
      { strict: true, schema: strictly({ type: ["string", "null"] }) },
      { strict: false },
      {},
    ]) {
      const body = chat();
      format(body, json);
      assert.deepEqual(checkChatRequest(body), []);
    }
  });

  for (const [what, change, says] of chatRules) {
    test(`refuses ${what}`, () => {
      const body = chat();
      change(body);
      const problems = checkChatRequest(body);
      assert.ok(
        problems.some((problem) => problem.includes(says)),
        `expected "${says}" among ${JSON.stringify(problems)}`,
      );
    });
  }

  test("refuses nonsense without throwing", () => {
    const odd = { messages: [null, 1, [], { role: [] }], tools: [null], stream: 1 };
    for (const nonsense of [undefined, null, 1, "x", [], {}, { messages: {} }, odd])
      assert.ok(checkChatRequest(nonsense).length > 0);
  });
});
