import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { isBowlineError } from "../../../src/errors.ts";
import type {
  AssistantContent,
  AssistantMessage,
  Context,
  Message,
  ToolCall,
} from "../../../src/llm/message.ts";
import type { Model, StreamOptions } from "../../../src/llm/model.ts";
import {
  googleGenerate,
  streamGoogleGenerate,
} from "../../../src/providers/google-generate/index.ts";
import { getModel } from "../../../src/providers/vendors.ts";
import { answer, call, end, opaque, parts, said, sse, text, type Json } from "./events.ts";
import { brokenRules } from "./rules.ts";
import { contexts, models, options as anyOptions } from "../transcripts.ts";
import { asRead } from "../../support.ts";
import { sweep, sweepSeed } from "../../../../../test/support/sweep.ts";

const model = (id = "gemini-2.5-flash", fields: Partial<Model> = {}): Model => ({
  id,
  name: id,
  api: "google-generate",
  provider: "google",
  baseUrl: "https://generativelanguage.googleapis.com/v1beta/",
  reasoning: true,
  input: ["text", "image"],
  ...fields,
});
const old = model();
const recent = model("gemini-3-flash-preview");
const user = (content: string): Message => ({ role: "user", content, timestamp: 1 });
const assistant = (
  content: AssistantContent[],
  fields: Partial<AssistantMessage> = {},
): AssistantMessage => ({
  role: "assistant",
  content,
  api: "google-generate",
  provider: "google",
  model: old.id,
  usage: {},
  stopReason: "stop",
  timestamp: 1,
  ...fields,
});
const toolCall = (id: string, fields: Partial<ToolCall> = {}): ToolCall => ({
  type: "toolCall",
  id,
  name: "f",
  arguments: { of: id },
  ...fields,
});
const png = { type: "image" as const, data: "aGk=", mimeType: "image/png" };
const inlineData = { mimeType: "image/png", data: "aGk=" };
const result = (toolCallId: string, fields: Json = {}): Message => ({
  role: "toolResult",
  toolCallId,
  toolName: "f",
  content: [{ type: "text", text: `of ${toolCallId}` }],
  isError: false,
  timestamp: 1,
  ...fields,
});
const schema = {
  type: "object",
  properties: { x: { type: ["string", "null"] } },
  additionalProperties: false,
};

function encode(
  target: Model,
  messages: Message[],
  options: StreamOptions = {},
  context: Partial<Context> = {},
): Json {
  const body = asRead(googleGenerate.encode(target, { messages, ...context }, options).body);
  assert.deepEqual(brokenRules(body, /gemini-3/.test(target.id)), []);
  return body;
}
const contents = (target: Model, ...messages: Message[]): unknown =>
  encode(target, messages).contents;
const turn = (role: string, ...list: object[]): object => ({ role, parts: list });
const response = (id: string, fields: object = { output: `of ${id}` }): object => ({
  functionResponse: { name: "f", response: fields },
});
const functionCall = (id: string, fields: object = {}): object => ({
  functionCall: { name: "f", args: { of: id } },
  ...fields,
});
const skipped = { thoughtSignature: "skip_thought_signature_validator" };

