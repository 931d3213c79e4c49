import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createKey } from "../../src/gateway/client/create-key.ts";

describe("createKey", () => {
  it("returns a random UUID without an API that needs a secure context", () => {
    const keys = Array.from({ length: 200 }, createKey);
    for (const key of keys)
      assert.match(key, /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    assert.equal(new Set(keys).size, keys.length);
  });
});
