/**
 * codelet's runner (seed 001): providers, registry and history, first with the mock provider that
 * the seed describes.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { setTimeout as wait } from "node:timers/promises";
import { Agent, createAgentTool, defineTool, type AgentTool } from "@bowline/core/agent";
import {
  ClaudeProvider,
  hasToolCall,
  Message,
  Runner,
  ToolRegistry,
  toStreamFn,
  type CompletionResponse,
  type ContentBlock,
  type LlmProvider,
  type ToolDefinition,
} from "../../src/codelet/index.ts";
import { isBowlineError, messageText } from "@bowline/core";
import { createScriptedModel } from "@bowline/core/testing";
import { failing, loopback, type Handler } from "../../../../test/support/loopback.ts";
import { code } from "../../../../test/support/error-code.ts";

/** Answers from a list and records its requests. */
class MockLlmProvider implements LlmProvider {
  readonly asked: { messages: Message[]; tools: ToolDefinition[] }[] = [];
  readonly #answers: (CompletionResponse | Error)[];

  constructor(...answers: (CompletionResponse | Error)[]) {
    this.#answers = answers;
  }

  async completeWithTools(
    messages: readonly Message[],
    tools: readonly ToolDefinition[],
  ): Promise<CompletionResponse> {
    this.asked.push({ messages: structuredClone([...messages]), tools: [...tools] });
    const answer = this.#answers.shift() ?? new Error("No answer is left");
    if (answer instanceof Error) throw answer;
    return answer;
  }
}

const says = (text: string): CompletionResponse => ({
  content: [{ type: "text", text }],
  stopReason: "endTurn",
});
const use = (name: string, input: unknown = {}, id = `id_${name}`): ContentBlock => ({
  type: "toolUse",
  id,
  name,
  input,
});
const asks = (...content: ContentBlock[]): CompletionResponse => ({
  content,
  stopReason: "toolUse",
});
const result = (toolUseId: string, content: string, isError = false): Message => ({
  role: "user",
  content: [{ type: "toolResult", toolUseId, content, isError }],
});
const parameters = { type: "object", properties: { path: { type: "string" } } } as const;
const tool = (
  name: string,
  execute: () => string | Promise<string> = () => `${name} ran`,
): AgentTool => defineTool({ name, description: `The tool ${name}.`, parameters, execute });
const runnerOf = (provider: LlmProvider, ...tools: AgentTool[]): Runner =>
  Runner.withProvider(provider, { tools: ToolRegistry.default(tools) });