describe("the generateContent wire writes", () => {
  it("the requested options, with the headers of the protocol", () => {
    const tools = [{ name: "f", description: "F.", parameters: schema }];
    const { url, headers, body } = googleGenerate.encode(
      old,
      { systemPrompt: "Be brief.", messages: [user("Hi")], tools },
      {
        apiKey: " k\n",
        temperature: 0,
        maxTokens: 9,
        toolChoice: "auto",
        headers: { "x-more": "m" },
      },
    );
    assert.equal(
      url,
      "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
    );
    assert.deepEqual(headers, {
      "content-type": "application/json",
      accept: "text/event-stream",
      "accept-encoding": "identity",
      "x-goog-api-key": "k",
      "x-more": "m",
    });
    assert.deepEqual(body, {
      systemInstruction: { parts: [{ text: "Be brief." }] },
      contents: [turn("user", { text: "Hi" })],
      tools: [
        { functionDeclarations: [{ name: "f", description: "F.", parametersJsonSchema: schema }] },
      ],
      toolConfig: { functionCallingConfig: { mode: "AUTO" } },
      generationConfig: { maxOutputTokens: 9, temperature: 0 },
    });
  });

  it("the system prompt into the first user turn, for models that refuse a system instruction", () => {
    const context = { systemPrompt: "Be brief.", messages: [user("Hi"), user("Still there?")] };
    const gemma = getModel("google", "gemma-3-27b-it");
    assert.deepEqual(googleGenerate.encode(gemma, context, {}).body, {
      contents: [turn("user", { text: "Be brief." }, { text: "Hi" }, { text: "Still there?" })],
    });
    // A continuation of encoded messages already contains the prompt.
    assert.deepEqual(googleGenerate.encode(gemma, context, {}, true).body.contents, [
      turn("user", { text: "Hi" }, { text: "Still there?" }),
    ]);
    assert.ok(
      "systemInstruction" in
        googleGenerate.encode(getModel("google", "gemma-4-31b-it"), context, {}).body,
    );
  });

  // Q136
  it("no key header without a key, and no option that was not requested", () => {
    const { headers, body } = googleGenerate.encode(
      old,
      { systemPrompt: " ", messages: [user("Hi")], tools: [] },
      { apiKey: " ", toolChoice: "required" },
    );
    assert.equal("x-goog-api-key" in headers, false);
    assert.deepEqual(body, { contents: [turn("user", { text: "Hi" })] });
    assert.deepEqual(
      encode(model(old.id, { compat: { noTemperature: true } }), [user("Hi")], { temperature: 1 }),
      body,
    );
  });

  // Q113
  it("no temperature with thinking, where that is refused", () => {
    const picky = model(old.id, { compat: { noTemperature: "thinking" } });
    const configOf = (reasoning?: "low"): object =>
      encode(picky, [user("Hi")], { temperature: 1, ...(reasoning && { reasoning }) })
        .generationConfig as object;
    assert.deepEqual(configOf(), { temperature: 1 });
    assert.deepEqual(Object.keys(configOf("low")), ["thinkingConfig"]);
  });

  it("model ids with their prefix, and special characters escaped", () => {
    const path = (id: string): string =>
      googleGenerate
        .encode(model(id, { baseUrl: "http://h/v1" }), { messages: [user("Hi")] }, {})
        .url.slice(11);
    assert.equal(
      path("models/gemini-2.5-pro"),
      "/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
    );
    assert.equal(path("tunedModels/mine"), "/tunedModels/mine:streamGenerateContent?alt=sse");
    assert.equal(path("a?b#c"), "/models/a%3Fb%23c:streamGenerateContent?alt=sse");
  });

  it("thinking as a budget before Gemini 3 and as a level from then on, and none if not requested", () => {
    const thinking = (id: string, options: StreamOptions, fields: Partial<Model> = {}): unknown =>
      (
        googleGenerate.encode(model(id, fields), { messages: [user("Hi")] }, options).body
          .generationConfig as Json
      )?.thinkingConfig;
    const ask = (id: string, ...asked: NonNullable<StreamOptions["reasoning"]>[]): unknown[] =>
      asked.map((reasoning) => {
        const { includeThoughts, ...rest } = thinking(id, { reasoning }) as Json;
        assert.equal(includeThoughts, true);
        return Object.values(rest)[0];
      });
    const all = ["minimal", "low", "medium", "high", "xhigh", "max"] as const;
    assert.deepEqual(ask("gemini-2.5-pro", ...all), [512, 2048, 8192, 16_384, 24_576, 24_576]);
    assert.deepEqual(ask("models/gemini-3-flash-preview", ...all), [
      "LOW",
      "LOW",
      "MEDIUM",
      "HIGH",
      "HIGH",
      "HIGH",
    ]);
    assert.deepEqual(ask("gemini-3-pro-preview", "medium"), ["HIGH"]);
    assert.deepEqual(ask("gemini-3.1-pro", "medium"), ["MEDIUM"]);
    assert.deepEqual(
      [...ask("gemini-flash-latest", "low"), ...ask("gemini-4-x", "low")],
      ["LOW", "LOW"],
    );
    assert.deepEqual(
      thinking("gemini-2.5-pro", { reasoning: "low", thinkingBudgets: { low: -1 } }),
      {
        includeThoughts: true,
        thinkingBudget: -1,
      },
    );
    assert.equal(thinking("gemini-2.5-pro", {}), undefined);
    assert.equal(thinking("gemini-2.5-pro", { reasoning: "low" }, { reasoning: false }), undefined);
  });

  // Q115, Q116
  it("tool choices, and tools without arguments without a schema", () => {
    const tools = (...parameters: object[]): unknown => {
      const named = parameters.map((one, index) => ({
        name: `f${index}`,
        description: "",
        parameters: one,
      }));
      const [tool] = encode(old, [user("Hi")], {}, { tools: named }).tools as {
        functionDeclarations: Json[];
      }[];
      return tool?.functionDeclarations.map((declaration) => "parametersJsonSchema" in declaration);
    };
    const none = { type: "object", properties: {} };
    assert.deepEqual(tools(none, { ...none, additionalProperties: false }, schema), [
      false,
      false,
      true,
    ]);
    const free = googleGenerate.encode(
      old,
      {
        messages: [user("Hi")],
        tools: [
          { name: "f", description: "", parameters: { ...none, additionalProperties: true } },
        ],
      },
      {},
    ).body;
    assert.deepEqual(free.tools, [
      {
        functionDeclarations: [
          { name: "f", parametersJsonSchema: { ...none, additionalProperties: true } },
        ],
      },
    ]);
    const choice = (toolChoice: NonNullable<StreamOptions["toolChoice"]>): unknown => {
      const declared = [{ name: "1st tool", description: "", parameters: none }];
      const { toolConfig } = encode(old, [user("Hi")], { toolChoice }, { tools: declared });
      return (toolConfig as Json).functionCallingConfig;
    };
    assert.deepEqual(choice("none"), { mode: "NONE" });
    assert.deepEqual(choice("required"), { mode: "ANY" });
    assert.deepEqual(choice({ name: "1st tool" }), {
      mode: "ANY",
      allowedFunctionNames: ["_1st_tool"],
    });
  });

  // Q118
  it("valid names, the same everywhere, and refuses two names that would become one", () => {
    const named = (...names: string[]): Partial<Context> => ({
      tools: names.map((name) => ({ name, description: "", parameters: schema })),
    });
    const name = `9${"x".repeat(80)}`;
    const body = encode(
      old,
      [user("Hi"), assistant([toolCall("a", { name })]), result("a")],
      {},
      named(name),
    );
    const wire = `_9${"x".repeat(62)}`;
    assert.deepEqual(
      JSON.stringify(body).match(/"name":"[^"]*"/g),
      Array.from({ length: 3 }, () => `"name":"${wire}"`),
    );
    for (const pair of [
      ["a b", "a_b"],
      ["1", "_1"],
    ]) {
      assert.throws(
        () => googleGenerate.encode(old, { messages: [user("Hi")], ...named(...pair) }, {}),
        (error) => isBowlineError(error) && error.code === "invalid_argument",
      );
    }
  });

  // Q127, Q217
  it("one turn per role, with results first, together and in the order of their calls", () => {
    const messages = [
      user("Hi"),
      user("there"),
      assistant([{ type: "text", text: "So." }]),
      assistant([toolCall("a"), toolCall("b"), toolCall("c")]),
      user("and hurry"),
      result("b", { isError: true }),
      result("x"),
      result("a", { content: [png] }),
      user("please"),
    ];
    assert.deepEqual(contents(old, ...messages), [
      turn("user", { text: "Hi" }, { text: "there" }),
      turn("model", { text: "So." }, functionCall("a"), functionCall("b"), functionCall("c")),
      turn(
        "user",
        response("a", { output: "(see the image)" }),
        response("b", { error: "of b" }),
        response("c", { error: "No result was recorded for this call." }),
        { inlineData },
        { text: "and hurry" },
        { text: "please" },
      ),
    ]);
  });

  it("images in results if the model supports them, and unsupported ones as text", () => {
    const gif = { ...png, mimeType: "image/gif" };
    const messages = [user("Hi"), assistant([toolCall("a")]), result("a", { content: [png, gif] })];
    const note = "[an image was left out: image/gif is not supported]";
    const { functionResponse } = (contents(recent, ...messages) as { parts: Json[] }[])[2]!
      .parts[0] as Json;
    assert.deepEqual(functionResponse, {
      name: "f",
      response: { output: note },
      parts: [{ inlineData }],
    });
    assert.deepEqual(contents(old, { role: "user", content: [gif, png], timestamp: 1 }), [
      turn("user", { text: note }, { inlineData }),
    ]);
    assert.equal(
      JSON.stringify(contents(model(old.id, { input: ["text"] }), ...messages)).includes(
        "inlineData",
      ),
      false,
    );
  });

  it("a user turn before a transcript that begins with the model", () => {
    const opened = contents(old, assistant([toolCall("a")]), result("a"));
    assert.deepEqual(
      (opened as Json[]).map(({ role }) => role),
      ["user", "model", "user"],
    );
    assert.throws(
      () =>
        googleGenerate.encode(old, { messages: [assistant([opaque({ functionCall: {} })])] }, {}),
      (error) => isBowlineError(error) && error.code === "invalid_argument",
    );
  });
});

