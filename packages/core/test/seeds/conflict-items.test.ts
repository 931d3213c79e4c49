/** Rules of the core for questions on which the seeds disagree, for every entry point and wire. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AgentMessage, AgentTool } from "../../src/agent/index.ts";
import { Agent, getModel, parseModelRef } from "../../src/index.ts";
import type { AssistantMessageEvent } from "../../src/llm/event.ts";
import { messageText, toolCallsOf, type AssistantMessage } from "../../src/llm/message.ts";
import type { StreamFn } from "../../src/llm/model.ts";
import { scriptedToolCall, type ScriptedStep } from "../../src/testing/index.ts";
import { chatText, loopback, streamed, type Handler } from "../../../../test/support/loopback.ts";
import { call, hello, rig, tool } from "../support.ts";
import { code } from "../../../../test/support/error-code.ts";
import { texts } from "../../../../test/support/message-texts.ts";
import {
  messagesAnswer,
  partsOf,
  says,
  type SentBody,
} from "../../../../test/support/seeds/answers.ts";

const parameters = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
const tools: AgentTool[] = [
  tool("read", () => "text", { parameters }),
  tool("fail", () => Promise.reject(new Error("thrown")), { parameters }),
  {
    ...tool("refuse", () => "", { parameters }),
    execute: () => ({ content: [{ type: "text", text: "returned" }], isError: true }),
  },
];
const asked = ["read", "fail", "refuse"].map((name, index) => ({
  name,
  input: { path: `p${index}` },
}));

/** Text beside three calls, as chat servers stream it; the text can be left out. */
function chatCalls(text?: string): Handler {
  const tool_calls = asked.map(({ name, input }, index) => ({
    index,
    id: `call_${index + 1}`,
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
  }));
  const beside = text === undefined ? [] : [{ choices: [{ index: 0, delta: { content: text } }] }];
  return streamed(
    ...beside,
    { choices: [{ index: 0, delta: { tool_calls }, finish_reason: "tool_calls" }] },
    "[DONE]",
  );
}

/** Runs against a server; returns the stored messages and the second request. */
async function exchange(
  provider: string,
  ...answers: readonly Handler[]
): Promise<{ messages: AgentMessage[]; body: SentBody }> {
  await using server = await loopback(...answers);
  const agent = new Agent({
    initialState: {
      systemPrompt: "Be brief.",
      model: getModel(provider, "m", { baseUrl: server.baseUrl }),
      tools,
    },
  });
  const { messages, reason } = await agent.prompt("Look.");
  assert.equal(reason, "done");
  return { messages, body: JSON.parse(server.requests[1]?.body ?? "{}") as SentBody };
}

describe("the transcript", () => {
  // Requirements: X1, X4, X28
  it("has the same three roles on every wire, with arguments parsed and as text", async () => {
    const onMessages = await exchange(
      "anthropic",
      messagesAnswer(["Let me ", "look."], ...asked),
      says("Done."),
    );
    const onChat = await exchange("groq", chatCalls("Let me look."), chatText("Done."));
    for (const { messages } of [onMessages, onChat]) {
      assert.deepEqual(
        messages.map(({ role }) => role),
        ["user", "assistant", "toolResult", "toolResult", "toolResult", "assistant"],
      );
      const answer = messages[1] as AssistantMessage;
      assert.equal(messageText(answer), "Let me look.");
      assert.deepEqual(
        toolCallsOf(answer).map(({ id, arguments: args, argumentsText }) => [
          id,
          args,
          argumentsText,
        ]),
        asked.map(({ input }, index) => [`call_${index + 1}`, input, JSON.stringify(input)]),
      );
    }
  });

  // Requirements: X2, X3, X6, X8, X28
  it("is sent on the Messages wire as a system field and one user message of results, with errors marked", async () => {
    const { body } = await exchange(
      "anthropic",
      messagesAnswer(["Look."], ...asked),
      says("Done."),
    );
    assert.match(JSON.stringify(body.system), /Be brief\./);
    assert.deepEqual(
      body.messages.map(({ role }) => role),
      ["user", "assistant", "user"],
    );
    assert.deepEqual(
      partsOf(body, 1).map(({ type }) => type),
      ["text", "tool_use", "tool_use", "tool_use"],
    );
    assert.deepEqual(
      partsOf(body, 2).map((part) => [part.type, part.tool_use_id, part.is_error === true]),
      [
        ["tool_result", "call_1", false],
        ["tool_result", "call_2", true],
        ["tool_result", "call_3", true],
      ],
    );
    assert.deepEqual(body.tools?.[0]?.input_schema, parameters);
  });

  // Requirements: X2, X3, X6, X28
  it("is sent on the chat wire as a system message and a tool message per result, with null for no text", async () => {
    const { body } = await exchange("groq", chatCalls("Look."), chatText("Done."));
    assert.deepEqual(
      body.messages.map(({ role, content }) => [role, content]),
      [
        ["system", "Be brief."],
        ["user", "Look."],
        ["assistant", "Look."],
        ["tool", "text"],
        ["tool", "thrown"],
        ["tool", "returned"],
      ],
    );
    assert.deepEqual(body.tools?.[0]?.function?.parameters, parameters);
    const silent = await exchange("groq", chatCalls(), chatText("Done."));
    assert.equal(silent.body.messages[2]?.content, null);
  });
});

