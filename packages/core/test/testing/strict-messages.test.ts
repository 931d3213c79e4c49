import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { checkMessagesRequest } from "../../src/testing/index.ts";

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

/** The field that asks for an answer with this schema. */
const withSchema = (output: unknown): Record<string, unknown> => ({
  output_config: { format: { type: "json_schema", schema: output } },
});
/** The field that asks for an answer with these properties. */
const withOutput = (properties: object): Record<string, unknown> =>
  withSchema({ type: "object", properties, additionalProperties: false });

const messages = (): Body => ({
  model: "m",
  stream: true,
  max_tokens: 4000,
  thinking: { type: "enabled", budget_tokens: 1024 },
  system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral", ttl: "1h" } }],
  metadata: { user_id: "u" },
  tools: [
    {
      name: "read",
      description: "Reads",
      input_schema: structuredClone(schema),
      cache_control: { type: "ephemeral", ttl: "1h" },
    },
  ],
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
        {
          type: "tool_result",
          tool_use_id: "b",
          is_error: true,
          content: [{ type: "text", text: "two", cache_control: { type: "ephemeral" } }],
        },
        { type: "text", text: "And quickly", cache_control: { type: "ephemeral" } },
      ],
    },
  ],
});

/** The body with a document of this source as the last block of its first message. */
const withDocument = (body: Body, source: unknown): Body => {
  blocks(body, 0).push({ type: "document", source });
  return body;
};
const pdf = { type: "base64", media_type: "application/pdf", data: "JVBERi0=" };
const plain = { type: "text", media_type: "text/plain", data: "One" };
const linked = { type: "url", url: "https://example.com/a.pdf" };

const blocks = (body: Body, index: number): Record<string, unknown>[] =>
  body.messages[index]?.content as Record<string, unknown>[];

