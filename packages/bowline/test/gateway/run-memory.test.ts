import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { systemClock } from "@bowline/core";
import { createMemoryStore } from "@bowline/core/session";
import { Lane } from "../../src/gateway/runs/lane.ts";
import { defaultLimits } from "../../src/gateway/protocol/limits.ts";
import { RunLog } from "../../src/gateway/log/run-log.ts";
import { RunMemory } from "../../src/gateway/runs/run-memory.ts";
import { gatewayWith, wait } from "./gateway.ts";

function endedRun(runId: string, length: number): RunLog {
  const log = new RunLog({
    runId,
    sessionKey: "s",
    maxEvents: 1000,
    maxLength: 1e9,
    publish: () => {},
  });
  log.append("chat.delta", { turn: 0, text: "x".repeat(length) });
  log.state = "final";
  log.append("chat.final", { usage: {}, stopReason: "stop" });
  return log;
}

describe("ended runs", () => {
  it("are evicted, oldest first, when there are too many or they are too large", () => {
    for (const limits of [{ maxEnded: 2 }, { maxEndedBytes: 500_000 }]) {
      const memory = new RunMemory({ clock: systemClock, limits: { ...defaultLimits, ...limits } });
      for (const runId of ["a", "b", "c"]) {
        memory.add(endedRun(runId, 100_000));
        memory.end(runId);
        memory.end(runId);
      }
      const known = ["a", "b", "c"].filter((runId) => memory.log(runId) !== undefined);
      assert.deepEqual(known, ["b", "c"], JSON.stringify(limits));
    }
  });

  it("are not retained by their session's lane", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const lane = new Lane("s", createMemoryStore());
    const work = async (): Promise<object> => ({ run: "x".repeat(1000) });
    const refs = [new WeakRef(await lane.inOrder(work)), new WeakRef(await lane.exclusive(work))];
    await wait(5);
    collect();
    assert.deepEqual(
      refs.map((ref) => ref.deref()),
      [undefined, undefined],
    );
  });

  it("do not include an id without a run, which may begin a run later", () => {
    const memory = new RunMemory({ clock: systemClock, limits: { ...defaultLimits, maxEnded: 1 } });
    memory.end("late");
    const log = new RunLog({
      runId: "late",
      sessionKey: "s",
      maxEvents: 10,
      maxLength: 1e6,
      publish: () => {},
    });
    memory.add(log);
    for (const runId of ["a", "b"]) {
      memory.add(endedRun(runId, 10));
      memory.end(runId);
    }
    assert.equal(memory.log("late"), log);
  });
});

describe("the key of a message", () => {
  it("is refused for another message, and begins one run however often it is sent", async () => {
    await using server = await gatewayWith(["Done.", "Never."]);
    const client = await server.client();
    const params = { sessionKey: "s", message: "go", idempotencyKey: "key" };
    const sent = await Promise.all([1, 2].map(() => client.call("chat.send", params)));
    await client.end("key");
    sent.push(await client.call("chat.send", params));
    assert.deepEqual(
      sent.map(({ runId, status }) => [runId, status]),
      ["started", "in_flight", "finished"].map((status) => ["key", status]),
    );
    for (const other of [{ message: "stop" }, { sessionKey: "t" }])
      assert.equal(await client.refused("chat.send", { ...params, ...other }), "conflict");
    assert.equal(server.model.calls.length, 1);
  });
});
