/** Opaque data of an answer is sent back only to the model that made it. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AssistantContent, AssistantMessage, Message } from "../../src/llm/message.ts";
import type { Model } from "../../src/llm/model.ts";
import { toReplay } from "../../src/providers/replay.ts";
import { getModel } from "../../src/providers/vendors.ts";
import { hello } from "../support.ts";

const model: Model = getModel("openai", "m");
const content: AssistantContent[] = [
  { type: "thinking", thinking: "hm", thinkingSignature: "SECRET" },
  { type: "opaque", protocol: model.api, raw: { reasoning: "SECRET" } },
  { type: "text", text: "Hello", textSignature: "SECRET" },
  { type: "toolCall", id: "1", name: "a", arguments: {}, thoughtSignature: "SECRET" },
];
const result: Message = {
  role: "toolResult",
  toolCallId: "1",
  toolName: "a",
  content: [{ type: "text", text: "1" }],
  isError: false,
  timestamp: 1,
};

function replayed(origin: Partial<AssistantMessage>): string {
  const answer: AssistantMessage = {
    role: "assistant",
    api: model.api,
    provider: model.provider,
    model: model.id,
    usage: {},
    stopReason: "toolUse",
    timestamp: 1,
    content,
    ...origin,
  };
  const limits = { nameLength: 64, idLength: 40, files: /^$/ };
  return JSON.stringify(toReplay([hello, answer, result], model, limits));
}

describe("an answer that failed", () => {
  it("goes to no model, nor do its calls with their results", () => {
    const sent = JSON.parse(replayed({ stopReason: "error" })) as { role: string }[];
    assert.deepEqual(
      sent.map(({ role }) => role),
      ["user"],
    );
  });
});

describe("an answer that was aborted", () => {
  it("is sent with its text only, so that no call of it is answered", () => {
    const [, answer, ...after] = JSON.parse(replayed({ stopReason: "aborted" })) as Message[];
    assert.deepEqual(answer, { role: "assistant", content: [{ type: "text", text: "Hello" }] });
    assert.deepEqual(
      after.map(({ role }) => role),
      ["user"],
    );
  });
});

describe("the opaque data of an answer", () => {
  it("is sent back to its own model whole", () => {
    assert.equal(replayed({}).split("SECRET").length - 1, 4);
  });

  it("is sent to no other provider, model or protocol", () => {
    for (const other of [{ provider: "other" }, { model: "other" }, { api: "other" }]) {
      const sent = replayed(other);
      assert.ok(!sent.includes("SECRET"), JSON.stringify(other));
      assert.ok(sent.includes("Hello"));
    }
  });

  it("of a cut answer is not sent at all", () => {
    assert.ok(!replayed({ stopReason: "aborted" }).includes("SECRET"));
  });
});