const messagesRules: readonly Rule[] = [
  [
    "redacted thinking without data",
    (body) => set(blocks(body, 1)[1], { data: "" }),
    "content[1].data must not be blank",
  ],
  ["a missing token limit", (body) => delete body.max_tokens, "max_tokens is required"],
  ["an unknown field", (body) => set(body, { stop: [] }), "stop is not a field"],
  [
    "a request that does not stream",
    (body) => set(body, { stream: false }),
    "stream must be one of true",
  ],
  ["a blank system prompt", (body) => set(body, { system: " " }), "system must not be blank"],
  [
    "a blank block of the system prompt",
    (body) => set(body, { system: [{ type: "text", text: "" }] }),
    "system[0].text must not be blank",
  ],
  [
    "metadata other than the user's id",
    (body) => set(body, { metadata: { run: "1" } }),
    "metadata.run is not a field",
  ],
  [
    "a thinking budget that leaves no tokens",
    (body) => set(body, { max_tokens: 1024 }),
    "must be below max_tokens",
  ],
  [
    "a thinking budget that is too small",
    (body) => set(body, { thinking: { type: "enabled", budget_tokens: 1 } }),
    "whole number from 1024",
  ],
  [
    "a budget with adaptive thinking",
    (body) => set(body, { thinking: { type: "adaptive", budget_tokens: 2000 } }),
    "budget_tokens is not a field",
  ],
  [
    "a temperature with thinking",
    (body) => set(body, { temperature: 0.5 }),
    "temperature is refused with thinking",
  ],
  [
    "a temperature above 1",
    (body) => set(body, { temperature: 1.5 }),
    "temperature must be a number from 0 to 1",
  ],
  [
    "a forced tool with thinking",
    (body) => set(body, { tool_choice: { type: "any" } }),
    "refused with thinking",
  ],
  [
    "an unknown effort",
    (body) => set(body, { output_config: { effort: "minimal" } }),
    "output_config.effort must be one of",
  ],
  [
    "an open object as output",
    (body) => set(body, { output_config: { format: { type: "json_schema", schema } } }),
    "must have additionalProperties false",
  ],
  [
    "an unsupported keyword in an output schema",
    (body) =>
      set(body, {
        output_config: { format: { type: "json_schema", schema: { ...schema, minProperties: 1 } } },
      }),
    "minProperties is refused in output_config.format",
  ],
  [
    "an open object within an output schema",
    (body) => set(body, withOutput({ rows: { type: "array", items: { type: "object" } } })),
    "schema.properties.rows.items must have additionalProperties false",
  ],
  [
    "an unsupported keyword within an output schema",
    (body) => set(body, withOutput({ name: { type: "string", maxLength: 9 } })),
    "schema.properties.name.maxLength is refused in output_config.format",
  ],
  [
    "an output schema without properties",
    (body) => set(body, withSchema({ type: "object", additionalProperties: false })),
    "format.schema.properties must be an object",
  ],
  [
    "an output schema that is not an object",
    (body) => set(body, withSchema(null)),
    "format.schema must be an object",
  ],
  [
    "an output format that is not an object",
    (body) => set(body, { output_config: { format: "json_schema" } }),
    "output_config.format must be an object",
  ],
  [
    "an output format without a type",
    (body) => set(body, { output_config: { format: { type: "json", schema } } }),
    "format.type must be one of",
  ],
  [
    "an empty list of tools",
    (body) => set(body, { tools: [] }),
    "tools must be a list that is not empty",
  ],
  [
    "a history of calls without tools",
    (body) => (delete (body as Partial<Body>).tools, delete body.tool_choice),
    "tools is required",
  ],
  [
    "a tool choice without tools",
    (body) => delete (body as Partial<Body>).tools,
    "tool_choice is refused without tools",
  ],
  [
    "a choice of an unknown tool",
    (body) => set(body, { tool_choice: { type: "tool", name: "x" } }),
    "tool_choice.name must be",
  ],
  [
    "a tool name with a dot",
    (body) => set(body.tools[0], { name: "fs.read" }),
    "tools[0].name must match",
  ],
  [
    "two tools of one name",
    (body) => body.tools.push(structuredClone(body.tools[0] ?? {})),
    "is a duplicate",
  ],
  [
    "a schema with a choice at the root",
    (body) => set(body.tools[0], { input_schema: { oneOf: [schema] } }),
    "oneOf is refused",
  ],
  [
    "no messages",
    (body) => set(body, { messages: [] }),
    "messages must be a list that is not empty",
  ],
  [
    "a history that begins with the assistant",
    (body) => body.messages.shift(),
    'role must be "user"',
  ],
  [
    "two user messages in a row",
    (body) => body.messages.push({ role: "user", content: "x" }),
    'role must be "assistant"',
  ],
  [
    "a history that ends with the assistant",
    (body) => body.messages.push({ role: "assistant", content: "x" }),
    "must not end with the assistant",
  ],
  ["an unknown role", (body) => set(body.messages[0], { role: "system" }), 'role must be "user"'],
  ["blank text", (body) => set(blocks(body, 0)[0], { text: "\n" }), "text must not be blank"],
  [
    "an empty message",
    (body) => set(body.messages[0], { content: [] }),
    "content must be a list that is not empty",
  ],
  [
    "an image of an unknown kind",
    (body) =>
      set(blocks(body, 0)[1], { source: { type: "base64", media_type: "image/tiff", data: png } }),
    "image/png",
  ],
  [
    "a document of an unknown kind of source",
    (body) => withDocument(body, { ...pdf, type: "file" }),
    'source.type must be one of "base64", "text", "url"',
  ],
  [
    "bytes of a document that is no PDF",
    (body) => withDocument(body, { ...pdf, media_type: "text/plain" }),
    'source.media_type must be one of "application/pdf"',
  ],
  [
    "a text document that says it is a PDF",
    (body) => withDocument(body, { ...plain, media_type: "application/pdf" }),
    'source.media_type must be one of "text/plain"',
  ],
  [
    "a document in broken base64",
    (body) => withDocument(body, { ...pdf, data: "JVBERi0" }),
    "source.data must hold base64",
  ],
  [
    "a blank document",
    (body) => withDocument(body, { ...plain, data: " " }),
    "source.data must not be blank",
  ],
  [
    "a document at an address of this machine",
    (body) => withDocument(body, { ...linked, url: "file:///a.pdf" }),
    "source.url must match",
  ],
  [
    "a document at an address, with data",
    (body) => withDocument(body, { ...linked, data: "x" }),
    "source.data is not a field",
  ],
  [
    "a document without a source",
    (body) => void blocks(body, 0).push({ type: "document" }),
    "source.type must be one of",
  ],
  [
    "an unknown field of a document",
    (body) => set(blocks(withDocument(body, pdf), 0).at(-1), { name: "a.pdf" }),
    "name is not a field",
  ],
  [
    "a document with a blank title",
    (body) => set(blocks(withDocument(body, pdf), 0).at(-1), { title: "" }),
    "title must not be blank",
  ],
  [
    "an image of the assistant",
    (body) => set(blocks(body, 1)[4], { type: "image" }),
    "not a block of an assistant",
  ],
  [
    "thinking without its signature",
    (body) => delete blocks(body, 1)[0]?.signature,
    "signature is required",
  ],
  [
    "a cache mark on thinking",
    (body) => set(blocks(body, 1)[0], { cache_control: { type: "ephemeral" } }),
    "cache_control is not a field",
  ],
  ["an id outside the alphabet", (body) => set(blocks(body, 1)[5], { id: "a|b" }), "id must match"],
  [
    "an id of 65 characters",
    (body) => set(blocks(body, 1)[5], { id: "x".repeat(65) }),
    "id must match",
  ],
  ["a duplicate call id", (body) => set(blocks(body, 1)[6], { id: "a" }), "is a duplicate"],
  [
    "an input as JSON text",
    (body) => set(blocks(body, 1)[5], { input: "{}" }),
    "input must be an object",
  ],
  [
    "a called name with a space",
    (body) => set(blocks(body, 1)[5], { name: "a b" }),
    "name must match",
  ],
  ["a call without its result", (body) => blocks(body, 2).splice(1, 1), 'lacks the result of "b"'],
  [
    "a history that ends with an open call",
    (body) => body.messages.pop(),
    "end before the results of a, b",
  ],
  [
    "results in another order",
    (body) => blocks(body, 2).splice(0, 2, ...blocks(body, 2).slice(0, 2).toReversed()),
    "is due",
  ],
  [
    "text before the results",
    (body) => blocks(body, 2).unshift({ type: "text", text: "x" }),
    "must come before all other content",
  ],
  [
    "a result without its call",
    (body) => blocks(body, 0).unshift({ type: "tool_result", tool_use_id: "z", content: "x" }),
    "answers no call",
  ],
  [
    "two results of one call",
    (body) => blocks(body, 2).splice(1, 0, { type: "tool_result", tool_use_id: "a", content: "x" }),
    "is due",
  ],
  [
    "an empty result",
    (body) => set(blocks(body, 2)[0], { content: "" }),
    "content must not be blank",
  ],
  [
    "a result without parts",
    (body) => set(blocks(body, 2)[0], { content: [] }),
    "content must be a list that is not empty",
  ],
  [
    "five cache marks",
    (body) => set(blocks(body, 2)[0], { cache_control: { type: "ephemeral" } }),
    "is used 5 times",
  ],
  [
    "a long cache mark after a short one",
    (body) => set(body, { tools: [{ ...body.tools[0], cache_control: { type: "ephemeral" } }] }),
    "1h must come before",
  ],
  [
    "a lone surrogate in an input",
    (body) => set(blocks(body, 1)[5], { input: { a: "\ud83d" } }),
    "lone surrogate",
  ],
  ["NUL", (body) => set(blocks(body, 0)[0], { text: "a\u0000" }), "holds NUL"],
];

