/**
 * Requested features that a server lacks: a forced call (Q112), continuing an answer (Q126, Q173).
 * Read from the socket.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Agent, defineTool } from "../../src/agent/index.ts";
import type { AssistantMessage, Message } from "../../src/llm/message.ts";
import type { Compat, Model, RequestWarning, StreamOptions } from "../../src/llm/model.ts";
import { complete } from "../../src/providers/complete.ts";
import { streamOpenaiCompatible } from "../../src/providers/openai-chat/index.ts";
import { getModel } from "../../src/providers/vendors.ts";
import { finalMessage } from "../../../../test/support/final-message.ts";
import { chatText, failing, loopback, type Loopback } from "../../../../test/support/loopback.ts";
import { apis } from "../support.ts";

type Json = Record<string, unknown>;

const tools = [
  { name: "read", description: "Reads.", parameters: { type: "object", properties: {} } },
];
const hi: Message = { role: "user", content: "Hi", timestamp: 1 };
const at = (
  { baseUrl }: Loopback,
  api: string,
  compat: Compat,
  provider = "custom",
  id = "m",
): Model => getModel(provider, id, { baseUrl, api, compat });
const bodies = ({ requests }: Loopback): Json[] =>
  requests.map(({ body }) => JSON.parse(body) as Json);
const choiceIn = ({ tool_choice: choice, toolConfig }: Json): unknown =>
  (choice as { type?: unknown } | undefined)?.type ??
  choice ??
  (toolConfig as { functionCallingConfig: Json } | undefined)?.functionCallingConfig.mode;

describe("a tool choice that the server does not accept", () => {
  for (const api of apis) {
    /** The warnings and the tool choice of one request; the server refuses every request. */
    const told = async (
      compat: Compat,
      options: StreamOptions,
      withTools = true,
    ): Promise<[unknown[], unknown]> => {
      await using server = await loopback(failing(403, {}));
      const heard: unknown[] = [];
      const model = at(server, api, compat);
      const onWarning = (warning: RequestWarning, of: Model): unknown =>
        heard.push([warning.code, warning.message, of === model]);
      const context = { messages: [hi], ...(withTools && { tools }) };
      await finalMessage(complete(model, context, { maxRetries: 0, onWarning, ...options }));
      return [heard, choiceIn(bodies(server)[0] as Json)];
    };

    // Q112
    it(`is weakened over ${api}, with a warning to the caller`, async () => {
      const [heard, sent] = await told({ toolChoice: "auto" }, { toolChoice: { name: "read" } });
      const message =
        'The tool choice {"name":"read"} is sent as "auto": m accepts nothing stronger here.';
      assert.deepEqual(heard, [["tool_choice_weakened", message, true]]);
      assert.match(String(sent), /^auto$/i);
    });

    // Q112
    it(`gives no warning over ${api} if the choice is sent unchanged, or not at all`, async () => {
      for (const toolChoice of ["auto", "none"] as const)
        assert.deepEqual((await told({ toolChoice: "auto" }, { toolChoice }))[0], []);
      assert.deepEqual((await told({ toolChoice: "required" }, { toolChoice: "required" }))[0], []);
      assert.deepEqual((await told({}, { toolChoice: { name: "read" } }))[0], []);
      assert.deepEqual((await told({ toolChoice: "auto" }, {}))[0], []);
      assert.deepEqual(
        (await told({ toolChoice: "auto" }, { toolChoice: "required" }, false))[0],
        [],
      );
    });
  }

  // Q112
  it("is dropped if the model thinks, over Anthropic Messages", async () => {
    await using server = await loopback(failing(403, {}));
    const heard: string[] = [];
    const onWarning = ({ message }: RequestWarning): unknown => heard.push(message);
    const options: StreamOptions = {
      toolChoice: "required",
      reasoning: "low",
      maxRetries: 0,
      onWarning,
    };
    await finalMessage(
      complete(at(server, "anthropic-messages", {}), { messages: [hi], tools }, options),
    );
    assert.deepEqual(heard, [
      'The tool choice "required" is sent as "auto": m accepts nothing stronger here.',
    ]);
    assert.deepEqual(bodies(server)[0]?.tool_choice, { type: "auto" });
  });

  // Q112
  it("does not fail the answer when onWarning throws or rejects", async () => {
    await using server = await loopback(chatText("Hello"));
    const model = at(server, "openai-chat", { toolChoice: "auto" });
    const bad: NonNullable<StreamOptions["onWarning"]>[] = [
      () => {
        throw new Error("no log");
      },
      () => Promise.reject(new Error("no log")),
    ];
    for (const onWarning of bad) {
      const context = { messages: [hi], tools };
      const message = await complete(
        model,
        context,
        { toolChoice: "required", onWarning },
        streamOpenaiCompatible,
      );
      assert.deepEqual([message.stopReason, message.error], ["stop", undefined]);
    }
  });

  // Q112
  it("gives one warning per request, also for an agent with a known vendor", async () => {
    await using server = await loopback(chatText("Hello"));
    const heard: string[] = [];
    const read = defineTool({ ...(tools[0] as (typeof tools)[0]), execute: () => "ok" });
    const agent = new Agent({
      initialState: {
        model: getModel("deepseek", "deepseek-v4-flash", { baseUrl: server.baseUrl }),
        tools: [read],
      },
      streamFn: streamOpenaiCompatible,
      toolChoice: "required",
      onWarning: ({ code }) => heard.push(code),
    });
    for (let turn = 1; turn <= 3; turn++) {
      assert.equal((await agent.prompt("Hi")).reason, "done");
      assert.equal(heard.length, turn);
    }
    assert.deepEqual(bodies(server).map(choiceIn), ["auto", "auto", "auto"]);
  });
});

