import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { createPage } from "../../src/page/node/page.ts";
import { BREACHES, breakHttp } from "../fuzz/broken-http.ts";
import { flood, halfClosed, inDrops, oneByOne, pipelined, vanish } from "../fuzz/http-attacks.ts";
import { badRequest } from "./bad-requests.ts";
import { gatewayWith, token, wait, type TestGateway } from "./gateway.ts";

const runs = Number(process.env.BOWLINE_FUZZ_RUNS ?? 60);
const tokens = { full: token, read: "for-reading-only" };
const requests = fc.array(badRequest(tokens), { minLength: 1, maxLength: 6 });

const attacked = (): Promise<TestGateway> =>
  gatewayWith(
    Array.from({ length: 10_000 }, () => "Yes."),
    { page: createPage(), limits: { maxAuthFailures: 1e9 } },
  );

describe("HTTP requests of any kind", () => {
  for (const [how, attack] of Object.entries({
    "one after the other": oneByOne,
    "all at once": pipelined,
  })) {
    it(`get the right response, ${how}`, { timeout: 60_000 + runs * 1000 }, async () => {
      await using server = await attacked();
      const target = { port: server.gateway.port, tokens };
      await fc.assert(
        fc.asyncProperty(requests, async (some) =>
          assert.deepEqual(await attack(target, some), []),
        ),
        { numRuns: runs },
      );
      assert.equal((await fetch(`${server.gateway.url}/health`)).status, 200);
    });
  }

  it("may come byte by byte, half-closed or cut off, and no reader stays connected", async () => {
    await using server = await attacked();
    const target = { port: server.gateway.port, tokens };
    const one = badRequest(tokens).filter(({ body }) => body.length < 2000);
    await fc.assert(
      fc.asyncProperty(one, requests, fc.boolean(), async (request, some, isCut) => {
        assert.deepEqual(await halfClosed(target, request), []);
        assert.deepEqual(await inDrops(target, request, isCut), []);
        assert.deepEqual(await vanish(target, some, isCut), []);
      }),
      { numRuns: Math.ceil(runs / 4) },
    );
    assert.deepEqual(await flood(target, 500), []);
    const client = await server.client();
    for (
      let left = 2000;
      left > 0 && (await client.call("health.check", {})).connections > 1;
      left--
    )
      await wait(10);
    assert.equal(
      (await client.call("health.check", {})).connections,
      1,
      "readers that went are let go",
    );
  });

  it("that break the protocol get the right status", async () => {
    await using server = await attacked();
    const target = { port: server.gateway.port, tokens };
    for (let which = 0; which < BREACHES; which++)
      assert.deepEqual(await breakHttp(target, which), []);
  });
});
