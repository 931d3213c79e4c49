import assert from "node:assert/strict";
import { stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { makeFolder } from "@bowline/core/session/node";
import { bowline, temporary } from "../command.ts";

describe("makeFolder", () => {
  it("creates a folder and its parents for the owner only, also concurrently", async () => {
    await using home = await temporary();
    const path = join(home.path, "a", "b", "c");
    await Promise.all([makeFolder(path), makeFolder(path), makeFolder(join(path, "..", "d"))]);
    for (const folder of [path, join(home.path, "a"), join(home.path, "a", "b", "d")])
      assert.equal((await stat(folder)).mode & 0o777, 0o700, folder);
    const many = Array.from({ length: 200 }, (_, at) =>
      join(home.path, `${at % 20}`, "e", `${at % 7}`, "f"),
    );
    await Promise.all(many.map((folder) => makeFolder(folder)));
    await makeFolder(path);
    await makeFolder("/");
    await symlink(path, join(home.path, "link"));
    await makeFolder(join(home.path, "link"));
    await makeFolder(join(home.path, "link", "e"));
    assert.ok((await stat(join(path, "e"))).isDirectory());
  });

  it("rejects when a file or a broken link is in the way", async () => {
    await using home = await temporary();
    const [file, nowhere] = [join(home.path, "file"), join(home.path, "nowhere")];
    await writeFile(file, "");
    await symlink(join(home.path, "none"), nowhere);
    await assert.rejects(makeFolder(file), { code: "EEXIST" });
    await assert.rejects(makeFolder(join(file, "a", "b")), { code: "ENOTDIR" });
    await assert.rejects(makeFolder(nowhere), { code: "EEXIST" });
    await assert.rejects(makeFolder(join(nowhere, "a")), { code: "EEXIST" });
  });

  const skip = process.platform === "linux" ? false : "there is no /proc";

  it(
    "rejects where no folder can be created, although Node does not report it",
    { skip, timeout: 60_000 },
    async () => {
      for (const folder of ["/proc/x", "/proc/x/y", "/proc/self/x"])
        await assert.rejects(makeFolder(folder), { code: "ENOENT" });
    },
  );

  it("makes bowline serve fail with one line", { skip, timeout: 60_000 }, async () => {
    const workspace = await bowline(["serve", "--port", "0", "--workspace", "/proc/x"]);
    const data = await bowline(["serve", "--port", "0"], { env: { BOWLINE_HOME: "/proc/x" } });
    assert.deepEqual(
      [workspace.code, workspace.stderr],
      [1, "bowline: The folder /proc/x does not exist. Create it, or pass --init.\n"],
    );
    assert.deepEqual(
      [data.code, data.stderr],
      [1, "bowline: /proc/x/workspace cannot be used (ENOENT).\n"],
    );
    await using home = await temporary();
    const both = ["serve", "--port", "0", "--workspace", home.path];
    const own = await bowline(both, { env: { BOWLINE_HOME: "/proc/x", BOWLINE_TOKEN: "mine" } });
    assert.deepEqual(
      [own.code, own.stderr],
      [1, "bowline: /proc/x/gateway cannot be used (ENOENT).\n"],
    );
  });
});
