/** The texts that the broken copies change still exist. */
import assert from "node:assert/strict";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { breakages, breakCopy, brokenSource, type Breakage } from "../breakages.ts";

describe("a broken copy", () => {
  for (const [name, breakage] of Object.entries<Breakage>(breakages)) {
    it(`differs from the sources in what breaks it: ${name}`, () => {
      for (const edit of breakage.edits) {
        const broken = brokenSource(edit);
        assert.ok(broken.includes(edit.to), edit.file);
        assert.ok(!broken.includes(edit.from) || edit.to.includes(edit.from), edit.file);
      }
    });
  }

  it("is refused if a text is gone", () => {
    const gone = { file: "core/src/errors.ts", from: "gone!", to: "" };
    assert.throws(() => brokenSource(gone), /core\/src\/errors\.ts no longer has the text/);
  });

  it("imports its own packages, and is removed", () => {
    const copy = breakCopy(breakages.epoch);
    const [{ file, to }] = breakages.epoch.edits;
    assert.ok(readFileSync(join(copy.folder, "packages", file), "utf8").includes(to));
    for (const [name, own] of [
      ["@bowline/core", "core"],
      ["bowline", "bowline"],
    ] as const)
      assert.equal(
        realpathSync(join(copy.folder, "node_modules", name)),
        join(realpathSync(copy.folder), "packages", own),
      );
    copy[Symbol.dispose]();
    assert.equal(existsSync(copy.folder), false);
  });
});