describe("a model call on the generateContent wire", () => {
  it("posts its request with the key in a header, and reads the answer", async () => {
    const seen: unknown[] = [];
    const stream = streamGoogleGenerate(
      old,
      { messages: [user("Hi")] },
      {
        apiKey: "k",
        extraBody: { cachedContent: "cachedContents/1" },
        fetch: (url, init) => {
          seen.push(
            url,
            new Headers(init?.headers).get("x-goog-api-key"),
            JSON.parse(init?.body as string),
          );
          return Promise.resolve(new Response(sse(...text("Hello"), end())));
        },
      },
    );
    const { content, api } = await stream.result();
    assert.deepEqual([content, api], [said, "google-generate"]);
    assert.deepEqual(seen, [
      "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
      "k",
      { contents: [turn("user", { text: "Hi" })], cachedContent: "cachedContents/1" },
    ]);
  });
});

describe("an answer is sent back to its model", () => {
  const asked = (target: Model, message: AssistantMessage): unknown =>
    (contents(target, user("Hi"), message, user("Go on.")) as unknown[])[1];
  const own = (message: AssistantMessage): AssistantMessage => ({
    ...message,
    provider: "google",
    model: old.id,
  });

  // Q205
  it("with every signature in its place, also on empty text", () => {
    const spoken = [
      { thought: true, text: "hm", thoughtSignature: "S1" },
      { text: "Hel" },
      { text: "lo", thoughtSignature: "S2" },
      { executableCode: { code: "1" } },
      { text: "", thoughtSignature: "S3" },
    ];
    const message = own(answer(parts(...spoken), end()));
    assert.deepEqual(asked(old, message), turn("model", ...spoken));
    assert.deepEqual(
      asked(model("gemini-2.5-pro"), message),
      turn("model", { text: "Hel" }, { text: "lo" }),
    );
    assert.deepEqual(
      asked(old, own(answer(parts({ thought: true, text: "hm" }), ...text("Hello"), end()))),
      turn("model", { thought: true, text: "hm" }, { text: "Hello" }),
    );
  });

  // Q200
  it("only with the ids that its server gave", () => {
    const message = own(
      answer(
        call({ id: "a", name: "f", args: {} }, { thoughtSignature: "S" }),
        call({ name: "f", args: {} }),
        call({ id: "c", name: "f", args: {} }),
        end(),
      ),
    );
    const plain = { name: "f", args: {} };
    const done = { name: "f", response: { output: "of a" } };
    const failed = { name: "f", response: { error: "No result was recorded for this call." } };
    const sent = contents(old, user("Hi"), message, result("a")) as unknown[];
    assert.deepEqual(sent.slice(1), [
      turn(
        "model",
        { functionCall: { id: "a", ...plain }, thoughtSignature: "S" },
        { functionCall: plain },
        { functionCall: { id: "c", ...plain } },
      ),
      turn(
        "user",
        { functionResponse: { id: "a", ...done } },
        { functionResponse: failed },
        { functionResponse: { id: "c", ...failed } },
      ),
    ]);
    const elsewhere = contents(model("gemini-2.5-pro"), user("Hi"), message, result("a"));
    assert.equal(/"id"|"S"/.test(JSON.stringify(elsewhere)), false);
  });

  // Q206
  it("with the documented placeholder for a missing signature, once per step, from Gemini 3 on", () => {
    const first = [user("Hi"), assistant([toolCall("a"), toolCall("b")]), result("a"), result("b")];
    const signed = assistant([toolCall("c", { thoughtSignature: "S" }), toolCall("d")], {
      model: recent.id,
    });
    const sent = contents(recent, ...first, signed) as unknown[];
    assert.deepEqual(sent[1], turn("model", functionCall("a", skipped), functionCall("b")));
    assert.deepEqual(
      sent[3],
      turn("model", functionCall("c", { thoughtSignature: "S" }), functionCall("d")),
    );
    assert.equal(JSON.stringify(contents(old, ...first)).includes("skip_"), false);
  });

  it("without foreign blocks, or blocks that would break the pairing of calls", () => {
    const foreign = { type: "opaque" as const, protocol: "anthropic-messages", raw: { text: "x" } };
    const message = assistant([
      foreign,
      opaque("text"),
      opaque({}),
      opaque({ function_response: {} }),
      ...said,
    ]);
    assert.deepEqual(asked(old, message), turn("model", { text: "Hello" }));
  });
});

