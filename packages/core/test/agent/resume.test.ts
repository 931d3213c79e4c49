/** A run that its process did not finish continues from its transcript. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type {
  AgentMessage,
  AgentOptions,
  AgentTool,
  Effects,
  SettledCall,
} from "../../src/agent/index.ts";
import { scriptedToolCall, type ScriptedStep } from "../../src/testing/index.ts";
import { BowlineError } from "../../src/errors.ts";
import { call, hello, rig, short, tool, type Rig } from "../support.ts";
import { texts } from "../../../../test/support/message-texts.ts";

const two: ScriptedStep = {
  content: [scriptedToolCall("a", {}, "1"), scriptedToolCall("b", {}, "2")],
};

/** The transcript of an agent that calls `a` and `b`, after its first `count` messages. */
async function begun(count: number): Promise<AgentMessage[]> {
  const { agent } = rig([two, "Done."], [tool("a", () => "A"), tool("b", () => "B")]);
  await agent.prompt("Go");
  return agent.state.messages.slice(0, count);
}

function setUp(messages: AgentMessage[], tools: AgentTool[], options: AgentOptions = {}): Rig {
  const made = rig(["Done."], tools, { createId: () => "new", ...options });
  made.agent.state.messages = messages;
  return made;
}

const ran: string[] = [];
const noted = ["a", "b"].map((name) =>
  tool(name, () => {
    ran.push(name);
    return name.toUpperCase();
  }),
);

const settled = (text: string, outcome: SettledCall["outcome"]): SettledCall => ({
  result: { content: [{ type: "text", text }] },
  isError: outcome !== "finished",
  outcome,
  durationMs: 1,
});
const memory = (recorded: Effects["recorded"]): NonNullable<AgentOptions["effects"]> => ({
  step: (_name, fn) => fn(),
  waitFor: () => Promise.reject(new Error("nobody")),
  recorded: recorded,
});

