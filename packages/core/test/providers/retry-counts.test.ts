/** Tests which failures count towards which retry limit. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { messageText } from "../../src/llm/message.ts";
import type { Clock } from "../../src/clock.ts";
import { streamOpenaiCompatible } from "../../src/providers/openai-chat/index.ts";
import { getModel } from "../../src/providers/vendors.ts";
import {
  chatText,
  failing,
  loopback,
  streamed,
  type Handler,
} from "../../../../test/support/loopback.ts";

const context = { messages: [{ role: "user" as const, content: "Hi", timestamp: 1 }] };
/** A wait that returns at once. */
const clock: Clock = {
  now: () => 0,
  setTimer: (ms, fire) => {
    if (ms > 100_000) return () => {};
    const timer = setImmediate(fire);
    return () => clearImmediate(timer);
  },
};
const refuses = (field: string): Handler =>
  failing(400, { error: { message: `Unsupported parameter: '${field}' is not supported.` } });
const empty = streamed({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }, "[DONE]");
const breaks = failing(500, { error: { message: "Oops." } });

async function ask(...handlers: Handler[]): Promise<string> {
  await using server = await loopback(...handlers);
  const model = getModel("custom", "m", { baseUrl: server.baseUrl });
  const options = { maxTokens: 9, temperature: 0.2, maxRetries: 2, clock, random: () => 0 };
  const message = await streamOpenaiCompatible(model, context, options).result();
  return messageText(message) || (message.error?.code ?? "");
}

describe("learning from a refused field", () => {
  const lessons = [refuses("temperature"), refuses("stream_options")];

  it("uses up no retry of failures", async () => {
    assert.equal(await ask(...lessons, breaks, breaks, chatText("Hello")), "Hello");
    assert.equal(await ask(...lessons, breaks, breaks, breaks, chatText("never")), "server_error");
  });

  it("uses up no retry of empty answers", async () => {
    assert.equal(await ask(...lessons, empty, empty, chatText("Hello")), "Hello");
    assert.equal(await ask(...lessons, empty, empty, empty, chatText("never")), "empty_response");
  });
});

describe("empty answers", () => {
  it("have a retry count of their own, apart from failures", async () => {
    assert.equal(await ask(empty, breaks, empty, breaks, chatText("Hello")), "Hello");
    assert.equal(await ask(breaks, breaks, empty, breaks, chatText("never")), "server_error");
  });
});
