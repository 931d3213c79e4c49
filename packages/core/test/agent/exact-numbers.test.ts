/** Numbers with more digits than JavaScript can represent, on their way from a model to a tool. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AssistantContent } from "../../src/llm/message.ts";
import { scriptedToolCall } from "../../src/testing/index.ts";
import { rig, tool } from "../support.ts";

const id = "1234567890123456789";

/**
 * The arguments that a tool with this schema for `id` received, and the result that the model
 * received.
 */
async function called(
  schema: object,
  argumentsText: string,
): Promise<{ readonly ran: unknown[]; readonly told: string }> {
  const ran: unknown[] = [];
  const look = tool("look", () => "", {
    parameters: { type: "object", properties: { id: schema } },
    execute: (_id, args) => {
      ran.push(args);
      return { content: [{ type: "text", text: "Seen." }] };
    },
  });
  const asked = { ...scriptedToolCall("look", {}, "a"), argumentsText } as AssistantContent;
  const { agent } = rig([{ content: [asked] }, "Done."], [look]);
  const { messages } = await agent.prompt("Hi");
  return { ran, told: JSON.stringify(messages.find(({ role }) => role === "toolResult")) };
}

describe("a number with more digits than JavaScript can represent", () => {
  it("reaches a tool parameter of type string with all its digits", async () => {
    assert.deepEqual((await called({ type: "string" }, `{"id":${id}}`)).ran, [{ id }]);
    assert.deepEqual((await called({ type: "string" }, `{"id":"${id}"}`)).ran, [{ id }]);
    assert.deepEqual((await called({}, `{"id":${id}}`)).ran, [{ id }]);
  });

  it("does not reach a parameter of type number, and the error asks the model to quote it", async () => {
    for (const type of ["integer", "number"])
      for (const text of [`{"id":${id}}`, `{"id":1e400}`, `{"id":"${id}"}`]) {
        const { ran, told } = await called({ type }, text);
        assert.deepEqual(ran, []);
        assert.match(told, /Invalid arguments.*expected (?:integer|number)/);
        if (!text.includes(`"${id}"`)) assert.match(told, /Write it in quotes/);
      }
  });

  it("keeps its digits in a list that the model wrote as a string", async () => {
    const schema = { type: "array", items: { type: "string" } };
    const text = JSON.stringify({ id: `[${id}]` });
    assert.deepEqual((await called(schema, text)).ran, [{ id: [id] }]);
  });

  it("is not mentioned when the arguments have other errors", async () => {
    const { told } = await called({ type: "integer" }, '{"id":"x"}');
    assert.doesNotMatch(told, /quotes/);
  });
});
