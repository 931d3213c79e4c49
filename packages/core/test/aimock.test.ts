/**
 * A tool turn over real sockets, with an independent lenient server (aimock) and with strict
 * servers of this repository.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { LLMock } from "@copilotkit/aimock";
import {
  Agent,
  defineTool,
  getModel,
  messageText,
  type AgentTool,
  type Model,
  type RunResult,
} from "../src/index.ts";
import { loopback, type Loopback } from "../../../test/support/loopback.ts";
import {
  eventsOf,
  strictServer,
  type ScriptedTurn,
  type StrictApi,
  type StrictServer,
} from "../../../test/support/strict-server.ts";

const wires: readonly {
  readonly api: StrictApi;
  readonly provider: string;
  readonly model: string;
}[] = [
  { api: "openai-chat", provider: "openai", model: "gpt-x" },
  { api: "anthropic-messages", provider: "anthropic", model: "claude-x" },
];

const cities: Readonly<Record<string, string>> = { Oslo: "4 °C, snow", Rome: "19 °C, sun" };

/** A tool with a fixed result. */
const weather: AgentTool = defineTool({
  name: "weather",
  description: "The weather in a city",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  execute: ({ city }) => cities[city] ?? `There is no city ${city}.`,
});

function createAgent(model: Model, tools: AgentTool[] = [weather]): Agent {
  return new Agent({
    initialState: { model, tools, systemPrompt: "Be brief." },
    apiKey: "dummy",
    maxRetries: 0,
  });
}

/** The reason, the answer, the tools' outcomes and the error, if any. */
function outcome(result: RunResult): unknown {
  return {
    reason: result.reason,
    answer: result.text,
    turns: result.turns,
    tools: result.tools.map(({ toolName, outcome: what }) => `${toolName} ${what}`),
    ...(result.error !== undefined && { error: result.error.message }),
  };
}

const finished = {
  reason: "done",
  answer: "Snow in Oslo.",
  turns: 2,
  tools: ["weather finished"],
};

