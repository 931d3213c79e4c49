import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import {
  contextTokens,
  estimateTokens,
  IMAGE_TOKENS,
  mediaTokens,
} from "../../../src/agent/context/tokens.ts";
import type { AssistantMessage } from "../../../src/llm/message.ts";
import type { Usage } from "../../../src/llm/usage.ts";
import { longTranscripts, sumOf, task, turn, user } from "./rig.ts";

const answer = (usage: Usage, extra: Partial<AssistantMessage> = {}): AssistantMessage => ({
  role: "assistant",
  content: [{ type: "text", text: "Yes." }],
  api: "a",
  provider: "p",
  model: "m",
  usage,
  stopReason: "stop",
  timestamp: 1,
  ...extra,
});

describe("a token estimate", () => {
  it("counts a quarter of a token for ASCII, half for other alphabets, one for ideographs and emoji units", () => {
    assert.equal(estimateTokens("abcd".repeat(10)), 10);
    assert.equal(estimateTokens("привет"), 3);
    assert.equal(estimateTokens("世界"), 2);
    assert.equal(estimateTokens("🌍"), 2);
    assert.equal(estimateTokens(""), 0);
  });

  it("counts a fixed number of tokens for an image of any size", () => {
    const image = (data: string): number =>
      estimateTokens({
        role: "user",
        content: [{ type: "image", data, mimeType: "image/png" }],
        timestamp: 1,
      });
    assert.equal(image("x") - IMAGE_TOKENS, 4);
    assert.equal(image("x".repeat(100_000)), image("x"));
  });

  it("counts a file by its size: text by its characters, other types by much less", () => {
    const data = "A".repeat(5000);
    for (const [mimeType, tokens] of [
      ["text/markdown", 1000],
      ["application/json", 1000],
      ["application/pdf", 20],
    ] as const)
      assert.equal(mediaTokens({ type: "file", mimeType, data }), IMAGE_TOKENS + tokens, mimeType);
    assert.equal(
      mediaTokens({ type: "file", mimeType: "text/csv", url: "https://a" }),
      IMAGE_TOKENS,
    );
  });

  it("counts calls with their arguments, thinking, and custom messages", () => {
    const [call] = turn(1);
    assert.ok(call !== undefined && estimateTokens(call) >= estimateTokens('read{"number":1}'));
    const thinking = answer({}, { content: [{ type: "thinking", thinking: "a".repeat(400) }] });
    assert.equal(estimateTokens(thinking), 104);
    const custom = { role: "notification", text: "a".repeat(400) };
    assert.ok(estimateTokens(custom as never) >= 100);
  });

  it("never decreases when the transcript grows", () => {
    const property = fc.property(longTranscripts, fc.nat(), (messages, at) => {
      const cut = at % messages.length;
      assert.ok(sumOf(messages.slice(0, cut)) < sumOf(messages));
    });
    fc.assert(property, { numRuns: 100 });
  });
});

describe("the context size", () => {
  it("is the last call's input, output and cache, not a sum over calls", () => {
    const first = answer({ input: 900, output: 100 });
    const last = answer({
      input: 100,
      output: 20,
      cacheRead: 3000,
      cacheWrite: 80,
      totalTokens: 9,
    });
    assert.equal(contextTokens([user("Hi"), first, user("And?"), last]), 3200);
  });

  it("adds an estimate for later messages", () => {
    const messages = [user("Hi"), answer({ input: 900, output: 100 })];
    const more = [user("a".repeat(400))];
    assert.equal(contextTokens([...messages, ...more]), 1000 + sumOf(more));
  });

  it("estimates an unreported output, and accepts a bare total", () => {
    const silent = answer({ input: 900 });
    assert.equal(contextTokens([user("Hi"), silent]), 900 + estimateTokens(silent));
    assert.equal(contextTokens([user("Hi"), answer({ totalTokens: 700 })]), 700);
  });

  it("is an estimate when usage is missing or zero, or came only from failed answers", () => {
    for (const last of [
      answer({}),
      answer({ input: 0, output: 0, totalTokens: 0 }),
      answer({ input: 900, output: 1 }, { stopReason: "error" }),
      answer({ input: 900, output: 1 }, { stopReason: "aborted" }),
    ]) {
      const messages = [user("Hi"), last];
      assert.equal(contextTokens(messages), sumOf(messages));
    }
  });

  it("looks no further back than the last report", () => {
    const seen: unknown[] = [];
    const messages = [...task(300), answer({ input: 5, output: 5 }), ...turn(301)];
    contextTokens(messages, (message) => seen.push(message));
    assert.equal(seen.length, 2);
  });
});
