import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { emptyScratch } from "../tree.ts";

it("emptyScratch removes files, folders and a file system that a test left mounted", (test) => {
  const scratch = mkdtempSync(join(tmpdir(), "mutants-scratch-"));
  test.after(() => rmSync(scratch, { recursive: true }));
  writeFileSync(join(scratch, "file"), "");
  const mounted = join(scratch, "folder");
  mkdirSync(mounted);
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", mounted]);
  if (status !== 0) test.diagnostic("only root may mount a file system");
  writeFileSync(join(mounted, "file"), "");
  emptyScratch({ scratch });
  assert.deepEqual(readdirSync(scratch), []);
});
