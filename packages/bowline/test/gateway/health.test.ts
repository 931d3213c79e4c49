/** The health of a gateway, over HTTP and over a socket. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ManualClock } from "../../../../test/support/manual-clock.ts";
import { gatewayWith } from "./gateway.ts";

describe("a gateway's health", () => {
  it("has the version and the time since the start, over HTTP and over a socket", async () => {
    const clock = new ManualClock();
    await using server = await gatewayWith([], { clock, version: "1.2.3" });
    const client = await server.client();
    await clock.advance(1500);
    const answer = await fetch(`${server.gateway.url}/health`);
    assert.equal(answer.status, 200);
    assert.deepEqual(await answer.json(), { status: "ok", version: "1.2.3", uptimeMs: 1500 });
    assert.deepEqual(await client.call("health.check", {}), {
      status: "ok",
      version: "1.2.3",
      uptimeMs: 1500,
      connections: 1,
      runs: 0,
    });
  });

  it("is ready, and readable without a token", async () => {
    await using server = await gatewayWith([]);
    const answer = await fetch(`${server.gateway.url}/ready`);
    assert.equal(answer.status, 200);
    assert.deepEqual(await answer.json(), { isReady: true, parts: [] });
    assert.equal(answer.headers.get("cache-control"), "no-store");
    assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
  });
});
