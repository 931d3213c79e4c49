/** Chat Completions requests for servers that deviate from the reference. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type {
  AssistantContent,
  AssistantMessage,
  Context,
  Message,
} from "../../../src/llm/message.ts";
import type { Compat, Model, StreamOptions } from "../../../src/llm/model.ts";
import { supportsOutput } from "../../../src/protocols.ts";
import { openaiChat, openaiCompatible } from "../../../src/providers/openai-chat/index.ts";
import type { Protocol } from "../../../src/providers/protocol.ts";
import { getModel } from "../../../src/providers/vendors.ts";
import type { WireRequest } from "../../../src/providers/protocol.ts";

type Json = Record<string, unknown>;

const target = (compat: Compat = {}, fields: Partial<Model> = {}): Model =>
  getModel("custom", "m", { baseUrl: "http://h/v1", compat, ...fields });
const user = (content: string): Message => ({ role: "user", content, timestamp: 1 });
const assistant = (...content: AssistantContent[]): AssistantMessage => ({
  role: "assistant",
  content,
  api: "openai-chat",
  provider: "custom",
  model: "m",
  usage: {},
  stopReason: "stop",
  timestamp: 1,
});
const calls = (...ids: string[]): AssistantMessage =>
  assistant(
    ...ids.map((id): AssistantContent => ({ type: "toolCall", id, name: "read", arguments: {} })),
  );
const result = (
  toolCallId: string,
  content: Message["content"] = [{ type: "text", text: `of ${toolCallId}` }],
): Message =>
  ({
    role: "toolResult",
    toolCallId,
    toolName: "read",
    content,
    isError: false,
    timestamp: 1,
  }) as Message;
const png = { type: "image" as const, data: "aGk=", mimeType: "image/png" };
const parameters = { type: "object", properties: { path: { type: "string", minLength: 1 } } };
const tools = [{ name: "read", description: "Reads.", parameters }];

function ask(
  model: Model,
  context: Partial<Context> = {},
  options: StreamOptions = {},
  protocol: Protocol = openaiCompatible,
): WireRequest {
  return protocol.encode(model, { messages: [user("Hi")], ...context }, options);
}
const body = (...args: Parameters<typeof ask>): Json => ask(...args).body;
const sent = (compat: Compat, ...messages: Message[]): Json[] =>
  body(target(compat), { messages }).messages as Json[];

describe("an answer with a schema", () => {
  const schema = {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  };
  const format = (
    model: Model,
    output: StreamOptions["output"],
    context: Partial<Context> = {},
  ): unknown => body(model, context, { ...(output !== undefined && { output }) }).response_format;
  const json = target({ structuredOutput: "json_schema" });

  // Q117
  it("is requested in the format of the wire, strictly if the schema qualifies", () => {
    assert.deepEqual(format(json, { schema, name: "a city" }), {
      type: "json_schema",
      json_schema: { name: "a_city", schema, strict: true },
    });
    const loose = { ...schema, required: [] };
    assert.deepEqual(format(json, { schema: loose }), {
      type: "json_schema",
      json_schema: { name: "answer", schema: loose, strict: false },
    });
    assert.deepEqual(format(json, { schema, strict: false }), {
      type: "json_schema",
      json_schema: { name: "answer", schema, strict: false },
    });
  });

  it("is not supported by the plain wire", () => {
    assert.equal("response_format" in body(json, {}, { output: { schema } }, openaiChat), false);
  });

  it("is not requested if the server is not known to support it, or not beside tools", () => {
    const noTools = target({ structuredOutput: "no_tools" });
    for (const [model, alone, beside] of [
      [json, true, true],
      [noTools, true, false],
      [target({ structuredOutput: "none" }), false, false],
      [target(), false, false],
    ] as const) {
      assert.deepEqual([supportsOutput(model, false), supportsOutput(model)], [alone, beside]);
      assert.equal(format(model, { schema }) !== undefined, alone);
      assert.equal(format(model, { schema }, { tools }) !== undefined, beside);
    }
    for (const api of ["anthropic-messages", "openai-responses", "google-generate"])
      assert.equal(supportsOutput(target({}, { api })), true, api);
    assert.equal(supportsOutput(target({}, { api: "my-own" })), false);
  });

  // Q115
  it("uses the keywords that the server accepts", () => {
    const model = target({
      structuredOutput: "json_schema",
      schemaKeywords: ["type", "properties", "description"],
    });
    const { json_schema } = format(model, { schema }) as { json_schema: Json };
    assert.deepEqual(json_schema, {
      name: "answer",
      schema: {
        type: "object",
        description: '(required: ["city"]; additionalProperties: false)',
        properties: { city: { type: "string" } },
      },
      strict: false,
    });
  });
});

describe("for a server with other requirements, the chat wire", () => {
  it("sends the plain request if no difference is set", () => {
    const context = {
      systemPrompt: "Be brief.",
      messages: [user("Hi"), calls("a"), result("a"), user("So?")],
      tools,
    };
    const options: StreamOptions = {
      apiKey: "k",
      toolChoice: { name: "read" },
      reasoning: "low",
      temperature: 1,
    };
    const model = target();
    assert.deepEqual(ask(model, context, options), ask(model, context, options, openaiChat));
  });

  it("sends the session as a cache key, in the server's field or header", () => {
    const keyed = (compat: Compat, options: StreamOptions): unknown[] => {
      const { body: sentBody, headers } = ask(target(compat), {}, options);
      return [sentBody.prompt_cache_key, headers["x-conv"]];
    };
    const field: Compat = { cacheKeyField: "prompt_cache_key" };
    assert.deepEqual(keyed(field, { sessionId: "s".repeat(70) }), ["s".repeat(64), undefined]);
    assert.deepEqual(keyed({ cacheKeyHeader: "x-conv" }, { sessionId: "né\n1" }), [
      undefined,
      "n__1",
    ]);
    assert.deepEqual(keyed({}, { sessionId: "s" }), [undefined, undefined]);
    assert.deepEqual(keyed(field, { sessionId: "" }), [undefined, undefined]);
    assert.deepEqual(keyed(field, { sessionId: "s", cacheRetention: "none" }), [
      undefined,
      undefined,
    ]);
  });

  it("requests a non-streaming answer if the server cannot stream", () => {
    const { body: sentBody, headers } = ask(target({ noStreaming: true }));
    assert.deepEqual(Object.keys(sentBody), ["model", "messages"]);
    assert.equal(headers.accept, "application/json");
    const own = ask(target({ noStreaming: true }), {}, { headers: { accept: "*/*" } });
    assert.equal(own.headers.accept, "*/*");
  });

  // Q112
  it("weakens a tool choice to one that the server accepts", () => {
    const choice = (
      toolChoice: Compat["toolChoice"],
      asked: NonNullable<StreamOptions["toolChoice"]>,
    ): unknown =>
      body(target(toolChoice === undefined ? {} : { toolChoice }), { tools }, { toolChoice: asked })
        .tool_choice;
    const named = { type: "function", function: { name: "read" } };
    assert.deepEqual(
      [choice(undefined, { name: "read" }), choice(undefined, "required")],
      [named, "required"],
    );
    assert.deepEqual(
      [choice("required", { name: "read" }), choice("required", "required")],
      ["required", "required"],
    );
    assert.deepEqual([choice("auto", { name: "read" }), choice("auto", "none")], ["auto", "none"]);
  });

  // Q111
  it("declares tools that occur only in the history, and none if no tool was called", () => {
    const messages = [user("Hi"), calls("a", "b"), result("a"), result("b"), user("So?")];
    const model = target({ toolsForHistory: true });
    const declared = {
      type: "function",
      function: {
        name: "read",
        description: "No longer available.",
        parameters: { type: "object", properties: {} },
      },
    };
    const asked = body(model, { messages });
    assert.deepEqual([asked.tools, asked.tool_choice], [[declared], "none"]);
    assert.equal("tools" in body(model), false);
    assert.equal("tools" in body(target(), { messages }), false);
    assert.equal("tool_choice" in body(model, { messages, tools }), false);
  });

  // Q115
  it("removes refused keywords from tool schemas, and does not change the tools", () => {
    const before = structuredClone(tools);
    const asked = body(target({ schemaKeywords: ["type", "properties", "description"] }), {
      tools,
    });
    const [{ function: fn } = { function: {} }] = asked.tools as { function: Json }[];
    assert.deepEqual(fn, {
      name: "read",
      description: "Reads.",
      parameters: {
        type: "object",
        properties: { path: { type: "string", description: "(minLength: 1)" } },
      },
    });
    assert.deepEqual(tools, before);
  });

  // Q119
  it("makes ids of nine digits, each once, the same on call and result", () => {
    const transcript = [
      user("Hi"),
      calls("a", "a"),
      result("a"),
      result("a"),
      calls("call_1|x"),
      result("call_1|x"),
    ];
    const messages = sent({ callIdDigits: 9 }, ...transcript);
    const ids = messages.flatMap(({ tool_calls = [] }) =>
      (tool_calls as Json[]).map(({ id }) => id),
    );
    assert.deepEqual(ids, ["000000001", "000000002", "000000003"]);
    assert.deepEqual(
      messages.flatMap(({ tool_call_id }) => tool_call_id ?? []),
      ids,
    );
  });

  // Q120, Q128
  it("sends an empty text instead of null beside calls, and the tool's name with its result", () => {
    const [, call, answered] = sent(
      { noNullContent: true, toolResultName: true },
      user("Hi"),
      calls("a"),
      result("a"),
    );
    assert.equal(call?.content, "");
    assert.deepEqual(answered, { role: "tool", tool_call_id: "a", name: "read", content: "of a" });
  });

  // Q124
  it("inserts an assistant message between results and a user message", () => {
    const roles = (...messages: Message[]): string =>
      sent({ assistantAfterTool: true }, ...messages)
        .map(({ role }) => role)
        .join();
    const bridged = "user,assistant,tool,assistant,user";
    assert.equal(roles(user("Hi"), calls("a"), result("a"), user("Stop")), bridged);
    assert.equal(roles(user("Hi"), calls("a"), result("a", [png])), bridged); // on this wire, an image is sent in a user message
    assert.equal(roles(user("Hi"), user("there")), "user,user");
  });

  // Q125
  it("merges consecutive user messages, images included", () => {
    assert.deepEqual(
      sent(
        { mergeUsers: true },
        user("Hi"),
        user("there"),
        assistant({ type: "text", text: "Yes?" }),
      ),
      [
        { role: "user", content: "Hi\nthere" },
        { role: "assistant", content: "Yes?" },
      ],
    );
    const [, , , last = {}, ...rest] = sent(
      { mergeUsers: true },
      user("Hi"),
      calls("a"),
      result("a", [png]),
      user("So?"),
    );
    assert.deepEqual(
      (last.content as Json[]).map(({ type }) => type),
      ["text", "image_url", "text"],
    );
    assert.deepEqual(rest, []);
  });

  // Q132
  it("sends reasoning back with every answer, empty if there was none", () => {
    const thought: AssistantContent = { type: "thinking", thinking: "hm", field: "reasoning" };
    const answers = sent(
      { replayReasoning: true },
      user("Hi"),
      assistant(thought, { type: "text", text: "Yes." }),
      assistant({ type: "text", text: "No." }),
    ).slice(1);
    assert.deepEqual(answers, [
      { role: "assistant", content: "Yes.", reasoning: "hm" },
      { role: "assistant", content: "No.", reasoning_content: "" },
    ]);
    assert.deepEqual(sent({}, user("Hi"), assistant(thought, { type: "text", text: "Yes." }))[1], {
      role: "assistant",
      content: "Yes.",
    });
  });

  // Q086
  it("sends the server's own reasoning details back beside the text", () => {
    const details = [{ type: "reasoning.encrypted", data: "E" }];
    const opaque = (index: number): AssistantContent => ({
      type: "opaque",
      protocol: "openai-chat",
      raw: { reasoning_details: details.map((detail) => ({ ...detail, index })) },
    });
    const text: AssistantContent = { type: "text", text: "Yes." };
    const thought: AssistantContent = { type: "thinking", thinking: "hm", field: "reasoning" };
    const [, plain, thinking] = sent(
      { replayReasoning: true },
      user("Hi"),
      assistant(opaque(0), text),
      assistant(thought, text, opaque(1)),
    );
    assert.deepEqual(plain, {
      role: "assistant",
      content: "Yes.",
      reasoning_content: "",
      reasoning_details: [{ ...details[0], index: 0 }],
    });
    assert.deepEqual(thinking, {
      role: "assistant",
      content: "Yes.",
      reasoning: "hm",
      reasoning_details: [{ ...details[0], index: 1 }],
    });
  });

  // Q113
  it("omits the temperature if it is refused, always or with thinking", () => {
    const temperature = (
      noTemperature: boolean | "thinking",
      options: StreamOptions = {},
      fields = {},
    ): unknown =>
      body(target({ noTemperature }, fields), {}, { temperature: 1, ...options }).temperature;
    assert.deepEqual([temperature(false, { reasoning: "low" }), temperature(true)], [1, undefined]);
    assert.deepEqual(
      [temperature("thinking"), temperature("thinking", { reasoning: "low" })],
      [1, undefined],
    );
    assert.equal(temperature("thinking", { reasoning: "low" }, { reasoning: false }), 1);
  });

  // Q134
  it("requests thinking in each dialect, and never of a model that cannot think", () => {
    const formats = [
      "reasoning_effort",
      "reasoning",
      "thinking",
      "enable_thinking",
      "chat_template_kwargs",
    ] as const;
    const asked = (compat: Compat, fields = {}): unknown => {
      const {
        model: _,
        messages: _messages,
        stream: _stream,
        stream_options: _options,
        ...rest
      } = body(target(compat, fields), {}, { reasoning: "low" });
      return rest;
    };
    assert.deepEqual(
      formats.map((thinkingFormat) => asked({ thinkingFormat })),
      [
        { reasoning_effort: "low" },
        { reasoning: { effort: "low" } },
        { thinking: { type: "enabled" } },
        { enable_thinking: true },
        { chat_template_kwargs: { enable_thinking: true } },
      ],
    );
    assert.deepEqual(
      [asked({ thinkingFormat: "none" }), asked({}, { reasoning: false })],
      [{}, {}],
    );
  });

  it("requests the highest effort of the reference for the highest level", () => {
    assert.equal(body(target({}), {}, { reasoning: "xhigh" }).reasoning_effort, "xhigh");
    assert.equal(body(target({}), {}, { reasoning: "max" }).reasoning_effort, "xhigh");
  });

  // Q135
  it("joins a base URL with its path, with the query last", () => {
    const url = (baseUrl: string): string => ask(target({}, { baseUrl })).url;
    assert.equal(url("http://h/v1//"), "http://h/v1/chat/completions");
    assert.equal(url("https://h/d?api-version=2"), "https://h/d/chat/completions?api-version=2");
    assert.equal(url("https://h/d/?a=b/c"), "https://h/d/chat/completions?a=b/c");
  });
});
