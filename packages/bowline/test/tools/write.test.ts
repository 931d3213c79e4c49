import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, linkSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import fc from "fast-check";
import { createFolder } from "./folder.ts";

describe("write", () => {
  it("creates a file and says how large it is", async (t) => {
    const folder = createFolder(t);
    const { text, details } = await folder.call("write", { path: "./notes.txt", content: "h\u00e9llo" });
    assert.equal(text, "Created notes.txt (6 bytes)");
    assert.deepEqual(details, { path: "notes.txt", bytes: 6, created: true });
    assert.equal(folder.get("notes.txt"), "h\u00e9llo");
    assert.equal((await folder.call("write", { path: "e.txt", content: "" })).text, "Created e.txt (0 bytes)");
  });

  it("replaces a file whole", async (t) => {
    const folder = createFolder(t);
    folder.put("notes.txt", "something longer");
    const { text } = await folder.call("write", { path: "notes.txt", content: "hello" });
    assert.equal(text, "Replaced notes.txt (5 bytes)");
    assert.equal(folder.get("notes.txt"), "hello");
  });

  it("makes the folders that are missing", async (t) => {
    const folder = createFolder(t);
    const { text } = await folder.call("write", { path: "a/b/c/d.txt", content: "x" });
    assert.equal(text, "Created a/b/c/d.txt (1 byte)");
    assert.equal(folder.get("a/b/c/d.txt"), "x");
  });

  it("keeps the mode of the file it replaces, without its set-user-id bits", async (t) => {
    const folder = createFolder(t);
    for (const [before, after] of [
      [0o755, 0o755],
      [0o600, 0o600],
      [0o4755, 0o755],
    ] as const) {
      chmodSync(folder.put("run.sh", "old"), before);
      await folder.call("write", { path: "run.sh", content: "new" });
      assert.equal(statSync(folder.at("run.sh")).mode & 0o7777, after);
    }
  });

  it("gives a new file the mode that the person's umask says", async (t) => {
    const folder = createFolder(t);
    await folder.call("write", { path: "a.txt", content: "" });
    assert.equal(statSync(folder.at("a.txt")).mode & 0o777, 0o666 & ~process.umask());
  });

  it("follows a link inside the working directory to its target and keeps the link", async (t) => {
    const folder = createFolder(t);
    folder.put("real/a.txt", "old");
    symlinkSync("real/a.txt", folder.at("link.txt"));
    symlinkSync("real", folder.at("folder"));
    symlinkSync("real/new.txt", folder.at("dangling.txt"));
    assert.equal((await folder.call("write", { path: "link.txt", content: "1" })).text, "Replaced link.txt (1 byte)");
    assert.equal(folder.get("real/a.txt"), "1");
    assert.ok(lstatSync(folder.at("link.txt")).isSymbolicLink());
    await folder.call("write", { path: "folder/b.txt", content: "2" });
    assert.equal(folder.get("real/b.txt"), "2");
    const made = await folder.call("write", { path: "dangling.txt", content: "3" });
    assert.equal(made.text, "Created dangling.txt (1 byte)");
    assert.equal(folder.get("real/new.txt"), "3");
  });

  it("replaces a file in one step: a reader never sees a part, and another name of it keeps the old text", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", "old");
    linkSync(folder.at("a.txt"), join(folder.outside, "other-name.txt"));
    const { ino } = statSync(folder.at("a.txt"));
    await folder.call("write", { path: "a.txt", content: "new" });
    assert.notEqual(statSync(folder.at("a.txt")).ino, ino);
    assert.equal(readFileSync(join(folder.outside, "other-name.txt"), "utf8"), "old");
  });

  it("leaves a whole file when its process is killed in the middle", async (t) => {
    const folder = createFolder(t);
    const tools = new URL("../../src/tools/write.ts", import.meta.url).href;
    const script = `
      import { createWriteTool } from ${JSON.stringify(tools)};
      const tool = createWriteTool(${JSON.stringify({ root: folder.root })});
      for (let round = 0; ; round++) {
        await tool.execute("1", { path: "a.txt", content: String(round % 10).repeat(3_000_000) });
        if (round === 3) process.stdout.write("going");
      }`;
    const args = ["--conditions=@bowline/source", "--input-type=module", "--eval", script];
    for (let kill = 0; kill < 2; kill++) {
      const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
      await once(child.stdout, "data");
      setTimeout(() => child.kill("SIGKILL"), 13 * kill);
      await once(child, "exit");
      assert.match(folder.get("a.txt"), /^(\d)\1{2999999}$/);
    }
    assert.deepEqual(
      readdirSync(folder.root).filter((name) => !/^\.bowline-[\da-f-]{36}\.tmp$/.test(name)),
      ["a.txt"],
    );
  });

  it("leaves nothing behind when it fails or is aborted", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", "old");
    mkdirSync(folder.at("taken"));
    const controller = new AbortController();
    const call = folder.call("write", { path: "a.txt", content: "x".repeat(1e7) }, { signal: controller.signal });
    controller.abort(new Error("enough"));
    assert.equal((await call).text, "Error: Stopped: enough");
    assert.match((await folder.call("write", { path: "taken", content: "" })).text, /^Error: taken is a folder/);
    assert.deepEqual(readdirSync(folder.root).toSorted(), ["a.txt", "taken"]);
    assert.equal(folder.get("a.txt"), "old");
  });

  it("refuses to replace what the person made read-only", async (t) => {
    if (process.getuid?.() === 0) return t.skip("root may write everything");
    const folder = createFolder(t);
    chmodSync(folder.put("a.txt", "old"), 0o444);
    const { text } = await folder.call("write", { path: "a.txt", content: "new" });
    assert.equal(text, "Error: Permission denied: a.txt");
    assert.equal(folder.get("a.txt"), "old");
  });

  it("refuses a path that leads through a file", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", "old");
    const { text } = await folder.call("write", { path: "a.txt/b", content: "" });
    assert.equal(text, "Error: a.txt/b leads through a file as if it were a folder");
  });

  it("refuses a path that names a folder, and makes no file of that name", async (t) => {
    const folder = createFolder(t);
    const { text } = await folder.call("write", { path: "src/", content: "x" });
    assert.equal(text, "Error: src/ names a folder, not a file");
    assert.deepEqual(readdirSync(folder.root), []);
  });

  it("refuses half a character rather than put another in its place", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", "old");
    const why = "Error: The new text holds half a character (a lone surrogate); write it whole";
    for (const half of ["\uD83C", "\uDF89"]) {
      assert.equal((await folder.call("write", { path: "a.txt", content: `new ${half}` })).text, why);
      assert.equal((await folder.call("edit", { path: "a.txt", oldText: "old", newText: half })).text, why);
    }
    assert.equal(folder.get("a.txt"), "old");
    assert.equal((await folder.call("write", { path: "a.txt", content: "\uD83C\uDF89" })).isError, false);
  });

  it("refuses the working directory itself", async (t) => {
    const folder = createFolder(t);
    const { text } = await folder.call("write", { path: ".", content: "" });
    assert.equal(text, "Error: . is the working directory, not a file");
  });

  it("writes what read gives back, for any text", async (t) => {
    const folder = createFolder(t);
    const text = fc.string({ unit: "binary", maxLength: 300 }).filter((value) => value !== "" && !value.includes("\0"));
    await fc.assert(
      fc.asyncProperty(text, async (content) => {
        const { text: said } = await folder.call("write", { path: "a.txt", content });
        assert.match(said, /^(?:Created|Replaced) a\.txt \(\d+ bytes?\)$/);
        assert.equal((await folder.call("read", { path: "a.txt" })).text, content);
      }),
      { numRuns: 80 },
    );
  });
});
