/**
 * Invalid use is reported as `invalid_argument` with a way to fix it, and the agent stays usable.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  agentLoop,
  Agent as AgentWithoutWire,
  type AgentEvent,
  type AgentLoopConfig,
  type AgentMessage,
} from "../../src/agent/index.ts";
import { isBowlineError } from "../../src/errors.ts";
import {
  Agent,
  getModel,
  type AssistantMessageEvent,
  type Message,
  type Model,
} from "../../src/index.ts";
import * as main from "../../src/index.ts";
import { streamByProtocol } from "../../src/providers/by-protocol.ts";
import { attachSession, createMemoryStore, createSession } from "../../src/session/index.ts";
import { createScriptedModel, type ScriptedModel } from "../../src/testing/index.ts";
import { hello, rig } from "../support.ts";

function setUp(): { agent: Agent; script: ScriptedModel } {
  const script = createScriptedModel(["Fine."]);
  return {
    script,
    agent: new Agent({ initialState: { model: script.model }, streamFn: script.streamFn }),
  };
}

const invalid =
  (message: RegExp) =>
  (error: unknown): boolean =>
    isBowlineError(error) && error.code === "invalid_argument" && message.test(error.message);

describe("a run without a model", () => {
  const models: readonly unknown[] = [undefined, null, "openai/gpt-5-mini"];

  it("ends at once for an agent, with and without an output", async () => {
    for (const model of models)
      for (const output of [undefined, { type: "object" }]) {
        const { agent, script } = setUp();
        agent.state.model = model as Model;
        const { reason, error, messages } = await agent.prompt("Hi", { output });
        assert.deepEqual([reason, messages, script.calls.length], ["error", [], 0]);
        assert.ok(invalid(/^No model is set.*getModel/)(error), error?.message);
        agent.state.model = script.model;
        assert.equal((await agent.prompt("Hi")).reason, "done");
      }
  });

  it("ends as failed in a low-level loop", async () => {
    const { streamFn, calls } = createScriptedModel(["Fine."]);
    const config = { convertToLlm: () => [] } as Partial<AgentLoopConfig> as AgentLoopConfig;
    let last: AgentEvent | undefined;
    for await (const event of agentLoop(
      [hello],
      { systemPrompt: "", messages: [] },
      config,
      undefined,
      streamFn,
    ))
      last = event;
    assert.ok(last?.type === "agent_end" && last.error?.code === "invalid_argument");
    assert.deepEqual([last.reason, calls.length], ["error", 0]);
  });
});

describe("a transcript of another library", () => {
  it("is refused with the index of the first message whose content is a string", async () => {
    const model = getModel("custom", "m", { baseUrl: "http://127.0.0.1:1/v1" });
    for (const role of ["assistant", "toolResult"]) {
      const messages = [hello, { role, content: "Hi." } as unknown as AgentMessage];
      const { error } = await new Agent({ initialState: { model, messages } }).prompt("And?");
      assert.ok(
        invalid(new RegExp(`messages\\[1\\] \\(${role}\\) must be a list`))(error),
        error?.message,
      );
    }
  });

  it("with parts that no wire knows is refused, because they would be dropped silently", async () => {
    const model = getModel("custom", "m", { baseUrl: "http://127.0.0.1:1/v1" });
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
    const text = { type: "text", text: "Hi" };
    const contents = [
      undefined,
      [null],
      [image],
      [{ type: "image", image: "AAAA" }],
      [text, image],
    ];
    for (const content of contents) {
      const message = { role: "user", content, timestamp: 0 } as unknown as AgentMessage;
      const { error } = await new Agent({ initialState: { model } }).prompt(message);
      assert.ok(
        invalid(/messages\[0\] \(user\) must be a list of parts, such as/)(error),
        error?.message,
      );
    }
  });

  it("with messages of the role system is refused, because they would never be sent", async () => {
    for (const role of ["system", "developer"]) {
      const { agent, script } = setUp();
      const message = { role, content: "Be brief.", timestamp: 0 } as unknown as AgentMessage;
      await assert.rejects(agent.prompt([message, hello]), invalid(/systemPrompt/));
      assert.equal(script.calls.length, 0);
      assert.equal((await agent.prompt("Hi")).reason, "done");
    }
  });

  it("with a tool result that no wire knows is refused", async () => {
    const model = getModel("custom", "m", { baseUrl: "http://127.0.0.1:1/v1" });
    const content = [{ type: "resource", resource: { uri: "a", text: "b" } }];
    const result = {
      role: "toolResult",
      content,
      toolCallId: "c",
      toolName: "a",
      isError: false,
      timestamp: 1,
    };
    const messages = [hello, result as unknown as AgentMessage];
    const { error } = await new Agent({ initialState: { model, messages } }).prompt("And?");
    assert.ok(
      invalid(/messages\[1\] \(toolResult\) must be a list of parts/)(error),
      error?.message,
    );
  });

  it("is accepted with parts that have extra fields, and with messages of a custom role", async () => {
    const refused = getModel("custom", "m", { baseUrl: "http://127.0.0.1:1/v1" });
    for (const message of [
      { role: "user", content: [{ type: "text", text: "Hi", data: null }] },
      {
        role: "toolResult",
        content: [{ type: "text", text: "Hi", data: { a: 1 } }],
        toolCallId: "c",
        toolName: "a",
      },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Hm." },
          { type: "opaque", protocol: "p", raw: {} },
        ],
      },
      { role: "note", text: "Hi" },
    ]) {
      const messages = [hello, message as unknown as Message];
      let end: AssistantMessageEvent | undefined;
      for await (end of await streamByProtocol(refused, { messages }, { maxRetries: 0 }));
      assert.ok(
        end?.type === "error" && end.error.error?.code === "connection_failed",
        JSON.stringify(end),
      );
    }
  });
});

describe("prompt() rejects", () => {
  const takes = /^prompt\(\) takes a string or messages with a role/;
  const cases: [what: string, input: unknown, options?: unknown][] = [
    ["nothing", undefined],
    ["null", null],
    ["a number", 5],
    ["no messages", []],
    ["a message without a role", { content: "Hi" }],
    ["a list with undefined", [hello, undefined]],
    ["null for options", "Hi", null],
    ["a string for options", "Hi", "shout"],
  ];
  for (const [what, ...given] of cases)
    it(what, async () => {
      const { agent, script } = setUp();
      await assert.rejects(
        (agent.prompt as (...all: unknown[]) => Promise<unknown>).apply(agent, given),
        invalid(takes),
      );
      assert.deepEqual([agent.state.messages, script.calls.length], [[], 0]);
      assert.equal((await agent.prompt("Hi")).reason, "done");
    });

  it("an output on an agent without outputRun, and names what supports it", async () => {
    const { streamFn, model } = createScriptedModel([]);
    const agent = new AgentWithoutWire({ initialState: { model }, streamFn });
    const said =
      /^outputRun is missing\. Set it to createOutputRun in a subclass, or import Agent from the main entry\.$/;
    await assert.rejects(agent.prompt("Hi", { output: { type: "object" } }), invalid(said));
  });
});

it("an agent whose run cannot begin is idle afterwards, and can run again", async () => {
  let isBroken = true;
  const createId = (): string => {
    if (isBroken) throw new Error("no more ids");
    return "run";
  };
  const { agent } = rig(["Hello."], [], { createId });
  await assert.rejects(agent.prompt("Hi"), /no more ids/);
  assert.equal(agent.state.isStreaming, false);
  await agent.waitForIdle();
  isBroken = false;
  assert.equal((await agent.prompt("Hi")).reason, "done");
});

it("an agent's queue refuses a text and undefined, also with a session", async () => {
  const { agent, script } = setUp();
  const session = await createSession(createMemoryStore());
  const { queued } = await attachSession(agent, session);
  for (const message of ["Stop.", undefined, { content: "Stop." }] as unknown as AgentMessage[])
    for (const queue of ["steer", "followUp"] as const)
      assert.throws(() => agent[queue](message), invalid(/^A queue accepts only messages/));
  await queued();
  assert.deepEqual((await session.state()).queued ?? [], []);
  assert.equal((await agent.prompt("Hi")).reason, "done");
  assert.equal(script.calls.length, 1);
});

describe("an unknown option", () => {
  const typos: [object, string][] = [
    [{ maxRetrys: 3 }, "maxRetries"],
    [{ max_tokens: 3 }, "maxTokens"],
    [{ steeringmode: "all" }, "steeringMode"],
    [{ toolTimeout: 3 }, "toolTimeoutMs"],
    [{ models: {} }, "model"],
    [{ tool: [] }, "tools"],
    [{ system_prompt: "" }, "systemPrompt"],
    [{ beforeTool: () => {} }, "beforeToolCall"],
  ];
  it("is refused by an agent, which suggests the nearest name", () => {
    for (const [options, nearest] of typos)
      assert.throws(() => new Agent(options), invalid(new RegExp(`Did you mean "${nearest}"`)));
    assert.ok(new Agent({ maxRetries: 1, unknown: undefined } as object));
  });

  it("is refused by every loop", async () => {
    const { model, streamFn } = createScriptedModel([]);
    const config = { model, convertToLlm: () => [], getSteeringMessage: () => [] } as never;
    const context = { systemPrompt: "", messages: [hello] };
    const refusal = invalid(/"getSteeringMessage".*"getSteeringMessages"/);
    assert.throws(() => main.agentLoop([], context, config, undefined, streamFn), refusal);
    assert.throws(() => main.agentLoopContinue(context, config, undefined, streamFn), refusal);
    const emit = (): void => {};
    await assert.rejects(
      main.runAgentLoop([], context, config, emit, undefined, streamFn),
      refusal,
    );
    await assert.rejects(
      main.runAgentLoopContinue(context, config, emit, undefined, streamFn),
      refusal,
    );
  });
});
