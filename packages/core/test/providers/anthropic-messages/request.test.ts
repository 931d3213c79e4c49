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
  ToolResultMessage,
} from "../../../src/llm/message.ts";
import type { Model, StreamOptions } from "../../../src/llm/model.ts";
import { anthropicMessages } from "../../../src/providers/anthropic-messages/index.ts";
import { getModel } from "../../../src/providers/vendors.ts";
import { said, toolUse } from "./events.ts";
import { contentOf, conversations } from "./recorded.ts";
import { brokenRules } from "./rules.ts";
import { contexts, models, options as anyOptions } from "./transcripts.ts";
import { missing } from "../../../../../test/support/recordings.ts";
import { asRead } from "../../support.ts";
import { sweep } from "../../../../../test/support/sweep.ts";

type Json = Record<string, unknown>;

interface WireMessage {
  readonly role: string;
  readonly content: Json[];
}

const model = getModel("anthropic", "m");
const own = { api: "anthropic-messages", provider: "anthropic", model: "m" };
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
const toolCall = (id: string, fields: object = {}): AssistantContent => ({
  type: "toolCall",
  id,
  name: "f",
  arguments: {},
  ...fields,
});
const result = (
  toolCallId: string,
  content = "ok",
  fields: Partial<ToolResultMessage> = {},
): Message => ({
  role: "toolResult",
  toolCallId,
  toolName: "f",
  content: [{ type: "text", text: content }],
  isError: false,
  timestamp: 1,
  ...fields,
});
const tools = [{ name: "f", description: "F.", parameters: { type: "object", properties: {} } }];
const png = { type: "image" as const, data: "aGk=", mimeType: "image/png" };

function encode(
  messages: Message[],
  options: StreamOptions = {},
  context: Partial<Context> = {},
  target: Model = model,
): Json {
  return asRead(
    anthropicMessages.encode(
      target,
      { messages, ...context },
      { cacheRetention: "none", ...options },
    ).body,
  );
}

const wire = (messages: Message[], options: StreamOptions = {}): WireMessage[] =>
  encode(messages, options).messages as WireMessage[];

