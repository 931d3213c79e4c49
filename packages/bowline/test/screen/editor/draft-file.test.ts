import assert from "node:assert/strict";
import { once } from "node:events";
import { spawn } from "node:child_process";
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { systemClock } from "@bowline/core";
import { DraftFile } from "../../../src/screen/editor/draft-file.ts";
import { draftOf, wholeText } from "../../../src/screen/editor/draft.ts";
import { isAlive } from "../../../src/screen/editor/is-alive.ts";
import { newEditor, paste, press, PROJECT, type } from "./driving.ts";
import { startWriter } from "./writing.ts";

describe("the stored draft", () => {
  let folder: string;
  let id = 0;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "drafts-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  function open(pid: number, alive: readonly number[] = [], project = PROJECT): DraftFile {
    const newId = () => `id${++id}`;
    const isOne = (other: number) => alive.includes(other);
    return new DraftFile({ folder, project, pid, isAlive: isOne, clock: systemClock, newId });
  }
  async function restored(file: DraftFile): Promise<string[]> {
    return (await file.restore()).map((parts) => wholeText(draftOf(parts)));
  }
  async function files(): Promise<string[]> {
    const [own = ""] = await readdir(folder);
    return readdir(join(folder, own));
  }

  it("is restored after a crash, with its pastes", async () => {
    const drafts = open(1);
    const editor = newEditor({ drafts });
    type(editor, "look at ");
    paste(editor, "x\n".repeat(20));
    await drafts.close();
    const next = open(2);
    const [parts = []] = await next.restore();
    const second = newEditor({ drafts: next });
    second.set(draftOf(parts));
    assert.equal(wholeText(second.draft()), `look at ${"x\n".repeat(20)}`);
    await next.close();
    assert.deepEqual(await files(), ["2.json"]);
  });

  it("is written within 300 ms while typing goes on", async () => {
    const timers: { ms: number; fire: () => void }[] = [];
    const clock = {
      setTimer: (ms: number, fire: () => void) => {
        timers.push({ ms, fire });
        return () => {};
      },
    };
    const options = { folder, project: PROJECT, pid: 1, isAlive: () => false, newId: () => "a" };
    const drafts = new DraftFile({ ...options, clock });
    const editor = newEditor({ drafts });
    type(editor, "a");
    type(editor, "b");
    assert.equal(timers.length, 1, "a later key does not delay the write");
    assert.ok((timers[0]?.ms ?? 0) <= 300);
    timers[0]?.fire();
    await drafts.close();
    assert.deepEqual(await restored(open(2)), ["ab"]);
  });

  it("is readable by its owner only", async () => {
    const drafts = open(1);
    type(newEditor({ drafts }), "secret");
    await drafts.close();
    const [own = ""] = await readdir(folder);
    assert.equal((await stat(join(folder, own, "1.json"))).mode & 0o777, 0o600);
  });

  it("is gone when it was sent or cleared", async () => {
    const drafts = open(1);
    const editor = newEditor({ drafts });
    type(editor, "sent");
    await drafts.close();
    press(editor, "enter");
    await drafts.close();
    assert.deepEqual(await restored(open(2)), []);
    type(editor, "cleared");
    editor.clear();
    await drafts.close();
    assert.deepEqual(await restored(open(2)), []);
  });

  it("belongs to its project, and to its process while that runs", async () => {
    const drafts = open(1);
    type(newEditor({ drafts }), "mine");
    await drafts.close();
    assert.deepEqual(await restored(open(2, [], "/elsewhere")), []);
    assert.deepEqual(await restored(open(2, [1])), []);
    assert.deepEqual(await restored(open(2)), ["mine"]);
  });

  it("of several ended processes is returned newest first, each to one process only", async () => {
    for (const pid of [1, 2]) {
      const drafts = open(pid);
      type(newEditor({ drafts }), `draft ${pid}`);
      await drafts.close();
    }
    const [a, b] = await Promise.all([restored(open(3, [4])), restored(open(4, [3]))]);
    assert.deepEqual([...a, ...b].toSorted(), ["draft 1", "draft 2"]);
  });

  it("that was restored survives a crash before the next save", async () => {
    const drafts = open(1);
    type(newEditor({ drafts }), "kept");
    await drafts.close();
    assert.deepEqual(await restored(open(2)), ["kept"]);
    assert.deepEqual(await restored(open(2)), ["kept"]);
    assert.deepEqual(await restored(open(3)), ["kept"]);
  });

  it("that is damaged is set aside", async () => {
    const drafts = open(1);
    type(newEditor({ drafts }), "text");
    await drafts.close();
    const [own = ""] = await readdir(folder);
    await writeFile(join(folder, own, "1.json"), '{"parts":[{"type":"text"');
    assert.deepEqual(await restored(open(2)), []);
    assert.match((await files()).join(), /^2-id\d+\.json\.damaged$/);
  });

  it("is whole after its process is killed at any moment", async () => {
    const stored = await startWriter(["draft", folder, "a", "5000"], 40).stored;
    const [text = ""] = await restored(open(2));
    const [, index = ""] = /^a (\d+) /.exec(text) ?? [];
    assert.ok(Number(index) >= stored - 1, `${index} of ${stored}`);
    assert.ok(text.endsWith(index));
  });

  it("knows whether a process exists", async () => {
    assert.equal(isAlive(process.pid), true);
    const child = spawn(process.execPath, ["-e", ""]);
    await once(child, "close");
    assert.equal(isAlive(child.pid ?? 0), false);
  });
});