describe("a tool call", () => {
  // Requirements: X5
  it("without arguments has an empty object, and with malformed ones gets an error result and never runs", async () => {
    const ran: unknown[] = [];
    const spy: AgentTool = {
      ...tool("a", () => ""),
      execute: (_id, params) => (ran.push(params), {}),
    };
    const as = (argumentsText: string, id: string): object => ({
      ...scriptedToolCall("a", {}, id),
      argumentsText,
    });
    const content = [
      as("", "1"),
      as('{"x": 1', "2"),
      as("[1]", "3"),
      as("null", "4"),
    ] as AssistantMessage["content"];
    const { agent } = rig([{ content }, "Done."], [spy]);
    await agent.prompt("Hi");
    assert.deepEqual(ran, [{}, {}]);
    const answers = agent.state.messages.flatMap((message) =>
      message.role === "toolResult" ? [message.isError] : [],
    );
    assert.deepEqual(answers, [false, true, true, false]);
  });

  // Requirements: X15, X29
  it("runs with any stop reason of a complete answer", async () => {
    const run = async (
      stopReason: "stop" | "toolUse" | "length" | "error" | "aborted",
    ): Promise<unknown[]> => {
      let ran = 0;
      const { agent, script } = rig(
        [{ ...call("a"), stopReason }, "Done."],
        [tool("a", () => String(++ran))],
      );
      const { reason } = await agent.prompt("Hi");
      const { length } = agent.state.messages.filter(({ role }) => role === "toolResult");
      return [ran, length, script.calls.length, reason];
    };
    assert.deepEqual(await run("stop"), [1, 1, 2, "done"]);
    assert.deepEqual(await run("toolUse"), [1, 1, 2, "done"]);
    assert.deepEqual(await run("length"), [0, 1, 2, "done"]);
    assert.deepEqual(await run("error"), [0, 1, 1, "error"]);
    assert.deepEqual(await run("aborted"), [0, 1, 1, "aborted"]);
  });

  // Requirements: X15
  it("that is announced but missing is an error, not the end", async () => {
    const { agent } = rig([{ content: [{ type: "text", text: "I will" }], stopReason: "toolUse" }]);
    const { reason, error } = await agent.prompt("Hi");
    assert.deepEqual([reason, error?.code], ["error", "stream_corrupt"]);
  });
});

describe("a run", () => {
  // Requirements: X16
  it("ends after 50 turns unless a budget says otherwise, and 0 allows no turn", async () => {
    const steps = (): ScriptedStep[] => [...Array.from({ length: 60 }, () => call("a")), "Done."];
    const bell = [tool("a", () => "1")];
    const limited = await rig(steps(), bell).agent.prompt("Hi");
    assert.deepEqual([limited.turns, limited.reason], [50, "budget"]);
    assert.match(limited.error?.message ?? "", /budget of 50 turns.*budget\.maxTurns/);
    const tokens = await rig(steps(), bell, { budget: { maxTokens: 1e9 } }).agent.prompt("Hi");
    assert.equal(tokens.turns, 50);
    const lifted = { budget: { maxTurns: Infinity } };
    assert.equal((await rig(steps(), bell, lifted).agent.prompt("Hi")).turns, 61);
    const { agent, script } = rig(["Done."], [], { budget: { maxTurns: 0 } });
    const { reason, error } = await agent.prompt("Hi");
    assert.deepEqual([reason, error?.code, script.calls.length], ["budget", "budget_exceeded", 0]);
  });

  // Requirements: X13
  it("sums up usage, while each message has its own, of which the last describes the context", async () => {
    const usage = (input: number, output: number): object => ({
      usage: { input, output, cacheRead: 1, reasoning: 2 },
    });
    const { agent } = rig(
      [
        { ...call("a"), ...usage(10, 5) },
        { content: [{ type: "text", text: "Done." }], ...usage(30, 7) },
      ],
      [tool("a", () => "1")],
    );
    const run = await agent.prompt("Hi");
    assert.partialDeepStrictEqual(run.usage, { input: 40, output: 12, cacheRead: 2, reasoning: 4 });
    assert.partialDeepStrictEqual(run.message?.usage, {
      input: 30,
      output: 7,
      cacheRead: 1,
      reasoning: 2,
    });
  });

  // Requirements: X18
  it("with a server that does not stream reads the whole answer", async () => {
    const json =
      (body: object): Handler =>
      (response) =>
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    const text = { role: "assistant", content: "Whole." };
    const wires: [string, object][] = [
      ["groq", { choices: [{ index: 0, message: text, finish_reason: "stop" }] }],
      [
        "anthropic",
        {
          type: "message",
          ...text,
          content: [{ type: "text", text: "Whole." }],
          stop_reason: "end_turn",
        },
      ],
    ];
    for (const [provider, body] of wires) {
      await using server = await loopback(json(body));
      const agent = new Agent({
        initialState: { model: getModel(provider, "m", { baseUrl: server.baseUrl }) },
      });
      const { message } = await agent.prompt("Hi");
      assert.equal(message && messageText(message), "Whole.");
    }
  });

  // Requirements: X27
  it("emits thinking as separate parts and events, apart from the text", async () => {
    const { agent, events } = rig([
      {
        content: [
          { type: "thinking", thinking: "Hm." },
          { type: "text", text: "Yes." },
        ],
      },
    ]);
    const { message } = await agent.prompt("Hi");
    assert.equal(message && messageText(message), "Yes.");
    assert.deepEqual(message?.content[0], { type: "thinking", thinking: "Hm." });
    assert.deepEqual(
      events.flatMap((event) =>
        event.type === "message_update" ? [event.assistantMessageEvent.type] : [],
      ),
      ["thinking_start", "thinking_delta", "thinking_end", "text_start", "text_delta", "text_end"],
    );
  });
});