for (const { api, provider, model } of wires) {
  describe(`an agent over ${api}`, () => {
    const at = (server: StrictServer): Model =>
      getModel(provider, model, { baseUrl: server.baseUrl });

    test("completes a tool turn with aimock", async () => {
      const mock = new LLMock({ port: 0, strict: true });
      const asks = { userMessage: "weather in Oslo" };
      const usage = {
        prompt_tokens: 40,
        completion_tokens: 12,
        input_tokens: 40,
        output_tokens: 12,
      };
      mock.on(
        { ...asks, hasToolResult: false },
        {
          content: "I will look.",
          toolCalls: [{ name: "weather", arguments: { city: "Oslo" } }],
          usage,
        },
      );
      mock.on(
        { ...asks, hasToolResult: true, toolResultContains: "snow" },
        { content: "Snow in Oslo.", usage },
      );
      await mock.start();
      try {
        const agent = createAgent(getModel(provider, model, { baseUrl: `${mock.url}/v1` }));
        const result = await agent.prompt("What is the weather in Oslo?");
        assert.deepEqual(outcome(result), finished);
        const [call, answer] = [agent.state.messages[1], agent.state.messages[3]];
        assert.equal(call?.role === "assistant" && messageText(call), "I will look.");
        assert.equal(call?.role === "assistant" && call.stopReason, "toolUse");
        assert.equal(answer?.role === "assistant" && answer.stopReason, "stop");
        assert.deepEqual([result.usage.input, result.usage.output], [80, 24]);
        assert.deepEqual(
          mock.getRequests().map(({ response }) => response.status),
          [200, 200],
        );
      } finally {
        await mock.stop();
      }
    });

    test("completes a tool turn with a strict server", async () => {
      await using server = await strictServer(
        api,
        {
          thinking: "Look.",
          text: "I will look.",
          calls: [{ id: "call_1", name: "weather", args: { city: "Oslo" } }],
        },
        { text: "Snow in Oslo." },
      );
      const result = await createAgent(at(server)).prompt("What is the weather in Oslo?");
      assert.deepEqual([server.problems, outcome(result)], [[], finished]);
      assert.match(JSON.stringify(server.bodies()[1]), /4 °C, snow/);
      assert.deepEqual([result.usage.input, result.usage.output], [30, 3]);
    });

    test("handles calls that share an id, an unknown tool and wrong arguments, and is not refused afterwards", async () => {
      await using server = await strictServer(
        api,
        {
          calls: [
            { id: "call_0", name: "weather", args: { city: "Oslo" } },
            { id: "call_0", name: "weather", args: { city: "Rome" } },
            { id: "call_1", name: "fs/list files", args: {} },
            { id: "call_2", name: "weather", args: { town: "Rome" } },
          ],
        },
        // The ids start over with each answer, as with Ollama.
        { calls: [{ id: "call_0", name: "weather", args: { city: "Rome" } }] },
        { text: "Sun in Rome." },
      );
      const agent = createAgent(at(server));
      const result = await agent.prompt("What is the weather?");
      assert.deepEqual(server.problems, []);
      assert.equal(result.reason, "done");
      const results = agent.state.messages.filter((message) => message.role === "toolResult");
      assert.deepEqual(
        results.map((message) => message.isError),
        [false, false, true, true, false],
      );
    });

    test("continues after an abort in a tool, with a request that a strict server accepts", async () => {
      const turns: ScriptedTurn[] = [
        { text: "I will wait.", calls: [{ id: "call_0", name: "wait", args: {} }] },
        { calls: [{ id: "call_0", name: "weather", args: { city: "Oslo" } }] },
        { text: "Snow in Oslo." },
      ];
      await using server = await strictServer(api, ...turns);
      const wait: AgentTool = defineTool({
        name: "wait",
        description: "Waits",
        parameters: { type: "object", properties: {} },
        execute: (_args, { signal }) => {
          agent.abort();
          return new Promise<string>((_, reject) => {
            const stop = (): void => reject(new Error("stopped"));
            if (signal.aborted) stop();
            else signal.addEventListener("abort", stop);
          });
        },
      });
      const agent = createAgent(at(server), [weather, wait]);
      assert.equal((await agent.prompt("Wait.")).reason, "aborted");
      assert.equal((await agent.prompt("What is the weather in Oslo?")).reason, "done");
      assert.deepEqual(server.problems, []);
      assert.match(JSON.stringify(server.bodies()[2]), /4 °C, snow/);
    });

    test("continues after a failed answer whose call did not run, under the same id", async () => {
      await using broken = await brokenAfterCall(api);
      await using server = await strictServer(
        api,
        { calls: [{ id: "call_0", name: "weather", args: { city: "Oslo" } }] },
        { text: "Snow in Oslo." },
      );
      const agent = createAgent(getModel(provider, model, { baseUrl: broken.baseUrl }));
      const failed = await agent.prompt("What is the weather in Oslo?");
      assert.deepEqual([failed.reason, failed.error?.code], ["error", "stream_truncated"]);
      agent.state.model = at(server);
      assert.equal((await agent.prompt("Again, please.")).reason, "done");
      assert.deepEqual(server.problems, []);
      const asked = JSON.stringify(server.bodies()[1]);
      assert.match(asked, /4 °C, snow/);
      assert.doesNotMatch(asked, /Not run/);
    });

    test("continues a transcript of the other wire", async () => {
      const other = wires.find((wire) => wire.api !== api) ?? wires[0];
      assert.ok(other !== undefined);
      const turn = {
        thinking: "Look.",
        calls: [{ id: "toolu_1|x=", name: "weather", args: { city: "Oslo" } }],
      };
      await using first = await strictServer(other.api, turn, { text: "Snow in Oslo." });
      await using second = await strictServer(api, { text: "As I said." });
      const agent = createAgent(getModel(other.provider, other.model, { baseUrl: first.baseUrl }));
      await agent.prompt("What is the weather in Oslo?");
      agent.state.model = at(second);
      const result = await agent.prompt("Really?");
      assert.deepEqual(
        [first.problems.slice(0, 1), second.problems, result.reason],
        [[], [], "done"],
      );
    });

    test("reports a strict server's refusal once, and keeps the transcript", async () => {
      await using server = await strictServer(api);
      const agent = createAgent(at(server));
      const result = await agent.prompt("Hello?");
      assert.deepEqual(
        [result.reason, result.error?.code, result.error?.status],
        ["error", "invalid_request", 400],
      );
      assert.match(result.error?.message ?? "", /the script has no answer/);
      assert.equal(server.bodies().length, 1);
    });
  });
}

/** A server whose stream breaks off after a complete call. */
async function brokenAfterCall(api: StrictApi): Promise<Loopback> {
  const events = eventsOf(
    api,
    { calls: [{ id: "call_0", name: "weather", args: { city: "Oslo" } }] },
    1,
  );
  const last = events.findIndex((event) =>
    /"finish_reason":"tool_calls"|message_delta/.test(event),
  );
  return loopback((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(events.slice(0, last).join(""));
  });
}