describe("a run that is resumed", () => {
  it("asks the model when the transcript ends with a user message or with every result", async () => {
    for (const [count, turns] of [
      [1, 0],
      [4, 1],
    ] as const) {
      ran.length = 0;
      const { agent, script, events } = setUp(await begun(count), noted);
      const run = await agent.resume({ runId: "old", turns });
      assert.deepEqual(
        [run.reason, run.runId, run.turns, script.calls.length],
        ["done", "old", turns + 1, 1],
      );
      assert.deepEqual(ran, []);
      assert.equal(texts(agent.state.messages).at(-1), "assistant: Done.");
      const [start] = events;
      assert.ok(start?.type === "agent_start" && start.resumed === true);
    }
  });

  it("runs only the calls without a result, under their original idempotency keys", async () => {
    ran.length = 0;
    const keys: (string | undefined)[] = [];
    const spy = tool("b", () => "B");
    const b: AgentTool = {
      ...spy,
      execute: (id, args, signal, update, about) => {
        keys.push(about?.idempotencyKey);
        return spy.execute(id, args, signal, update, about);
      },
    };
    const { agent, script } = setUp(await begun(3), [noted[0] as AgentTool, b]);
    const run = await agent.resume({ runId: "old", turns: 1 });
    assert.deepEqual([run.reason, script.calls.length, ran, keys], ["done", 1, [], ["old:1:2"]]);
    assert.deepEqual(texts(agent.state.messages).slice(2), [
      "toolResult: A",
      "toolResult: B",
      "assistant: Done.",
    ]);
  });

  it("reuses a recorded result without another approval, and reports unknown outcomes", async () => {
    ran.length = 0;
    const asked: string[] = [];
    const unknown = "It is not known whether this call took effect.";
    const { agent, events } = setUp(await begun(2), noted, {
      beforeToolCall: ({ toolCall }) => void asked.push(toolCall.name),
      effects: memory((name) =>
        name === "tool:1:1" ? settled("A, before", "finished") : settled(unknown, "unknown"),
      ),
    });
    const run = await agent.resume({ runId: "old", turns: 1 });
    assert.deepEqual([run.reason, ran, asked], ["done", [], []]);
    assert.deepEqual(texts(run.messages), [
      "toolResult: A, before",
      `toolResult: ${unknown}`,
      "assistant: Done.",
    ]);
    assert.deepEqual(
      run.tools.map(({ outcome }) => outcome),
      ["finished", "unknown"],
    );
    assert.ok(events.map(short).includes("tool_execution_end:2 error"));
  });

  it("ends when its last answer is already there, and delivers follow-ups", async () => {
    const { agent, script } = setUp(await begun(5), noted);
    assert.equal((await agent.resume({ runId: "old", turns: 2 })).reason, "done");
    assert.equal(script.calls.length, 0);
    agent.followUp({ ...hello, content: "More" });
    await agent.resume({ runId: "old", turns: 2 });
    assert.equal(script.calls.length, 1);
  });

  it("numbers its events from the given seq, and counts earlier usage in its budget", async () => {
    const { agent, events } = setUp(await begun(4), noted, { budget: { maxTurns: 2 } });
    const run = await agent.resume({ runId: "old", turns: 1, usage: { totalTokens: 7 }, seq: 100 });
    assert.deepEqual([events[0]?.seq, run.reason, run.usage.totalTokens], [100, "done", 7]);
  });

  it("is done when its last answer used up the budget, and does not run the open calls of such an answer", async () => {
    const { agent, script } = setUp(await begun(5), noted, { budget: { maxTurns: 2 } });
    assert.deepEqual(
      [(await agent.resume({ runId: "old", turns: 2 })).reason, script.calls.length],
      ["done", 0],
    );
    const spent = setUp(await begun(3), noted, { budget: { maxTurns: 1 } });
    assert.equal((await spent.agent.resume({ runId: "old", turns: 1 })).reason, "budget");
    assert.match(
      texts(spent.agent.state.messages).at(-1) ?? "",
      /toolResult: Not run: The run used its budget/,
    );
  });

  it("ends when every result of its last answer terminates, in the transcript or only recorded", async () => {
    const ends = (text: string, terminate: boolean): SettledCall => {
      const end = settled(text, "finished");
      return { ...end, result: { ...end.result, terminate } };
    };
    for (const count of [2, 3, 4]) {
      for (const [a, b] of [
        [true, true],
        [true, false],
        [false, true],
      ] as const) {
        const { agent, script, events } = setUp(await begun(count), noted, {
          effects: memory(
            (name) =>
              (name === "tool:1:1" ? ends("A", a) : name === "tool:1:2" && ends("B", b)) ||
              undefined,
          ),
        });
        const { reason } = await agent.resume({ runId: "old", turns: 1 });
        const what = `${count} messages, ${a}, ${b}`;
        assert.deepEqual([reason, script.calls.length], ["done", a && b ? 0 : 1], what);
        assert.deepEqual(
          texts(agent.state.messages).slice(2, 4),
          ["toolResult: A", "toolResult: B"],
          what,
        );
        const end = events.find(({ type }) => type === "turn_end");
        assert.deepEqual(
          end?.type === "turn_end" && texts(end.toolResults),
          ["toolResult: A", "toolResult: B"],
          what,
        );
      }
    }
  });

  it("calls `shouldStopAfterTurn` for a turn whose results were all there", async () => {
    const asked: string[][] = [];
    const { agent, script } = setUp(await begun(4), noted, {
      shouldStopAfterTurn: ({ toolResults }) => asked.push(texts(toolResults)) > 0,
    });
    assert.equal((await agent.resume({ runId: "old", turns: 1 })).reason, "done");
    assert.deepEqual([asked, script.calls.length], [[["toolResult: A", "toolResult: B"]], 0]);
  });

  it("does not end a turn again after which a message of the user was added", async () => {
    const asked: string[][] = [];
    const { agent, script, events } = setUp([...(await begun(4)), hello], noted, {
      shouldStopAfterTurn: ({ toolResults }) => asked.push(texts(toolResults)) < 0,
    });
    assert.equal((await agent.resume({ runId: "old", turns: 1 })).reason, "done");
    assert.deepEqual([asked, script.calls.length], [[[]], 1]);
    assert.equal(events.filter(({ type }) => type === "turn_end").length, 1);
  });

  it("ends with the error of its own failed answer, not with that of an earlier run", async () => {
    const { agent: failing } = rig([{ ...two, stopReason: "error" }], noted);
    const { error } = await failing.prompt("Go");
    const { messages } = failing.state;
    assert.equal(messages.length, 4);
    const { agent, script } = setUp([...messages], noted);
    const end = await agent.resume({ runId: "old", turns: 1 });
    assert.deepEqual(
      [end.reason, end.error?.message, script.calls.length],
      ["error", error?.message, 0],
    );
    const { agent: next, script: asked } = setUp([...messages], noted);
    const { reason } = await next.resume({ runId: "new", turns: 0 });
    assert.deepEqual([reason, asked.calls.length], ["done", 1]);
  });

  it("runs no call whose record cannot be read: each has a result, and the run ends with the failure", async () => {
    ran.length = 0;
    const lost = new BowlineError("storage_failed", "The disk is gone.");
    const { agent, script } = setUp(await begun(2), noted, {
      effects: memory(() => Promise.reject(lost)),
    });
    const { reason, error, tools } = await agent.resume({ runId: "old", turns: 1 });
    assert.deepEqual(
      [reason, error?.code, ran, script.calls.length],
      ["error", "storage_failed", [], 0],
    );
    assert.deepEqual(
      tools.map(({ outcome }) => outcome),
      ["unknown", "unknown"],
    );
    assert.deepEqual(
      texts(agent.state.messages).slice(2),
      Array.from(
        { length: 2 },
        () => "toolResult: It is unknown whether this call ran: The disk is gone.",
      ),
    );
  });

  it("leaves no call without a result when its settings are invalid", async () => {
    const { agent } = setUp(await begun(3), noted, { maxParallelTools: 0 });
    const { reason, error } = await agent.resume({ runId: "old", turns: 1 });
    assert.deepEqual([reason, error?.code], ["error", "invalid_argument"]);
    assert.match(
      texts(agent.state.messages).at(-1) ?? "",
      /toolResult: Not run: maxParallelTools must be/,
    );
  });
});

