import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it } from "node:test";
import fc from "fast-check";
import {
  afterAuth,
  beforeAuth,
  breakProtocol,
  inPieces,
  resetAtOnce,
  vanish,
  VIOLATIONS,
} from "../fuzz/attacks.ts";
import { closeCodes } from "../../src/gateway/protocol/frame.ts";
import { encodeFrame, RawSocket } from "../fuzz/raw-socket.ts";
import { badFrames } from "./bad-frames.ts";
import { gatewayWith, token, wait } from "./gateway.ts";

const runs = Number(process.env.BOWLINE_FUZZ_RUNS ?? 60);

describe("frames of any kind", () => {
  const attacks = [
    { when: "before", arbitrary: badFrames(4), attack: beforeAuth },
    { when: "after", arbitrary: badFrames(8), attack: afterAuth },
  ];
  for (const { when, arbitrary, attack } of attacks) {
    it(
      `are answered or close the connection ${when} authentication`,
      { timeout: 60_000 + runs * 1000 },
      async () => {
        await using server = await gatewayWith(
          Array.from({ length: 10_000 }, () => "Yes."),
          { limits: { maxAuthFailures: 1e9, maxConnections: 1e4 } },
        );
        const target = { port: server.gateway.port, token };
        await fc.assert(
          fc.asyncProperty(arbitrary, async (frames) =>
            assert.deepEqual(await attack(target, frames), []),
          ),
          { numRuns: runs },
        );
        const client = await server.client();
        assert.equal((await client.call("health.check", {})).status, "ok");
      },
    );
  }

  it("that break the WebSocket protocol close the connection with the right code", async () => {
    await using server = await gatewayWith([]);
    const target = { port: server.gateway.port, token };
    for (let which = 0; which < VIOLATIONS; which++) {
      for (const isIn of [false, true]) {
        assert.deepEqual(await breakProtocol(target, which, isIn), []);
      }
    }
    assert.deepEqual(await inPieces(target), []);
  });

  it("may have a limited number of fragments", async () => {
    await using server = await gatewayWith([]);
    const raw = await RawSocket.open(server.gateway.port);
    raw.text(JSON.stringify({ type: "auth", token }));
    while (raw.texts.length === 0) await wait(1);
    raw.write(
      Buffer.concat(
        Array.from({ length: 20_000 }, (_, index) =>
          encodeFrame({ opcode: index === 0 ? 1 : 0, fin: false }),
        ),
      ),
    );
    await raw.ended;
    assert.equal(raw.closeCode, closeCodes.tooManyPieces);
  });

  it("may be cut by a reset during the handshake without affecting other clients", async () => {
    await using server = await gatewayWith([]);
    const client = await server.client();
    const target = { port: server.gateway.port, token };
    for (let count = 0; count < 20; count++) {
      assert.deepEqual(await resetAtOnce(target), []);
      assert.deepEqual(await vanish(target, count), []);
    }
    assert.equal((await client.call("health.check", {})).status, "ok");
  });

  it("close the connection when they are too large, or when too many are not requests", async () => {
    await using server = await gatewayWith([]);
    const [one, two] = [await server.client(), await server.client()];
    const ends = [one, two].map(({ socket }) => once(socket, "close") as Promise<[number]>);
    one.socket.send("x".repeat(1024 * 1024 + 1));
    for (let count = 0; count < 30; count++) two.socket.send("no json");
    assert.deepEqual(
      (await Promise.all(ends)).map(([code]) => code),
      [1009, 4400],
    );
  });

  it("are answered with their id unchanged", async () => {
    await using server = await gatewayWith([]);
    const client = await server.client();
    for (const each of ["text", "", 0, -1.5, 2 ** 40]) {
      client.socket.send(JSON.stringify({ id: each, method: "health.check" }));
      assert.notEqual((await client.until((answer) => answer.id === each)).result, undefined);
    }
    client.socket.send(JSON.stringify({ method: "health.check" }));
    assert.equal((await client.until((answer) => answer.id === null)).error?.code, -32600);
    client.socket.send('{"id":"a","method":"nothing"}');
    assert.equal((await client.until((answer) => answer.id === "a")).error?.code, -32601);
    client.socket.send("{");
    assert.equal((await client.until(({ error }) => error?.code === -32700)).id, null);
    client.socket.send('{"id":"b","method":"chat.send","params":{"sessionKey":"s"}}');
    const { error } = await client.until((answer) => answer.id === "b");
    assert.deepEqual([error?.code, error?.data?.issues?.[0]?.path], [-32602, "message"]);
  });

  it("get a short error, however much is wrong", async () => {
    await using server = await gatewayWith([]);
    const client = await server.client();
    const fields = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, index) => [`field ${index}`, index]),
    );
    for (const params of [fields, { ["x".repeat(400_000)]: 1 }]) {
      const before = client.frames.length;
      assert.equal(await client.refused("health.check", params), "bad_params");
      const refusal = client.frames.at(before);
      assert.ok(JSON.stringify(refusal).length < 20_000);
      assert.ok((refusal?.error?.data?.issues?.length ?? 0) > 0);
    }
  });
});