describe("codelet's runner", () => {
  // Requirements: C7, C8, C11, C12, C13, C18, C25
  it("ends at once with a text, and returns the whole history", async () => {
    const provider = new MockLlmProvider(says("Hello."));
    const runner = Runner.withProvider(provider);
    assert.deepEqual([runner.messages, runner.tools.definitions()], [[], []]);
    const history = [Message.user("Hi"), Message.fromResponse(says("Hello."))];
    assert.deepEqual(await runner.run("Hi"), history);
    assert.deepEqual(history[1], {
      role: "assistant",
      content: [{ type: "text", text: "Hello." }],
    });
    assert.equal(provider.asked.length, 1);
  });

  // Requirements: C2, C14, C19, C20, C21, C25
  it("executes a tool, adds its result and calls the model again with everything", async () => {
    const provider = new MockLlmProvider(asks(use("read", { path: "a" })), says("Done."));
    const history = await runnerOf(provider, tool("read")).run("Read a");
    const expected: Message[] = [
      Message.user("Read a"),
      { role: "assistant", content: [use("read", { path: "a" })] },
      result("id_read", "read ran"),
      { role: "assistant", content: [{ type: "text", text: "Done." }] },
    ];
    assert.deepEqual(history, expected);
    assert.deepEqual(
      provider.asked.map(({ messages }) => messages),
      [expected.slice(0, 1), expected.slice(0, 3)],
    );
  });

  // Requirements: C19, C21, C25
  it("runs several tools in order, with each result in a separate user message", async () => {
    const order: string[] = [];
    const slow = (name: string, ms: number): AgentTool =>
      tool(name, async () => {
        await wait(ms);
        order.push(name);
        return name;
      });
    const provider = new MockLlmProvider(asks(use("a"), use("b"), use("c")), says("Done."));
    const history = await runnerOf(provider, slow("a", 5), slow("b", 0), slow("c", 1)).run("Go");
    assert.deepEqual(order, ["a", "b", "c"]);
    assert.deepEqual(history.slice(2, 5), [
      result("id_a", "a"),
      result("id_b", "b"),
      result("id_c", "c"),
    ]);
  });

  // Requirements: C3, C14, C18, C25
  it("runs three rounds up to a text, with all calls and results", async () => {
    const rounds = ["1", "2", "3"].map((id) => asks(use("a", {}, id)));
    const history = await runnerOf(new MockLlmProvider(...rounds, says("Done.")), tool("a")).run(
      "Go",
    );
    assert.deepEqual(
      history.map(({ role }) => role),
      ["user", "assistant", "user", "assistant", "user", "assistant", "user", "assistant"],
    );
    assert.deepEqual(
      [history[2], history[4], history[6]],
      [result("1", "a ran"), result("2", "a ran"), result("3", "a ran")],
    );
  });

  // Requirements: C20, C25
  it("adds the message of a failed tool as an error, and continues", async () => {
    const provider = new MockLlmProvider(asks(use("a"), use("gone")), says("Sorry."));
    const history = await runnerOf(
      provider,
      tool("a", () => Promise.reject(new Error("disk full"))),
    ).run("Go");
    assert.deepEqual(history[2], result("id_a", "disk full", true));
    assert.match(
      JSON.stringify(history[3]),
      /"Tool \\"gone\\" not found\. Available: a\.","isError":true/,
    );
    assert.equal(provider.asked.length, 2);
  });

  // Requirements: C5, C17
  it("adds the assistant's message to its history before the tools run", async () => {
    let seen: Message[] = [];
    const runner = runnerOf(
      new MockLlmProvider(asks(use("a")), says("Done.")),
      tool("a", () => {
        seen = runner.messages;
        return "ran";
      }),
    );
    await runner.run("Go");
    assert.deepEqual(seen, [Message.user("Go"), { role: "assistant", content: [use("a")] }]);
  });

  // Requirements: C10, C14
  it("reads the tool definitions again in each round", async () => {
    const provider = new MockLlmProvider(asks(use("a")), asks(use("b")), says("Done."));
    const runner = runnerOf(
      provider,
      tool("a", () => {
        runner.tools.register(tool("b"));
        return "more";
      }),
    );
    const history = await runner.run("Go");
    assert.deepEqual(
      provider.asked.map(({ tools }) => tools.map(({ name }) => name)),
      [["a"], ["a", "b"], ["a", "b"]],
    );
    assert.deepEqual(provider.asked[0]?.tools, [
      { name: "a", description: "The tool a.", inputSchema: parameters },
    ]);
    assert.deepEqual(history[4], result("id_b", "b ran"));
  });

  // Requirements: C22
  it("keeps its history for the next run, and returns copies of it", async () => {
    const provider = new MockLlmProvider(says("One."), says("Two."));
    const runner = Runner.withProvider(provider);
    const first = await runner.run("1");
    first.length = 0;
    const second = await runner.run("2");
    assert.deepEqual(second, [
      Message.user("1"),
      Message.fromResponse(says("One.")),
      Message.user("2"),
      Message.fromResponse(says("Two.")),
    ]);
    assert.deepEqual(provider.asked[1]?.messages, second.slice(0, 3));
  });

  // Requirements: C1, C30
  it("accepts messages built by hand", async () => {
    const provider = new MockLlmProvider(says("Done."));
    const runner = Runner.withProvider(provider);
    const made = [
      Message.user("Read"),
      Message.fromResponse(asks(use("a"))),
      result("id_a", "no", true),
    ];
    for (const message of made) runner.addMessage(message);
    await runner.run("And?");
    assert.deepEqual(provider.asked[0]?.messages, [...made, Message.user("And?")]);
  });

  // Requirements: C15, C32
  it("without a provider rejects, and adds nothing to the history", async () => {
    const runner = new Runner();
    await assert.rejects(runner.run("Hi"), { message: "No provider configured" });
    assert.deepEqual(runner.messages, []);
  });

  // Requirements: C16, C32
  it("rejects with the provider's error, keeps the history, and can run again", async () => {
    const error = new Error("authentication failed");
    const provider = new MockLlmProvider(asks(use("a")), error, says("Done."));
    const runner = runnerOf(provider, tool("a"));
    await assert.rejects(runner.run("Go"), (thrown) => thrown === error);
    assert.deepEqual(
      runner.messages.map(({ role }) => role),
      ["user", "assistant", "user"],
    );
    assert.equal((await runner.run("Again")).length, 5);
  });

  // Requirements: C3, C9, C18, C23
  it("runs calls and stops without calls, whatever the stop reason says", async () => {
    const odd = new MockLlmProvider(
      { content: [use("a")], stopReason: "endTurn" },
      { content: [{ type: "text", text: "Done." }], stopReason: "toolUse" },
    );
    assert.equal((await runnerOf(odd, tool("a")).run("Go")).length, 4);
    const cut = new MockLlmProvider({
      content: [{ type: "text", text: "Half" }],
      stopReason: "maxTokens",
    });
    assert.equal((await Runner.withProvider(cut).run("Go")).length, 2);
  });

  // Requirements: C9, C23
  it("does not run calls of a truncated answer, and gives up after several", async () => {
    let ran = false;
    const a = tool("a", () => {
      ran = true;
      return "";
    });
    const cut: CompletionResponse = { content: [use("a")], stopReason: "maxTokens" };
    const provider = new MockLlmProvider(cut, says("Done."));
    const history = await runnerOf(provider, a).run("Go");
    assert.match(JSON.stringify(history[2]), /token limit/);
    assert.equal(ran, false);
    const never = runnerOf(new MockLlmProvider(cut, cut, cut, says("Never")), a);
    await assert.rejects(never.run("Go"), code("budget_exceeded"));
    assert.equal(never.messages.length, 7);
    const endless = new MockLlmProvider(...Array.from({ length: 9 }, () => asks(use("b"))));
    const limited = Runner.withProvider(endless, {
      tools: ToolRegistry.default([tool("b")]),
      budget: { maxTurns: 3 },
    });
    await assert.rejects(limited.run("Go"), code("budget_exceeded"));
    assert.equal(endless.asked.length, 3);
  });

  // Requirements: C22
  it("rejects a second run at the same time", async () => {
    const runner = Runner.withProvider(new MockLlmProvider(says("One."), says("Two.")));
    const first = runner.run("1");
    await assert.rejects(runner.run("2"), code("invalid_state"));
    await first;
    assert.equal((await runner.run("3")).length, 4);
  });

  // Requirements: C20
  it("treats a failed nested agent as a failed tool, and continues", async () => {
    const { model, streamFn } = createScriptedModel([{ stopReason: "error" }]);
    const createAgent = (): Agent => new Agent({ initialState: { model }, streamFn });
    const nested = createAgentTool({ name: "nested", description: "Asks another.", createAgent });
    const provider = new MockLlmProvider(asks(use("nested", { prompt: "Go" })), says("Done."));
    const history = await runnerOf(provider, nested).run("Go");
    assert.deepEqual(history[2], result("id_nested", "Scripted: error.", true));
    assert.equal(history.length, 4);
  });

  // Requirements: C8
  it("answers arguments that are not an object without running the tool", async () => {
    const provider = new MockLlmProvider(
      asks(use("a", [1]), use("a", "no json", "2")),
      says("Done."),
    );
    const history = await runnerOf(provider, tool("a")).run("Go");
    assert.match(JSON.stringify(history[2]), /must be a JSON object.*"isError":true/);
    assert.match(JSON.stringify(history[3]), /not valid JSON.*"isError":true/);
  });
});

