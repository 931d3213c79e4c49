/** Hooks receive copies: the transcript changes only where the program changes it. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createCompaction } from "../../src/agent/index.ts";
import { Agent } from "../../src/index.ts";
import { messageText } from "../../src/llm/message.ts";
import { createMemoryStore, attachSession, createSession } from "../../src/session/index.ts";
import { createScriptedModel } from "../../src/testing/index.ts";
import { rig } from "../support.ts";

const text = (message: object): string => messageText(message as Parameters<typeof messageText>[0]);

describe("the transcript", () => {
  it("is unchanged when transformContext empties the list it was given", async () => {
    const { agent } = rig(["One.", "Two."], [], {
      transformContext: (messages) => {
        messages.splice(0, messages.length - 1);
        return messages;
      },
    });
    await agent.prompt("First");
    await agent.prompt("Second");
    assert.deepEqual(agent.state.messages.map(text), ["First", "One.", "Second", "Two."]);
  });

  it("is unchanged when transformContext or convertToLlm push onto their lists", async () => {
    const { agent, script } = rig(["One."], [], {
      transformContext: (messages) => {
        messages.push({ role: "user", content: "a hint", timestamp: 0 });
        return messages;
      },
      convertToLlm: (messages) => {
        messages.push({ role: "user", content: "another", timestamp: 0 });
        return messages;
      },
    });
    const session = await createSession(createMemoryStore());
    await attachSession(agent, session);
    await agent.prompt("First");
    assert.deepEqual(agent.state.messages.map(text), ["First", "One."]);
    assert.deepEqual((await session.contextMessages()).map(text), ["First", "One."]);
    const [asked] = script.calls;
    assert.deepEqual(asked?.context.messages.map(text), ["First", "a hint", "another"]);
  });

  it("is sent with the program's edits, before and after a compaction, wherever they are", async () => {
    const script = createScriptedModel(["Yes.", "Noted.", "A summary.", "Done.", "Done."]);
    const compaction = createCompaction({ contextWindow: 10_000, keepRecentTokens: 30 });
    const { agent } = rig([], [], { transformContext: compaction.transformContext });
    agent.state.model = script.model;
    agent.streamFn = compaction.wrap(script.streamFn);
    await agent.prompt("Old. ".repeat(800));
    await agent.prompt("The password is 1234.");
    assert.equal(await compaction.compact(agent.state.messages), true);
    await agent.prompt("Go on");
    assert.ok(JSON.stringify(script.calls.at(-1)?.context.messages).includes("1234"));
    const { messages } = agent.state;
    const at = messages.findIndex((message) => text(message).includes("1234"));
    agent.state.messages = messages.with(at, {
      role: "user",
      content: "The password is [redacted].",
      timestamp: 0,
    });
    await agent.prompt("And now?");
    const sent = JSON.stringify(script.calls.at(-1)?.context.messages);
    assert.equal(sent.includes("1234"), false, sent);
  });
});

describe("a session", () => {
  it("accepts one agent at a time", async () => {
    const session = await createSession(createMemoryStore());
    const first = await attachSession(rig([]).agent, session);
    await assert.rejects(attachSession(rig([]).agent, session), { code: "invalid_state" });
    first.detach();
    const second = rig(["Hello."]).agent;
    await attachSession(second, session);
    assert.equal((await second.prompt("Hi")).reason, "done");
  });

  it("can be attached after an attempt that was refused", async () => {
    const session = await createSession(createMemoryStore());
    const { agent } = rig(["Hello."]);
    await agent.prompt("Hi");
    await assert.rejects(attachSession(agent, session), { code: "invalid_state" });
    await attachSession(rig([]).agent, session);
  });
});

describe("a summary in a run with an output", () => {
  it("is not requested with the output's schema", async () => {
    const script = createScriptedModel([
      "Yes.",
      '{"city":"Oslo"}',
      "A summary.",
      '{"city":"Oslo"}',
    ]);
    const model = { ...script.model, compat: { structuredOutput: "json_schema" as const } };
    const compaction = createCompaction({ contextWindow: 10_000, keepRecentTokens: 1 });
    const agent = new Agent({
      initialState: { model },
      streamFn: compaction.wrap(script.streamFn),
      transformContext: compaction.transformContext,
    });
    const output = {
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
    } as const;
    await agent.prompt("A long story. ".repeat(400));
    await agent.prompt("Where is the Storting?", { output });
    assert.equal(await compaction.compact(agent.state.messages), true);
    const run = await agent.prompt("Once more", { output });
    assert.deepEqual(
      script.calls.map(({ options }) => options.output !== undefined),
      [false, true, false, true],
    );
    assert.deepEqual(run.output, { city: "Oslo" });
  });
});
