/** `agent.stream()`: several readers of one run, a slow one, and aborts. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { settle } from "../../../../../test/support/manual-clock.ts";
import { code } from "../../../../../test/support/error-code.ts";
import { within } from "../../../../../test/support/within.ts";
import { Agent, BowlineError, type AgentEvent } from "../../../src/index.ts";
import { createScriptedModel, scriptedToolCall } from "../../../src/testing/index.ts";
import { rig, short, tool } from "../../support.ts";

function agentOf(steps: Parameters<typeof createScriptedModel>[0], deltaLength = 4): Agent {
  const { model, streamFn } = createScriptedModel(steps, { deltaLength });
  return new Agent({ model, streamFn });
}

async function readAll(events: AsyncIterable<AgentEvent>): Promise<AgentEvent[]> {
  const all: AgentEvent[] = [];
  const read = async (): Promise<void> => {
    for await (const event of events) all.push(event);
  };
  await within("the end of the events", read());
  return all;
}

describe("agent.stream()", () => {
  it("gives every reader the same events as a listener, from the first to the last", async () => {
    const agent = agentOf(["Fair winds."]);
    const heard: AgentEvent[] = [];
    agent.subscribe((event) => void heard.push(event));
    const run = agent.stream("Hello");
    const first = readAll(run);
    const { text, reason } = await run.result();
    const late = readAll(run);
    assert.deepEqual(await first, heard);
    assert.deepEqual(await late, heard);
    assert.equal(heard.at(-1)?.type, "agent_end");
    assert.deepEqual([text, reason], ["Fair winds.", "done"]);
  });

  it("throws invalid_state during a run, which goes on", async () => {
    const agent = agentOf(["One."]);
    const run = agent.stream("Hello");
    assert.throws(() => agent.stream("Again"), code("invalid_state"));
    assert.equal((await run.result()).text, "One.");
  });

  it("rejects readers and result with the same error when the prompt is refused", async () => {
    const run = agentOf(["One."]).stream([]);
    await assert.rejects(readAll(run), code("invalid_argument"));
    await assert.rejects(run.result(), code("invalid_argument"));
    await assert.rejects(run.toResponse().text(), code("invalid_argument"));
  });

  it("leaves no unhandled rejection when only its events are read", async () => {
    await assert.rejects(readAll(agentOf(["One."]).stream([])), code("invalid_argument"));
    await settle(); // the runner fails a test with an unhandled rejection
  });

  it("ends with the events of a failed run, whose result gives the reason", async () => {
    const error = new BowlineError("overloaded", "Too busy.");
    const run = agentOf([{ error }]).stream("Hello");
    const last = (await readAll(run)).at(-1);
    assert.ok(last?.type === "agent_end" && last.error?.code === "overloaded");
    assert.equal((await run.result()).error?.code, "overloaded");
  });

  it("continues when a reader leaves", async () => {
    const run = agentOf(["One two three four."]).stream("Hello");
    for await (const event of run) if (event.type === "message_update") break;
    assert.equal((await run.result()).text, "One two three four.");
  });

  for (const when of ["before", "during"] as const)
    it(`aborts the run when its signal fires ${when} the run`, async () => {
      const controller = new AbortController();
      const reasonGiven = new Error("left");
      if (when === "before") controller.abort(reasonGiven);
      const agent = agentOf([() => (controller.abort(reasonGiven), "One."), "Two."]);
      const run = agent.stream("Hello", { signal: controller.signal });
      const { reason, error } = await run.result();
      assert.deepEqual([reason, error?.cause], ["aborted", reasonGiven]);
      assert.equal((await agent.prompt("Again")).reason, "done");
    });

  it("has the events of its own run only, also when it is read after later runs", async () => {
    const agent = agentOf(["One.", "Two."]);
    const run = agent.stream("Hello");
    await run.result();
    const { runId } = await agent.prompt("Again");
    const events = await readAll(run);
    assert.equal(events.filter(({ type }) => type === "agent_end").length, 1);
    assert.ok(events.every((event) => event.runId !== runId));
  });

  it("leaves no listener on a signal that outlives the run", async () => {
    const controller = new AbortController();
    const agent = agentOf(["One.", "Two."]);
    await agent.stream("Hello", { signal: controller.signal }).result();
    const second = agent.prompt("Again");
    controller.abort();
    assert.equal((await second).reason, "done");
  });

  it("continues past a reader that stalls, which rejects with reader_too_slow", async () => {
    const run = agentOf(["x".repeat(400)], 1).stream("Hello", { maxHeldEvents: 20 });
    const reader = run[Symbol.asyncIterator]();
    await reader.next();
    assert.equal((await within("the end of the run", run.result())).reason, "done");
    await assert.rejects(async () => {
      while (!(await reader.next()).done);
    }, code("reader_too_slow"));
  });

  it("may hold a single event", async () => {
    const run = agentOf(["Hi"], 1).stream("Hello", { maxHeldEvents: 1 });
    assert.equal((await run.result()).text, "Hi");
  });

  for (const maxHeldEvents of [0, -1, 1.5, NaN])
    it(`refuses maxHeldEvents of ${maxHeldEvents}`, () => {
      const agent = agentOf(["One."]);
      assert.throws(() => agent.stream("Hello", { maxHeldEvents }), code("invalid_argument"));
      assert.equal(agent.state.isStreaming, false);
    });

  it("returns a checked output, typed by its schema", async () => {
    const agent = agentOf([{ content: [scriptedToolCall("final_answer", { metres: 12 })] }]);
    const schema = {
      type: "object",
      properties: { metres: { type: "number" } },
      required: ["metres"],
    } as const;
    const run = agent.stream("How long?", { output: schema });
    assert.equal(run.output, schema);
    const { output } = await run.result();
    assert.equal(output?.metres.toFixed(1), "12.0");
  });

  it("emits tool events in the same order as a listener", async () => {
    const { model, streamFn } = createScriptedModel([
      { content: [scriptedToolCall("bell", {}, "c1")] },
      "Done.",
    ]);
    const agent = new Agent({ model, streamFn, tools: [tool("bell", () => "Ding")] });
    const events = await readAll(agent.stream("Ring"));
    const { events: expected, agent: plain } = rig(
      [{ content: [scriptedToolCall("bell", {}, "c1")] }, "Done."],
      [tool("bell", () => "Ding")],
    );
    await plain.prompt("Ring");
    const kinds = (all: AgentEvent[]) =>
      all.map(short).filter((word) => !word.startsWith("message_update"));
    assert.deepEqual(kinds(events), kinds(expected));
  });
});