describe("codelet's registry and messages", () => {
  // Requirements: C1, C10, C19, C30
  it("list a definition for each tool, and execute by name with validated input", async () => {
    const registry = ToolRegistry.default();
    assert.deepEqual(registry.definitions(), []);
    registry.register(tool("read"));
    assert.deepEqual(registry.definitions(), [
      { name: "read", description: "The tool read.", inputSchema: parameters },
    ]);
    assert.deepEqual(await registry.execute("read", { path: "a" }), { content: "read ran" });
    await assert.rejects(
      registry.execute("read", { path: {} }),
      /Invalid arguments for tool "read"/,
    );
    await assert.rejects(registry.execute("gone", {}), /Tool "gone" not found/);
    registry.register(tool("read", () => Promise.reject(new Error("no"))));
    await assert.rejects(registry.execute("read", {}), { message: "no" });
    assert.deepEqual(await runnerOf(new MockLlmProvider(), tool("a")).executeTool("a", {}), {
      content: "a ran",
    });
  });

  // Requirements: C4
  it("say whether there is a tool call", () => {
    assert.equal(hasToolCall([{ type: "text", text: "" }, use("a")]), true);
    assert.equal(hasToolCall([use("a")]), true);
    assert.equal(
      hasToolCall([
        { type: "text", text: "" },
        { type: "text", text: "toolUse" },
      ]),
      false,
    );
    assert.equal(hasToolCall("toolUse"), false);
  });
});

