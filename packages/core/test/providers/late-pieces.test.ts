/** Deltas for blocks that the stream has already ended. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as messages from "./anthropic-messages/events.ts";
import * as responses from "./openai-responses/events.ts";

const textOf = (content: readonly { type: string }[]): unknown[] =>
  content.map((part) => ("text" in part ? part.text : part.type));

describe("a delta after the stop of its Messages block", () => {
  const late = messages.delta(0, { type: "text_delta", text: " there" });

  it("becomes a text part of its own, and the answer is corrupt", () => {
    const { content, error } = messages.answer(
      messages.begin(),
      ...messages.text(0, "Hello"),
      late,
      messages.end("end_turn"),
      messages.over,
    );
    assert.deepEqual([textOf(content), error?.code], [["Hello", " there"], "stream_corrupt"]);
  });

  it("prevents the calls of the answer from running", () => {
    const { error } = messages.answer(
      messages.begin(),
      ...messages.text(0, "Hello"),
      late,
      ...messages.call(1, "toolu_1", "{}"),
      messages.end("tool_use"),
      messages.over,
    );
    assert.equal(error?.code, "stream_corrupt");
    assert.match(error?.message ?? "", /a piece for a block that was not open/);
  });
});

describe("the end of a Responses reasoning section after the start of another", () => {
  it("does not repeat the streamed text", () => {
    const summary = (section: number, delta: string): object =>
      responses.at(0, "reasoning_summary_text.delta", { summary_index: section, delta });
    const ended = (section: number, text: string): object =>
      responses.at(0, "reasoning_summary_text.done", { summary_index: section, text });
    const { content } = responses.answer(
      responses.created(),
      summary(0, "One"),
      summary(1, "Two"),
      ended(0, "One"),
      ended(1, "Two"),
      responses.piece(1, "Hello"),
      responses.completed(),
    );
    const [thought] = content;
    assert.equal(thought?.type === "thinking" && thought.thinking, "One\n\nTwo");
  });
});