describe("the strict check of Messages requests", () => {
  test("accepts a request with everything in it", () =>
    assert.deepEqual(checkMessagesRequest(messages()), []));

  test("accepts an output schema whose objects are all closed", () => {
    const row = { type: "object", properties: {}, additionalProperties: false };
    const rows = { type: "array", items: { anyOf: [row, { type: "string", enum: ["none"] }] } };
    assert.deepEqual(checkMessagesRequest({ ...messages(), ...withOutput({ rows }) }), []);
  });

  test("accepts documents as bytes, as text and by their address", () => {
    for (const source of [pdf, plain, linked])
      assert.deepEqual(checkMessagesRequest(withDocument(messages(), source)), []);
  });

  test("accepts the shortest request", () => {
    const body = { model: "m", max_tokens: 1, messages: [{ role: "user", content: "x" }] };
    assert.deepEqual(checkMessagesRequest(body), []);
  });

  for (const [what, change, says] of messagesRules) {
    test(`refuses ${what}`, () => {
      const body = messages();
      change(body);
      const problems = checkMessagesRequest(body);
      assert.ok(
        problems.some((problem) => problem.includes(says)),
        `expected "${says}" among ${JSON.stringify(problems)}`,
      );
    });
  }

  test("refuses nonsense without throwing", () => {
    const odd = { messages: [null, 1, [], { role: [] }], tools: [null], stream: 1 };
    for (const nonsense of [undefined, null, 1, "x", [], {}, { messages: {} }, odd])
      assert.ok(checkMessagesRequest(nonsense).length > 0);
  });
});
