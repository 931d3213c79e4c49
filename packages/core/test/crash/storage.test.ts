/** Agents on a real disk that is full, and in a real read-only folder. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { attachSession, createSession } from "../../src/session/index.ts";
import { createJsonlStore } from "../../src/session/node/index.ts";
import { temporaryFolder } from "../session/support.ts";
import { rig } from "../support.ts";

const run = promisify(execFile);
const child = [
  process.execPath,
  "--conditions=@bowline/source",
  join(import.meta.dirname, "storage-child.ts"),
] as const;

describe("an agent with a full disk", () => {
  it("ends with storage_failed, and another one continues when there is room again", async (t) => {
    await using folder = await temporaryFolder();
    const mount = `mount -t tmpfs -o size=256k none "${folder.path}" && exec "$0" "$@"`;
    let stdout: string;
    try {
      ({ stdout } = await run("unshare", ["-m", "sh", "-c", mount, ...child, "fill", folder.path]));
    } catch (error) {
      if (!/permission|not permitted|must be superuser|ENOENT|EPERM/i.test(String(error)))
        throw error;
      return t.skip(`this needs the right to mount: ${String(error)}`);
    }
    const said = JSON.parse(stdout) as Record<string, number | string | string[]>;
    const { code, retryable, reason, damage, unknown } = said;
    assert.deepEqual([code, retryable, reason, damage], ["storage_failed", true, "done", []]);
    const { kept = 0, before = 0, askedBefore = 0, messages = 0 } = said as Record<string, number>;
    assert.ok(before >= 5, `${before} calls fitted`);
    assert.ok(askedBefore <= before + 1);
    // Each call has either a result or an unknown outcome, never both.
    assert.ok(kept >= 2 * before - 1, `${kept} messages of ${before} calls`);
    assert.ok(Number(unknown) <= 1);
    assert.ok(messages > kept);
  });
});

describe("an agent with a read-only folder", () => {
  it("does not start, and its session can be read", async (t) => {
    if (process.platform === "win32") return t.skip("folders there have no such mode");
    await using folder = await temporaryFolder();
    const session = await createSession(createJsonlStore(folder.path), { id: "s" });
    const { agent } = rig(["Hello."]);
    await attachSession(agent, session);
    await agent.prompt("Go");
    await session.close();
    await chmod(join(folder.path, "s.jsonl"), 0o444);
    await chmod(folder.path, 0o555);
    // Root ignores permissions, so the child runs as an unprivileged user.
    const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    const [program, ...args] = child;
    try {
      const { stdout } = await run(program, [...args, "readOnly", folder.path], nobody);
      assert.deepEqual(JSON.parse(stdout), { refused: "storage_failed", calls: 0, messages: 2 });
    } catch (error) {
      if (!/EACCES|permission/i.test(String(error))) throw error;
      return t.skip(`this needs files that nobody may read: ${String(error)}`);
    } finally {
      await chmod(folder.path, 0o755);
    }
  });
});
