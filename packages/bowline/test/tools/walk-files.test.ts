import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { walkFiles } from "../../src/tools/walk-files.ts";

describe("walking the files of a project", () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "walk-"));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  async function put(...paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      await mkdir(join(root, path, ".."), { recursive: true });
      await writeFile(join(root, path), "");
    }
  }
  async function walk(signal = new AbortController().signal): Promise<string[]> {
    const all: string[] = [];
    for await (const paths of walkFiles(root, signal)) all.push(...paths);
    return all.toSorted();
  }

  it("lists files and folders, hidden ones too, without .git and node_modules", async () => {
    await put("a.ts", "src/b.ts", ".env", ".git/config", "node_modules/x/i.js", "src/.git/config");
    assert.deepEqual(await walk(), [".env", "a.ts", "src/", "src/b.ts"]);
  });

  it("leaves out what git ignores, by nested rules too", async () => {
    await put("a.log", "src/a.log", "src/keep.log", "build/x.js", "src/gen/y.ts");
    await writeFile(join(root, ".gitignore"), "*.log\nbuild/\n");
    await writeFile(join(root, "src/.gitignore"), "!keep.log\ngen\n");
    assert.deepEqual(await walk(), [".gitignore", "src/", "src/.gitignore", "src/keep.log"]);
  });

  it("does not follow links", async () => {
    await put("real/a.ts");
    await symlink(join(root, "real"), join(root, "link"));
    await symlink(root, join(root, "real/up"));
    assert.deepEqual(await walk(), ["link", "real/", "real/a.ts", "real/up"]);
  });

  it("ends when the signal fires, and for a folder that does not exist", async () => {
    await put("a.ts");
    assert.deepEqual(await walk(AbortSignal.abort()), []);
    await rm(root, { recursive: true });
    assert.deepEqual(await walk(), []);
  });

  it("yields the first batch before the last file of a large folder is read", async () => {
    await put(...Array.from({ length: 1200 }, (_, index) => `f${index}`));
    const sizes: number[] = [];
    for await (const paths of walkFiles(root, new AbortController().signal))
      sizes.push(paths.length);
    assert.deepEqual(sizes, [500, 500, 200]);
  });
});
