import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import {
  mkdir,
  open,
  readdir,
  readFile,
  rm,
  stat,
  writeFile,
  type FileHandle,
} from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { createPendingFolder } from "../../src/gateway/runs/pending.ts";
import { replaceFile } from "../../src/replace-file.ts";
import { loadRules } from "../../src/policy/rules.ts";
import { temporary } from "../command.ts";
import { gatewayWith } from "./gateway.ts";

const source = join(import.meta.dirname, "../../src/replace-file.ts");

describe("replaceFile", () => {
  it("writes a file and its folder for the owner only, and replaces the whole file", async () => {
    await using home = await temporary();
    const path = join(home.path, "a", "b", "file");
    await replaceFile(path, "first");
    await replaceFile(path, "x");
    assert.equal(await readFile(path, "utf8"), "x");
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    assert.deepEqual(await readdir(join(home.path, "a", "b")), ["file"]);
  });

  it("syncs the folder, so that the name is on the disk, too", async (test) => {
    await using home = await temporary();
    const folder = await open(home.path, "r");
    const { ino } = await folder.stat();
    const handles = Object.getPrototypeOf(folder) as FileHandle;
    await folder.close();
    const synced: number[] = [];
    test.mock.method(handles, "sync", async function (this: FileHandle) {
      synced.push((await this.stat()).ino);
    });
    await replaceFile(join(home.path, "file"), "x");
    assert.deepEqual(synced, [ino]);
  });

  const skip = process.platform === "win32" ? "there is no such limit" : false;

  it("keeps the old file when there is no room, and leaves nothing else", { skip }, async () => {
    await using home = await temporary();
    const path = join(home.path, "file");
    await replaceFile(path, "before");
    const script = `import { replaceFile } from ${JSON.stringify(source)};
      await replaceFile(${JSON.stringify(path)}, "x".repeat(100_000)).catch(({ code, message, retryable }) =>
        console.log(JSON.stringify([code, message, retryable])));`;
    const args = [
      "--conditions=@bowline/source",
      "--no-warnings",
      "--input-type=module",
      "-e",
      script,
    ];
    const limited = ["-c", 'ulimit -f 8; exec "$0" "$@"', process.execPath, ...args];
    const { stdout } = await promisify(execFile)("sh", limited);
    assert.deepEqual(JSON.parse(stdout), [
      "storage_failed",
      `Writing ${path} failed (EFBIG).`,
      true,
    ]);
    assert.equal(await readFile(path, "utf8"), "before");
    assert.deepEqual(await readdir(home.path), ["file"]);
  });

  it("is retried for the next message after a failure, which is reported with its code", async () => {
    await using home = await temporary();
    const inTheWay = join(home.path, "gateway");
    await writeFile(inTheWay, "a file");
    const rules = await loadRules([], join(home.path, "policy.json"));
    await using server = await gatewayWith(["Yes.", "Again."], {
      pending: createPendingFolder(join(inTheWay, "pending")),
      rules,
    });
    const client = await server.client();
    const send = { sessionKey: "s", message: "go" };
    assert.equal(await client.refused("chat.send", send), "storage_failed");
    assert.equal(await readFile(inTheWay, "utf8"), "a file");
    await rm(inTheWay);
    const { runId } = await client.call("chat.send", send);
    assert.equal((await client.end(runId)).event, "chat.final");
    await rm(inTheWay, { recursive: true });
    await mkdir(inTheWay);
    const again = await client.call("chat.send", send);
    assert.equal((await client.end(again.runId)).event, "chat.final");
  });

  it("reports why a rule could not be stored", async () => {
    await using home = await temporary();
    const inTheWay = join(home.path, "gateway");
    const rules = await loadRules([], join(inTheWay, "policy.json"));
    await writeFile(inTheWay, "a file");
    const rule = { action: "allow", tool: "bash", pattern: "ls *" } as const;
    await assert.rejects(rules.add(rule), { code: "storage_failed", retryable: false });
    const call = { tool: "bash", args: { command: "ls -l" }, sessionKey: "s" };
    assert.equal(rules.judge(call).action, "ask");
    await rm(inTheWay);
    await rules.add(rule);
    assert.equal(rules.judge(call).action, "allow");
    const kept = JSON.parse(await readFile(join(inTheWay, "policy.json"), "utf8")) as unknown;
    assert.deepEqual(kept, { rules: [rule] });
  });
});