describe("a transcript of any shape", () => {
  const googleParts: fc.Arbitrary<AssistantContent> = fc.constantFrom<AssistantContent[]>(
    { type: "text", text: "signed", textSignature: "S" },
    { type: "text", text: "", textSignature: "S" },
    toolCall("call_1", { thoughtSignature: '{"hasId":true}' }),
    toolCall("call_1", { thoughtSignature: '{"hasId":true,"signature":"S"}' }),
    toolCall("id-7", { name: "7 up", thoughtSignature: "{" }),
    { type: "thinking", thinking: "half \ud83d", thinkingSignature: "S" },
    opaque({ text: "", thoughtSignature: "S" }),
    opaque({ executableCode: { code: "half \ud83d" }, thoughtSignature: "S" }),
    opaque({ hologram: { depth: 3 } }),
    opaque({ functionCall: { name: "f" } }),
    opaque(null),
    opaque([]),
  );
  const asked = fc
    .constantFrom(old.id, recent.id)
    .chain((id) => models("google", id))
    .map((made) => ({ ...made, api: "google-generate" }))
    .chain((target) =>
      fc.record({ target: fc.constant(target), context: contexts(target), options: anyOptions }),
    );

  it("makes a request that a strict server accepts", () => {
    fc.assert(
      fc.property(
        asked,
        fc.array(googleParts, { maxLength: 3 }),
        ({ target, context, options }, more) => {
          const messages = context.messages.map((message) =>
            message.role === "assistant"
              ? { ...message, content: [...message.content, ...more] }
              : message,
          );
          const { body } = googleGenerate.encode(target, { ...context, messages }, options);
          assert.deepEqual(brokenRules(asRead(body), target.id === recent.id), []);
          const longer = [...messages, assistant(said), user("And now?")];
          const grown = googleGenerate.encode(target, { ...context, messages: longer }, options)
            .body.contents as Json[];
          const before = body.contents as Json[];
          assert.deepEqual(
            grown.slice(0, before.length),
            before,
            "the cached prefix does not change",
          );
        },
      ),
      {
        numRuns: sweep({ long: 1000, short: 150, variable: "BOWLINE_REQUEST_RUNS" }),
        ...sweepSeed(20261121),
      },
    );
  });
});
