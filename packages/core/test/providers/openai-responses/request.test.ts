import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { isBowlineError } from "../../../src/errors.ts";
import type {
  AssistantContent,
  AssistantMessage,
  Context,
  Message,
  Tool,
  ToolCall,
} from "../../../src/llm/message.ts";
import type { Model, StreamOptions } from "../../../src/llm/model.ts";
import { openaiResponses } from "../../../src/providers/openai-responses/index.ts";
import { opaque, said } from "./events.ts";
import { brokenRules } from "./rules.ts";
import { contexts, models, options as anyOptions, ownModel } from "./transcripts.ts";
import { asRead } from "../../support.ts";
import { sweep } from "../../../../../test/support/sweep.ts";

type Json = Record<string, unknown>;

const own = { api: "openai-responses", provider: "openai", model: "m" };
const user = (content: string): Message => ({ role: "user", content, timestamp: 1 });
const assistant = (
  content: AssistantContent[],
  fields: Partial<AssistantMessage> = {},
): AssistantMessage => ({
  role: "assistant",
  content,
  ...own,
  usage: {},
  stopReason: "stop",
  timestamp: 1,
  ...fields,
});
const toolCall = (id: string, fields: Partial<ToolCall> = {}): ToolCall => ({
  type: "toolCall",
  id,
  name: "f",
  arguments: {},
  ...fields,
});
const result = (
  toolCallId: string,
  content: unknown = [{ type: "text", text: "ok" }],
): Message => ({
  role: "toolResult",
  toolCallId,
  toolName: "f",
  content: content as [],
  isError: false,
  timestamp: 1,
});
const encrypted = (id = "rs_1"): AssistantContent => ({
  type: "thinking",
  thinking: "hm",
  field: "summary_text",
  thinkingSignature: JSON.stringify({ id, encrypted_content: "E" }),
});
const tools = [{ name: "f", description: "F.", parameters: { type: "object", properties: {} } }];
const png = { type: "image" as const, data: "aGk=", mimeType: "image/png" };

function encode(
  messages: Message[],
  options: StreamOptions = {},
  context: Partial<Context> = {},
  target: Partial<Model> = {},
): Json {
  return asRead(
    openaiResponses.encode({ ...ownModel, ...target }, { messages, ...context }, options).body,
  );
}

const input = (
  messages: Message[],
  options: StreamOptions = {},
  target: Partial<Model> = {},
): Json[] => encode(messages, options, {}, target).input as Json[];
const asked = { type: "message", role: "user", content: [{ type: "input_text", text: "Hi" }] };
const spoken = (text: string, fields: Json = {}): Json => ({
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text, annotations: [] }],
  ...fields,
});
const called = (call_id: string, fields: Json = {}): Json => ({
  type: "function_call",
  call_id,
  name: "f",
  arguments: "{}",
  ...fields,
});
const output = (call_id: string, value: unknown = "ok", fields: Json = {}): Json => ({
  type: "function_call_output",
  call_id,
  output: value,
  ...fields,
});
const thought = (fields: Json = {}): Json => ({
  type: "reasoning",
  summary: [{ type: "summary_text", text: "hm" }],
  encrypted_content: "E",
  ...fields,
});