describe("the Messages wire writes", () => {
  it("the requested options, with the headers of the protocol", () => {
    const context = { systemPrompt: "Be brief.", messages: [user("Hi")], tools };
    const { url, headers, body } = anthropicMessages.encode(model, context, {
      apiKey: " k\n",
      temperature: 0,
      headers: { "anthropic-beta": "b" },
    });
    assert.equal(url, "https://api.anthropic.com/v1/messages");
    assert.deepEqual(headers, {
      "content-type": "application/json",
      accept: "text/event-stream",
      "accept-encoding": "identity",
      "anthropic-version": "2023-06-01",
      "x-api-key": "k",
      "anthropic-beta": "b",
    });
    const cache_control = { type: "ephemeral" };
    assert.deepEqual(body, {
      model: "m",
      max_tokens: 8192,
      system: [{ type: "text", text: "Be brief.", cache_control }],
      messages: [{ role: "user", content: [{ type: "text", text: "Hi", cache_control }] }],
      tools: [
        {
          name: "f",
          description: "F.",
          input_schema: { type: "object", properties: {} },
          cache_control,
        },
      ],
      temperature: 0,
      stream: true,
    });
  });

  // Q136, Q109, Q110
  it("no key header without a key, and no tool fields without tools", () => {
    const { headers, body } = anthropicMessages.encode(
      model,
      { messages: [user("Hi")], tools: [] },
      { apiKey: " ", toolChoice: "required" },
    );
    assert.equal("x-api-key" in headers, false);
    assert.deepEqual(Object.keys(body), ["model", "max_tokens", "messages", "stream"]);
  });

  // Q168, Q170
  it("tool results first, in one turn with the user's text, errors and images included", () => {
    const messages = wire([
      user("Hi"),
      user("there"),
      assistant([toolCall("a"), toolCall("b")]),
      user("and hurry"),
      result("b", "no", { isError: true, content: [{ type: "text", text: "no" }, png] }),
      result("a", "", { content: [png] }),
      user("please"),
    ]);
    const block = (words: string): Json => ({ type: "text", text: words });
    const image = {
      type: "image",
      source: { type: "base64", media_type: "image/png", data: "aGk=" },
    };
    assert.deepEqual(messages, [
      { role: "user", content: [block("Hi"), block("there")] },
      { role: "assistant", content: [toolUse("a"), toolUse("b")] },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "a", content: [image] },
          { type: "tool_result", tool_use_id: "b", content: [block("no")], is_error: true },
          image, // an error result may contain text only
          block("and hurry"),
          block("please"),
        ],
      },
    ]);
  });

  // Q127
  it("a result for every call, a placeholder for an empty result, and no orphans", () => {
    const messages = wire([
      user("Hi"),
      assistant([toolCall("a"), toolCall("b")]),
      result("x"),
      result("b", " "),
    ]);
    const results = messages[2]?.content.map(({ tool_use_id, content, is_error }) => [
      tool_use_id,
      (content as Json[])[0]?.text,
      is_error,
    ]);
    assert.deepEqual(results, [
      ["a", "No result was recorded for this call.", true],
      ["b", "(no output)", undefined],
    ]);
  });

  // Q041, Q119, Q177
  it("valid ids, each once, the same on call and result, and stable as the transcript grows", () => {
    const ids = [
      "call_0",
      "call_0",
      "call_1|fc+/=",
      "call_1_fc___",
      "x".repeat(100),
      `${"x".repeat(99)}y`,
      "",
      "call_0_2",
    ];
    const transcript = ids.flatMap((id) => [
      user("Hi"),
      assistant([toolCall(id)]),
      result(id, `of ${id}`),
    ]);
    const found = wire(transcript).flatMap(({ content }) =>
      content.flatMap((block) => (block.type === "tool_use" ? [block.id] : [])),
    );
    assert.deepEqual(found, [
      "call_0",
      "call_0_2",
      "call_1_fc___",
      "call_1_fc____2",
      "x".repeat(64),
      `${"x".repeat(62)}_2`,
      "call",
      "call_0_2_2",
    ]);
    assert.deepEqual(brokenRules(encode(transcript)), []);
    for (let turns = 1; turns < ids.length; turns++) {
      const shorter = wire(transcript.slice(0, turns * 3));
      assert.deepEqual(
        shorter,
        wire(transcript)
          .slice(0, shorter.length - 1)
          .concat(shorter.slice(-1)),
      );
    }
    const twice = wire([
      user("Hi"),
      assistant([toolCall("a"), toolCall("a")]),
      result("a", "first"),
      result("a", "second"),
    ]);
    assert.deepEqual(
      twice[2]?.content.map(({ tool_use_id, content }) => [
        tool_use_id,
        (content as Json[])[0]?.text,
      ]),
      [
        ["a", "first"],
        ["a_2", "second"],
      ],
    );
  });

  // Q155 to Q159
  it("thinking byte for byte and in its place, only to the model it came from", () => {
    const content: AssistantContent[] = [
      { type: "thinking", thinking: " hm\n", thinkingSignature: "S" },
      { type: "thinking", thinking: "", thinkingSignature: "D", redacted: true },
      { type: "thinking", thinking: "", thinkingSignature: "T" },
      { type: "thinking", thinking: "unsigned" },
      { type: "thinking", thinking: "half \ud83d", thinkingSignature: "U" },
      toolCall("a"),
    ];
    const blocks = [
      { type: "thinking", thinking: " hm\n", signature: "S" },
      { type: "redacted_thinking", data: "D" },
      { type: "thinking", thinking: "", signature: "T" },
      toolUse("a"),
    ];
    assert.deepEqual(wire([user("Hi"), assistant(content), result("a")])[1]?.content, blocks);
    assert.deepEqual(
      wire([user("Hi"), assistant(content, { model: "other" }), result("a")])[1]?.content,
      [toolUse("a")],
    );
  });

  // Q132
  it("unsigned thinking, to servers other than Anthropic that require it", () => {
    const unsigned: AssistantContent[] = ["hm", " "].map((thinking) => ({
      type: "thinking",
      thinking,
    }));
    const messages = [user("Hi"), assistant([...unsigned, toolCall("a")]), result("a")];
    const send = (replayReasoning: boolean): unknown[] => {
      const target = { ...model, compat: { replayReasoning } };
      const body = encode(messages, { reasoning: "low" }, { tools }, target);
      return [(body.messages as WireMessage[])[1]?.content, body.thinking !== undefined];
    };
    assert.deepEqual(send(true), [
      [{ type: "thinking", thinking: "hm", signature: "" }, toolUse("a")],
      true,
    ]);
    assert.deepEqual(send(false), [[toolUse("a")], false]);
  });

  // Q159
  it("no thinking for a turn that began without it", () => {
    const loop = (first: AssistantContent[]): Json =>
      encode(
        [user("Hi"), assistant([...first, toolCall("a")]), result("a")],
        { reasoning: "low" },
        { tools },
      );
    assert.equal(loop([]).thinking, undefined);
    assert.deepEqual(loop([{ type: "thinking", thinking: "", thinkingSignature: "S" }]).thinking, {
      type: "enabled",
      budget_tokens: 2048,
    });
    const paused = [
      user("Hi"),
      assistant([{ type: "thinking", thinking: "", thinkingSignature: "S" }, ...said]),
    ];
    assert.deepEqual(
      wire(paused)[1]?.content.map(({ type }) => type),
      ["text"],
    );
    assert.deepEqual(
      wire(paused, { reasoning: "low" })[1]?.content.map(({ type }) => type),
      ["thinking", "text"],
    );
  });

  // Q175
  it("a thinking budget below max_tokens, added on top if the model has room", () => {
    const limits = (options: StreamOptions, overrides: Partial<Model> = {}): unknown[] => {
      const body = encode([user("Hi")], options, {}, { ...model, ...overrides });
      return [body.max_tokens, (body.thinking as Json | undefined)?.budget_tokens];
    };
    assert.deepEqual(limits({}), [8192, undefined]);
    assert.deepEqual(limits({}, { maxTokens: 64_000 }), [64_000, undefined]);
    assert.deepEqual(limits({ reasoning: "medium" }), [16_384, 8192]);
    assert.deepEqual(
      limits({ reasoning: "xhigh", maxTokens: 4000 }, { maxTokens: 64_000 }),
      [36_768, 32_768],
    );
    assert.deepEqual(limits({ reasoning: "high" }, { maxTokens: 8192 }), [8192, 7168]);
    assert.deepEqual(limits({ reasoning: "low", thinkingBudgets: { low: 5 } }), [9216, 1024]);
    assert.deepEqual(limits({ reasoning: "high" }, { maxTokens: 1024 }), [1024, undefined]);
    assert.deepEqual(limits({ reasoning: "high" }, { reasoning: false }), [8192, undefined]);
  });

  it("each level as the effort of its name, or as the nearest lower one that the model knows", () => {
    const effort = (id: string, reasoning: NonNullable<StreamOptions["reasoning"]>): unknown => {
      const asked = getModel("anthropic", id);
      const { body } = anthropicMessages.encode(asked, { messages: [user("Hi")] }, { reasoning });
      return (body.output_config as Json).effort;
    };
    for (const id of ["claude-opus-4-7", "claude-opus-4-8", "claude-sonnet-5", "claude-fable-5"])
      assert.deepEqual(
        (["minimal", "low", "medium", "high", "xhigh", "max"] as const).map((level) =>
          effort(id, level),
        ),
        ["low", "low", "medium", "high", "xhigh", "max"],
      );
    assert.deepEqual(
      [effort("claude-sonnet-4-6", "xhigh"), effort("claude-opus-4-6", "max")],
      ["high", "max"],
    );
  });

  // Q112, Q113
  it("an effort for adaptive thinking, without a temperature or a forced tool", () => {
    const adaptive = { ...model, compat: { adaptiveThinking: true } };
    const body = encode(
      [user("Hi")],
      { reasoning: "minimal", temperature: 1, toolChoice: "required" },
      { tools },
      adaptive,
    );
    assert.deepEqual(
      [body.thinking, body.output_config, body.max_tokens],
      [{ type: "adaptive" }, { effort: "low" }, 8192],
    );
    assert.deepEqual([body.temperature, body.tool_choice], [undefined, { type: "auto" }]);
  });

  it("each tool choice in the format of the wire", () => {
    const choice = (toolChoice: NonNullable<StreamOptions["toolChoice"]>): unknown =>
      encode([user("Hi")], { toolChoice }, { tools }).tool_choice;
    assert.deepEqual(
      [choice("auto"), choice("none"), choice("required"), choice({ name: "f" })],
      [{ type: "auto" }, { type: "none" }, { type: "any" }, { type: "tool", name: "f" }],
    );
  });

  // Q174
  it("cache marks for an hour or none at all, on the end of the last user message", () => {
    const messages = [user("Hi"), assistant([toolCall("a")]), result("a"), assistant(said)];
    const marked = JSON.stringify(
      encode(messages, { cacheRetention: "long" }, { tools, systemPrompt: "S" }),
    );
    assert.equal(marked.split('"cache_control":{"type":"ephemeral","ttl":"1h"}').length - 1, 3);
    assert.match(marked, /"tool_result"[^[]*\[[^\]]*\],"cache_control"/);
    assert.ok(
      !JSON.stringify(encode(messages, {}, { tools, systemPrompt: "S" })).includes("cache_control"),
    );
  });

  // Q161, Q162
  it("server blocks unchanged, but no incomplete pair, and an open one only during its turn", () => {
    const opaque = (raw: unknown, protocol = "anthropic-messages"): AssistantContent => ({
      type: "opaque",
      protocol,
      raw,
    });
    const use = (id: string): Json => ({
      type: "server_tool_use",
      id,
      name: "web_search",
      input: {},
    });
    const found = { type: "web_search_tool_result", tool_use_id: "s1", content: [] };
    const paused = assistant([
      opaque(use("s1")),
      opaque(found),
      ...said,
      opaque({ type: "x" }, "other"),
      opaque(use("s2")),
    ]);
    const block = { type: "text", text: "Hello" };
    assert.deepEqual(wire([user("Hi"), paused])[1]?.content, [use("s1"), found, block, use("s2")]);
    assert.deepEqual(wire([user("Hi"), paused, user("Stop")])[1]?.content, [
      use("s1"),
      found,
      block,
    ]);
    const rest = assistant([
      opaque({ ...found, tool_use_id: "s2" }),
      opaque({ ...found, tool_use_id: "s3" }),
      ...said,
    ]);
    assert.deepEqual(
      wire([user("Hi"), paused, rest, user("Go on")])[1]?.content.map(
        (one) => one.id ?? one.tool_use_id ?? one.text,
      ),
      ["s1", "s1", "Hello", "s2", "s2", "Hello"],
    );
  });

  // Q161
  it("server blocks that are no half of a pair always, and an open call until its result or the user comes", () => {
    const opaque = (raw: unknown): AssistantContent => ({
      type: "opaque",
      protocol: "anthropic-messages",
      raw,
    });
    const open = { type: "server_tool_use", id: "s1", name: "web_search", input: {} };
    const blocks = [{ type: "compaction", id: "c1" }, { type: "container_upload" }];
    const called = assistant([...[...blocks, open].map(opaque), toolCall("a")], {
      stopReason: "toolUse",
    });
    const idsOf = (...more: Message[]): unknown =>
      wire([user("Hi"), called, result("a"), ...more])[1]?.content.map(({ type }) => type);
    const kept = ["compaction", "container_upload"];
    assert.deepEqual(idsOf(), [...kept, "server_tool_use", "tool_use"]);
    assert.deepEqual(idsOf(assistant(said), user("Go on")), [...kept, "tool_use"]);
    assert.deepEqual(idsOf(assistant([toolCall("b")], { stopReason: "toolUse" }), result("b")), [
      ...kept,
      "server_tool_use",
      "tool_use",
    ]);
  });

  it("citations with their text, and the caller with its call, only to the model they came from", () => {
    const citations = [{ type: "web_search_result_location", url: "u", encrypted_index: "E" }];
    const caller = { type: "code_execution_20260120", tool_id: "srvtoolu_1" };
    const content: AssistantContent[] = [
      { type: "text", text: "Hello", textSignature: JSON.stringify({ citations }) },
      { type: "text", text: "there", textSignature: "another wire's" },
      toolCall("a", { thoughtSignature: JSON.stringify({ caller }) }),
    ];
    const hello = { type: "text", text: "Hello" };
    const there = { type: "text", text: "there" };
    assert.deepEqual(wire([user("Hi"), assistant(content)])[1]?.content, [
      { ...hello, citations },
      there,
      { ...toolUse("a"), caller },
    ]);
    const foreign = wire([user("Hi"), assistant(content, { model: "other" })]);
    assert.deepEqual(foreign[1]?.content, [hello, there, toolUse("a")]);
  });

  // Q111
  it("declarations for tools that occur only in the history", () => {
    const body = encode([
      user("Hi"),
      assistant([toolCall("a", { name: "old tool" })]),
      result("a"),
    ]);
    assert.deepEqual(
      [(body.tools as Json[]).map(({ name }) => name), body.tool_choice],
      [["old_tool"], { type: "none" }],
    );
  });

  // Q130, Q172
  it("well-formed text and arguments, no trailing space at the end, and a user turn first", () => {
    const messages = wire([
      assistant([
        toolCall("a", { arguments: { "\ud83d": ["\ude00", { __proto__: null, x: "a\u0000b" }] } }),
      ]),
      assistant([{ type: "text", text: "So \n" }]),
    ]);
    assert.equal(messages[0]?.role, "user");
    assert.deepEqual(messages[1]?.content[0]?.input, { "\ufffd": ["\ufffd", { x: "ab" }] });
    assert.deepEqual(messages.at(-1)?.content, [{ type: "text", text: "So" }]);
  });

  it("an unsupported image as text", () => {
    const [message] = wire([
      {
        role: "user",
        content: [
          { ...png, mimeType: "image/jpg" },
          { ...png, mimeType: "image/tiff" },
        ],
        timestamp: 1,
      },
    ]);
    assert.deepEqual(message?.content[0]?.source, {
      type: "base64",
      media_type: "image/jpeg",
      data: "aGk=",
    });
    assert.match(String(message?.content[1]?.text), /image\/tiff/);
  });

  it("nothing for an empty transcript or two tools of one name, and no metadata but the user's id", () => {
    const invalid = (error: unknown): boolean =>
      isBowlineError(error) && error.code === "invalid_argument";
    assert.throws(() => encode([user(" ")]), invalid);
    const named = (name: string): Tool => ({
      name,
      description: "",
      parameters: { type: "object" },
    });
    assert.throws(() => encode([user("Hi")], {}, { tools: [named("a.b"), named("a b")] }), invalid);
    assert.deepEqual(encode([user("Hi")], { metadata: { user_id: "u", secret: "s" } }).metadata, {
      user_id: "u",
    });
    assert.equal(encode([user("Hi")], { metadata: { user_id: 7 } }).metadata, undefined);
  });

  it("requests whose violations the rules of the next test detect", () => {
    const signed: AssistantContent = { type: "thinking", thinking: "hm", thinkingSignature: "S" };
    const messages = [
      user("Hi"),
      assistant([signed, ...said, toolCall("a"), toolCall("b")]),
      result("a"),
      result("b"),
    ];
    const broken = (change: (body: Json, content: Json[][]) => unknown): string => {
      const body = encode(messages, { reasoning: "low" }, { tools });
      assert.deepEqual(brokenRules(body), []);
      change(
        body,
        (body.messages as WireMessage[]).map(({ content }) => content),
      );
      return brokenRules(body).join();
    };
    assert.equal(
      broken((body) => (body.max_tokens = 2048)),
      "budget",
    );
    assert.equal(
      broken((body) => (body.temperature = 1)),
      "temperature with thinking",
    );
    assert.equal(
      broken((body) => delete body.tools),
      "calls without tools",
    );
    assert.equal(
      broken((_, [first]) => (first![0]!.text = " ")),
      "empty text",
    );
    assert.equal(
      broken((_, [first]) => (first![0]!.text = "\ud83d")),
      "a lone surrogate or NUL",
    );
    assert.equal(
      broken((_, [, turn]) => turn!.shift()),
      "a continued turn does not begin with thinking",
    );
    assert.equal(
      broken((_, [, turn]) => (turn![0]!.signature = "")),
      "thinking without a signature",
    );
    assert.equal(
      broken((_, [, turn]) => (turn![3]!.id = "a")),
      "call id,results do not match the calls",
    );
    assert.equal(
      broken((_, [, , last]) => last!.pop()),
      "results do not match the calls",
    );
    assert.equal(
      broken((_, [, , last]) => last!.unshift({ type: "text", text: "x" })),
      "results are not first",
    );
    assert.match(
      broken((body) => (body.messages as unknown[]).shift()),
      /roles do not alternate/,
    );
  });

  it("a request that breaks no rule, for any transcript", () => {
    fc.assert(
      fc.property(models, contexts, anyOptions, (target, context, options) => {
        const before = JSON.stringify(context);
        const withUser = { ...context, messages: [...context.messages, user("Hi")] };
        for (const each of [context, withUser]) {
          let body: Json;
          try {
            body = asRead(anthropicMessages.encode(target, each, options).body);
          } catch (error) {
            assert.ok(
              each === context && isBowlineError(error) && error.code === "invalid_argument",
            );
            continue; // no content that can be sent
          }
          assert.deepEqual(brokenRules(body), [], JSON.stringify(body));
        }
        assert.equal(JSON.stringify(context), before);
      }),
      { numRuns: sweep({ long: 1000, short: 150, variable: "BOWLINE_REQUEST_RUNS" }) },
    );
  });

  it("recorded answers block by block, unchanged", { skip: missing ?? false }, () => {
    for (const { file, bodies, messages } of conversations()) {
      const request = encode([user("Hi"), ...messages.map((message) => ({ ...message, ...own }))], {
        reasoning: "low",
      });
      assert.deepEqual(brokenRules(request), [], file);
      const turns = (request.messages as WireMessage[]).filter(({ role }) => role === "assistant");
      assert.deepEqual(
        turns.flatMap(({ content }) => content),
        contentOf(bodies),
        file,
      );
    }
  });
});
