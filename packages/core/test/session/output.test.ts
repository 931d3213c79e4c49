/** A run for an output that its process did not finish gives a typed value in another process. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { Agent } from "../../src/index.ts";
import {
  attachSession,
  createMemoryStore,
  createSession,
  openSession,
  resumeSession,
  type Store,
} from "../../src/session/index.ts";
import { createJsonlStore } from "../../src/session/node/index.ts";
import {
  createScriptedModel,
  scriptedToolCall,
  type ScriptedModel,
  type ScriptedStep,
} from "../../src/testing/index.ts";
import { entriesIn, newSession, sessionOf } from "./agent-rig.ts";
import { startChild, temporaryFolder } from "./support.ts";
import { call, tool } from "../support.ts";

const schema = z.object({ city: z.string(), at: z.string().transform((text) => new Date(text)) });
const given = { city: "Oslo", at: "2026-01-02" };
const value = { city: "Oslo", at: new Date("2026-01-02") };
const final = (args: object): ScriptedStep => ({
  content: [scriptedToolCall("final_answer", args as Record<string, unknown>, "f")],
});

function setUp(
  native: boolean,
  script: readonly ScriptedStep[],
): { agent: Agent; script: ScriptedModel } {
  const model = createScriptedModel(script, { deltaLength: 1000 });
  const compat = { structuredOutput: native ? ("json_schema" as const) : ("none" as const) };
  const tools = [{ ...tool("a", () => "A"), replay: "safe" as const }];
  const initialState = { model: { ...model.model, compat }, tools };
  return { script: model, agent: new Agent({ initialState, streamFn: model.streamFn }) };
}

const answers = { native: JSON.stringify(given), tool: final(given) };

for (const how of ["native", "tool"] as const) {
  describe(`a run for an output whose log is cut after any of its entries, ${how}`, () => {
    it("gives the value, checked and transformed by the schema, when it is resumed with the schema", async () => {
      const store = createMemoryStore();
      const wrong = how === "native" ? '{"city":5}' : final({ city: 5 });
      const { agent } = setUp(how === "native", [call("a"), wrong, answers[how]]);
      const session = await newSession(store);
      await attachSession(agent, session);
      // An earlier run's value does not count for the next one.
      assert.deepEqual((await agent.prompt("Where?", { output: schema })).output, value);
      const whole = await entriesIn(store, "s");
      for (let length = 2; length < whole.length; length++) {
        const id = `${how} ${length}`;
        await sessionOf(store, id, whole.slice(0, length));
        const { agent: later } = setUp(how === "native", [answers[how], answers[how]]);
        const { result, session: again } = await resumeSession(store, id, later, {
          output: schema,
        });
        const at: Date | undefined = result?.output?.at;
        assert.deepEqual(
          [result?.reason, result?.output, at],
          ["done", value, value.at],
          `cut behind ${length}`,
        );
        await again.close();
      }
    });

    it("is a normal run when it is resumed without the schema", async () => {
      const store = createMemoryStore();
      const session = await newSession(store);
      const { agent } = setUp(how === "native", [call("a"), answers[how]]);
      await attachSession(agent, session);
      await agent.prompt("Where?", { output: schema });
      await sessionOf(store, "cut", (await entriesIn(store, "s")).slice(0, 2));
      const { agent: later, script } = setUp(how === "native", ["Oslo."]);
      const { result } = await resumeSession(store, "cut", later);
      assert.deepEqual(
        [result?.reason, result?.output, script.calls[0]?.options.output],
        ["done", undefined, undefined],
      );
    });
  });
}

describe("a value that was accepted before the process ended", () => {
  const cutBehind = async (
    store: Store,
    type: string,
    isIt: (entry: object) => boolean,
    answer = final(given),
  ): Promise<void> => {
    const { agent } = setUp(false, [call("a"), answer, "Ended."]);
    await attachSession(agent, await newSession(store));
    await agent.prompt("Where?", { output: schema });
    const whole = await entriesIn(store, "s");
    const at = whole.findIndex((entry) => entry.type === type && isIt(entry));
    assert.ok(at > 0);
    await sessionOf(store, "cut", whole.slice(0, at + 1));
  };

  for (const type of ["tool_result", "message"])
    it(`counts if its ${type} is in the log but the run's end is not, and the model is not asked again`, async () => {
      const store = createMemoryStore();
      await cutBehind(store, type, (entry) => JSON.stringify(entry).includes("Accepted."));
      const { agent, script } = setUp(false, []);
      const { result } = await resumeSession(store, "cut", agent, { output: schema });
      assert.deepEqual([result?.reason, result?.output, script.calls.length], ["done", value, 0]);
    });

  it("counts if the model only writes text after it, having called another tool beside it", async () => {
    const store = createMemoryStore();
    const both = {
      content: [scriptedToolCall("final_answer", given, "f"), scriptedToolCall("a", {}, "a")],
    };
    await cutBehind(store, "message", (entry) => JSON.stringify(entry).includes("Accepted."), both);
    const { agent, script } = setUp(false, ["I said it."]);
    const { result } = await resumeSession(store, "cut", agent, { output: schema });
    assert.deepEqual([result?.reason, result?.output, script.calls.length], ["done", value, 1]);
  });

  it("is not used by the next run", async () => {
    const store = createMemoryStore();
    const { agent } = setUp(false, [final(given), call("a"), "Talk."]);
    await attachSession(agent, await newSession(store));
    await agent.prompt("Where?", { output: schema });
    const before = (await entriesIn(store, "s")).length;
    await agent.prompt("And then?", { output: schema }).catch(() => {});
    const whole = await entriesIn(store, "s");
    const at = whole.findIndex(({ type }, index) => index > before && type === "tool_result");
    await sessionOf(store, "cut", whole.slice(0, at + 1));
    const other = { city: "Bergen", at: "2026-03-04" };
    const { agent: later, script } = setUp(false, ["Talk.", final(other)]);
    const { result } = await resumeSession(store, "cut", later, { output: schema });
    assert.deepEqual([result?.output?.city, script.calls.length], ["Bergen", 2]);
  });
});

it("a run for an output whose process is killed during a request gives its value when resumed", async () => {
  await using folder = await temporaryFolder();
  const store = createJsonlStore(folder.path);
  await (await createSession(store, { id: "s" })).close();
  await using child = startChild(["output", folder.path, "s"]);
  assert.equal(await child.next(), "asking again");
  await child.kill();
  const session = await openSession(store, "s");
  const { agent, script } = setUp(false, [final(given)]);
  const attached = await attachSession(agent, session);
  assert.equal(attached.interrupted?.turns, 1);
  const result = await attached.resume({ output: schema });
  const city: string | undefined = result?.output?.city;
  assert.deepEqual(
    [result?.reason, city, result?.output?.at.getFullYear()],
    ["done", "Oslo", 2026],
  );
  assert.deepEqual(
    script.calls[0]?.context.tools?.map(({ name }) => name),
    ["a", "final_answer"],
  );
  await session.close();
});
