/** Server errors that are nested deeper than the engine's stack allows. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { finalMessage } from "../../../../test/support/final-message.ts";
import { complete, getModel } from "../../src/index.ts";
import { errorOfEnvelope } from "../../src/transport/http-error.ts";

const nested = (depth: number): string => `${'{"error":'.repeat(depth)}"No."${"}".repeat(depth)}`;
const model = getModel("acme", "m", { baseUrl: "http://server.invalid/v1" });
const context = { messages: [{ role: "user", content: "Hi", timestamp: 1 } as const] };

it("a refusal is classified by its status, for a body of any depth", async () => {
  for (const depth of [3, 20, 21, 9000, 100_000]) {
    const fetch = async (): Promise<Response> => new Response(nested(depth), { status: 400 });
    const { error } = await finalMessage(complete(model, context, { fetch, apiKey: "k" }));
    assert.deepEqual([error?.code, error?.status], ["invalid_request", 400]);
    assert.match(error?.message ?? "", depth > 20 ? /HTTP 400: \{"error"/ : /HTTP 400: No\.$/);
  }
});

it("an error inside a stream is reported as an error, at any depth", async () => {
  for (const depth of [3, 9000, 100_000]) {
    const headers = { "content-type": "text/event-stream" };
    const fetch = async (): Promise<Response> =>
      new Response(`data: ${nested(depth)}\n\n`, { headers });
    const answering = complete(model, context, { fetch, apiKey: "k", maxRetries: 0 });
    const { error } = await finalMessage(answering);
    assert.equal(error?.code, "server_error");
    assert.doesNotMatch(error?.message ?? "", /call stack/i);
  }
});

it("the status of an error inside a stream is found in up to 20 objects around it", () => {
  const around = (depth: number): unknown =>
    depth === 0 ? { code: 429, message: "Slow." } : { error: around(depth - 1) };
  for (const [depth, code, status] of [
    [0, "rate_limited", 429],
    [20, "rate_limited", 429],
    [21, "server_error", undefined],
  ] as const) {
    const error = errorOfEnvelope(around(depth));
    assert.deepEqual([error.code, error.status], [code, status], `${depth} objects`);
  }
});
