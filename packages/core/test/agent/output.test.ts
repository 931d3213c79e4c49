import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { Agent as AgentWithoutWire, type SettledCall } from "../../src/agent/index.ts";
import {
  Agent,
  createAgentTool,
  requireApproval,
  type AgentOptions,
  type AgentTool,
  type Compat,
} from "../../src/index.ts";
import {
  createScriptedModel,
  scriptedToolCall,
  type ScriptedModel,
  type ScriptedStep,
} from "../../src/testing/index.ts";
import { call, hello, tool } from "../support.ts";
import { cpuMs } from "../../../../test/support/cpu-time.ts";
import { code } from "../../../../test/support/error-code.ts";
import { ManualClock, settle } from "../../../../test/support/manual-clock.ts";
import { texts } from "../../../../test/support/message-texts.ts";

const schema = z.object({ city: z.string(), degrees: z.number() });
const json = { type: "object", properties: { n: { type: "number" } }, required: ["n"] } as const;
const good = '{"city":"Oslo","degrees":3}';
const value = { city: "Oslo", degrees: 3 };
const final = (args: Record<string, unknown>, id?: string): ScriptedStep => ({
  content: [scriptedToolCall("final_answer", args, id)],
});

const isThree = (args: unknown): boolean => (args as { n?: unknown }).n === 3;

function setUp(
  how: Compat["structuredOutput"],
  steps: readonly ScriptedStep[],
  tools: AgentTool[] = [],
  options: AgentOptions = {},
): { agent: Agent; script: ScriptedModel } {
  const script = createScriptedModel(steps);
  const model = { ...script.model, ...(how && { compat: { structuredOutput: how } }) };
  return {
    script,
    agent: new Agent({ initialState: { model, tools }, streamFn: script.streamFn, ...options }),
  };
}

describe("a run for an output, where the server supports schemas", () => {
  it("sends the schema and returns the value, typed and checked", async () => {
    const { agent, script } = setUp("json_schema", [call("a"), good], [tool("a", () => "1")]);
    const run = await agent.prompt("Weather?", { output: schema });
    const city: string | undefined = run.output?.city;
    assert.deepEqual([run.reason, run.output, city], ["done", value, "Oslo"]);
    for (const { options, context } of script.calls) {
      assert.deepEqual((options.output?.schema as { required: unknown } | undefined)?.required, [
        "city",
        "degrees",
      ]);
      assert.deepEqual(
        context.tools?.map(({ name }) => name),
        ["a"],
      );
    }
  });

  it("accepts JSON in a code block, and repairs it if possible", async () => {
    for (const begin of ["```json\n", "\n``` \t\n\n"]) {
      const { agent } = setUp("json_schema", [`${begin}{"city":"Oslo","degrees":"3"}\n\`\`\` \n`]);
      assert.deepEqual((await agent.prompt("Weather?", { output: schema })).output, value);
    }
  });

  it("rejects in linear time a code block that holds only newlines", async () => {
    // Quadratic work would take minutes; the limit only has to distinguish the two.
    const { agent } = setUp("json_schema", [
      { content: [{ type: "text", text: `\`\`\`${"\n".repeat(300_000)}.` }] },
      good,
    ]);
    const from = cpuMs();
    assert.deepEqual((await agent.prompt("Weather?", { output: schema })).output, value);
    assert.ok(cpuMs() - from < 5000);
  });

  it("sends an answer that does not fit back with every problem, and accepts the next", async () => {
    const { agent, script } = setUp("json_schema", ["Cold.", '{"city":5}', good]);
    const run = await agent.prompt("Weather?", { output: schema });
    assert.deepEqual([run.reason, run.output, script.calls.length], ["done", value, 3]);
    const said = texts(run.messages).filter((text) => text.startsWith("user"));
    assert.match(said[1] ?? "", /must be JSON/);
    assert.match(said[2] ?? "", /- degrees: /);
  });

  it("fails with invalid_output after three answers that do not fit", async () => {
    const { agent, script } = setUp("json_schema", ["one", "two", "three", good]);
    const run = await agent.prompt("Weather?", { output: schema });
    assert.deepEqual(
      [run.reason, run.error?.code, script.calls.length],
      ["error", "invalid_output", 3],
    );
    assert.equal(run.output, undefined);
  });

  it("returns a value that used up the budget, and fails when that answer does not fit", async () => {
    const budget = { maxTurns: 1 };
    const fits = setUp("json_schema", [good], [], { budget });
    assert.deepEqual((await fits.agent.prompt("Weather?", { output: schema })).output, value);
    const not = setUp("json_schema", ["Cold."], [], { budget });
    const run = await not.agent.prompt("Weather?", { output: schema });
    assert.deepEqual([run.reason, run.error?.code], ["error", "invalid_output"]);
  });

  const checks: Record<string, { validate: () => never | Promise<never>; why: RegExp }> = {
    "never answers": { validate: () => new Promise(() => {}), why: /took longer than 100 ms/ },
    throws: {
      validate: () => {
        throw new Error("boom");
      },
      why: /boom/,
    },
  };
  for (const [what, { validate, why }] of Object.entries(checks))
    it(`ends with hook_failed when the check of a last answer ${what}`, async () => {
      const clock = new ManualClock();
      const options = { clock, hookTimeoutMs: 100, budget: { maxTurns: 1 } };
      const { agent } = setUp("json_schema", [good], [], options);
      const run = agent.prompt("Weather?", {
        output: { "~standard": { ...schema["~standard"], validate } },
      });
      await clock.advance(100);
      const { reason, error, output, messages } = await Promise.race([
        run,
        settle().then(() => assert.fail("hangs")),
      ]);
      assert.deepEqual(
        [reason, error?.code, output, messages.length],
        ["error", "hook_failed", undefined, 2],
      );
      assert.match(error?.message ?? "", why);
      assert.deepEqual([clock.pending, agent.state.isStreaming], [0, false]);
    });

  it("uses the tool where the server cannot combine tools and a schema", async () => {
    const alone = setUp("no_tools", [good]);
    assert.deepEqual((await alone.agent.prompt("Weather?", { output: schema })).output, value);
    const both = setUp("no_tools", [final(value)], [tool("a", () => "1")]);
    assert.deepEqual((await both.agent.prompt("Weather?", { output: schema })).output, value);
    assert.equal(both.script.calls[0]?.options.output, undefined);
  });
});

