/** The output of a run while it arrives, from the answer's text and from the output tool. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import type { Clock } from "../../src/clock.ts";
import { BowlineError } from "../../src/errors.ts";
import { Agent, createFailover, type AgentEvent, type Compat } from "../../src/index.ts";
import { anyOutput, applyIncrement, partialOutput } from "../../src/partial/index.ts";
import type { PartialOutputEvent } from "../../src/partial/index.ts";
import {
  createScriptedModel,
  scriptedToolCall,
  type ScriptedStep,
} from "../../src/testing/index.ts";
import { streamOpenaiCompatible } from "../../src/providers/openai-chat/index.ts";
import { getModel } from "../../src/providers/vendors.ts";
import { code } from "../../../../test/support/error-code.ts";
import { loopback, streamed } from "../../../../test/support/loopback.ts";
import { call, tool } from "../support.ts";

const berths = z.object({
  harbour: z.string(),
  kind: z.enum(["guest", "guests only"]),
  berths: z.array(z.object({ id: z.number(), free: z.boolean() })),
});
const value = {
  harbour: "Horten",
  kind: "guest" as const,
  berths: [
    { id: 1, free: true },
    { id: 22, free: false },
  ],
};
const final = (args: Record<string, unknown>, id?: string): ScriptedStep => ({
  content: [scriptedToolCall("final_answer", args, id)],
});
const forms = [
  ["json_schema", JSON.stringify(value)],
  ["none", final(value)],
] as const;

function setUp(
  how: Compat["structuredOutput"],
  steps: readonly ScriptedStep[],
  deltaLength = 3,
): Agent {
  const script = createScriptedModel(steps, { deltaLength });
  const model = { ...script.model, ...(how && { compat: { structuredOutput: how } }) };
  return new Agent({ model, streamFn: script.streamFn });
}

/** Returns the resets and the end, and before each the copy of a reader of the events. */
async function story(events: AsyncIterable<PartialOutputEvent>): Promise<unknown[]> {
  const told: unknown[] = [];
  let copy: unknown;
  let live: unknown;
  for await (const event of events) {
    if (event.type === "partial_output") {
      copy = applyIncrement(copy, event);
      live = event.partial;
      assert.ok(!JSON.stringify(event).includes('partial":'));
      continue;
    }
    assert.deepStrictEqual(copy, live);
    if (copy !== undefined) told.push(copy);
    if (event.type === "partial_reset") copy = live = undefined;
    told.push(event.type === "partial_reset" ? `reset: ${event.reason}` : event.type);
    if (event.type === "partial_end") told.push(event.output);
  }
  return told;
}

