/** Calls and errors in choices other than the first. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toolCallsOf, type AssistantMessage } from "../../../src/llm/message.ts";
import { openaiChat } from "../../../src/providers/openai-chat/index.ts";
import { decodeEveryWay } from "../decode.ts";

type Json = Record<string, unknown>;

const read = { function: { name: "read", arguments: '{"n":1}' }, id: "a" };
const list = { function: { name: "list", arguments: '{"n":2}' }, id: "b" };
const choice = (index: number | undefined, delta: object, finish_reason?: string): Json => ({
  ...(index !== undefined && { index }),
  delta,
  finish_reason: finish_reason ?? null,
});
const calling = (index: number | undefined, call: object, more: object = {}): Json =>
  choice(index, { ...more, tool_calls: [{ index: 0, ...call }] });

function answer(...chunks: Json[][]): AssistantMessage {
  const body = [...chunks.map((choices) => JSON.stringify({ choices })), "[DONE]"];
  const text = body.map((one) => `data: ${one}\n\n`).join("");
  return decodeEveryWay(openaiChat, text, ["read", "list"]).message;
}

function outcome(...chunks: Json[][]): unknown[] {
  const message = answer(...chunks);
  const { stopReason, error } = message;
  return [error?.code ?? stopReason, ...toolCallsOf(message).map(({ name }) => name)];
}

describe("the calls of another choice", () => {
  const text = choice(0, { content: "Hello" });

  it("run if the answer announces tool calls and has none", () => {
    const ends = choice(0, {}, "tool_calls");
    assert.deepEqual(outcome([text], [calling(1, read)], [ends]), ["toolUse", "read"]);
    assert.deepEqual(outcome([text], [calling(1, read)], [calling(2, list)], [ends]), [
      "toolUse",
      "read",
      "list",
    ]);
  });

  it("do not run if the answer does not announce tool calls", () => {
    const message = answer([text], [calling(1, read)], [choice(0, {}, "stop")]);
    assert.equal(message.error?.code, "stream_corrupt");
    assert.match(message.error?.message ?? "", /another choice than the answer/);
  });

  it("do not run if they come with a text of their own", () => {
    for (const content of ["Hi", [{ type: "text", text: "Hi" }]])
      assert.deepEqual(
        outcome([text], [calling(1, read, { content })], [choice(0, {}, "tool_calls")])[0],
        "stream_corrupt",
      );
  });

  it("are an alternative and ignored if the answer has a call", () => {
    const other = [[calling(1, read)], [choice(1, {}, "tool_calls")]];
    const ends = [choice(0, {}, "tool_calls")];
    assert.deepEqual(outcome([calling(0, list)], ...other, ends), ["toolUse", "list"]);
    assert.equal(outcome([calling(0, list)], other[0]!, ends)[0], "stream_corrupt");
  });

  it("belong to the answer if the choices have no index", () => {
    const own = choice(undefined, { content: "Hello" });
    const ends = choice(undefined, {}, "stop");
    assert.deepEqual(outcome([own, calling(undefined, read)], [ends]), ["toolUse", "read"]);
    assert.deepEqual(outcome([calling(undefined, list), calling(undefined, read)], [ends]), [
      "toolUse",
      "list",
      "read",
    ]);
  });

  it("end with the worst finish reason of the choices", () => {
    const cut = { ...calling(1, read), finish_reason: "length" };
    assert.equal(outcome([text], [cut], [choice(0, {}, "tool_calls")])[0], "length");
    const filtered = { ...calling(1, read), finish_reason: "content_filter" };
    assert.equal(outcome([text], [filtered], [choice(0, {}, "tool_calls")])[0], "content_filtered");
  });

  it("are distinguished even if each choice numbers them from zero", () => {
    const same = { ...list, id: read.id };
    const ends = choice(0, {}, "tool_calls");
    const message = answer([text], [calling(1, read)], [calling(2, same)], [ends]);
    assert.deepEqual(
      toolCallsOf(message).map(({ name, arguments: args }) => [name, args]),
      [
        ["read", { n: 1 }],
        ["list", { n: 2 }],
      ],
    );
  });

  it("run in a non-streaming answer, too", () => {
    const whole = { index: 1, message: { tool_calls: [read] } };
    assert.deepEqual(outcome([text], [whole], [choice(0, {}, "tool_calls")]), ["toolUse", "read"]);
  });

  it("do not change the stop reason when that choice has only text", () => {
    const other = choice(1, { content: "Another" }, "content_filter");
    assert.deepEqual(outcome([text], [other], [choice(0, {}, "stop")]), ["stop"]);
  });
});

it("an error in another choice is the answer's error", () => {
  const error = { message: "No credit.", code: 402 };
  const message = answer([choice(0, { content: "Hello" })], [{ index: 1, error }]);
  assert.equal(message.stopReason, "error");
  assert.match(message.error?.message ?? "", /No credit/);
});
