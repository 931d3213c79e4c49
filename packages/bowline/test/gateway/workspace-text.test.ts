/** What a stranger's workspace can show to a model, and how long it can block the gateway. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { parseAgents, readAgents } from "../../src/serve/agents-file.ts";
import { buildSystemPrompt } from "../../src/serve/prompt-builder.ts";
import { readWorkspaceText } from "../../src/serve/workspace-text.ts";
import { temporary } from "../command.ts";
import { cpuMs } from "../../../../test/support/cpu-time.ts";

describe("a file of the workspace", () => {
  it("is not read through a link that leads outside, because secrets would reach the model", async () => {
    await using folder = await temporary();
    const [workspace, secret] = [join(folder.path, "workspace"), join(folder.path, "secret")];
    await mkdir(workspace);
    await writeFile(secret, "the secret");
    await writeFile(join(workspace, "soul"), "I am kind.");
    await symlink(secret, join(workspace, "TOOLS.md"));
    await symlink("soul", join(workspace, "SOUL.md"));
    assert.equal(await buildSystemPrompt(workspace), "I am kind.");
  });

  it(
    "is not read from a device or pipe, and only partly when large",
    { timeout: 60_000 },
    async () => {
      await using folder = await temporary();
      await symlink("/dev/zero", join(folder.path, "SOUL.md"));
      execFileSync("bash", ["-c", "mkfifo AGENTS.md"], { cwd: folder.path });
      await writeFile(join(folder.path, "TOOLS.md"), "x".repeat(3_000_000));
      assert.deepEqual(await readAgents(folder.path), []);
      assert.match(
        await buildSystemPrompt(folder.path),
        /^x{20000}\n\[cut after 20000 characters\]$/,
      );
      assert.equal((await readWorkspaceText(folder.path, "TOOLS.md"))?.length, 256 * 1024);
    },
  );

  it("is parsed in linear time, whatever its content", () => {
    const from = cpuMs();
    const spaces = " ".repeat(50_000);
    const texts = [
      `## a${spaces}x\nModel: p/m`,
      `## a\n${"\n".repeat(50_000)}x`,
      `## a\nModel: p/m${spaces}x`,
    ];
    assert.deepEqual(
      texts.map((text) => parseAgents(text).map(({ id, model }) => [id.length, model.length])),
      [[[50_002, 3]], [], [[1, 50_004]]],
    );
    assert.ok(cpuMs() - from < 5000);
  });
});