describe("a run's output while it arrives", () => {
  for (const [how, step] of forms) {
    it(`grows and ends with the validated value, with structured output ${how}`, async () => {
      const run = setUp(how, [step]).stream("Berths?", { output: berths });
      const seen: string[] = [];
      const kinds = new Set<string | undefined>();
      let last: unknown;
      for await (const event of partialOutput(run)) {
        last = event;
        if (event.type !== "partial_output") continue;
        seen.push(event.partial?.harbour ?? "");
        kinds.add(event.partial?.kind);
      }
      assert.ok(seen.includes("Hor") || seen.includes("Ho"));
      assert.deepEqual([...kinds], [undefined, "guest"]);
      assert.deepEqual(last, { type: "partial_end", reason: "done", output: value });
      assert.deepEqual(await story(partialOutput(run)), [value, "partial_end", value]);
    });
  }

  it("is the same however the server cuts it", async () => {
    for (const [how, step] of forms)
      for (let deltaLength = 1; deltaLength < 140; deltaLength++) {
        const run = setUp(how, [step], deltaLength).stream("Berths?", { output: berths });
        assert.deepEqual(await story(partialOutput(run)), [value, "partial_end", value]);
      }
  });

  it("is the same from any iterable of the events, also after a trip through JSON", async () => {
    for (const [how, step] of forms) {
      const run = setUp(how, [step]).stream("Berths?", { output: berths });
      const events: AgentEvent[] = [];
      for await (const event of run) events.push(JSON.parse(JSON.stringify(event)) as AgentEvent);
      const again = partialOutput(from(events), { output: berths });
      assert.deepEqual(await story(again), [value, "partial_end", value]);
      assert.deepEqual(await story(partialOutput(from(events))), [value, "partial_end", undefined]);
      // Without the schema, the letters of an enum are not held back.
      const kinds = new Set<unknown>();
      for await (const event of partialOutput(from(events)))
        if (event.type === "partial_output") kinds.add((event.partial as typeof value).kind);
      assert.ok(kinds.size > 2);
    }
  });

  it("is read from a code block, and not from other text", async () => {
    const block = `\n\`\`\`json\n${JSON.stringify(value)}\n\`\`\`\n`;
    const fenced = setUp("json_schema", [block]).stream("Berths?", { output: berths });
    assert.deepEqual(await story(partialOutput(fenced)), [value, "partial_end", value]);
    const prose = setUp("json_schema", ["Well: {}", "```js\n{}\n```", block]);
    const run = prose.stream("Berths?", { output: berths });
    assert.deepEqual(await story(partialOutput(run)), [value, "partial_end", value]);
  });

  it("begins again when the value did not fit and the model corrects it", async () => {
    const wrong = { ...value, kind: "anchor" };
    const shown = { harbour: value.harbour, berths: value.berths };
    const text = setUp("json_schema", [JSON.stringify(wrong), JSON.stringify(value)]);
    assert.deepEqual(await story(partialOutput(text.stream("Berths?", { output: berths }))), [
      shown,
      "reset: replaced",
      value,
      "partial_end",
      value,
    ]);
    const called = setUp("none", [final(wrong, "1"), final(value, "2")]);
    assert.deepEqual(await story(partialOutput(called.stream("Berths?", { output: berths }))), [
      shown,
      "reset: invalid",
      value,
      "partial_end",
      value,
    ]);
  });

  it("stops when the text is not JSON, and the run goes on", async () => {
    const run = setUp("json_schema", ['{"harbour":"Hor","kind":gue', JSON.stringify(value)]);
    assert.deepEqual(await story(partialOutput(run.stream("Berths?", { output: berths }))), [
      { harbour: "Hor" },
      "partial_stopped",
      { harbour: "Hor" },
      "reset: replaced",
      value,
      "partial_end",
      value,
    ]);
    const cut = setUp("json_schema", ['{"harbour":"Hor', JSON.stringify(value)]);
    assert.deepEqual(
      (await story(partialOutput(cut.stream("Berths?", { output: berths })))).slice(0, 4),
      [{ harbour: "Hor" }, "partial_stopped", { harbour: "Hor" }, "reset: replaced"],
    );
  });

  it("ends with the error of a run that has no value", async () => {
    const run = setUp("none", ["a", "b", "c"]).stream("Berths?", { output: berths });
    const events = [];
    for await (const event of partialOutput(run)) events.push(event);
    const [end] = events;
    assert.ok(events.length === 1 && end?.type === "partial_end");
    assert.deepEqual(
      [end.reason, end.error?.code, end.output],
      ["error", "invalid_output", undefined],
    );
  });

  it("ends without an output in a copy of the events of a run that was cut short", async () => {
    const run = setUp("none", [final(value)]).stream("Berths?", { output: berths });
    const events: AgentEvent[] = [];
    for await (const event of run)
      events.push(event.type === "agent_end" ? { ...event, reason: "budget" } : event);
    assert.deepEqual(await story(partialOutput(from(events), { output: berths })), [
      value,
      "partial_end",
      undefined,
    ]);
    const unfit = berths.extend({ harbour: z.string().max(3) });
    for await (const event of run) if (event.type === "agent_end") events.push(event);
    assert.deepEqual(await story(partialOutput(from(events), { output: unfit })), [
      value,
      "partial_end",
      undefined,
    ]);
  });

  it("rejects when the run does, and refuses what cannot be iterated", async () => {
    const agent = setUp("none", [final(value)]);
    const broken = agent.stream("Berths?", { output: { type: "string" } });
    await assert.rejects(story(partialOutput(broken)), code("invalid_argument"));
    assert.throws(() => partialOutput({} as never), code("invalid_argument"));
    assert.throws(() => partialOutput(broken, { output: 5 }), code("invalid_argument"));
  });

  it("ignores nested runs and the text before a tool call", async () => {
    const agent = setUp("json_schema", [
      { content: [{ type: "text", text: '{"harbour":"Moss"}' }, ...call("a").content] },
      JSON.stringify(value),
    ]);
    agent.state.tools = [tool("a", () => "1")];
    const run = agent.stream("Berths?", { output: berths });
    assert.deepEqual(await story(partialOutput(run)), [
      { harbour: "Moss" },
      "reset: replaced",
      value,
      "partial_end",
      value,
    ]);
    const events: AgentEvent[] = [];
    for await (const event of run) {
      events.push(event);
      if (event.type !== "agent_start" && event.type !== "agent_end")
        events.push({ ...structuredClone(event), runId: "nested", parentRunId: event.runId });
    }
    assert.deepEqual((await story(partialOutput(from(events)))).slice(0, 3), [
      { harbour: "Moss" },
      "reset: replaced",
      value,
    ]);
  });
});

