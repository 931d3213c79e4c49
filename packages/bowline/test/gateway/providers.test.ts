/** A custom provider of the application, selected by an agent's model reference. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toStreamFn, type ChatParams, type ModelProvider } from "@bowline/compat/gateway";
import { parseModelRef, type MethodContext, type ModelRef } from "bowline/gateway";
import { gatewayWith } from "./gateway.ts";

describe("a model reference", () => {
  // Requirements: J3
  it("is a provider and a model, split at the first slash, or else throws", () => {
    assert.deepEqual(parseModelRef("anthropic/claude-opus-4-6") satisfies ModelRef, {
      provider: "anthropic",
      model: "claude-opus-4-6",
    });
    assert.deepEqual(parseModelRef("openrouter/anthropic/x"), {
      provider: "openrouter",
      model: "anthropic/x",
    });
    for (const bad of ["claude", "/model", "provider/", ""])
      assert.throws(() => parseModelRef(bad), Error);
  });
});

describe("the registry", () => {
  // Requirements: J30, J31
  it("is available to methods, and serves agents of its providers", async () => {
    type Gained = Pick<MethodContext, "providers" | "workspacePath">;
    const gained: Gained = { providers: new Map(), workspacePath: "/" };
    assert.deepEqual(Object.keys(gained), ["providers", "workspacePath"]);
    const asked: ChatParams[] = [];
    const own: ModelProvider = {
      id: "own",
      async *chat(params) {
        asked.push({ ...params, messages: structuredClone(params.messages) });
        yield { type: "delta", text: "Mine." };
        yield { type: "final", usage: { inputTokens: 1, outputTokens: 2 } };
      },
    };
    await using server = await gatewayWith([], {
      providers: new Map([["own", toStreamFn(own)]]),
      agents: () => [{ id: "assistant", model: "own/model-7", description: "" }],
      systemPrompt: () => "Built from files.",
    });
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "test", message: "Hi" });
    assert.deepEqual((await client.event("chat.final", runId)).usage, {
      inputTokens: 1,
      outputTokens: 2,
    });
    assert.equal(client.text(runId), "Mine.");
    assert.deepEqual([asked[0]?.model, asked[0]?.systemPrompt], ["model-7", "Built from files."]);
    assert.deepEqual(asked[0]?.messages, [{ role: "user", content: "Hi" }]);
    assert.deepEqual(asked[0]?.tools, []);
  });
});