describe("a step that cannot be recorded", () => {
  const full = new BowlineError("storage_failed", "The disk is full.");

  it("before the tool: it does not run, every call has a result, and the run ends with the failure", async () => {
    ran.length = 0;
    const { agent, script } = rig([two, "never"], noted, {
      effects: {
        ...memory(() => undefined),
        step: (name, fn) => (name.startsWith("tool:") ? Promise.reject(full) : fn()),
      },
    });
    const run = await agent.prompt("Go");
    assert.deepEqual(
      [run.reason, run.error?.code, ran, script.calls.length],
      ["error", "storage_failed", [], 1],
    );
    assert.equal(agent.state.messages.filter(({ role }) => role === "toolResult").length, 2);
  });

  it("of the model: its answer is in the transcript, and its call does not run", async () => {
    ran.length = 0;
    const { agent, events } = rig([call("a"), "never"], noted, {
      effects: {
        ...memory(() => undefined),
        step: (_name, fn) => fn().then(() => Promise.reject(full)),
      },
    });
    const run = await agent.prompt("Go");
    assert.deepEqual([run.reason, run.error?.code, ran], ["error", "storage_failed", []]);
    assert.match(
      texts(agent.state.messages).join("\n"),
      /^user: Go\nassistant: toolCall\ntoolResult: Not run: /,
    );
    assert.deepEqual(events.slice(-2).map(short), ["turn_end", "agent_end:error"]);
  });

  it("after the tool: its result is in the transcript", async () => {
    const { agent } = rig([call("a"), "never"], noted, {
      effects: {
        ...memory(() => undefined),
        step: async (name, fn) => {
          const result = await fn();
          if (name.startsWith("tool:")) throw full;
          return result;
        },
      },
    });
    const run = await agent.prompt("Go");
    assert.equal(run.error?.code, "storage_failed");
    assert.equal(texts(agent.state.messages)[2], "toolResult: A");
  });
});
