/** The rules of a worker with those that people added. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { systemClock } from "@bowline/core";
import { loadRules, type Rules } from "bowline/gateway";
import { remembers, SharedRules } from "../src/engine/shared-rules.ts";

const call = (command: string) => ({ tool: "bash", args: { command }, sessionKey: "s" });
const added = (...patterns: readonly string[]) => ({
  rules: () =>
    Promise.resolve(patterns.map((pattern) => ({ key: "", at: 0, tool: "bash", pattern }))),
});

function withRules(rules: Rules, durable: ReturnType<typeof added>) {
  const errors: unknown[] = [];
  const clock = {
    ...systemClock,
    setTimer: (_ms: number, go: () => void) => systemClock.setTimer(0, go),
  };
  const report = (error: unknown): void => void errors.push(error);
  return { errors, shared: new SharedRules({ rules, durable, clock, report }) };
}

describe("the rules of a worker", () => {
  it("allow what people added together with their own, and never more than one process", async () => {
    const rules = await loadRules([
      { action: "allow", tool: "bash", pattern: "ls" },
      { action: "deny", tool: "bash", pattern: "rm *" },
      { action: "ask", tool: "bash", pattern: "git push *" },
    ]);
    assert.ok(remembers(rules));
    const { shared } = withRules(rules, added("git *", "rm *"));
    const actionOf = async (command: string) => (await shared.judge(call(command))).action;
    assert.equal(await actionOf("git status && ls"), "allow");
    assert.equal(await actionOf("git push origin"), "ask");
    assert.equal(await actionOf("rm -rf x"), "deny");
    assert.equal(await actionOf("curl x"), "ask");
    const { rule } = await shared.judge(call("git status"));
    assert.deepEqual(rule, { action: "allow", tool: "bash", pattern: "git *" });
  });

  it("ask a person while the database cannot be read, and report it", async () => {
    let reads = 0;
    const failing = {
      rules: () => {
        reads += 1;
        return Promise.reject(new Error("away"));
      },
    };
    const { shared, errors } = withRules(await loadRules(), failing);
    assert.equal((await shared.judge(call("git status"))).action, "ask");
    assert.deepEqual([reads, errors.length], [3, 1]);
    // What needs no person needs no database.
    assert.equal((await shared.judge({ ...call(""), tool: "grep" })).action, "allow");
    assert.equal(reads, 3);
  });

  it("of an application that cannot judge with others are its own alone", async () => {
    const rules: Rules = { judge: () => ({ action: "ask" }), add: () => Promise.resolve() };
    assert.ok(!remembers(rules));
    const { shared } = withRules(rules, added("git *"));
    assert.deepEqual(await shared.judge(call("git status")), { action: "ask" });
  });
});
