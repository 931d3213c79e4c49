/** Rules that people added, of a session and for all. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { errorOf, skip, startRig } from "./support.ts";

const rig = await startRig();

describe("rules", { skip }, () => {
  const store = skip === false ? rig.open() : (undefined as never);
  const { durable } = store ?? {};

  it("apply in their session or in all, and are added once for their key", async () => {
    for (const id of ["a\0\\b", "b"]) await durable.ensure({ id, createdAt: 1 });
    const own = { tool: "bash", pattern: "git \0\\status", sessionId: "a\0\\b" };
    const forAll = { tool: "bash", pattern: "ls" };
    await durable.addRule("k1", own);
    await durable.addRule("k1", { ...own, pattern: "rm *" });
    await durable.addRule("k2", forAll);
    await durable.addRule("k3", { tool: "read", pattern: "*" });
    const of = async (...filter: Parameters<typeof durable.rules>) =>
      (await durable.rules(...filter)).map(({ at, ...rule }) => {
        assert.ok(Math.abs(at - Date.now()) < 60_000);
        return rule;
      });
    const bash = { tool: "bash" };
    assert.deepEqual(await of({ ...bash, sessionId: "a\0\\b" }), [
      { key: "k1", ...own },
      { key: "k2", ...forAll },
    ]);
    assert.deepEqual(await of({ ...bash, sessionId: "b" }), [{ key: "k2", ...forAll }]);
    assert.deepEqual(await of({ ...bash, sessionId: "nobody" }), [{ key: "k2", ...forAll }]);
    assert.equal((await of()).length, 3);
    await durable.removeRule("k2");
    await durable.removeRule("k2");
    assert.deepEqual(await of({ ...bash, sessionId: "b" }), []);
  });

  it("of a session go with it, so that another session of the same id has none", async () => {
    await durable.ensure({ id: "gone", createdAt: 1 });
    await durable.addRule("gone1", { tool: "bash", pattern: "ls", sessionId: "gone" });
    await store.delete("gone");
    await durable.ensure({ id: "gone", createdAt: 2 });
    assert.deepEqual(await durable.rules({ sessionId: "gone", tool: "bash" }), []);
    const missing = { tool: "bash", pattern: "ls", sessionId: "never" };
    assert.equal((await errorOf(durable.addRule("gone2", missing))).code, "not_found");
    assert.equal((await errorOf(durable.addRule("", missing))).code, "invalid_argument");
  });

  it("are at most 1,000 of a session", async () => {
    await durable.ensure({ id: "full", createdAt: 1 });
    await rig.server.sql(
      `insert into bowline.rules (key, name, session, tool, pattern, at)
      select 'f' || n, 'f' || n, number, 'bash', 'ls', 1
      from bowline.sessions, generate_series(1, 1000) n where id = 'full'`,
      "test_1",
    );
    const rule = { tool: "bash", pattern: "ls", sessionId: "full" };
    const error = await errorOf(durable.addRule("more", rule));
    assert.equal(error.code, "invalid_state");
    assert.match(error.message, /^1000 rules are remembered for this session\. Remove some/);
    await durable.addRule("f1", rule); // is there already
    await durable.removeRule("f1");
    await durable.addRule("more", rule);
  });
});