describe("an answer at the end of the transcript", () => {
  const begun = (api: string, fields: Partial<AssistantMessage> = {}): AssistantMessage => ({
    role: "assistant",
    content: [{ type: "text", text: "{ " }],
    api,
    provider: "custom",
    model: "m",
    usage: {},
    stopReason: "stop",
    timestamp: 1,
    ...fields,
  });

  /** The last message that is sent to this model. */
  async function last(
    provider: string,
    id: string,
    tail?: Partial<AssistantMessage>,
  ): Promise<Json | undefined> {
    await using server = await loopback(failing(403, {}));
    const model = getModel(provider, id, { baseUrl: server.baseUrl });
    const messages = [hi, begun(model.api, { provider, model: id, ...tail })];
    await finalMessage(complete(model, { messages }, { maxRetries: 0 }));
    const [{ messages: sent }] = bodies(server) as [{ messages: Json[] }];
    return sent.at(-1);
  }
  const text = [{ type: "text", text: "{" }];

  // Q126
  it("is sent with the vendor's prefill mark, or unchanged", async () => {
    assert.deepEqual(await last("mistral", "mistral-large-latest"), {
      role: "assistant",
      content: "{ ",
      prefix: true,
    });
    assert.equal((await last("moonshot", "kimi-k2.6"))?.partial, true);
    assert.deepEqual(await last("openai", "gpt-5"), { role: "assistant", content: "{ " });
    assert.deepEqual(await last("anthropic", "claude-sonnet-4-5"), {
      role: "assistant",
      content: text,
    });
  });

  // Q126, Q173
  it("is followed by a user turn if the server refuses a prefill", async () => {
    const marked = [{ type: "text", text: "Go on.", cache_control: { type: "ephemeral" } }];
    for (const id of [
      "claude-opus-4-6",
      "claude-opus-4-8",
      "claude-sonnet-5",
      "claude-haiku-5-5",
      "claude-fable-5",
    ])
      assert.deepEqual(await last("anthropic", id), { role: "user", content: marked }, id);
    assert.deepEqual(await last("copilot", "claude-opus-4.6"), { role: "user", content: "Go on." });
  });

  // Q162, Q173
  it("is sent last if the server's own tools are pending", async () => {
    const raw = { type: "server_tool_use", id: "s1", name: "web_search", input: {} };
    const content: AssistantMessage["content"] = [
      { type: "opaque", protocol: "anthropic-messages", raw },
    ];
    assert.deepEqual(await last("anthropic", "claude-opus-4-6", { content, paused: true }), {
      role: "assistant",
      content: [raw],
    });
  });

  // Q126
  it("is followed by its results if it called tools", async () => {
    const content: AssistantMessage["content"] = [
      { type: "toolCall", id: "callabc12", name: "read", arguments: {} },
    ];
    assert.equal((await last("mistral", "mistral-large-latest", { content }))?.role, "tool");
    assert.equal((await last("copilot", "claude-opus-4.6", { content }))?.role, "tool");
  });
});
