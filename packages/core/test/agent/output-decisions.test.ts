/** The check of an output by a schema's code, whose verdict an engine that replays records. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  Agent,
  type AgentOptions,
  type AgentTool,
  type Effects,
  type StandardSchema,
} from "../../src/index.ts";
import { createScriptedModel, type ScriptedStep } from "../../src/testing/index.ts";
import { texts } from "../../../../test/support/message-texts.ts";
import { call, tool } from "../support.ts";

type Validate = StandardSchema["~standard"]["validate"];

const schemaOf = (validate: Validate): StandardSchema => ({
  "~standard": {
    version: 1,
    vendor: "test",
    validate,
    jsonSchema: { input: () => ({ type: "object", properties: { at: { type: "string" } } }) },
  },
});

/** Records verdicts as JSON. A later attempt gets them back without a second call of `fn`. */
function journal(): { readonly decide: Effects["decide"]; readonly names: () => string[] } {
  const records = new Map<string, string>();
  return {
    names: () => [...records.keys()],
    async decide<T>(name: string, fn: () => Promise<T>): Promise<T> {
      if (!records.has(name)) records.set(name, JSON.stringify(await fn()));
      return JSON.parse(records.get(name) ?? "") as T;
    },
  };
}

function agentOf(steps: readonly ScriptedStep[], options: AgentOptions = {}): Agent {
  const { model, streamFn } = createScriptedModel(steps, { deltaLength: 100 });
  return new Agent({
    model: { ...model, compat: { structuredOutput: "json_schema" } },
    streamFn,
    ...options,
  });
}

describe("the check of an output by a schema's code", () => {
  it("runs in the first attempt only, and the next one gets its value", async () => {
    let checks = 0;
    const output = schemaOf((value) => ({ value: { given: value, check: ++checks } }));
    const { decide, names } = journal();
    for (let attempt = 1; attempt <= 2; attempt++) {
      const run = await agentOf(['{"at":"sea"}'], { effects: { decide } }).prompt("Go", { output });
      assert.deepEqual([run.reason, run.output], ["done", { given: { at: "sea" }, check: 1 }]);
    }
    assert.equal(checks, 1);
    assert.deepEqual(names(), ["output:followUp:1"]);
  });

  it("runs once in each attempt if JSON cannot represent its value", async () => {
    let checks = 0;
    const output = schemaOf((value) => {
      checks++;
      return { value: { at: new Date((value as { at: string }).at) } };
    });
    const { decide } = journal();
    const at = "2026-11-28T00:00:00.000Z";
    for (let attempt = 1; attempt <= 2; attempt++) {
      const agent = agentOf([JSON.stringify({ at })], { effects: { decide } });
      const run = await agent.prompt("Go", { output });
      assert.deepEqual([run.output, checks], [{ at: new Date(at) }, attempt]);
    }
  });

  it("sends the model the same correction in the next attempt", async () => {
    const { decide } = journal();
    for (let attempt = 1; attempt <= 2; attempt++) {
      const output = schemaOf((value) =>
        attempt === 1 && (value as { at: unknown }).at === "sea"
          ? { issues: [{ message: "not at sea", path: ["at"] }] }
          : { value },
      );
      const agent = agentOf(['{"at":"sea"}', '{"at":"port"}'], { effects: { decide } });
      const run = await agent.prompt("Go", { output });
      assert.deepEqual(run.output, { at: "port" });
      assert.match(texts(run.messages)[2] ?? "", /^user: .*\n {2}- at: not at sea\n/);
    }
  });

  it("is not recorded for a plain JSON Schema, which has no code", async () => {
    const { decide, names } = journal();
    const output = { type: "object", properties: { at: { type: "string" } } } as const;
    const run = await agentOf(['{"at":"sea"}'], { effects: { decide } }).prompt("Go", { output });
    assert.deepEqual([run.output, names()], [{ at: "sea" }, []]);
  });
});

describe("a run that a tool's result would end", () => {
  it("asks the model for its output, even if the result fits the schema", async () => {
    const last: AgentTool = {
      ...tool("a", () => ""),
      execute: () => ({ content: [{ type: "text", text: '{"at":"sea"}' }], terminate: true }),
    };
    const agent = agentOf([call("a"), '{"at":"port"}'], { tools: [last] });
    const run = await agent.prompt("Go", { output: schemaOf((value) => ({ value })) });
    assert.deepEqual([run.reason, run.output], ["done", { at: "port" }]);
    assert.match(texts(run.messages)[3] ?? "", /^user: The answer must be JSON/);
  });
});
