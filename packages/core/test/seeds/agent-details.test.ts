/** Details of seed 002: its defaults, side remarks, and statements about single fields. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AgentMessage } from "../../src/agent/index.ts";
import { Agent } from "../../src/index.ts";
import { call, hello, rig, tool } from "../support.ts";
import { ManualClock } from "../../../../test/support/manual-clock.ts";
import { texts } from "../../../../test/support/message-texts.ts";

const says = (content: string): AgentMessage => ({ ...hello, content });

describe("a stream function", () => {
  // Requirements: P20, P35
  it("gets the prompt and tools unchanged, and every option of the agent", async () => {
    const look = { ...tool("look", () => ""), label: "Look" };
    const metadata = { user_id: "u" };
    const options = {
      metadata,
      headers: { "x-a": "1" },
      cacheRetention: "long",
      maxRetryDelayMs: 7,
    } as const;
    const { agent, script } = rig(["Hello."], [look], options);
    agent.state.systemPrompt = "  as it is\n";
    await agent.prompt("Hi");
    const [asked] = script.calls;
    assert.deepEqual(
      [asked?.context.systemPrompt, asked?.context.tools?.[0] === look],
      ["  as it is\n", true],
    );
    assert.partialDeepStrictEqual(asked?.options, options);
    assert.ok(asked?.options.signal instanceof AbortSignal);
  });
});

describe("a callback that never settles", () => {
  const never = (): Promise<never> => new Promise(() => {});

  // Requirements: P38
  it("times out after a minute by default, as a hook or a listener", async () => {
    for (const [options, code] of [
      [{ convertToLlm: never }, "hook_failed"],
      [{}, "listener_failed"],
    ] as const) {
      const clock = new ManualClock();
      const { agent } = rig(["Hello."], [], { ...options, clock });
      if (code === "listener_failed")
        agent.subscribe(({ type }) => (type === "turn_start" ? never() : undefined));
      const run = agent.prompt("Hi");
      await clock.advance(59_999);
      assert.equal(agent.state.isStreaming, true);
      await clock.advance(1);
      assert.equal(agent.state.isStreaming, false); // checked first, because a hanging run would hang the test
      assert.equal((await run).error?.code, code);
    }
  });

  // Requirements: P27, P38
  it("is given up a second after an abort by default, as a tool", async () => {
    const clock = new ManualClock();
    const { agent } = rig([call("a")], [tool("a", never)], { clock });
    const run = agent.prompt("Hi");
    await clock.advance(1);
    agent.abort();
    await clock.advance(999);
    assert.equal(agent.state.isStreaming, true);
    await clock.advance(1);
    assert.equal(agent.state.isStreaming, false);
    assert.equal((await run).reason, "aborted");
  });
});

describe("hooks around a tool", () => {
  // Requirements: P14, P15
  it("get the assistant message, the transcript and the abort signal", async () => {
    const told: unknown[] = [];
    const { agent } = rig([call("a"), "never"], [tool("a", () => "ran")], {
      beforeToolCall: ({ assistantMessage, context }, signal) =>
        void told.push(
          "before",
          assistantMessage === agent.state.messages[1],
          context.messages.length,
          signal?.aborted,
        ),
      afterToolCall: ({ assistantMessage, context }, signal) => {
        agent.abort();
        told.push(
          "after",
          assistantMessage === agent.state.messages[1],
          context.messages.length,
          signal?.aborted,
        );
      },
    });
    await agent.prompt("Hi");
    assert.deepEqual(told, ["before", true, 2, false, "after", true, 2, true]);
  });
});

describe("getApiKey", () => {
  // Requirements: P20
  it("gets the name of the model's provider", async () => {
    const asked: string[] = [];
    const { agent } = rig(["Hello."], [], { getApiKey: (provider) => void asked.push(provider) });
    agent.state.model = { ...agent.state.model, id: "m", provider: "a vendor" };
    await agent.prompt("Hi");
    assert.deepEqual(asked, ["a vendor"]);
  });
});

describe("a message", () => {
  // Requirements: P7, P25
  it("has a timestamp as text, and as a result also the id and the name of its call", async () => {
    const { agent } = rig([call("a", "1"), "Done."], [tool("a", () => "ran")], {
      clock: new ManualClock(),
    });
    await agent.prompt("Hi");
    const [prompt, , result] = agent.state.messages;
    const timestamp = 1_000_000;
    assert.deepEqual(prompt, { role: "user", content: "Hi", timestamp });
    assert.partialDeepStrictEqual(result, {
      role: "toolResult",
      toolCallId: "1",
      toolName: "a",
      isError: false,
      timestamp,
    });
  });
});

describe("continue", () => {
  // Requirements: P26
  it("sends a transcript that ends with tool results to the model", async () => {
    const { agent, script } = rig(
      [call("a"), { content: [], stopReason: "error" }, "Done."],
      [tool("a", () => "1")],
    );
    assert.equal((await agent.prompt("Hi")).reason, "error");
    agent.state.messages.pop(); // the failed answer
    assert.equal((await agent.continue()).reason, "done");
    assert.deepEqual(texts(script.calls[2]?.context.messages ?? []), [
      "user: Hi",
      "assistant: toolCall",
      "toolResult: 1",
    ]);
  });
});

describe("afterToolCall", () => {
  // Requirements: P15
  it("replaces each field of a result as a whole", async () => {
    const given = {
      content: [{ type: "text" as const, text: "ran" }],
      details: { size: 1, at: { line: 2 } },
    };
    const replaced = async (fields: object): Promise<unknown> => {
      const { agent } = rig(
        [call("a"), "Done."],
        [{ ...tool("a", () => ""), execute: () => given }],
        {
          afterToolCall: () => fields,
        },
      );
      await agent.prompt("Hi");
      const message = agent.state.messages[2];
      return message?.role === "toolResult" && [message.content, message.details, message.isError];
    };
    assert.deepEqual(await replaced({}), [given.content, given.details, false]);
    assert.deepEqual(await replaced({ details: { at: {} } }), [given.content, { at: {} }, false]);
    assert.deepEqual(await replaced({ content: [], isError: true }), [[], given.details, true]);
  });
});

describe("the state", () => {
  // Requirements: P19, P22
  it("copies its initial arrays", () => {
    const [messages, tools] = [[hello], [tool("a", () => "1")]];
    const { state } = new Agent({ initialState: { messages, tools } });
    assert.deepEqual([state.messages, state.tools], [messages, tools]);
    state.messages.push(says("more"));
    state.tools.pop();
    assert.deepEqual([messages.length, tools.length], [1, 1]);
  });

  // Requirements: P27
  it("loses messages, queues and the error on reset, and keeps the rest", async () => {
    const { agent } = rig([{ content: [], stopReason: "error" }], [tool("a", () => "1")]);
    Object.assign(agent.state, { systemPrompt: "Be brief.", thinkingLevel: "low" });
    await agent.prompt("Hi");
    assert.ok(agent.state.errorMessage);
    agent.steer(hello);
    agent.followUp(hello);
    agent.reset();
    const { messages, errorMessage, systemPrompt, thinkingLevel, tools, model } = agent.state;
    assert.deepEqual([messages, errorMessage, agent.hasQueuedMessages()], [[], undefined, false]);
    assert.deepEqual(
      [systemPrompt, thinkingLevel, tools.length, model.id],
      ["Be brief.", "low", 1, "scripted"],
    );
  });
});

describe("a queue", () => {
  // Requirements: P20
  it("delivers one message at a time by default", () => {
    const { steeringMode, followUpMode } = new Agent();
    assert.deepEqual([steeringMode, followUpMode], ["one-at-a-time", "one-at-a-time"]);
  });

  // Requirements: P30
  it("keeps follow-ups when the run fails", async () => {
    const { agent, script } = rig([{ content: [], stopReason: "error" }, "never"]);
    agent.followUp(says("f"));
    assert.equal((await agent.prompt("Hi")).reason, "error");
    assert.deepEqual([script.calls.length, agent.hasQueuedMessages()], [1, true]);
  });

  // Requirements: P26
  it("of follow-ups is delivered by `continue` after an answer when nothing was steered", async () => {
    const { agent, script } = rig(["One.", "Two.", "Three."]);
    await agent.prompt("Hi");
    for (const content of ["f1", "f2"]) agent.followUp(says(content));
    await agent.continue();
    assert.deepEqual(
      script.calls.slice(1).map(({ context }) => texts(context.messages).at(-1)),
      ["user: f1", "user: f2"],
    );
  });
});