describe("the Responses wire writes", () => {
  it("the requested options with the headers of the protocol, and stores nothing on the server", () => {
    const context = { systemPrompt: "Be brief.", messages: [user("Hi")], tools };
    const { url, headers, body } = openaiResponses.encode(
      { ...ownModel, reasoning: false },
      context,
      {
        apiKey: " k\n",
        temperature: 0,
        maxTokens: 100,
        metadata: { a: "b" },
        sessionId: "s".repeat(70),
        headers: { "x-extra": "e" },
      },
    );
    assert.equal(url, "https://api.openai.com/v1/responses");
    assert.deepEqual(headers, {
      "content-type": "application/json",
      accept: "text/event-stream",
      "accept-encoding": "identity",
      authorization: "Bearer k",
      "x-extra": "e",
    });
    assert.deepEqual(body, {
      model: "m",
      instructions: "Be brief.",
      input: [asked],
      stream: true,
      store: false,
      max_output_tokens: 100,
      temperature: 0,
      tools: [
        {
          type: "function",
          name: "f",
          description: "F.",
          parameters: { type: "object", properties: {} },
          strict: false,
        },
      ],
      metadata: { a: "b" },
      prompt_cache_key: "s".repeat(64),
    });
  });

  // Q136, Q108 to Q110
  it("no key header without a key, and no absent options", () => {
    const context = { systemPrompt: " ", messages: [user("Hi")], tools: [] };
    const options: StreamOptions = {
      apiKey: " ",
      toolChoice: "required",
      sessionId: "s",
      cacheRetention: "none",
    };
    const { headers, body } = openaiResponses.encode(
      { ...ownModel, reasoning: false },
      context,
      options,
    );
    assert.equal("authorization" in headers, false);
    assert.deepEqual(Object.keys(body), ["model", "input", "stream", "store"]);
    assert.equal(encode([user("Hi")], { sessionId: "\u0000" }).prompt_cache_key, undefined);
  });

  // Q113, Q195
  it("reasoning as requested, always with its encrypted form, and no temperature with it", () => {
    const sent = (options: StreamOptions, target: Partial<Model> = {}): unknown[] => {
      const { reasoning, include, temperature } = encode(
        [user("Hi")],
        { temperature: 1, ...options },
        {},
        target,
      );
      return [reasoning, include, temperature];
    };
    const include = ["reasoning.encrypted_content"];
    assert.deepEqual(sent({ reasoning: "high" }), [
      { effort: "high", summary: "auto" },
      include,
      undefined,
    ]);
    assert.deepEqual(sent({ reasoning: "max" })[0], { effort: "xhigh", summary: "auto" });
    assert.deepEqual(sent({}), [undefined, include, 1]);
    assert.deepEqual(sent({}, { compat: { noTemperature: true } }), [
      undefined,
      include,
      undefined,
    ]);
    assert.deepEqual(sent({ reasoning: "high" }, { compat: { thinkingFormat: "none" } }), [
      undefined,
      include,
      1,
    ]);
    assert.deepEqual(sent({ reasoning: "high" }, { reasoning: false }), [undefined, undefined, 1]);
  });

  it("no limit below the server's minimum of 16 tokens", () => {
    const limit = (maxTokens: number): unknown =>
      encode([user("Hi")], { maxTokens }).max_output_tokens;
    assert.deepEqual([1, 15, 16, 17].map(limit), [16, 16, 16, 17]);
  });

  it("each tool choice in the format of the wire", () => {
    const choice = (toolChoice: NonNullable<StreamOptions["toolChoice"]>): unknown =>
      encode([user("Hi")], { toolChoice }, { tools }).tool_choice;
    assert.deepEqual(
      [choice("auto"), choice("none"), choice("required"), choice({ name: "fs/read" })],
      ["auto", "none", "required", { type: "function", name: "fs_read" }],
    );
  });

  // Q127, Q195
  it("a turn in order: reasoning, text, calls, and their outputs in the order of the calls", () => {
    const turn = [encrypted(), ...said, toolCall("a", { arguments: { x: 1 } }), toolCall("b")];
    assert.deepEqual(input([user("Hi"), assistant(turn), result("b"), result("a", [])]), [
      asked,
      thought(),
      spoken("Hello"),
      called("a", { arguments: '{"x":1}' }),
      called("b"),
      output("a", "(no output)"),
      output("b"),
    ]);
    assert.deepEqual(input([user("Hi"), assistant([toolCall("a")]), result("x")]), [
      asked,
      called("a"),
      output("a", "No result was recorded for this call."),
    ]);
  });

  it("images of users and of tools, and text alone as text", () => {
    const image = { type: "input_image", image_url: "data:image/png;base64,aGk=", detail: "auto" };
    const text = { type: "text" as const, text: "see" };
    const messages: Message[] = [
      { role: "user", content: [text, png], timestamp: 1 },
      assistant([toolCall("a"), toolCall("b")]),
      result("a", [text, png]),
      result("b", [text, text]),
    ];
    assert.deepEqual(input(messages), [
      { type: "message", role: "user", content: [{ type: "input_text", text: "see" }, image] },
      called("a"),
      called("b"),
      output("a", [{ type: "input_text", text: "see" }, image]),
      output("b", "see\nsee"),
    ]);
  });

  // Q195, Q197
  it("reasoning with its encrypted form and its summary, even if empty, only to its own model", () => {
    const redacted: AssistantContent = {
      type: "thinking",
      thinking: "",
      thinkingSignature: '{"encrypted_content":"E"}',
      redacted: true,
    };
    const content = [
      encrypted(),
      redacted,
      { ...redacted, thinkingSignature: '{"id":"rs_2"}' },
      ...said,
    ];
    assert.deepEqual(input([user("Hi"), assistant(content)]).slice(1), [
      thought(),
      thought({ summary: [] }),
      spoken("Hello"),
    ]);
    assert.deepEqual(input([user("Hi"), assistant(content, { model: "other" })]).slice(1), [
      spoken("Hello"),
    ]);
  });

  // Q195
  it("no reasoning without a following item, and none of failed answers", () => {
    assert.deepEqual(input([user("Hi"), assistant([...said, encrypted()])]).slice(1), [
      spoken("Hello"),
    ]);
    const dropped = [encrypted(), opaque({ type: "custom_tool_call", call_id: "c" })];
    assert.deepEqual(input([user("Hi"), assistant(dropped)]), [asked]);
    assert.deepEqual(
      input([user("Hi"), assistant([encrypted(), ...said], { stopReason: "error" })]),
      [asked],
    );
  });

  // Q132, Q133
  it("reasoning as text if the model requires that", () => {
    const compat = { replayReasoning: true };
    const thinking: AssistantContent = {
      type: "thinking",
      thinking: "hm",
      field: "reasoning_text",
    };
    const messages = [user("Hi"), assistant([thinking, ...said])];
    assert.deepEqual(input(messages).slice(1), [spoken("Hello")]);
    const content = [{ type: "reasoning_text", text: "hm" }];
    assert.deepEqual(input(messages, {}, { compat }).slice(1), [
      { type: "reasoning", summary: [], content },
      spoken("Hello"),
    ]);
  });

  // Q193, Q196
  it("ids only of items stored on the server, and phases and citations always", () => {
    const annotations = [{ type: "url_citation", url: "u" }];
    const text = (words: string, fields: Json): AssistantContent => ({
      type: "text",
      text: words,
      textSignature: JSON.stringify(fields),
    });
    const messages = [
      user("Hi"),
      assistant([
        encrypted(),
        text("One", { id: "msg_1", phase: "commentary", annotations }),
        text("two", { id: "msg_1", phase: "commentary" }),
        text("Three", { id: "msg_2" }),
        toolCall("a", { thoughtSignature: '{"id":"fc_1"}' }),
      ]),
      result("a"),
    ];
    const sent = (ids: boolean): Json[] => [
      { ...(ids && { id: "rs_1" }), ...thought() },
      {
        ...spoken("", { ...(ids && { id: "msg_1" }), phase: "commentary" }),
        content: [
          { type: "output_text", text: "One", annotations },
          { type: "output_text", text: "two", annotations: [] },
        ],
      },
      spoken("Three", ids ? { id: "msg_2" } : {}),
      called("a", ids ? { id: "fc_1" } : {}),
      output("a"),
    ];
    assert.deepEqual(input(messages).slice(1), sent(false));
    assert.deepEqual(input(messages, { extraBody: { store: true } }).slice(1), sent(true));
  });

  it("a call with its caller and namespace, and its output with the caller, for the same model only", () => {
    const caller = { type: "program", caller_id: "call_0" };
    const call = toolCall("a", { thoughtSignature: JSON.stringify({ caller, namespace: "n" }) });
    assert.deepEqual(input([user("Hi"), assistant([call]), result("a")]).slice(1), [
      called("a", { caller, namespace: "n" }),
      output("a", "ok", { caller }),
    ]);
    assert.deepEqual(
      input([user("Hi"), assistant([call], { model: "other" }), result("a")]).slice(1),
      [called("a"), output("a")],
    );
  });

  it("the provider's own items unchanged, but no call without its output and no output alone", () => {
    const search = { type: "web_search_call", id: "ws_1", status: "completed" };
    const shell = { type: "shell_call", call_id: "c1", action: {} };
    const shellOutput = { type: "shell_call_output", call_id: "c1", output: [] };
    const content = [
      opaque(search),
      opaque(shell),
      opaque(shellOutput),
      opaque({ type: "custom_tool_call", call_id: "c2" }),
      opaque({ type: "shell_call_output", call_id: "c3", output: [] }),
      { type: "opaque" as const, protocol: "other", raw: search },
      ...said,
    ];
    assert.deepEqual(input([user("Hi"), assistant(content)]).slice(1), [
      search,
      shell,
      shellOutput,
      spoken("Hello"),
    ]);
    assert.deepEqual(input([user("Hi"), assistant(content, { model: "other" })]).slice(1), [
      spoken("Hello"),
    ]);
  });

  // Q119, Q129
  it("valid ids and names, each id once, and arguments that are an object", () => {
    const calls = ["a", "a", "fc|x+/=", "x".repeat(100)].map((id) =>
      toolCall(id, { name: "fs/read file" }),
    );
    const broken = toolCall("z", { argumentsText: '{"a":', argumentsError: "cut" });
    const items = input([user("Hi"), assistant([...calls, broken])]).slice(1, 6);
    assert.deepEqual(
      items.map(({ call_id, name, arguments: args }) => [call_id, name, args]),
      [
        ["a", "fs_read_file", "{}"],
        ["a_2", "fs_read_file", "{}"],
        ["fc_x___", "fs_read_file", "{}"],
        ["x".repeat(64), "fs_read_file", "{}"],
        ["z", "f", "{}"],
      ],
    );
  });

  it("nothing for an empty transcript or two tools of one name", () => {
    const invalid = (error: unknown): boolean =>
      isBowlineError(error) && error.code === "invalid_argument";
    assert.throws(() => encode([user(" ")]), invalid);
    assert.throws(
      () => encode([assistant([opaque({ type: "custom_tool_call", call_id: "c" })])]),
      invalid,
    );
    const named = (name: string): Tool => ({
      name,
      description: "",
      parameters: { type: "object" },
    });
    assert.throws(() => encode([user("Hi")], {}, { tools: [named("a.b"), named("a b")] }), invalid);
  });

  it("requests whose violations the rules of the next test detect", () => {
    const messages = [
      user("Hi"),
      assistant([encrypted(), ...said, toolCall("a"), toolCall("b")]),
      result("a"),
    ];
    const broken = (change: (body: Json, items: Json[]) => unknown): string => {
      const body = encode(messages, { reasoning: "low" }, { tools });
      assert.deepEqual(brokenRules(body), []);
      change(body, body.input as Json[]);
      return brokenRules(body).join();
    };
    const breaks: [string, (body: Json, items: Json[]) => unknown][] = [
      ["temperature with reasoning", (body) => (body.temperature = 1)],
      ["stream or store", (body) => (body.store = true)],
      ["max_output_tokens", (body) => (body.max_output_tokens = 15)],
      ["body with nothing as metadata", (body) => (body.metadata = null)],
      ["tool type or strict", (body) => ((body.tools as Json[])[0]!.strict = true)],
      ["a lone surrogate or NUL", (body) => (body.instructions = "\ud83d")],
      ["reasoning without summary", (_, items) => delete items[1]!.summary],
      ["id of reasoning that was not stored", (_, items) => (items[1]!.id = "rs_1")],
      ["empty message", (_, items) => (items[2]!.content = [])],
      ["arguments are no object", (_, items) => (items[3]!.arguments = "[]")],
      ["call without its output", (_, items) => items.pop()],
      ["outputs not in the order of the calls", (_, items) => items.push(items.splice(5, 1)[0]!)],
      ["reasoning without the item that follows it", (_, items) => items.splice(2, 3)],
    ];
    for (const [rule, change] of breaks) assert.ok(broken(change).includes(rule), rule);
  });

  it("a request that breaks no rule, for any transcript", () => {
    fc.assert(
      fc.property(models, contexts, anyOptions, (target, context, options) => {
        const before = JSON.stringify(context);
        const body = asRead(openaiResponses.encode(target, context, options).body);
        assert.deepEqual(brokenRules(body), [], JSON.stringify(body));
        assert.equal(JSON.stringify(context), before);
      }),
      { numRuns: sweep({ long: 1000, short: 150, variable: "BOWLINE_REQUEST_RUNS" }) },
    );
  });
});
