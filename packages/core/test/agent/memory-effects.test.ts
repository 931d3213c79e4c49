import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createMemoryEffects, requireApproval } from "../../src/agent/index.ts";
import { code } from "../../../../test/support/error-code.ts";
import { ManualClock } from "../../../../test/support/manual-clock.ts";
import { within } from "../../../../test/support/within.ts";
import { call, rig, tool } from "../support.ts";

describe("createMemoryEffects", () => {
  it("resolves all waits under a name with its answer, once", async () => {
    const effects = createMemoryEffects();
    const waiting = Promise.all([effects.waitFor("a"), effects.waitFor("a")]);
    const other = effects.waitFor("b");
    assert.equal(effects.answer("a", 1), true);
    assert.deepEqual(await within("both have the answer", waiting), [1, 1]);
    assert.equal(effects.answer("a", 2), false);
    assert.equal(effects.answer("b", 3), true);
    assert.equal(await within("the other has its own", other), 3);
  });

  it("rejects a wait whose signal fires, and then accepts no answer for it", async () => {
    const effects = createMemoryEffects();
    const abort = new AbortController();
    const waiting = effects.waitFor("a", abort.signal);
    abort.abort();
    await within("the wait ends", assert.rejects(waiting, code("aborted")));
    assert.equal(effects.answer("a", 1), false);
    const late = effects.waitFor("a", abort.signal);
    await within("a wait that begins late ends", assert.rejects(late, code("aborted")));
  });
});

it("a wait without an end sets no timer", async () => {
  const clock = new ManualClock();
  const effects = createMemoryEffects({}, () => clock);
  const waiting = effects.waitFor("a");
  assert.equal(clock.pending, 0);
  effects.answer("a", 1);
  assert.equal(await within("the wait has its answer", waiting), 1);
});

it("what a hook sets in the memory of its run can be read at once and in later steps", async () => {
  const found: unknown[] = [];
  const { agent } = rig([call("a"), "Done."], [tool("a", () => "1")], {
    beforeToolCall: ({ run }) => {
      run.memory.set("n", 1);
      found.push(run.memory.get("n"));
      return undefined;
    },
    transformContext: (messages, _signal, run) => {
      found.push(run?.memory.get("n"));
      return messages;
    },
  });
  await within("the run ends", agent.prompt("Hi"));
  assert.deepEqual(found, [undefined, 1, 1]);
});

describe("a run that is aborted before its model call", () => {
  it("sends no request", async () => {
    for (const type of ["agent_start", "turn_start"] as const) {
      const { agent, script } = rig(["never"]);
      agent.subscribe((event) => {
        if (event.type === type) agent.abort();
      });
      assert.equal((await agent.prompt("Hi")).reason, "aborted");
      assert.equal(script.calls.length, 0);
    }
  });

  it("sends no request for the next turn", async () => {
    const { agent, script } = rig([call("a"), "never"], [tool("a", () => "1")]);
    agent.subscribe((event) => {
      if (event.type === "turn_start" && script.calls.length === 1) agent.abort();
    });
    assert.equal((await agent.prompt("Hi")).reason, "aborted");
    assert.equal(script.calls.length, 1);
  });
});

it("a call that needs no approval runs at once", async () => {
  for (const needed of [false, undefined]) {
    const { agent, events } = rig([call("a"), "Done."], [tool("a", () => "1")], {
      beforeToolCall: requireApproval({ needed: () => needed, timeoutMs: 50 }),
    });
    const { reason } = await within("the run ends", agent.prompt("Hi"));
    assert.equal(reason, "done");
    assert.ok(!events.some(({ type }) => type === "approval_request"));
  }
});
