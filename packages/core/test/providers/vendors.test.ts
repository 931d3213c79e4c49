/** The known facts about vendors and their model families. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Model } from "../../src/llm/model.ts";
import { supportsOutput } from "../../src/protocols.ts";
import { getModel, vendors } from "../../src/providers/vendors.ts";

const facts = (provider: string, id: string): unknown[] => {
  const { reasoning, compat = {} } = getModel(provider, id);
  return [reasoning, compat.noTemperature, compat.systemRole];
};

describe("a model family", () => {
  // Q107, Q113
  it("of OpenAI without reasoning gets no thinking options, and the others no temperature", () => {
    for (const id of [
      "gpt-4o",
      "gpt-4.1-mini",
      "chatgpt-4o-latest",
      "gpt-5-chat-latest",
      "ft:gpt-4o-2024-08-06:me",
      "gpt-4",
      "gpt-3.5-turbo",
    ])
      assert.deepEqual(facts("openai", id), [false, undefined, "system"], id);
    for (const id of [
      "gpt-5",
      "gpt-5-mini",
      "o3",
      "o4-mini",
      "gpt-5.2-pro",
      "gpt-5.1-codex-max",
      "gpt-5.3-chat-latest",
      "gpt-5.6",
    ])
      assert.deepEqual(facts("openai", id), [true, true, "developer"], id);
    for (const id of ["gpt-5.1", "gpt-5.2", "gpt-5.4-mini"])
      assert.deepEqual(facts("openai", id), [true, "thinking", "developer"], id);
    assert.deepEqual(facts("openai", "my-own"), [true, undefined, "developer"]);
  });

  it("of Gemini or Groq without thinking gets no thinking options", () => {
    const thinks = (provider: string, ...ids: string[]): boolean[] =>
      ids.map((id) => getModel(provider, id).reasoning);
    assert.deepEqual(
      thinks("google", "gemini-2.0-flash", "gemini-1.5-pro", "models/gemma-3-27b-it"),
      [false, false, false],
    );
    assert.deepEqual(
      thinks("google", "gemini-2.5-flash", "gemini-3-pro-preview", "gemini-flash-latest"),
      [true, true, true],
    );
    assert.deepEqual(thinks("groq", "llama-3.3-70b-versatile", "openai/gpt-oss-120b"), [
      false,
      true,
    ]);
  });

  it("of Anthropic gets the thinking options that it supports", () => {
    const adaptive = (id: string): unknown[] => {
      const { reasoning, compat = {} } = getModel("anthropic", id);
      return [reasoning, compat.adaptiveThinking, compat.noTemperature];
    };
    assert.deepEqual(adaptive("claude-3-5-haiku-20241022"), [false, undefined, undefined]);
    assert.deepEqual(adaptive("claude-sonnet-4-5"), [true, undefined, undefined]);
    assert.deepEqual(adaptive("claude-opus-4-6"), [true, true, undefined]);
    for (const id of ["claude-opus-4-7", "claude-sonnet-5", "claude-opus-5-5", "claude-fable-5"])
      assert.deepEqual(adaptive(id), [true, true, true], id);
  });

  // Q175
  it("of Anthropic gets its maximum output as maxTokens", () => {
    const most = (id: string): unknown => getModel("anthropic", id).maxTokens;
    for (const id of [
      "claude-sonnet-4-5-20250929",
      "claude-haiku-4-5",
      "claude-opus-4-8",
      "claude-sonnet-5",
      "claude-haiku-6",
    ])
      assert.equal(most(id), 64_000, id);
    for (const id of [
      "claude-opus-4-1-20250805",
      "claude-opus-4-20250514",
      "claude-sonnet-4-0",
      "claude-3-7-sonnet-latest",
    ])
      assert.equal(most(id), 32_000, id);
    assert.equal(most("claude-3-5-haiku-20241022"), undefined);
    assert.equal(getModel("anthropic", "claude-opus-5", { maxTokens: 9 }).maxTokens, 9);
    const nothing = { maxTokens: undefined, reasoning: undefined } as object;
    const { maxTokens, reasoning } = getModel("anthropic", "claude-opus-5", nothing);
    assert.deepEqual([maxTokens, reasoning], [64_000, true]);
  });

  // Q112, Q126, Q173
  it("gets no forced tool choice and no prefill if it is known to refuse them", () => {
    const taken = (provider: string, id: string): unknown[] => {
      const { toolChoice, prefill } = getModel(provider, id).compat ?? {};
      return [toolChoice, prefill];
    };
    const expected: [string, string, unknown[]][] = [
      ["anthropic", "claude-haiku-4-5", [undefined, undefined]],
      ["anthropic", "claude-sonnet-4-6", [undefined, "none"]],
      ["anthropic", "claude-opus-5", [undefined, "none"]],
      ["anthropic", "claude-opus-5-5", ["auto", "none"]],
      ["anthropic", "claude-haiku-5-5", ["auto", "none"]],
      ["anthropic", "claude-fable-5-1", ["auto", "none"]],
      ["deepseek", "deepseek-v4-pro", ["auto", undefined]],
      ["moonshot", "kimi-k2.6", ["auto", "partial"]],
      ["mistral", "mistral-large-latest", [undefined, "prefix"]],
      ["openai", "gpt-5", [undefined, undefined]],
    ];
    for (const [provider, id, what] of expected) assert.deepEqual(taken(provider, id), what, id);
  });

  it("supports output schemas, with tools or without, as its vendor does", () => {
    const how = (provider: string, id: string): unknown => {
      const model = getModel(provider, id);
      return [supportsOutput(model, false), supportsOutput(model)];
    };
    const both = [true, true];
    const alone = [true, false];
    const never = [false, false];
    const expected: [string, string, boolean[]][] = [
      ["openai", "gpt-5-mini", both],
      ["openai", "gpt-4o-mini", both],
      ["openai", "gpt-4-turbo", never],
      ["anthropic", "claude-haiku-4-5", both],
      ["anthropic", "claude-opus-4-1-20250805", both],
      ["anthropic", "claude-opus-4-20250514", never],
      ["anthropic", "claude-3-7-sonnet-latest", never],
      ["google", "gemini-3-flash-preview", both],
      ["google", "gemini-2.5-pro", alone],
      ["google", "gemma-3-27b-it", never],
      ["mistral", "mistral-large-latest", alone],
      ["ollama", "qwen3", alone],
      ["groq", "openai/gpt-oss-120b", never],
      ["deepseek", "deepseek-chat", never],
    ];
    for (const [provider, id, what] of expected)
      assert.deepEqual(how(provider, id), what, `${provider}/${id}`);
  });

  it("yields to the caller's settings", () => {
    const own = {
      reasoning: true,
      compat: { systemRole: "developer", noTemperature: false },
    } satisfies Partial<Model>;
    const { reasoning, compat } = getModel("openai", "gpt-4o", own);
    assert.deepEqual(
      [reasoning, compat?.systemRole, compat?.noTemperature],
      [true, "developer", false],
    );
  });
});

describe("the vendor list", () => {
  it("is JSON, and its patterns are regular expressions", () => {
    assert.deepEqual(JSON.parse(JSON.stringify(vendors)), vendors);
    for (const { families = [] } of vendors)
      for (const { ids } of families) assert.doesNotThrow(() => new RegExp(ids));
  });
});
