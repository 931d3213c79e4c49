/** A cluster of three Restate nodes that loses nodes. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { clusterIsMissing, startHarness, type Harness } from "../kit/harness.ts";

describe("three nodes", { skip: clusterIsMissing() }, () => {
  let h: Harness;
  before(async () => {
    h = await startHarness({ nodes: 3 });
  });
  after(() => h[Symbol.asyncDispose]());

  const begin = () =>
    h.begin([
      { text: "thinking", ms: 500, calls: [{ name: "never", args: { ms: 300 } }] },
      { text: "thinking", ms: 500, calls: [{ name: "safe", args: { ms: 300 } }] },
      { text: "done", ms: 300 },
    ]);

  it("ends all runs when a node is killed, twice", { timeout: 120_000 }, async () => {
    for (const index of [1, 2]) {
      const runs = await Promise.all(Array.from({ length: 6 }, begin));
      await Promise.all(
        runs.map(({ name }) => h.outside.when(name, ({ turns }) => turns.length >= 1)),
      );
      await h.restate.nodes[index]?.kill();
      for (const run of runs) {
        assert.equal((await h.outcome(run, 60_000)).reason, "done");
        const { tools, turns } = h.outside.seen(run.name);
        assert.equal(tools.filter(({ name }) => name === "never").length, 1);
        assert.deepEqual([...new Set(turns)], [0, 1, 2]);
        const shape = await h.shape(run.sessionId);
        assert.deepEqual(
          shape.map((line) => line.split(":")[0]),
          ["user", "assistant", "result", "assistant", "result", "assistant"],
        );
      }
      await h.restate.nodes[index]?.start();
      await h.restate.whenServing();
    }
  });
});
