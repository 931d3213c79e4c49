/** How much of the body of a refusal is read, and what the error says of it. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ErrorInfo } from "../../src/errors.ts";
import { complete, getModel } from "../../src/index.ts";
import { finalMessage } from "../../../../test/support/final-message.ts";

const model = getModel("acme", "m", { baseUrl: "http://server.invalid/v1" });
const context = { messages: [{ role: "user", content: "Hi", timestamp: 1 } as const] };
const encoder = new TextEncoder();

interface Refusal {
  readonly error: ErrorInfo | undefined;
  /** The number of chunks that were read. */
  readonly read: number;
  readonly isCancelled: boolean;
}

/** Refuses a call with a body in these chunks. */
async function refuse(...chunks: readonly Uint8Array[]): Promise<Refusal> {
  let read = 0;
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(stream) {
        const chunk = chunks[read];
        if (chunk === undefined) return stream.close();
        read++;
        stream.enqueue(chunk);
      },
      cancel: () => void (isCancelled = true),
    },
    { highWaterMark: 0 },
  );
  const fetch = async (): Promise<Response> => new Response(body, { status: 400 });
  const answering = complete(model, context, { fetch, apiKey: "k", maxRetries: 0 });
  const { error } = await finalMessage(answering);
  return { error, read, isCancelled };
}

describe("the body of a refusal", () => {
  it("is read to its end, in any chunks, even if one ends within a character", async () => {
    const said = "Bitte später noch einmal. 🧵";
    const body = encoder.encode(JSON.stringify({ error: { message: said } }));
    const singly = Array.from(body, (byte) => Uint8Array.of(byte));
    for (const chunks of [[body], [body.subarray(0, 5), body.subarray(5)], singly]) {
      const { error, read, isCancelled } = await refuse(...chunks);
      assert.equal(
        error?.message,
        `The server at http://server.invalid/v1/chat/completions answered HTTP 400: ${said}`,
      );
      assert.deepEqual([read, isCancelled], [chunks.length, false]);
    }
  });

  it("is read no further than 64 Ki characters, and the rest is cancelled", async () => {
    const most = 64 * 1024;
    for (const [length, read] of [
      [most - 1, 2],
      [most, 1],
    ] as const) {
      const text = encoder.encode(`No room. ${"x".repeat(length - 9)}`);
      const refused = await refuse(text, encoder.encode("x"), encoder.encode("never read"));
      assert.deepEqual([refused.read, refused.isCancelled], [read, true]);
      assert.match(refused.error?.message ?? "", /answered HTTP 400: No room\. x/);
    }
  });
});