/** A wait before a retry returns at once. The time limits of a request do not fire. */
const hastily: Clock = {
  now: () => 0,
  setTimer: (ms, fire) => {
    if (ms > 60_000) return () => {};
    const timer = setImmediate(fire);
    return () => clearImmediate(timer);
  },
};

describe("an output that is withdrawn", () => {
  const base = { runId: "r", seq: 0 } as const;
  const update = (assistantMessageEvent: object): AgentEvent =>
    ({ ...base, type: "message_update", assistantMessageEvent }) as unknown as AgentEvent;
  const error = { code: "server_error", message: "", retryable: true } as const;

  it("is reset by a retraction of its part, and by no other", async () => {
    const delta = (contentIndex: number, text: string): AgentEvent =>
      update({ type: "text_delta", attempt: 1, contentIndex, delta: text });
    const retract = (contentIndex: number): AgentEvent =>
      update({ type: "message_retract", attempt: 1, contentIndex, error });
    assert.deepEqual(
      await story(partialOutput(from([delta(1, '{"a":1,'), retract(2), delta(1, '"b":2}')]))),
      [],
    );
    assert.deepEqual(
      await story(
        partialOutput(from([delta(1, '{"a":1,'), retract(1), delta(1, '{"b":2}'), retract(0)])),
      ),
      [{ a: 1 }, "reset: retracted", { b: 2 }, "reset: retracted"],
    );
    // An earlier part of the text remains: it cannot be followed further.
    assert.deepEqual(
      await story(
        partialOutput(from([delta(1, '{"a":'), delta(3, "1,"), retract(3), delta(3, "2}")])),
      ),
      [{ a: 1 }, "reset: retracted"],
    );
  });

  it("is that of the output tool's call, where its pieces say something else or are cut", async () => {
    const name = "final_answer";
    const start = update({ type: "toolcall_start", attempt: 1, contentIndex: 0, id: "1", name });
    const delta = (text: string): AgentEvent =>
      update({ type: "toolcall_delta", attempt: 1, contentIndex: 0, delta: text });
    const end = (more: object): AgentEvent =>
      update({
        type: "toolcall_end",
        attempt: 1,
        contentIndex: 0,
        toolCall: { type: "toolCall", id: "1", name, arguments: {}, ...more },
      });
    const other = { ...end({}), type: "tool_execution_end", toolName: name, isError: true };
    const failed = (toolCallId: string): AgentEvent =>
      ({ ...other, toolCallId }) as unknown as AgentEvent;
    const args = { arguments: { a: 1 } };
    for (const [events, expected] of [
      [
        [delta('{"a":1}'), end(args), failed("2"), failed("1")],
        [{ a: 1 }, "reset: invalid"],
      ],
      [
        [delta('{"b":2}'), end(args)],
        [{ b: 2 }, "reset: replaced"],
      ],
      [
        [delta('{"a":1'), end({ argumentsError: "Cut." })],
        [{}, "partial_stopped"],
      ],
      [
        [delta('{"a":1}'), start, delta('{"b":2}')],
        [{ a: 1 }, "reset: replaced"],
      ],
      [[delta('{"a":1}'), update({ ...end({}), contentIndex: 1 })], []],
    ] as const)
      assert.deepEqual(await story(partialOutput(from([start, ...events]))), expected);
    let last: unknown;
    for await (const event of partialOutput(from([start, delta('{"b":2}'), end(args)])))
      if (event.type === "partial_output") last = event.partial;
    assert.deepEqual(last, { a: 1 });
  });

  it("is reset by a retry and by another model", async () => {
    const delta = update({ type: "text_delta", attempt: 1, contentIndex: 0, delta: '{"a":1,' });
    for (const type of ["request_retry", "model_failover"])
      assert.deepEqual(
        await story(partialOutput(from([delta, { ...base, type } as unknown as AgentEvent]))),
        [{ a: 1 }, "reset: retracted"],
      );
  });

  it("is reset when a real answer is cut and requested again", async () => {
    const text = JSON.stringify(value);
    const chunk = (content: string): object => ({ choices: [{ index: 0, delta: { content } }] });
    const end = { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
    await using server = await loopback(
      streamed(chunk(text.slice(0, 25))),
      streamed(chunk(text.slice(0, 40)), chunk(text.slice(40)), end, "[DONE]"),
    );
    const compat = { structuredOutput: "json_schema" } as const;
    const agent = new Agent({
      model: getModel("custom", "m", { baseUrl: server.baseUrl, compat }),
      streamFn: streamOpenaiCompatible,
      retryAfterOutput: true,
      clock: hastily,
      random: () => 0,
    });
    const run = agent.stream("Berths?", { output: berths });
    assert.deepEqual(await story(partialOutput(run)), [
      { harbour: "Horten" },
      "reset: retracted",
      value,
      "partial_end",
      value,
    ]);
    assert.equal((await run.result()).turns, 1);
  });

  it("arrives from the next model after a failover, by the output tool", async () => {
    const failed = createScriptedModel([
      { error: new BowlineError("overloaded", "Busy", { retryable: false }) },
    ]);
    const next = createScriptedModel([final(value)]);
    const model = { ...failed.model, compat: { structuredOutput: "json_schema" as const } };
    const other = { ...next.model, id: "other" };
    const agent = new Agent({
      model,
      streamFn: createFailover({
        streamFn: (asked, ...rest) =>
          (asked.id === "other" ? next : failed).streamFn(asked, ...rest),
        models: [other],
      }),
    });
    const run = agent.stream("Berths?", { output: berths });
    const told = await story(partialOutput(run));
    assert.deepEqual(told.slice(0, 1), [value]);
  });
});

describe("the elements of an array", () => {
  it("that the model wrote again under the same name begin again with the next attempt", async () => {
    const agent = setUp("json_schema", ['{"l":[1,2],"l":[3]}']);
    const output = z.object({ l: z.array(z.number()) });
    const run = agent.stream("Go", { output });
    const found: unknown[] = [];
    for await (const { index, value: item, attempt } of partialOutput(run).elements(["l"]))
      found.push([attempt, index, item]);
    assert.deepEqual(found, [
      [1, 0, 1],
      [1, 1, 2],
      [2, 0, 3],
    ]);
  });

  it("are yielded when they are finished, each checked", async () => {
    for (const [how, step] of forms) {
      const run = setUp(how, [step]).stream("Berths?", { output: berths });
      const found = [];
      for await (const element of partialOutput(run).elements(["berths"])) {
        const id: number | undefined = element.value?.id;
        found.push([element.index, id, element.attempt]);
      }
      assert.deepEqual(found, [
        [0, 1, 1],
        [1, 22, 1],
      ]);
      const items = z.object({ id: z.number().min(2), free: z.boolean().transform(String) });
      const fitting = [];
      for await (const element of partialOutput(run).elements(["berths"], { items })) {
        const free: string = element.value.free;
        fitting.push([element.index, free]);
      }
      assert.deepEqual(fitting, [[1, "false"]]);
    }
  });

  it("begin again with the next attempt", async () => {
    const wrong = { ...value, harbour: 5 };
    const run = setUp("none", [final({ berths: [{}], harbour: wrong }, "1"), final(value, "2")]);
    const found = [];
    const items = { type: "object" };
    for await (const { index, attempt } of partialOutput(
      run.stream("Berths?", { output: berths }),
    ).elements(["berths"], { items }))
      found.push([attempt, index]);
    assert.deepEqual(found, [
      [1, 0],
      [2, 0],
      [2, 1],
    ]);
  });
});

describe("an output that is not an object", () => {
  it("is the value alone: an array, an enum, a text", async () => {
    const cases = [
      [anyOutput(z.array(z.string())), ["one", "two"]],
      [anyOutput({ type: "array", items: { type: "string" } }), ["one", "two"]],
      [anyOutput(z.enum(["guest", "guests only"])), "guest"],
      [anyOutput({ enum: ["a", 1, null] }), null],
      [anyOutput(z.string()), "A long text"],
      [anyOutput(z.union([z.number(), z.null()])), 5],
    ] as const;
    for (const [output, expected] of cases)
      for (const how of ["json_schema", "none"] as const) {
        const given = { value: expected };
        const step = how === "none" ? final(given) : JSON.stringify(given);
        const run = setUp(how, [step]).stream("Which?", { output });
        assert.deepEqual(await story(partialOutput(run)), [expected, "partial_end", expected]);
        assert.deepEqual((await run.result()).output, expected);
      }
  });

  it("is asked for again with the problems, and repaired if possible", async () => {
    const output = anyOutput(z.array(z.object({ n: z.number() })));
    const agent = setUp("none", [
      final({ value: [{ n: "x" }] }, "1"),
      final({}, "2"),
      final({ value: [{ n: "7" }] }, "3"),
    ]);
    const run = await agent.prompt("Which?", { output });
    assert.deepEqual(run.output, [{ n: 7 }]);
    const said = JSON.stringify(run.messages);
    assert.match(said, /value\[0\]\.n/);
    assert.match(said, /- value: /);
  });

  it("has finished elements at its root", async () => {
    const output = anyOutput(z.array(z.object({ n: z.number() })));
    const run = setUp("none", [final({ value: [{ n: 1 }, { n: 2 }] })]).stream("Which?", {
      output,
    });
    const found: (number | undefined)[] = [];
    for await (const { value: item } of partialOutput(run).elements()) found.push(item.n);
    assert.deepEqual(found, [1, 2]);
  });

  it("may refer to definitions and to its own root", async () => {
    const tree = {
      $defs: { node: { type: "array", items: { $ref: "#/$defs/node" } } },
      $ref: "#/$defs/node",
    };
    const agent = setUp("none", [final({ value: [[], [[]]] })]);
    assert.deepEqual((await agent.prompt("Which?", { output: anyOutput(tree) })).output, [
      [],
      [[]],
    ]);
    type Tree = Tree[];
    const zod: z.ZodType<Tree> = z.lazy(() => z.array(zod));
    const json = { type: "array", items: { $ref: "#" }, $defs: { value: { type: "null" } } };
    for (const schema of [json, zod]) {
      const again = setUp("none", [final({ value: [[[]], 5] }, "1"), final({ value: [[]] }, "2")]);
      const run = await again.prompt("Which?", { output: anyOutput(schema) });
      assert.deepEqual(
        [run.output, run.tools.map(({ outcome }) => outcome)],
        [[[]], ["not_started", "finished"]],
      );
    }
  });
});

async function* from(events: readonly AgentEvent[]): AsyncGenerator<AgentEvent> {
  yield* events;
}