describe("a custom codelet provider", () => {
  // Requirements: C6
  it("works as a stream function for any agent", async () => {
    const provider = new MockLlmProvider(asks(use("a")), says("Done."));
    const { model } = createScriptedModel([]);
    const agent = new Agent({
      initialState: { model, tools: [tool("a")] },
      streamFn: toStreamFn(provider),
    });
    const { message, reason } = await agent.prompt("Go");
    assert.deepEqual([reason, message && messageText(message)], ["done", "Done."]);
  });
});

describe("codelet's Claude", () => {
  const answer =
    (content: object[], stop_reason: string): Handler =>
    (response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const about = { id: "m", type: "message", role: "assistant", model: "claude-x" };
      response.end(
        JSON.stringify({
          ...about,
          content,
          stop_reason,
          usage: { input_tokens: 5, output_tokens: 1 },
        }),
      );
    };

  // Requirements: C7, C9, C14, C24
  it("sends non-streaming requests with model, limit, messages and definitions, and reads the answer", async () => {
    await using server = await loopback(
      answer(
        [
          { type: "text", text: "I read." },
          { type: "tool_use", id: "t1", name: "read", input: { path: "a" } },
        ],
        "tool_use",
      ),
      answer([{ type: "text", text: "Done" }], "max_tokens"),
    );
    const claude = new ClaudeProvider("sk-1", "claude-x", {
      baseUrl: server.baseUrl,
      cacheRetention: "none",
    });
    const definitions = ToolRegistry.default([tool("read")]).definitions();
    const response = await claude.completeWithTools([Message.user("Read a")], definitions);
    assert.deepEqual(response, {
      content: [{ type: "text", text: "I read." }, use("read", { path: "a" }, "t1")],
      stopReason: "toolUse",
    });
    const [request] = server.requests;
    assert.deepEqual([request?.url, request?.headers["x-api-key"]], ["/v1/messages", "sk-1"]);
    assert.deepEqual(JSON.parse(request?.body ?? ""), {
      model: "claude-x",
      max_tokens: 8192,
      messages: [{ role: "user", content: [{ type: "text", text: "Read a" }] }],
      tools: [{ name: "read", description: "The tool read.", input_schema: parameters }],
    });
    assert.deepEqual(await claude.completeWithTools([Message.user("Go")], []), {
      content: [{ type: "text", text: "Done" }],
      stopReason: "maxTokens",
    });
    assert.ok(!("tools" in JSON.parse(server.requests[1]?.body ?? "")));
  });

  // Requirements: C20, C24, C32
  it("gets results in one user message, errors marked, also after a failed run", async () => {
    await using server = await loopback(
      failing(400, { type: "error", error: { type: "invalid_request_error", message: "no" } }),
      answer(
        [
          { type: "tool_use", id: "t1", name: "a", input: {} },
          { type: "tool_use", id: "t2", name: "b", input: {} },
        ],
        "tool_use",
      ),
      answer([{ type: "text", text: "Done." }], "end_turn"),
    );
    const claude = new ClaudeProvider("sk-1", "claude-x", {
      baseUrl: server.baseUrl,
      cacheRetention: "none",
    });
    const runner = runnerOf(
      claude,
      tool("a"),
      tool("b", () => Promise.reject(new Error("disk full"))),
    );
    await assert.rejects(runner.run("One"), code("invalid_request"));
    await runner.run("Two");
    const { messages } = JSON.parse(server.requests[2]?.body ?? "") as {
      messages: {
        role: string;
        content: { type: string; tool_use_id?: string; is_error?: boolean }[];
      }[];
    };
    assert.deepEqual(
      messages.map(({ role }) => role),
      ["user", "assistant", "user"],
    );
    assert.equal(messages[0]?.content.length, 2);
    const [first, second] = messages[2]?.content ?? [];
    assert.deepEqual(
      [first?.type, first?.tool_use_id, first?.is_error ?? false],
      ["tool_result", "t1", false],
    );
    assert.deepEqual(
      [second?.type, second?.tool_use_id, second?.is_error],
      ["tool_result", "t2", true],
    );
  });

  it(
    // Requirements: C16, C24
    "is cancelled when the runner's signal fires",
    { timeout: 60_000 },
    async () => {
      const abort = new AbortController();
      await using server = await loopback(() => abort.abort());
      const claude = new ClaudeProvider("sk-1", "claude-x", { baseUrl: server.baseUrl });
      const runner = Runner.withProvider(claude, { signal: abort.signal });
      await assert.rejects(runner.run("Hi"), code("aborted"));
      while ((await server.open()) > 0) await wait(1);
      assert.deepEqual(runner.messages, [Message.user("Hi")]);
    },
  );

  // Requirements: C16, C24
  it("rejects with an authentication error when the key is refused", async () => {
    const body = {
      type: "error",
      error: { type: "authentication_error", message: "invalid x-api-key" },
    };
    await using server = await loopback(failing(401, body));
    const runner = Runner.withProvider(
      new ClaudeProvider("sk-bad", "claude-x", { baseUrl: server.baseUrl }),
    );
    await assert.rejects(runner.run("Hi"), (error) => {
      assert.ok(isBowlineError(error));
      assert.deepEqual(
        [error.code, error.status, error.retryable],
        ["authentication_failed", 401, false],
      );
      assert.match(error.message, /refused the API key: invalid x-api-key/);
      return true;
    });
  });
});

// Requirements: C27, C30, C31
it("codelet's names come from one entry, and its package imports no other", async () => {
  const entry = await import("../../src/codelet/index.ts");
  assert.deepEqual(Object.keys(entry).toSorted(), [
    "ClaudeProvider",
    "Message",
    "ModelProvider",
    "Runner",
    "ToolRegistry",
    "hasToolCall",
    "toStreamFn",
  ]);
  const dependenciesOf = (file: string): string[] => {
    const manifest = JSON.parse(readFileSync(file, "utf8")) as { dependencies?: object };
    return Object.keys(manifest.dependencies ?? {});
  };
  const own = join(import.meta.dirname, "../../package.json");
  assert.deepEqual(dependenciesOf(own), ["@bowline/core"]);
  const core = fileURLToPath(import.meta.resolve("@bowline/core/package.json"));
  assert.deepEqual(dependenciesOf(core), []);
});
