/** Retries limited by time instead of by number. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Clock } from "../../src/clock.ts";
import type { AssistantMessage } from "../../src/llm/message.ts";
import type { StreamOptions } from "../../src/llm/model.ts";
import { streamOpenaiChat } from "../../src/providers/openai-chat/index.ts";
import { getModel } from "../../src/providers/vendors.ts";

/** Creates a clock whose time moves only during a wait, which then ends at once. */
function jumpingClock(): Clock & { readonly now: () => number } {
  let now = 0;
  return {
    now: () => now,
    setTimer(ms, fire) {
      if (ms > 60_000) return () => {}; // a time limit of the request, which is answered at once
      const timer = setImmediate(() => {
        now += ms;
        fire();
      });
      return () => clearImmediate(timer);
    },
  };
}

interface Outcome {
  readonly message: AssistantMessage;
  readonly tries: number;
  readonly now: number;
}

async function ask(
  answer: (attempt: number) => Response,
  options: StreamOptions = {},
): Promise<Outcome> {
  const clock = jumpingClock();
  let tries = 0;
  const message = await streamOpenaiChat(
    getModel("custom", "m", { baseUrl: "http://h.invalid" }),
    { messages: [{ role: "user", content: "Hi", timestamp: 1 }] },
    {
      clock,
      random: () => 1,
      maxRetries: Infinity,
      maxRetryTimeMs: 40_000,
      fetch: async () => answer(++tries),
      ...options,
    },
  ).result();
  return { message, tries, now: clock.now() };
}

const stream = (text: string): Response =>
  new Response(text, { headers: { "content-type": "text/event-stream" } });
const busy = (): Response => new Response("busy", { status: 503 });
const hello = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: "Hello" }, finish_reason: "stop" }] })}\n\ndata: [DONE]\n\n`;
const cut = `data: ${JSON.stringify({ choices: [{ delta: { content: "Hel" } }] })}\n\n`;

describe("maxRetryTimeMs", () => {
  it("ends the retries of a server that stays down, with its last error", async () => {
    const { message, tries, now } = await ask(busy);
    assert.equal(message.error?.status, 503);
    // 0.5, 1, 2, 4, then 8 s each: the tenth try would begin after 47.5 s.
    assert.deepEqual([tries, now], [9, 39_500]);
  });

  it("leaves the number of tries as the only limit if it is not set", async () => {
    const { tries } = await ask(busy, { maxRetryTimeMs: 0, maxRetries: 20 });
    assert.equal(tries, 21);
  });

  it("lets a server that recovers in time answer", async () => {
    const { message, tries } = await ask((attempt) => (attempt < 8 ? busy() : stream(hello)));
    assert.deepEqual([message.stopReason, tries], ["stop", 8]);
  });
});

describe("answers that are cut off after output", () => {
  it("are retried twice regardless of maxRetries, because each costs the whole prompt", async () => {
    const { message, tries } = await ask(() => stream(cut), { retryAfterOutput: true });
    assert.deepEqual([message.error?.code, tries], ["stream_truncated", 3]);
  });

  it("do not use up the retries of a server that goes down afterwards", async () => {
    const answers = (attempt: number): Response =>
      attempt === 1 ? stream(cut) : attempt < 6 ? busy() : stream(hello);
    const { message, tries } = await ask(answers, { retryAfterOutput: true });
    assert.deepEqual([message.stopReason, tries], ["stop", 6]);
  });
});
