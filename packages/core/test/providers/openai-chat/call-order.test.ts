/** Tool calls whose names, ids or arguments make their ends ambiguous. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toolCallsOf, type AssistantMessage } from "../../../src/llm/message.ts";
import { openaiChat } from "../../../src/providers/openai-chat/index.ts";
import { decode, decodeEveryWay } from "../decode.ts";

type Json = Record<string, unknown>;

const chunk = (delta: object, finish: string | null = null): object => ({
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const piece = (index: number | undefined, id: string | undefined, fn: Json): object =>
  chunk({ tool_calls: [{ index, id, function: fn }] });
const ends = (reason: string): object => chunk({}, reason);

function answer(tools: readonly string[], ...chunks: object[]): AssistantMessage {
  const body = [...chunks.map((one) => JSON.stringify(one)), "[DONE]"];
  return decodeEveryWay(openaiChat, body.map((one) => `data: ${one}\n\n`).join(""), tools).message;
}

const called = (message: AssistantMessage): unknown[] =>
  toolCallsOf(message).map(({ name, arguments: args }) => [name, args]);

describe("calls of the chat wire", () => {
  it("are in the order in which they began, even while a name may still grow", () => {
    const message = answer(
      ["read", "read_file", "write"],
      piece(0, "a", { name: "read" }),
      piece(1, "b", { name: "write", arguments: "{}" }),
      piece(0, "a", { arguments: '{"path":"x"}' }),
      ends("tool_calls"),
    );
    assert.deepEqual(called(message), [
      ["read", { path: "x" }],
      ["write", {}],
    ]);
  });

  it("are in that order when the first one is named last", () => {
    const message = answer(
      ["read", "read_file", "list", "list_all", "write"],
      piece(0, "a", { arguments: "" }),
      piece(1, "b", { name: "list" }),
      piece(0, "a", { name: "read" }),
      piece(2, "c", { name: "write", arguments: "{}" }),
      piece(0, "a", { arguments: '{"n":1}' }),
      piece(1, "b", { arguments: '{"n":2}' }),
      ends("tool_calls"),
    );
    assert.deepEqual(called(message), [
      ["read", { n: 1 }],
      ["list", { n: 2 }],
      ["write", {}],
    ]);
  });

  it("are found by an id that came after the name", () => {
    const message = answer(
      [],
      piece(undefined, undefined, { name: "f" }),
      piece(undefined, "a", {}),
      piece(undefined, "b", { name: "g", arguments: '{"n":2}' }),
      piece(undefined, "a", { arguments: '{"n":1}' }),
      ends("tool_calls"),
    );
    assert.deepEqual(called(message), [
      ["f", { n: 1 }],
      ["g", { n: 2 }],
    ]);
    assert.equal(message.stopReason, "toolUse");
  });

  it("are two when a longer name follows the arguments of a shorter one", () => {
    const message = answer(
      ["read", "read_file"],
      piece(undefined, undefined, { name: "read", arguments: '{"n":1}' }),
      piece(undefined, undefined, { name: "read_file", arguments: '{"n":2}' }),
      ends("tool_calls"),
    );
    assert.deepEqual(called(message), [
      ["read", { n: 1 }],
      ["read_file", { n: 2 }],
    ]);
  });

  it("begin with their names if no tool is declared, and with the first arguments if a name may grow", () => {
    const body = [
      piece(0, "a", { name: "read" }),
      piece(0, "a", { arguments: '{"n":1}' }),
      ends("tool_calls"),
    ].map((one) => new TextEncoder().encode(`data: ${JSON.stringify(one)}\n\n`));
    const begunBy = (tools: readonly string[]): number => {
      const begins = (chunks: number): boolean =>
        decode(openaiChat, body.slice(0, chunks), tools).events.some(
          ({ type }) => type === "toolcall_start",
        );
      return [1, 2, 3].findIndex(begins);
    };
    assert.deepEqual([[], ["read"], ["read", "read_file"], ["write"]].map(begunBy), [0, 0, 1, 1]);
  });

  // Q049
  it("may send an empty object before their arguments, and end with those", () => {
    const named = (args: string, id?: string): object =>
      piece(0, id, { name: "write", arguments: args });
    const more = (args: string): object => piece(0, undefined, { arguments: args });
    const one = answer(["write"], named("{}", "a"), named('{"n":'), named("1}"), ends("stop"));
    assert.deepEqual(called(one), [["write", { n: 1 }]]);
    for (const begun of [
      [named("{}", "a"), named('{"n":1}')],
      [named("{", "a"), named(""), more("}"), more('{"n":1}')],
    ]) {
      const two = answer(["write"], ...begun, named('{"n":2}'), ends("stop"));
      assert.deepEqual(called(two), [
        ["write", { n: 1 }],
        ["write", { n: 2 }],
      ]);
    }
  });

  it("do not end at a brace after an escaped quote", () => {
    const message = answer(
      ["write"],
      piece(0, "a", { name: "write", arguments: '{"text":"say \\"}' }),
      piece(0, "b", { name: "write", arguments: ' and go\\" on"}' }),
      ends("tool_calls"),
    );
    assert.deepEqual(called(message), [["write", { text: 'say "} and go" on' }]]);
  });

  it("end at a brace after an escaped backslash", () => {
    const message = answer(
      ["write"],
      piece(undefined, "a", { name: "write", arguments: '{"text":"C:\\\\"}' }),
      piece(undefined, "b", { name: "write", arguments: '{"text":"D:\\\\"}' }),
      ends("tool_calls"),
    );
    assert.deepEqual(called(message), [
      ["write", { text: "C:\\" }],
      ["write", { text: "D:\\" }],
    ]);
  });

  it("end with the answer's finish reason, even if their arguments are broken", () => {
    const broken = piece(0, "a", { name: "write", arguments: '{"text":"' });
    const cut = answer(["write"], broken, ends("length"));
    assert.deepEqual([cut.stopReason, cut.error], ["length", undefined]);
    const filtered = answer(["write"], broken, ends("content_filter"));
    assert.equal(filtered.error?.code, "content_filtered");
    const whole = answer(["write"], broken, ends("tool_calls"));
    assert.equal(whole.stopReason, "toolUse");
    assert.ok(toolCallsOf(whole)[0]?.argumentsError !== undefined);
  });
});
