import assert from "node:assert/strict";
import { it } from "node:test";
import { getModel, streamByProtocol, type StreamOptions } from "../../src/index.ts";

/** The key header of one call with the default stream function. */
async function keySent(options: StreamOptions, baseUrl?: string): Promise<string | null> {
  let key: string | null = null;
  const fetch = async (_url: unknown, init?: RequestInit): Promise<Response> => {
    key = new Headers(init?.headers).get("x-api-key");
    return new Response("{}", { status: 400 });
  };
  const model = getModel(
    "anthropic",
    "claude-sonnet-4-5",
    baseUrl === undefined ? {} : { baseUrl },
  );
  const messages = [{ role: "user" as const, content: "Hi", timestamp: 1 }];
  const stream = await streamByProtocol(model, { messages }, { fetch, maxRetries: 0, ...options });
  for await (const event of stream) if (event.type === "done") break;
  return key;
}

// Requirements: X22
it("a key from the environment is the last fallback, and only for the vendor's own address", async (t) => {
  const before = process.env.ANTHROPIC_API_KEY;
  t.after(() => {
    if (before === undefined) delete process.env.ANTHROPIC_API_KEY;
    else process.env.ANTHROPIC_API_KEY = before;
  });
  process.env.ANTHROPIC_API_KEY = "from-environment";
  assert.equal(await keySent({}), "from-environment");
  assert.equal(await keySent({ apiKey: "given" }), "given");
  assert.equal(await keySent({ apiKey: "" }), null, "an empty key is the choice of none");
  assert.equal(await keySent({}, "https://proxy.example.com/v1"), null);
  delete process.env.ANTHROPIC_API_KEY;
  assert.equal(await keySent({}), null);
});
