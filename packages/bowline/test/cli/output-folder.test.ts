/** Where the full text of a command's long output is after the run. */
import assert from "node:assert/strict";
import { mkdir, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { bowline, temporary } from "../command.ts";

describe("the full text of a long output", () => {
  it("stays beside the session that names it, and not in the temporary folder", async () => {
    await using folder = await temporary();
    const home = join(folder.path, "home");
    await mkdir(join(folder.path, "tmp"));
    const env = { BOWLINE_HOME: home, TMPDIR: join(folder.path, "tmp") };
    const args = ["run", "--yes", "--json", "run `seq 9999`"];
    const { code, stdout, stderr } = await bowline(args, { cwd: folder.path, env });
    assert.equal(code, 0, stderr);
    const [name = ""] = await readdir(join(home, "outputs"));
    assert.ok(stdout.includes(join(home, "outputs", name)), name);
    const text = await readFile(join(home, "outputs", name), "utf8");
    assert.ok(text.startsWith("1\n2\n") && text.endsWith("\n9999\n"));
    assert.equal((await stat(join(home, "outputs"))).mode & 0o777, 0o700);
    assert.deepEqual(await readdir(env.TMPDIR), []);
  });

  it("is removed at the end of a run without a session", async () => {
    await using folder = await temporary();
    await mkdir(join(folder.path, "tmp"));
    const env = { BOWLINE_HOME: join(folder.path, "home"), TMPDIR: join(folder.path, "tmp") };
    const args = ["run", "--yes", "--json", "--no-session", "run `seq 9999`"];
    const { code, stdout, stderr } = await bowline(args, { cwd: folder.path, env });
    assert.equal(code, 0, stderr);
    assert.ok(stdout.includes(join(env.TMPDIR, "bowline-outputs-")));
    assert.deepEqual(await readdir(env.TMPDIR), []);
    assert.deepEqual(await readdir(folder.path), ["tmp"]);
  });
});