describe("a run for an output, on other servers", () => {
  it("gives the model a tool that ends the run with the value", async () => {
    const { agent, script } = setUp("none", [call("a"), final({ n: "7" })], [tool("a", () => "1")]);
    const run = await agent.prompt("Number?", { output: json });
    const n: number | undefined = run.output?.n;
    assert.deepEqual([run.reason, n, script.calls.length], ["done", 7, 2]);
    assert.deepEqual(
      script.calls[0]?.context.tools?.map(({ name }) => name),
      ["a", "final_answer"],
    );
    assert.deepEqual(
      agent.state.tools.map(({ name }) => name),
      ["a"],
    );
  });

  it("returns the arguments as beforeToolCall changed them, once checked", async () => {
    const length = z.object({ n: z.string().transform((text) => text.length) });
    for (const [output, args, edited, expected] of [
      [json, { n: 1 }, { n: 9 }, { n: 9 }],
      [json, { n: 1 }, { n: "9" }, { n: 9 }],
      [length, { n: "abc" }, { n: "a" }, { n: 1 }],
      [length, { n: "abc" }, undefined, { n: 3 }],
    ] as const) {
      const { agent, script } = setUp("none", [final(args)], [], {
        beforeToolCall: () => ({ args: edited }),
      });
      const run = await agent.prompt("Number?", { output });
      assert.deepEqual([run.reason, run.output, script.calls.length], ["done", expected, 1]);
    }
  });

  it("asks for no approval of the output tool, even if every call needs one", async () => {
    const asked: string[] = [];
    const steps = [call("a"), final({ n: 1 })];
    const { agent } = setUp("none", steps, [tool("a", () => "1")], {
      beforeToolCall: requireApproval(),
    });
    agent.subscribe((event) => {
      if (event.type !== "approval_request") return;
      asked.push(event.toolName);
      agent.answer(event.approvalId, { decision: "allow" });
    });
    const { output } = await agent.prompt("Number?", { output: json });
    assert.deepEqual([output, asked], [{ n: 1 }, ["a"]]);
    // A tool of that name in a run without an output is an ordinary tool.
    const own = setUp(
      undefined,
      [call("final_answer"), "Done."],
      [tool("final_answer", () => "1")],
      {
        beforeToolCall: requireApproval({ timeoutMs: 1 }),
      },
    );
    assert.equal((await own.agent.prompt("Number?")).tools[0]?.outcome, "not_started");
  });

  it("returns an output recorded in an earlier process, even while a nested run emits events", async () => {
    const inner = createScriptedModel(["Looked."]);
    const createAgent = (): Agent =>
      new Agent({ initialState: { model: inner.model }, streamFn: inner.streamFn });
    const look = createAgentTool({ name: "look", description: "Looks.", createAgent });
    const both = {
      content: [
        scriptedToolCall("look", { prompt: "Look" }),
        scriptedToolCall("final_answer", { n: 7 }, "x"),
      ],
    };
    const result = { content: [], terminate: true };
    const recorded = (name: string): SettledCall | undefined =>
      name.endsWith(":x")
        ? { result, isError: false, outcome: "finished", durationMs: 1 }
        : undefined;
    const { agent, script } = setUp("none", ["Done."], [look], { effects: { recorded } });
    const stopped = setUp("none", [both], [], { budget: { maxTurns: 1 } });
    agent.state.messages = (await stopped.agent.prompt("Number?")).messages.slice(0, 2);
    const run = await agent.resume({ runId: "old", turns: 1 }, { output: json });
    assert.deepEqual([run.reason, run.output, script.calls.length], ["done", { n: 7 }, 1]);
  });

  it("returns the output of the last call, also when calls share an id", async () => {
    const steps = [final({ n: 1 }, "0"), final({ n: 2 }, "0"), final({ n: 3 }, "0"), "Enough."];
    const { agent } = setUp("none", steps, [], {
      followUpMode: "one-at-a-time",
      beforeToolCall: ({ args }) =>
        isThree(args) ? { block: true } : { args: { n: (args as { n: number }).n * 10 } },
    });
    for (const content of ["Again", "Once more"]) agent.followUp({ ...hello, content });
    assert.deepEqual((await agent.prompt("Number?", { output: json })).output, { n: 20 });
  });

  it("asks for the tool when the model only writes text, and again when its arguments do not fit", async () => {
    const { agent, script } = setUp("none", [
      "Seven.",
      final({ n: "seven" }, "x"),
      final({ n: 7 }, "y"),
    ]);
    const run = await agent.prompt("Number?", { output: json });
    assert.deepEqual([run.output, script.calls.length], [{ n: 7 }, 3]);
    assert.match(texts(run.messages)[2] ?? "", /calling the tool final_answer/);
    const stubborn = setUp("none", [
      final({}, "1"),
      final({}, "2"),
      final({}, "3"),
      final({ n: 7 }, "4"),
    ]);
    const failed = await stubborn.agent.prompt("Number?", { output: json });
    assert.deepEqual([failed.error?.code, stubborn.script.calls.length], ["invalid_output", 3]);
  });

  it("can continue from a transcript, and does not affect later runs without an output", async () => {
    const { agent, script } = setUp("none", [final({ n: 7 }), "Plain."]);
    agent.state.messages = [hello];
    assert.deepEqual((await agent.continue({ output: json })).output, { n: 7 });
    const plain = await agent.prompt("And now?");
    assert.deepEqual([plain.reason, plain.output], ["done", undefined]);
    assert.deepEqual(script.calls[1]?.context.tools, []);
  });

  it("delivers follow-ups and steering before it ends", async () => {
    const { agent } = setUp("none", [final({ n: 1 }), "Told."]);
    agent.followUp({ ...hello, content: "Tell me" });
    const run = await agent.prompt("Number?", { output: json });
    assert.deepEqual([run.output, texts(run.messages).at(-1)], [{ n: 1 }, "assistant: Told."]);
  });

  it("replaces the value by that of a follow-up, unless it does not fit", async () => {
    for (const [how, steps, expected] of [
      ["json_schema", ['{"n":1}', '{"n":2}'], 2],
      ["json_schema", ['{"n":1}', '{"n":"two"}'], 1],
      ["none", [final({ n: 1 }, "1"), final({ n: 2 }, "2")], 2],
    ] as const) {
      const { agent, script } = setUp(how, steps);
      agent.followUp({ ...hello, content: "Once more" });
      const run = await agent.prompt("Number?", { output: json });
      assert.deepEqual([run.reason, run.output, script.calls.length], ["done", { n: expected }, 2]);
    }
  });

  it("finds its value even if the transcript was replaced meanwhile", async () => {
    for (const [how, last] of [
      ["json_schema", '{"n":7}'],
      ["none", final({ n: 7 })],
    ] as const) {
      const prune = tool("a", () => {
        agent.state.messages = agent.state.messages.slice(-1);
        return "1";
      });
      const { agent } = setUp(how, [call("a"), call("a"), last], [prune]);
      assert.deepEqual((await agent.prompt("Number?", { output: json })).output, { n: 7 });
    }
  });
});

describe("an output that cannot work", () => {
  it("is refused when a tool has the output tool's name", async () => {
    const { agent, script } = setUp(undefined, [good], [tool("final_answer", () => "1")]);
    await assert.rejects(agent.prompt("Hi", { output: schema }), code("invalid_argument"));
    assert.equal(script.calls.length, 0);
    assert.equal((await agent.prompt("Hi")).reason, "done");
  });

  it("is refused before a request is sent", async () => {
    const { agent, script } = setUp("none", []);
    await assert.rejects(
      agent.prompt("Hi", { output: { type: "string" } }),
      code("invalid_argument"),
    );
    await assert.rejects(agent.prompt("Hi", { output: 5 }), code("invalid_argument"));
    assert.equal(script.calls.length, 0);
    const bare = new AgentWithoutWire({
      initialState: { model: script.model },
      streamFn: script.streamFn,
    });
    await assert.rejects(bare.prompt("Hi", { output: json }), /outputRun/);
    assert.equal(agent.state.isStreaming, false);
  });
});
