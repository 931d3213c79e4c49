import assert from "node:assert/strict";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { buildSystemPrompt } from "bowline/gateway";
import { temporary } from "../command.ts";

describe("buildSystemPrompt", () => {
  // Requirements: J16, J17, J18
  it("joins the existing files in order", async () => {
    await using folder = await temporary();
    assert.equal(await buildSystemPrompt(folder.path), "");
    for (const [name, text] of [
      ["TOOLS.md", "tools"],
      ["AGENTS.md", "agents"],
      ["SOUL.md", "soul"],
    ] as const)
      await writeFile(join(folder.path, name), text);
    assert.equal(await buildSystemPrompt(folder.path), "agents\n\n---\n\nsoul\n\n---\n\ntools");
    await rm(join(folder.path, "SOUL.md"));
    await mkdir(join(folder.path, "SOUL.md"));
    assert.equal(await buildSystemPrompt(folder.path), "agents\n\n---\n\ntools");
  });
});
