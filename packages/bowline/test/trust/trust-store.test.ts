import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { compareTrust, createTrustStore, type TrustItem } from "../../src/trust/trust-store.ts";
import { bare, temporary } from "../command.ts";

const settings: TrustItem = { path: "bowline.json", kind: "settings", hash: "1" };
const skill: TrustItem = { path: ".agents/skills/a/SKILL.md", kind: "skill", hash: "2" };

describe("the list of trusted folders", () => {
  it("is private, sorted, and forgets a folder that is removed", async () => {
    await using home = await temporary();
    const store = createTrustStore({ env: { BOWLINE_HOME: home.path }, now: () => 7 });
    assert.deepEqual(await store.list(), []);
    const servers: TrustItem = { path: ".mcp.json", kind: "servers", hash: "6" };
    await store.trust("/b", [settings, servers]);
    await store.trust("/a", []);
    await store.trust("/b", [skill]);
    assert.deepEqual(await store.list(), [
      { folder: "/a", since: 7, items: [] },
      { folder: "/b", since: 7, items: [skill] },
    ]);
    assert.equal((await stat(join(home.path, "trust.json"))).mode & 0o777, 0o600);
    assert.equal(await store.remove("/a"), true);
    assert.equal(await store.remove("/a"), false);
    assert.deepEqual(
      (await store.list()).map(({ folder }) => folder),
      ["/b"],
    );
  });

  it("keeps the skills of other folders of a project, but no settings that are gone", async () => {
    await using home = await temporary();
    const store = createTrustStore({ env: { BOWLINE_HOME: home.path }, now: () => 7 });
    const other: TrustItem = { path: "sub/.agents/skills/b/SKILL.md", kind: "skill", hash: "3" };
    await store.trust("/a", [settings, skill]);
    await store.trust("/a", [other]);
    assert.deepEqual((await store.list())[0]?.items, [other, skill]);
  });

  it("accepts the user's own change of a file, but not of one that was never trusted", async () => {
    await using home = await temporary();
    const store = createTrustStore({ env: { BOWLINE_HOME: home.path }, now: () => 7 });
    const changed = { ...settings, hash: "9" };
    assert.equal(await store.acceptChange("/a", changed, "1"), false);
    assert.deepEqual(await store.list(), []);
    await store.trust("/a", [settings, skill]);
    assert.equal(await store.acceptChange("/a", changed, "2"), false);
    assert.equal(await store.acceptChange("/a", changed, "1"), true);
    assert.deepEqual((await store.list())[0]?.items, [skill, changed]);
    assert.equal(await store.acceptChange("/b", settings, undefined), true);
  });

  it("loses nothing when several processes write at once", async () => {
    await using home = await temporary();
    const module = join(import.meta.dirname, "../../src/trust/trust-store.ts");
    const script = `import { createTrustStore } from ${JSON.stringify(module)};
      const store = createTrustStore({ env: process.env, waitMs: 60_000 });
      for (let at = 0; at < 5; at++) await store.trust("/" + process.argv[1] + "-" + at, []);`;
    const args = ["--conditions=@bowline/source", "--input-type=module", "-e", script];
    const env = { ...bare, BOWLINE_HOME: home.path };
    await Promise.all(
      ["a", "b", "c", "d"].map((name) =>
        promisify(execFile)(process.execPath, [...args, name], { env }),
      ),
    );
    const stored = await createTrustStore({ env }).list();
    assert.equal(stored.length, 20);
  });

  it("is not used when it is broken, and says so", async () => {
    await using home = await temporary();
    await mkdir(home.path, { recursive: true });
    await writeFile(join(home.path, "trust.json"), '{"version":1,"folders":[{"folder":1}]}');
    const store = createTrustStore({ env: { BOWLINE_HOME: home.path } });
    await assert.rejects(store.list(), /trust\.json is not a list of trusted folders/);
    await assert.rejects(store.trust("/a", []), /is not a list/);
    assert.match(await readFile(join(home.path, "trust.json"), "utf8"), /"folder":1/);
  });
});

describe("compareTrust", () => {
  const known = { folder: "/a", since: 0, items: [settings, skill] };

  it("trusts a folder in which nothing could take effect", () => {
    assert.equal(compareTrust(undefined, []).state, "trusted");
    assert.equal(compareTrust(undefined, [skill]).state, "untrusted");
  });

  it("names what is new, different or gone", () => {
    assert.deepEqual(compareTrust(known, [settings, skill]), { state: "trusted", changes: [] });
    const other: TrustItem = { path: "x.md", kind: "command", hash: "3" };
    assert.deepEqual(compareTrust(known, [{ ...skill, hash: "4" }, other]), {
      state: "changed",
      changes: [".agents/skills/a/SKILL.md has changed", "x.md is new", "bowline.json is gone"],
    });
  });

  it("asks again when hooks are gone, which may have refused something, but not for servers", () => {
    const hooks: TrustItem = { path: ".claude/settings.json", kind: "hooks", hash: "5" };
    const servers: TrustItem = { path: ".mcp.json", kind: "servers", hash: "6" };
    const items = [settings, skill, hooks, servers];
    const verdict = (left: readonly TrustItem[]): readonly string[] =>
      compareTrust({ ...known, items }, left).changes;
    assert.deepEqual(verdict([settings, skill, servers]), [".claude/settings.json is gone"]);
    assert.deepEqual(verdict([settings, skill, hooks]), []);
    assert.deepEqual(verdict([settings, skill, hooks, { ...servers, hash: "7" }]), [
      ".mcp.json has changed",
    ]);
  });

  it("lets a skill go without a question, because nothing new takes effect", () => {
    assert.equal(compareTrust(known, [settings]).state, "trusted");
  });
});
