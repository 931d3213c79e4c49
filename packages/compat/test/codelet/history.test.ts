/** Thinking and images that codelet's history keeps for later calls. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Agent, defineTool, type AgentTool } from "@bowline/core/agent";
import {
  ClaudeProvider,
  Message,
  ModelProvider,
  Runner,
  ToolRegistry,
  toStreamFn,
  type LlmProvider,
} from "../../src/codelet/index.ts";
import { getModel } from "@bowline/core";
import { createScriptedModel, scriptedToolCall } from "@bowline/core/testing";
import {
  chatText,
  loopback,
  streamed,
  type Handler,
  type Loopback,
} from "../../../../test/support/loopback.ts";

const object = { type: "object", properties: {} } as const;
const look: AgentTool = defineTool({
  name: "look",
  description: "Looks.",
  parameters: object,
  execute: () => "a rope",
});

const thinking = { type: "thinking", thinking: "Hm", signature: "sig-1" };
const use = { type: "tool_use", id: "t1", name: "look", input: {} };

/** A non-streaming answer of the Messages API. */
const whole =
  (...content: { type: string; [field: string]: unknown }[]): Handler =>
  (response) => {
    const stop_reason = content.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn";
    const usage = { input_tokens: 5, output_tokens: 1 };
    const about = {
      id: "m",
      type: "message",
      role: "assistant",
      model: "claude-sonnet-4-5",
      usage,
    };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ ...about, content, stop_reason }));
  };

interface Sent {
  readonly thinking?: { readonly type: string };
  readonly messages: readonly { role: string; content: readonly object[] }[];
}
const bodies = ({ requests }: Loopback): Sent[] =>
  requests.map(({ body }) => JSON.parse(body) as Sent);

const claudeAt = ({ baseUrl }: Loopback): ClaudeProvider =>
  new ClaudeProvider("sk-1", "claude-sonnet-4-5", {
    baseUrl,
    reasoning: "low",
    cacheRetention: "none",
  });

describe("codelet's reasoning", () => {
  // Requirements: C14, C24
  it("is requested in every model call of two runs, and earlier thinking is sent back", async () => {
    await using server = await loopback(
      whole(thinking, use),
      whole(thinking, { ...use, id: "t2" }),
      whole({ type: "text", text: "A rope." }),
    );
    const tools = ToolRegistry.default([look]);
    const runner = Runner.withProvider(claudeAt(server), { tools });
    await runner.run("Look");
    await runner.run("Sure?");
    const sent = bodies(server);
    assert.deepEqual(
      sent.map((body) => body.thinking?.type),
      ["enabled", "enabled", "enabled", "enabled"],
    );
    assert.deepEqual(sent[1]?.messages[1], { role: "assistant", content: [thinking, use] });
    assert.deepEqual(sent[3]?.messages[3]?.content[0], thinking);
  });

  // Requirements: C22, C30
  it("survives a history stored as JSON", async () => {
    await using server = await loopback(
      whole(thinking, use),
      whole({ type: "text", text: "Done." }),
    );
    const provider = claudeAt(server);
    const response = await provider.completeWithTools([Message.user("Look")], []);
    const result = {
      type: "toolResult",
      toolUseId: "t1",
      content: "a rope",
      isError: false,
    } as const;
    const history: Message[] = [
      Message.user("Look"),
      Message.fromResponse(response),
      { role: "user", content: [result] },
    ];
    await provider.completeWithTools(JSON.parse(JSON.stringify(history)) as Message[], []);
    const [, second] = bodies(server);
    assert.equal(second?.thinking?.type, "enabled");
    assert.deepEqual(second.messages[1]?.content, [thinking, use]);
  });

  // Requirements: C30
  it("is dropped from an answer that the caller edited", async () => {
    await using server = await loopback(
      whole(thinking, { type: "text", text: "No." }),
      whole({ type: "text", text: "Done." }),
    );
    const provider = claudeAt(server);
    const answer = Message.fromResponse(await provider.completeWithTools([Message.user("Go")], []));
    const edited: Message = { ...answer, content: [{ type: "text", text: "Yes." }] };
    await provider.completeWithTools([Message.user("Go"), edited, Message.user("Sure?")], []);
    assert.deepEqual(bodies(server)[1]?.messages[1]?.content, [{ type: "text", text: "Yes." }]);
  });

  // Requirements: C6
  it("is dropped from an answer that a provider edited", async () => {
    await using server = await loopback(whole(thinking, { type: "text", text: "No." }));
    const claude = claudeAt(server);
    const provider: LlmProvider = {
      async completeWithTools(...given) {
        const response = await claude.completeWithTools(...given);
        return { ...response, content: [{ type: "text", text: "Yes." }] };
      },
    };
    const history = await Runner.withProvider(provider).run("Go");
    assert.deepEqual(history[1], { role: "assistant", content: [{ type: "text", text: "Yes." }] });
  });

  // Requirements: C22
  it("is returned as a copy of the original answer", async () => {
    await using server = await loopback(whole(thinking, { type: "text", text: "Hi." }));
    const runner = Runner.withProvider(claudeAt(server));
    const [, first] = await runner.run("Go");
    const before = structuredClone(runner.messages);
    if (first?.original) first.original.content.length = 0;
    assert.deepEqual(runner.messages, before);
  });

  // Requirements: C6
  it("is sent back by an agent that uses the provider's stream function", async () => {
    await using server = await loopback(
      whole(thinking, use),
      whole({ type: "text", text: "Done." }),
    );
    const { model } = createScriptedModel([]);
    const streamFn = toStreamFn(claudeAt(server));
    const agent = new Agent({ initialState: { model, tools: [look] }, streamFn });
    await agent.prompt("Look");
    assert.deepEqual(bodies(server)[1]?.messages[1]?.content[0], thinking);
  });

  // Requirements: C7, C8
  it("is not stored for answers whose blocks hold everything", async () => {
    const { model, streamFn } = createScriptedModel([
      { content: [{ type: "text", text: "I look." }, scriptedToolCall("look", {}, "c1")] },
    ]);
    const response = await new ModelProvider(model, {}, streamFn).completeWithTools(
      [Message.user("Go")],
      [],
    );
    assert.deepEqual(Object.keys(response), ["content", "stopReason"]);
    assert.deepEqual(Object.keys(Message.fromResponse(response)), ["role", "content"]);
  });
});

