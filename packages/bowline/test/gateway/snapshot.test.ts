import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Block } from "../../src/gateway/protocol/protocol.ts";
import { snapshotBlocks } from "../../src/gateway/log/snapshot.ts";
import { gatewayWith } from "./gateway.ts";
import { eventually } from "../../../../test/support/within.ts";
import { sweep } from "../../../../test/support/sweep.ts";

const text = fc.oneof(
  fc.string({ maxLength: 50 }),
  fc.nat({ max: 3000 }).map((length) => "\0😀".repeat(length)),
);
const block: fc.Arbitrary<Block> = fc.oneof(
  fc.record({ type: fc.constant("text" as const), turn: fc.nat(9), text }),
  fc.record({
    type: fc.constant("tool_call" as const),
    toolCallId: fc.string(),
    name: fc.string(),
    arguments: fc.oneof(fc.jsonValue(), fc.record({ path: text, list: fc.array(text) })),
    state: fc.constant("done" as const),
    output: text,
  }),
);
const sizeOf = (blocks: readonly Block[]): number => Buffer.byteLength(JSON.stringify(blocks));

describe("the content of a snapshot", () => {
  it("is limited whatever the run said, and complete when it fits", () => {
    fc.assert(
      fc.property(
        fc.array(block, { maxLength: 40 }),
        fc.integer({ min: 1000, max: 100_000 }),
        (blocks, max) => {
          const before = JSON.stringify(blocks);
          const shown = snapshotBlocks(blocks, max);
          assert.ok(sizeOf(shown) <= max, `${sizeOf(shown)} of ${max}`);
          assert.equal(JSON.stringify(blocks), before);
          assert.doesNotMatch(JSON.stringify(shown), /\\ud[89a-f]/);
          const isShort = sizeOf(blocks) <= max - 300;
          if (isShort) assert.equal(JSON.stringify(shown), before);
        },
      ),
      { numRuns: sweep({ long: 300, short: 75 }) },
    );
  });

  it("includes the end of a long text, and the fields of a call", () => {
    const said: Block = { type: "text", turn: 0, text: `begin${"x".repeat(300_000)}end` };
    const content = "y".repeat(300_000);
    const call: Block = {
      type: "tool_call",
      toolCallId: "one",
      name: "write",
      arguments: { path: "a.txt", content },
      state: "done",
      output: "ok",
    };
    assert.deepEqual(snapshotBlocks([said, call], 700_000), [said, call]);
    const [cut, whole] = snapshotBlocks([said, call], 400_000);
    assert.deepEqual(whole, call);
    const [, head = "", left, tail = ""] =
      /^(beginx+)\n\[(\d+) characters left out\]\n(x+end)$/.exec((cut as { text: string }).text) ??
      [];
    assert.equal(head.length + Number(left) + tail.length, said.text.length);
    const [, short] = snapshotBlocks([said, call], 20_000);
    const { path, content: shown } = (short as typeof call).arguments as {
      path: string;
      content: string;
    };
    assert.equal(path, "a.txt");
    assert.match(shown, /^y+\n\[\d+ characters left out\]\ny+$/);
  });

  it("includes 100 characters of a block, and no less", () => {
    // Half of the text that fits is tried each time: here 400 characters, 200 and 100 of three bytes.
    const said: Block = { type: "text", turn: 0, text: "€".repeat(1000) };
    const [shown] = snapshotBlocks([said], 534 + 200) as { text: string }[];
    assert.match(shown?.text ?? "", /^€{50}\n\[900 characters left out\]\n€{50}$/);
    assert.deepEqual(snapshotBlocks([said], 300 + 200), [
      { type: "text", turn: 0, text: "[1 earlier parts left out]\n" },
    ]);
  });

  it("uses the last byte of its limit, for a whole block and for a shortened one", () => {
    const said: Block = { type: "text", turn: 0, text: "x".repeat(1000) };
    // 200 bytes are reserved for the note about earlier blocks, and one for a comma.
    const most = Buffer.byteLength(JSON.stringify(said)) + 200 + 1;
    assert.deepEqual(snapshotBlocks([said], most), [said]);
    assert.match(JSON.stringify(snapshotBlocks([said], most - 1)), /characters left out/);
    const [shown] = snapshotBlocks([said], 456) as { text: string }[];
    assert.match(shown?.text ?? "", /^x{96}\n\[808 characters left out\]\nx{96}$/);
    assert.equal(Buffer.byteLength(JSON.stringify(shown)), 456 - 200 - 1);
  });

  it("does not cut the output of a call that has just the length which is tried", () => {
    const call: Block = {
      type: "tool_call",
      toolCallId: "c",
      name: "f",
      arguments: { text: "z".repeat(10_000) },
      state: "done",
      output: "y".repeat(2250), // three quarters of 3000
    };
    const [shown] = snapshotBlocks([call], 3200) as (typeof call)[];
    assert.match(JSON.stringify(shown?.arguments), /characters left out/);
    assert.equal(shown?.output, call.output);
  });

  it("shortens the arguments of a call only as far as needed", () => {
    const long = "y".repeat(10_000);
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`key ${at}`, at]));
    const cases: readonly [args: unknown, isRight: (shown: unknown) => boolean][] = [
      [{ text: "z".repeat(900) }, (shown) => JSON.stringify(shown).length === 911],
      // The arguments of the shortened call may have 1125 characters, their texts a quarter of that.
      [{ text: "z".repeat(1114) }, (shown) => JSON.stringify(shown).length === 1125],
      [
        { long, a: "z".repeat(261), b: "z".repeat(261), c: "z".repeat(261) },
        (shown) => typeof shown === "object" && JSON.stringify(shown).length === 1125,
      ],
      [{ list: ["a", long] }, (shown) => Array.isArray((shown as { list: unknown }).list)],
      [
        { ...many, long },
        (shown) => typeof shown === "string" && /^\{"key 0":0,.*left out/s.test(shown),
      ],
      [undefined, (shown) => shown === undefined],
    ];
    for (const [args, isRight] of cases) {
      const call: Block = {
        type: "tool_call",
        toolCallId: "c",
        name: "f",
        arguments: args,
        state: "done",
        output: long,
      };
      const [shown] = snapshotBlocks([call], 3200) as (typeof call)[];
      assert.ok(shown?.type === "tool_call" && isRight(shown.arguments), JSON.stringify(shown));
      assert.match(shown.output, /characters left out/);
    }
  });

  it("keeps the last of many blocks, and says how many were left out", () => {
    const blocks = Array.from({ length: 1000 }, (_, turn): Block => ({
      type: "text",
      turn,
      text: "x".repeat(100),
    }));
    const shown = snapshotBlocks(blocks, 20_000);
    assert.deepEqual(shown.slice(1), blocks.slice(1 - shown.length));
    assert.deepEqual(shown[0], {
      type: "text",
      turn: 0,
      text: `[${1001 - shown.length} earlier parts left out]\n`,
    });
  });
});

it("a run with more output than the buffer limit can be followed by a new client", async () => {
  const maxBufferedBytes = 256 * 1024;
  await using server = await gatewayWith(["0123456789abcdef".repeat(64 * 1024)], {
    pace: { deltaLength: 32 * 1024 },
    limits: { maxBufferedBytes, maxReplayEvents: 5 },
  });
  const { runId } = await (
    await server.client()
  ).call("chat.send", { sessionKey: "s", message: "go" });
  const client = await server.client();
  await eventually("the run ends", async () => (await client.call("health.check", {})).runs === 0);
  await client.call("chat.subscribe", { sessionKey: "s", runId });
  await client.end(runId);
  const snapshot = client.frames.find(({ event }) => event === "chat.snapshot");
  assert.ok(JSON.stringify(snapshot).length < maxBufferedBytes);
  assert.match(JSON.stringify(snapshot), /characters left out/);
});
