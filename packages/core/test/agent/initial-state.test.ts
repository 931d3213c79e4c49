/** The initial state of an agent: flat among its options, or in `initialState`. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  Agent as AgentWithoutWire,
  defineTool,
  type AgentOptions,
  type InitialState,
} from "../../src/agent/index.ts";
import { isBowlineError } from "../../src/errors.ts";
import { Agent } from "../../src/index.ts";
import type { Filled } from "../../src/json-value.ts";
import { createScriptedModel } from "../../src/testing/index.ts";
import { hello } from "../support.ts";

const echo = defineTool({
  name: "echo",
  description: "Echoes",
  parameters: { type: "object" },
  execute: () => "Hi",
});

function begin(): Filled<InitialState> {
  const { model } = createScriptedModel([]);
  return {
    systemPrompt: "Be brief.",
    model,
    thinkingLevel: "low",
    tools: [echo],
    messages: [hello],
  };
}

const names = Object.keys(begin()) as (keyof InitialState)[];

for (const [entry, Class] of Object.entries({ main: Agent, agent: AgentWithoutWire })) {
  describe(`an agent of the ${entry} entry`, () => {
    it("has the same state with flat options, with initialState, and with some of each", () => {
      const state = begin();
      const { model, tools, ...nested } = state;
      const expected = { ...new Class({ initialState: state }).state };
      assert.deepEqual({ ...new Class(state).state }, expected);
      assert.deepEqual({ ...new Class({ model, tools, initialState: nested }).state }, expected);
    });

    it("copies the lists of its flat options", () => {
      const { tools, messages } = begin();
      const agent = new Class({ tools, messages });
      agent.state.tools.push(echo);
      agent.state.messages.push(hello);
      assert.deepEqual([tools.length, messages.length], [1, 1]);
    });

    it("has no flat field beside its state, which may be assigned later", () => {
      const agent = new Class(begin());
      assert.deepEqual(
        names.filter((name) => name in agent),
        [],
      );
    });

    it("refuses a field that is given in both places, and names it", () => {
      const state = begin();
      for (const name of names) {
        const twice: AgentOptions = { [name]: state[name], initialState: { [name]: state[name] } };
        assert.throws(
          () => new Class(twice),
          (error) =>
            isBowlineError(error) &&
            error.code === "invalid_argument" &&
            error.message.startsWith(`"${name}" is given as an option and in initialState`),
        );
      }
    });

    it("treats undefined in one of the places as not given", () => {
      const state = begin();
      const none = Object.fromEntries(names.map((name) => [name, undefined]));
      const expected = { ...new Class(state).state };
      assert.deepEqual({ ...new Class({ ...state, initialState: none }).state }, expected);
      assert.deepEqual({ ...new Class({ ...none, initialState: state }).state }, expected);
    });
  });
}

it("a run sends the prompt, tools and level of the flat options", async () => {
  const { model, streamFn, calls } = createScriptedModel(["Fine."]);
  const run = await new Agent({ ...begin(), model, streamFn }).prompt("And?");
  assert.equal(run.reason, "done");
  const [call] = calls;
  assert.deepEqual(
    [call?.context.systemPrompt, call?.context.tools?.map(({ name }) => name)],
    ["Be brief.", ["echo"]],
  );
  assert.deepEqual([call?.context.messages.length, call?.options.reasoning], [2, "low"]);
});