describe("codelet's images in tool results", () => {
  const image = { type: "image", data: "AAAA", mimeType: "image/png" } as const;
  const shoot: AgentTool = {
    name: "look",
    description: "Looks.",
    parameters: object,
    execute: async () => ({ content: [{ type: "text", text: "a rope" }, image] }),
  };

  // Requirements: C20, C21
  it("are in the history, in the registry's output and in the next request", async () => {
    const call = { index: 0, id: "c1", function: { name: "look", arguments: "{}" } };
    const delta = { tool_calls: [call] };
    await using server = await loopback(
      streamed({ choices: [{ index: 0, delta, finish_reason: "tool_calls" }] }, "[DONE]"),
      chatText("Done."),
    );
    const model = getModel("openai", "gpt-4o", { api: "openai-chat", baseUrl: server.baseUrl });
    const tools = ToolRegistry.default([shoot]);
    const runner = Runner.withProvider(new ModelProvider(model, { apiKey: "k" }), { tools });
    const history = await runner.run("Look");
    const result = {
      type: "toolResult",
      toolUseId: "c1",
      content: "a rope",
      images: [image],
      isError: false,
    };
    assert.deepEqual(history[2], { role: "user", content: [result] });
    assert.deepEqual(await tools.execute("look", {}), { content: "a rope", images: [image] });
    assert.match(server.requests[1]?.body ?? "", /data:image\/png;base64,AAAA/);
  });

  it("of a user reach the provider and the model it calls", async () => {
    await using server = await loopback(chatText("A rope."));
    const model = getModel("openai", "gpt-4o", { api: "openai-chat", baseUrl: server.baseUrl });
    const asked: Message[][] = [];
    const behind = new ModelProvider(model, { apiKey: "k" });
    const streamFn = toStreamFn({
      completeWithTools: (messages, tools, signal) => {
        asked.push([...messages]);
        return behind.completeWithTools(messages, tools, signal);
      },
    });
    const content = [{ type: "text", text: "What is this?" } as const, image];
    const agent = new Agent({ streamFn });
    const { reason } = await agent.prompt([{ role: "user", content, timestamp: 0 }]);
    assert.deepEqual([reason, asked], ["done", [[{ role: "user", content }]]]);
    const { messages } = JSON.parse(server.requests[0]?.body ?? "{}") as { messages: unknown[] };
    assert.equal(messages.length, 1);
    assert.match(JSON.stringify(messages), /What is this.*data:image\/png;base64,AAAA/);
  });

  // Requirements: C20, C21
  it("are absent when the tool returned none", async () => {
    const tools = ToolRegistry.default([look]);
    assert.deepEqual(await tools.execute("look", {}), { content: "a rope" });
  });
});

describe("codelet's signal", () => {
  // Requirements: C16, C22
  it("belongs to one run: later runs work after its abort", async () => {
    const abort = new AbortController();
    const aborts = (): string => {
      abort.abort();
      return "Never";
    };
    const { model, streamFn } = createScriptedModel([aborts, "Done.", "Again."]);
    const runner = Runner.withProvider(new ModelProvider(model, {}, streamFn));
    await assert.rejects(runner.run("One", { signal: abort.signal }), { code: "aborted" });
    const { signal } = new AbortController();
    await runner.run("Two", { signal });
    const history = await runner.run("Three");
    assert.deepEqual(
      history.map(({ role }) => role),
      ["user", "user", "assistant", "user", "assistant"],
    );
  });

  // Requirements: C16, C22
  it("of a run replaces the runner's signal, which still applies to other runs", async () => {
    const { model, streamFn } = createScriptedModel(["Done.", "Never"]);
    const provider = new ModelProvider(model, {}, streamFn);
    const runner = Runner.withProvider(provider, { signal: AbortSignal.abort() });
    const { signal } = new AbortController();
    assert.equal((await runner.run("One", { signal })).length, 2);
    await assert.rejects(runner.run("Two"), { code: "aborted" });
  });
});
