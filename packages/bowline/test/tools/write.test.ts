import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import fc from "fast-check";
import { createWorkspace } from "../../src/tools/workspace.ts";
import { writeFileInside } from "../../src/tools/write-file.ts";
import { asNobody } from "./as-nobody.ts";
import { beforeStep } from "./before-step.ts";
import { createFolder } from "./folder.ts";
import { sweep } from "../../../../test/support/sweep.ts";

describe("write", () => {
  it("creates a file and returns its size", async (t) => {
    const folder = createFolder(t);
    const { text, details } = await folder.call("write", {
      path: "./notes.txt",
      content: "h\u00e9llo",
    });
    assert.equal(text, "Created notes.txt (6 bytes)");
    assert.deepEqual(details, { path: "notes.txt", bytes: 6, created: true });
    assert.equal(folder.get("notes.txt"), "h\u00e9llo");
    assert.equal(
      (await folder.call("write", { path: "e.txt", content: "" })).text,
      "Created e.txt (0 bytes)",
    );
  });

  it("replaces a whole file", async (t) => {
    const folder = createFolder(t);
    folder.put("notes.txt", "something longer");
    const { text } = await folder.call("write", { path: "notes.txt", content: "hello" });
    assert.equal(text, "Replaced notes.txt (5 bytes)");
    assert.equal(folder.get("notes.txt"), "hello");
  });

  it("creates missing folders", async (t) => {
    const folder = createFolder(t);
    const { text } = await folder.call("write", { path: "a/b/c/d.txt", content: "x" });
    assert.equal(text, "Created a/b/c/d.txt (1 byte)");
    assert.equal(folder.get("a/b/c/d.txt"), "x");
  });

  it("keeps the mode of the file it replaces, without set-user-id bits", async (t) => {
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

  it("gives a new file the mode of the umask", async (t) => {
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
    assert.equal(
      (await folder.call("write", { path: "link.txt", content: "1" })).text,
      "Replaced link.txt (1 byte)",
    );
    assert.equal(folder.get("real/a.txt"), "1");
    assert.ok(lstatSync(folder.at("link.txt")).isSymbolicLink());
    await folder.call("write", { path: "folder/b.txt", content: "2" });
    assert.equal(folder.get("real/b.txt"), "2");
    const made = await folder.call("write", { path: "dangling.txt", content: "3" });
    assert.equal(made.text, "Created dangling.txt (1 byte)");
    assert.equal(folder.get("real/new.txt"), "3");
  });

  it("replaces a file in one step: readers never see a part, and hard links keep the old text", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", "old");
    linkSync(folder.at("a.txt"), join(folder.outside, "other-name.txt"));
    const { ino } = statSync(folder.at("a.txt"));
    await folder.call("write", { path: "a.txt", content: "new" });
    assert.notEqual(statSync(folder.at("a.txt")).ino, ino);
    assert.equal(readFileSync(join(folder.outside, "other-name.txt"), "utf8"), "old");
  });

  it("leaves a complete file when its process is killed midway", async (t) => {
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

  it("leaves no temporary file when it fails or is aborted", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", "old");
    mkdirSync(folder.at("taken"));
    const controller = new AbortController();
    const call = folder.call(
      "write",
      { path: "a.txt", content: "x".repeat(1e7) },
      { signal: controller.signal },
    );
    controller.abort(new Error("enough"));
    assert.equal((await call).text, "Error: Stopped: enough");
    assert.match(
      (await folder.call("write", { path: "taken", content: "" })).text,
      /^Error: taken is a folder/,
    );
    assert.deepEqual(readdirSync(folder.root).toSorted(), ["a.txt", "taken"]);
    assert.equal(folder.get("a.txt"), "old");
  });

  it("refuses to replace a read-only file", async (t) => {
    if (process.getuid?.() === 0) return t.skip("root may write everything");
    const folder = createFolder(t);
    chmodSync(folder.put("a.txt", "old"), 0o444);
    const { text } = await folder.call("write", { path: "a.txt", content: "new" });
    assert.equal(text, "Error: Permission denied: a.txt");
    assert.equal(folder.get("a.txt"), "old");
  });

  it("says why a writable file cannot be replaced", async (t) => {
    const folder = createFolder(t);
    chmodSync(folder.put("closed/a.txt", "old"), 0o666);
    chmodSync(folder.at("closed"), 0o555);
    const write = async (path: string): Promise<string> =>
      (await folder.call("write", { path, content: "new" })).text;
    const why =
      "a file is written beside the old one and takes its place, and the folder may not be written to";
    const denied = await asNobody(folder, () => write("closed/a.txt"));
    assert.equal(denied, `Error: Permission denied: closed/a.txt (${why})`);
    chmodSync(folder.at("closed"), 0o755);
    // The error that the system reports for a mounted file, as in a container.
    await beforeStep(t, "sync", () => {
      throw Object.assign(new Error("EBUSY"), { code: "EBUSY" });
    });
    const held =
      "is held by the system, as a mounted file is, and cannot be replaced; bash can write into it";
    assert.equal(await write("closed/a.txt"), `Error: closed/a.txt ${held}`);
    assert.deepEqual(readdirSync(folder.at("closed")), ["a.txt"]);
  });

  it("refuses a path that leads through a file", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", "old");
    const { text } = await folder.call("write", { path: "a.txt/b", content: "" });
    assert.equal(text, "Error: a.txt/b leads through a file as if it were a folder");
  });

  it("refuses a path that names a folder, and creates no file of that name", async (t) => {
    const folder = createFolder(t);
    for (const path of ["src/", "src/.", "src/deep/.."]) {
      const { text } = await folder.call("write", { path, content: "x" });
      assert.equal(text, `Error: ${path} names a folder, not a file`);
    }
    assert.deepEqual(readdirSync(folder.root), []);
  });

  it("says when the working directory was removed, and does not recreate it", async (t) => {
    const folder = createFolder(t);
    rmSync(folder.root, { recursive: true });
    for (const path of ["a.txt", "src/a.txt"]) {
      const { text } = await folder.call("write", { path, content: "x" });
      assert.equal(text, `Error: The working directory ${folder.root} is no longer there`);
    }
    assert.equal(existsSync(folder.root), false);
  });

  it("writes nothing when its folder is moved or removed meanwhile, and says so", async (t) => {
    const folder = createFolder(t);
    const what =
      "its folder, or the temporary file in it, was moved or removed by something else meanwhile";
    const why = `Error: src/a.txt could not be written: ${what}; try again`;
    const there = join(folder.outside, "src");
    const actions = [
      () => renameSync(folder.at("src"), there),
      () => rmSync(folder.at("src"), { recursive: true }),
    ];
    for (const step of ["writeFile", "sync"] as const) {
      for (const action of actions) {
        mkdirSync(folder.at("src"));
        await beforeStep(t, step, (call) => call === 1 && action());
        assert.equal((await folder.call("write", { path: "src/a.txt", content: "new" })).text, why);
        t.mock.restoreAll();
        if (existsSync(there)) assert.deepEqual(readdirSync(there), []);
        assert.deepEqual(readdirSync(folder.root), []);
        rmSync(there, { recursive: true, force: true });
      }
    }
  });

  it("does not report a link put in the place of the folder as a file in the path", async (t) => {
    const folder = createFolder(t);
    mkdirSync(folder.at("other"));
    symlinkSync("other", folder.at("src"));
    // The path as it was resolved before the change.
    const place = { given: "src/a.txt", shown: "src/a.txt", real: folder.at("src/a.txt") };
    const { signal } = new AbortController();
    const write = writeFileInside(createWorkspace(folder), place, Buffer.from("new"), { signal });
    await assert.rejects(write, {
      message: /^Error: src\/a\.txt could not be written: its folder, .* was moved/,
    });
    assert.deepEqual(readdirSync(folder.at("other")), []);
  });

  it("does not replace a file that was created, removed, restricted or swapped meanwhile", async (t) => {
    const folder = createFolder(t);
    const path = folder.at("a.txt");
    const actions = new Map<string, () => void>([
      ["removed", () => rmSync(path)],
      ["closed", () => chmodSync(path, 0o600)],
      ["a folder", () => (rmSync(path), mkdirSync(path))],
      ["a link", () => (rmSync(path), symlinkSync("b.txt", path))],
    ]);
    const why = "Error: a.txt was changed by something else meanwhile; read it again";
    const write = async (action: () => void): Promise<string> => {
      await beforeStep(t, "sync", (call) => call === 1 && action());
      const { text } = await folder.call("write", { path: "a.txt", content: "new" });
      t.mock.restoreAll();
      return text;
    };
    assert.equal(await write(() => void folder.put("a.txt", "of somebody else")), why);
    assert.equal(folder.get("a.txt"), "of somebody else");
    for (const [name, action] of actions) {
      rmSync(path, { recursive: true, force: true });
      chmodSync(folder.put("a.txt", "old"), 0o644);
      assert.equal(await write(action), why, name);
      if (name === "closed") assert.equal(statSync(path).mode & 0o777, 0o600);
    }
    assert.ok(lstatSync(path).isSymbolicLink());
    assert.deepEqual(readdirSync(folder.root), ["a.txt"]);
  });

  it("keeps the group of the file it replaces when it may not keep the owner", async (t) => {
    const { getgroups, setgroups } = process;
    if (process.getuid?.() !== 0 || getgroups === undefined || setgroups === undefined)
      return t.skip("only root can make a file of somebody else");
    const folder = createFolder(t);
    chmodSync(folder.root, 0o777);
    chmodSync(folder.put("a.txt", "old"), 0o666);
    chownSync(folder.at("a.txt"), 1, 54_321);
    const groups = getgroups();
    setgroups([...groups, 54_321]);
    t.after(() => setgroups(groups));
    const { text } = await asNobody(folder, () =>
      folder.call("write", { path: "a.txt", content: "new" }),
    );
    assert.equal(text, "Replaced a.txt (3 bytes)");
    assert.equal(statSync(folder.at("a.txt")).gid, 54_321);
  });

  it("refuses a lone surrogate instead of replacing it", async (t) => {
    const folder = createFolder(t);
    folder.put("a.txt", "old");
    const why = "Error: The new text holds half a character (a lone surrogate); write it whole";
    for (const half of ["\uD83C", "\uDF89"]) {
      assert.equal(
        (await folder.call("write", { path: "a.txt", content: `new ${half}` })).text,
        why,
      );
      assert.equal(
        (await folder.call("edit", { path: "a.txt", oldText: "old", newText: half })).text,
        why,
      );
    }
    assert.equal(folder.get("a.txt"), "old");
    assert.equal(
      (await folder.call("write", { path: "a.txt", content: "\uD83C\uDF89" })).isError,
      false,
    );
  });

  it("refuses the working directory itself", async (t) => {
    const folder = createFolder(t);
    const { text } = await folder.call("write", { path: ".", content: "" });
    assert.equal(text, "Error: . is the working directory, not a file");
  });

  it("writes text that read returns unchanged, for any text", async (t) => {
    const folder = createFolder(t);
    const text = fc
      .string({ unit: "binary", maxLength: 300 })
      .filter((value) => value !== "" && !value.includes("\0"));
    await fc.assert(
      fc.asyncProperty(text, async (content) => {
        const { text: said } = await folder.call("write", { path: "a.txt", content });
        assert.match(said, /^(?:Created|Replaced) a\.txt \(\d+ bytes?\)$/);
        assert.equal((await folder.call("read", { path: "a.txt" })).text, content);
      }),
      { numRuns: sweep({ long: 80, short: 20 }) },
    );
  });
});
