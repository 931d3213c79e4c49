/** Blocks that are built from a run's messages, which must equal those of its events. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { SessionMessage } from "@bowline/core/session";
import { blocksOf, cut } from "../../src/gateway/log/blocks.ts";
import { createSecretFilter } from "../../src/secrets.ts";

const filter = createSecretFilter(["hunter2-and-more"]);
const blocks = (...messages: readonly object[]): object[] =>
  blocksOf(messages as unknown as SessionMessage[], filter);
const call = (id: string): object => ({ type: "toolCall", id, name: "f", arguments: { a: 1 } });
const result = (toolCallId: string, text: string, isError = false): object => ({
  role: "toolResult",
  toolCallId,
  isError,
  content: [{ type: "text", text }],
});

describe("the blocks of messages", () => {
  it("contain the redacted text of the user, with id and images if present", () => {
    const image = { type: "image", mimeType: "image/png", data: "AAAA" };
    const text = { type: "text", text: "Look" };
    assert.deepEqual(
      blocks(
        { role: "user", content: "I am hunter2-and-more." },
        { role: "user", content: [text, image], messageId: "m" },
      ),
      [
        { type: "user", text: "I am [redacted]." },
        {
          type: "user",
          text: "Look",
          messageId: "m",
          images: [{ mimeType: "image/png", bytes: 3 }],
        },
      ],
    );
  });

  it("tell what the person wrote from labels of what a program added, without secrets", () => {
    const content = [
      { type: "text", text: "Look " },
      { type: "text", text: "hunter2", shownAs: "hunter2-and-more.md", shownFile: "x.md" },
      { type: "text", text: "here" },
    ];
    const label = "[redacted].md";
    assert.deepEqual(blocks({ role: "user", content }), [
      { type: "user", text: "Look here", added: [{ label, file: "x.md" }] },
    ]);
  });

  it("attach each result to the last call with its id, and count a turn per answer", () => {
    const said = blocks(
      { role: "assistant", content: [{ type: "text", text: "One" }, call("a")] },
      result("a", "first"),
      { role: "assistant", content: [call("a"), call("b"), call("c")] },
      result("a", "hunter2-and-more"),
      result("b", "no", true),
      result("none", "of nothing"),
      { role: "assistant", content: [{ type: "text", text: "Two" }] },
    ) as Record<string, unknown>[];
    assert.deepEqual(
      said.map(({ type, turn, text, state, output }) => [type, turn ?? 0, text ?? state, output]),
      [
        ["text", 0, "One", undefined],
        ["tool_call", 0, "done", "first"],
        ["tool_call", 0, "done", "[redacted]"],
        ["tool_call", 0, "failed", "no"],
        ["tool_call", 0, said[4]?.["state"], said[4]?.["output"]],
        ["text", 2, "Two", undefined],
      ],
    );
    assert.ok(!["done", "failed"].includes(String(said[4]?.["state"])));
  });
});

describe("a truncated text", () => {
  it("has at most the given length, splits no character, and reports the number of omitted ones", () => {
    for (const [text, length, expected] of [
      ["abc", 3, "abc"],
      ["abcd", 3, "abc\n[1 more characters]"],
      ["ab🪢", 3, "ab\n[1 more characters]"],
      ["🪢🪢", 2, "🪢\n[2 more characters]"],
      ["", 0, ""],
    ] as const)
      assert.equal(cut(text, length), expected);
    assert.equal(cut("abc", 3, 10), "abc\n[7 more characters]");
    assert.equal(cut("x".repeat(20_000)).length, 20_000);
    assert.ok(cut("x".repeat(20_001)).endsWith("x\n[1 more characters]"));
  });
});