describe("a provider", () => {
  // Requirements: X19
  it("can be a custom stream function that yields single events", async () => {
    const foreign = async function* (question: string): AsyncGenerator<string> {
      yield "You said ";
      yield question;
    };
    const streamFn: StreamFn = async function* (
      model,
      { messages },
    ): AsyncGenerator<AssistantMessageEvent> {
      const origin = { api: model.api, provider: model.provider, model: model.id, timestamp: 1 };
      const text: string[] = [];
      yield { type: "start", attempt: 1, ...origin };
      yield { type: "text_start", attempt: 1, contentIndex: 0 };
      for await (const delta of foreign(messageText(messages[0]!))) {
        text.push(delta);
        yield { type: "text_delta", attempt: 1, contentIndex: 0, delta };
      }
      const content = text.join("");
      yield { type: "text_end", attempt: 1, contentIndex: 0, content };
      const message: AssistantMessage = {
        role: "assistant",
        ...origin,
        content: [{ type: "text", text: content }],
        usage: {},
        stopReason: "stop",
      };
      yield { type: "done", attempt: 1, reason: "stop", message };
    };
    const { agent } = rig([], [], { streamFn });
    const { message, reason } = await agent.prompt("hello");
    assert.deepEqual([reason, message && messageText(message)], ["done", "You said hello"]);
    assert.deepEqual(texts(agent.state.messages), ["user: hello", "assistant: You said hello"]);
  });

  // Requirements: X20
  it("is reached by the `fetch` option", async () => {
    const urls: string[] = [];
    const agent = new Agent({
      initialState: { model: getModel("anthropic", "m") },
      fetch: async (url) => (urls.push(new Request(url).url), new Response("no", { status: 400 })),
    });
    assert.equal((await agent.prompt("Hi")).error?.code, "invalid_request");
    assert.deepEqual(urls, ["https://api.anthropic.com/v1/messages"]);
  });

  // Requirements: X21
  it("is given by a reference, split at the first slash, with any model id, or any vendor with a base URL", () => {
    const { provider, model } = parseModelRef("openrouter/anthropic/claude-9");
    assert.deepEqual([provider, model], ["openrouter", "anthropic/claude-9"]);
    assert.equal(getModel(provider, model).baseUrl, "https://openrouter.ai/api/v1");
    const own = getModel("my-rack", "any", { baseUrl: "http://10.0.0.9/v1" });
    assert.deepEqual([own.provider, own.id, own.api], ["my-rack", "any", "openai-chat"]);
    for (const wrong of ["gpt-5", "/gpt-5", "openai/", " / "]) {
      assert.throws(() => parseModelRef(wrong), code("invalid_argument"), wrong);
    }
    assert.throws(() => getModel("my-rack", "any"), code("invalid_argument"));
  });

  // Requirements: X22
  it("gets the key from getApiKey for each call, or else apiKey, and agents share no key", async () => {
    let count = 0;
    const keys = async (options: object): Promise<unknown[]> => {
      const { agent, script } = rig([call("a"), "Done."], [tool("a", () => "1")], options);
      await agent.prompt([hello]);
      return script.calls.map(({ options: sent }) => sent.apiKey);
    };
    const all = await Promise.all([
      keys({ apiKey: "own", getApiKey: () => `fresh ${++count}` }),
      keys({ apiKey: "own", getApiKey: () => undefined }),
      keys({}),
    ]);
    assert.deepEqual(all, [
      ["fresh 1", "fresh 2"],
      ["own", "own"],
      [undefined, undefined],
    ]);
  });
});
