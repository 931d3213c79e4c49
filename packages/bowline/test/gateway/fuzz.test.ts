import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it } from "node:test";
import fc from "fast-check";
import { WebSocket } from "ws";
import { closeCodes, errorNumbers } from "../../src/gateway/frame.ts";
import { methods } from "../../src/gateway/schema.ts";
import { gatewayWith, token, wait, type AnyFrame, type TestGateway } from "./gateway.ts";

const runs = Number(process.env.BOWLINE_FUZZ_RUNS ?? 60);
const numbers = new Set<number>(Object.values(errorNumbers));
const codes = new Set<number>([...Object.values(closeCodes), 1005, 1006, 1002, 1007]);

const names = fc.constantFrom(...Object.keys(methods), "nothing", "constructor", "__proto__", "toString");
const id = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.constant(null),
  fc.constant({}),
  fc.double(),
  fc.constant("x".repeat(300)),
);
const params = fc.oneof(
  fc.jsonValue(),
  fc.record(
    {
      sessionKey: fc.oneof(fc.string(), fc.jsonValue()),
      message: fc.string(),
      limit: fc.integer(),
      runId: fc.string(),
    },
    { requiredKeys: [] },
  ),
);
const frame = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ id, method: names, params }, { requiredKeys: [] }).map((value) => JSON.stringify(value)),
  },
  fc.json(),
  fc.string(),
  fc.constant(""),
  fc.constant("[".repeat(20_000)),
  fc.constant(`{"a":`.repeat(3000)),
  fc.constant(JSON.stringify({ id: 1, method: "chat.send", params: { sessionKey: "\ud800", message: "x" } })),
  fc.constant(JSON.stringify({ type: "auth" })),
);
const binary = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes));

/** Sends the frames; every one has to be answered, or the socket closed with a code that is known. */
async function send(server: TestGateway, frames: readonly (string | Buffer)[], isIn: boolean): Promise<void> {
  const socket = server.socket();
  const end = once(socket, "close") as Promise<[number]>;
  const answers: AnyFrame[] = [];
  await once(socket, "open");
  if (isIn) {
    socket.send(JSON.stringify({ type: "auth", token }));
    await once(socket, "message");
  }
  socket.on("message", (data: Buffer) => {
    const answer = JSON.parse(data.toString()) as AnyFrame;
    if (answer.event === undefined) answers.push(answer);
  });
  for (const each of frames) socket.send(each);
  const deadline = Date.now() + 5000;
  while (socket.readyState === WebSocket.OPEN && answers.length < frames.length) {
    assert.ok(Date.now() < deadline, `unanswered: ${JSON.stringify(frames)}`);
    await wait(1);
  }
  for (const { error } of answers) assert.ok(error === undefined || numbers.has(error.code), JSON.stringify(error));
  for (const { error } of answers) assert.notEqual(error?.code, errorNumbers.internal, JSON.stringify(frames));
  socket.close();
  const [code] = await end;
  assert.ok(codes.has(code), String(code));
}

describe("frames of any kind", () => {
  for (const isIn of [false, true]) {
    it(
      `are answered or end the connection ${isIn ? "after" : "before"} the client is let in`,
      { timeout: 60_000 },
      async () => {
        await using server = await gatewayWith([], { limits: { maxAuthFailures: 1e9, maxConnections: 1e4 } });
        const frames = fc.array(fc.oneof({ weight: 9, arbitrary: frame }, binary), { minLength: 1, maxLength: 8 });
        await fc.assert(
          fc.asyncProperty(frames, (some) => send(server, some, isIn)),
          { numRuns: runs },
        );
        const client = await server.client();
        assert.equal((await client.call("health.check", {})).status, "ok");
      },
    );
  }

  it("end the connection when they are too large, and when none of many is a request", async () => {
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

  it("have ids that come back as they were", async () => {
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
});
