/** Parts of user messages and tool results: which are sent, and which are refused by name. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AssistantMessage, Message } from "../../src/llm/message.ts";
import type { Model, StreamOptions } from "../../src/llm/model.ts";
import { streamByProtocol } from "../../src/providers/by-protocol.ts";
import { streamOpenaiChat } from "../../src/providers/openai-chat/index.ts";
import { getModel } from "../../src/providers/vendors.ts";
import { scriptedToolCall } from "../../src/testing/index.ts";
import { apis, call, rig, tool } from "../support.ts";
import { loopback, failing } from "../../../../test/support/loopback.ts";

const tinyImage = "iVBORw0KGgo=";

/** The body that is sent for these messages, or the error. */
async function send(
  api: string,
  messages: readonly unknown[],
  options: StreamOptions = {},
): Promise<{ readonly body: string; readonly error: AssistantMessage["error"] }> {
  await using server = await loopback(failing(400, { error: { message: "Enough." } }));
  const model: Model = getModel("custom", "m", {
    baseUrl: server.baseUrl,
    api,
    input: ["text", "image"],
  });
  const context = {
    messages: messages as Message[],
    tools: [
      { name: "look", description: "Looks.", parameters: { type: "object", properties: {} } },
    ],
  };
  let error: AssistantMessage["error"];
  try {
    const stream = await streamByProtocol(model, context, { maxRetries: 0, ...options });
    for await (const event of stream) if (event.type === "error") ({ error } = event.error);
  } catch (thrown) {
    error = thrown as AssistantMessage["error"];
  }
  return { body: server.requests[0]?.body ?? "", error };
}

const user = (...content: unknown[]): unknown => ({ role: "user", content, timestamp: 0 });
const asked: readonly unknown[] = [
  user({ type: "text", text: "Hi" }),
  {
    role: "assistant",
    content: [scriptedToolCall("look", {}, "a")],
    api: "x",
    provider: "x",
    model: "x",
    usage: {},
    stopReason: "toolUse",
    timestamp: 0,
  },
];
const result = (...content: unknown[]): unknown => ({
  role: "toolResult",
  toolCallId: "a",
  toolName: "look",
  content,
  isError: false,
  timestamp: 0,
});

describe("a content part", () => {
  for (const api of apis) {
    it(`of an unsupported type is refused by its name on ${api}`, async () => {
      const model = { type: "hologram", data: "AAAA", mimeType: "model/gltf-binary" };
      for (const messages of [[user(model)], [...asked, result(model)]]) {
        const { error, body } = await send(api, messages);
        assert.deepEqual([error?.code, body], ["invalid_argument", ""]);
        assert.match(error?.message ?? "", /type "hologram" is not supported/);
      }
    });

    it(`that is an image with a data: url is sent as plain base64 on ${api}`, async () => {
      const plain = { type: "image", data: tinyImage, mimeType: "image/png" };
      const { body } = await send(api, [user(plain)]);
      assert.ok(body.includes(tinyImage));
      for (const mimeType of ["image/png", undefined]) {
        const image = { type: "image", data: `data:image/png;base64,${tinyImage}`, mimeType };
        assert.equal((await send(api, [user(image)])).body, body);
      }
    });

    it(`of extraBody.tools is sent after the agent's tools on ${api}`, async () => {
      const own = { type: "web_search" };
      const { body } = await send(api, [user({ type: "text", text: "Hi" })], {
        extraBody: { tools: [own] },
      });
      const { tools } = JSON.parse(body) as { tools: unknown[] };
      assert.equal(tools.length, 2);
      assert.match(JSON.stringify(tools[0]), /"look"/);
      assert.deepEqual(tools[1], own);
    });
  }

  it("of an unsupported type is refused by a wire that is called directly", async () => {
    const model = getModel("custom", "m", { baseUrl: "http://127.0.0.1:1/v1" });
    const messages = [user({ type: "hologram" })] as Message[];
    const { error } = await streamOpenaiChat(model, { messages }).result();
    assert.equal(error?.code, "invalid_argument");
  });

  it("of an unsupported type in a tool result is an error that names it", async () => {
    const part = { type: "hologram", data: "AAAA" };
    const { agent } = rig(
      [call("look"), "Done."],
      [{ ...tool("look", () => ""), execute: () => ({ content: [part] }) as never }],
    );
    const { messages } = await agent.prompt("Hi");
    const told = messages.find(({ role }) => role === "toolResult");
    assert.match(JSON.stringify(told), /"isError":true/);
    assert.match(
      JSON.stringify(told),
      /type \\"hologram\\" is not supported|type \\\\"hologram\\\\" is not supported/,
    );
  });
});
