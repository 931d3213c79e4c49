/** Pending approvals, by the events of their run. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Agent } from "@bowline/core";
import { createScriptedModel } from "@bowline/core/testing";
import { createSecretFilter } from "bowline/engine";
import * as events from "../../../../test/support/agent-events.ts";
import { Approvals } from "../../src/gateway/approvals/approvals.ts";
import { RunLog } from "../../src/gateway/log/run-log.ts";
import { loadRules } from "../../src/policy/rules.ts";

describe("a pending approval", () => {
  it("lasts until its run ends, whatever else the run does", async () => {
    const approvals = new Approvals(await loadRules([]), createSecretFilter([]), "/work");
    const { model, streamFn } = createScriptedModel([]);
    const limits = { maxEvents: 10, maxLength: 1000, publish: () => {} };
    const log = new RunLog({ runId: "r", sessionKey: "s", ...limits });
    const listen = approvals.listener(new Agent({ model, streamFn }), log);
    listen(events.asked("r", "asked", { command: "git status" }));
    for (const event of [events.delta("r", "Hi."), events.answered("r", "Hi.")]) {
      listen(event);
      assert.equal(approvals.list("s").length, 1, event.type);
    }
    listen(events.ended("r"));
    assert.deepEqual(approvals.list("s"), []);
  });
});
