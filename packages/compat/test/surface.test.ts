/** The exported names of each format. A change here is visible to users. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as codelet from "../src/codelet/index.ts";
import * as gai from "../src/gai/index.ts";
import * as karlOnMessages from "../src/karl/anthropic-messages.ts";
import * as karl from "../src/karl/index.ts";
import * as karlOnChat from "../src/karl/openai-chat.ts";
import * as main from "@bowline/core";

const names = (entry: object): string[] => Object.keys(entry).toSorted();

describe("the public surface", () => {
  it("exports these values for each format", () => {
    for (const entry of [karl, karlOnChat, karlOnMessages])
      assert.deepEqual(names(entry), ["AgentLoopError", "adaptTool", "agentLoop", "runTask"]);
    assert.deepEqual(names(codelet), [
      "ClaudeProvider",
      "Message",
      "ModelProvider",
      "Runner",
      "ToolRegistry",
      "hasToolCall",
      "toStreamFn",
    ]);
    assert.deepEqual(names(gai), [
      "Agent",
      "Runtime",
      "Tool",
      "anthropic",
      "appendResponse",
      "err",
      "errorToString",
      "fetchRuntime",
      "hasToolCalls",
      "ok",
      "openai",
      "run",
      "system",
      "textContent",
      "toolCalls",
      "toolResult",
      "toolResultError",
      "userText",
    ]);
  });
});

describe("a name used by several formats", () => {
  // Requirements: X31
  it("is core's in the main entry, and each format's in the format's entry", () => {
    const shared = ["Agent", "agentLoop", "agentLoopContinue", "getModel", "streamProxy"];
    assert.deepEqual(
      shared.filter((name) => !Object.keys(main).includes(name)),
      [],
    );
    const exported = new Set<unknown>(Object.values(main));
    for (const face of [karl, codelet, gai]) {
      assert.ok(Object.values(face).length > 0);
      assert.deepEqual(
        Object.entries(face).filter(([, value]) => exported.has(value)),
        [],
      );
    }
    assert.ok("agentLoop" in karl && "Agent" in gai);
  });
});
