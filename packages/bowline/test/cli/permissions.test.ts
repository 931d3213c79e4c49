/** `bowline permissions` as a process. */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { bowline, temporary } from "../command.ts";

describe("bowline permissions", () => {
  it("adds, lists, explains and removes rules", async () => {
    await using folder = await temporary();
    const cwd = folder.path;
    const env = { BOWLINE_HOME: join(cwd, "home") };
    const permissions = (...args: string[]) => bowline(["permissions", ...args], { cwd, env });
    const added = await permissions("add", "allow", "bash(git log *)", "-s", "user");
    assert.deepEqual([added.code, added.stdout], [0, ""], added.stderr);
    assert.equal((await permissions("add", "deny", "read(.env)")).code, 0);
    assert.deepEqual(JSON.parse(await readFile(join(cwd, "bowline.local.json"), "utf8")), {
      permissions: { deny: ["read(.env)"] },
    });
    const { stdout } = await permissions();
    assert.match(stdout, /^allow {2}bash\(git log \*\) {2}.*home\/bowline\.json$/m);
    assert.match(stdout, /^deny {3}read\(\.env\) +.*bowline\.local\.json$/m);
    const allowed = await permissions("why", "git log -1 2>/dev/null");
    assert.equal(allowed.code, 0);
    assert.match(
      allowed.stdout,
      /^allow: bash\(git log \*\) \(.*\) allows it\.\n {2}part {2}git log -1\n$/,
    );
    const asked = await permissions("why", "git log | wc -l", "--json");
    assert.equal(asked.code, 3);
    const { action, parts, suggestions } = JSON.parse(asked.stdout) as Record<string, unknown>;
    assert.deepEqual([action, parts], ["ask", ["git log", "wc -l"]]);
    assert.deepEqual(
      (suggestions as { rule: string }[]).map(({ rule }) => rule),
      ["bash(wc -l)", "bash(wc *)"],
    );
    assert.equal((await permissions("why", "read", ".env")).code, 4);
    assert.equal((await permissions("remove", "read(.env)")).code, 0);
    assert.equal((await permissions("why", "read", ".env")).code, 0);
    const gone = await permissions("remove", "read(.env)");
    assert.deepEqual(
      [gone.code, gone.stderr],
      [1, "bowline: no file has the rule read(.env); see bowline permissions list\n"],
    );
  });

  it("reports what is wrong in one line", async () => {
    await using folder = await temporary();
    const cwd = folder.path;
    const cases: [string[], number, RegExp][] = [
      [["lst"], 2, /There is no bowline permissions "lst"/],
      [["why"], 2, /Which command\?/],
      [["why", "git", "log"], 2, /takes one command in quotes/],
      [["add", "permit", "bash"], 2, /allow, ask or deny, not "permit"/],
      [["add", "allow", "Bash(ls)"], 2, /Did you mean bash\?/],
      [["add", "allow", "bash(ls)", "--scope", "all"], 2, /--scope takes project or user/],
      [["list", "--jsn"], 2, /Unknown option/],
    ];
    for (const [args, code, message] of cases) {
      const ended = await bowline(["permissions", ...args], { cwd });
      assert.equal(ended.code, code, ended.stderr);
      assert.match(ended.stderr, message);
      assert.equal(ended.stderr.trimEnd().split("\n").length, 1);
    }
    const text = '{"permissions": {"allow": "bash"}}';
    const isBroken =
      /bowline\.json has a permissions\.allow that is no list of at most 500 rules\./;
    await writeFile(join(cwd, "bowline.json"), text);
    const strange = await bowline(["permissions"], { cwd });
    assert.equal(strange.code, 0);
    assert.match(strange.stderr, isBroken);
    assert.match(strange.stderr, /Its rules have no effect\./);
    await using home = await temporary();
    await writeFile(join(home.path, "bowline.json"), text);
    const env = { BOWLINE_HOME: home.path };
    const broken = await bowline(["permissions"], { cwd: home.path, env });
    assert.equal(broken.code, 1);
    assert.match(broken.stderr, /bowline\.json:1:18: permissions\.allow takes a list/);
  });
});
