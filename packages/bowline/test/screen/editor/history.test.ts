import assert from "node:assert/strict";
import { appendFile, chmod, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { HistoryFile } from "../../../src/screen/editor/history-file.ts";
import { History } from "../../../src/screen/editor/history.ts";
import { PROJECT } from "./driving.ts";
import { startWriter } from "./writing.ts";

describe("the stored history", () => {
  let folder: string;
  let time = 4e12; // later than what the other processes write
  let id = 0;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "history-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const file = (): HistoryFile =>
    new HistoryFile({ folder, now: () => time, newId: () => `id${++id}` });
  async function open(project = PROJECT): Promise<{ history: History; notices: string[] }> {
    const notices: string[] = [];
    const history = new History({
      file: file(),
      project,
      clock: { now: () => ++time },
      onNotice: (notice) => notices.push(notice),
    });
    await history.load();
    return { history, notices };
  }
  const texts = (history: History): string[] => history.entries().map(({ text }) => text);
  const text = (words: string) => [{ type: "text", text: words }] as const;

  it("is read by the next process, newest first, with pastes by content", async () => {
    const { history } = await open();
    history.add(text("one"));
    const paste = { type: "paste", number: 1, text: "x\n".repeat(50_000) } as const;
    history.add([{ type: "text", text: "see " }, paste]);
    await history.close();
    const next = (await open()).history;
    assert.deepEqual(texts(next), ["see [Pasted text #1, 50,000 lines, 100 kB]", "one"]);
    assert.deepEqual(next.entries()[0]?.parts, [{ type: "text", text: "see " }, paste]);
  });

  it("is readable by its owner only", async () => {
    const { history } = await open();
    history.add(text("secret"));
    await history.close();
    assert.equal((await stat(join(folder, "current.jsonl"))).mode & 0o777, 0o600);
  });

  it("shows entries of the project before those of others", async () => {
    const here = (await open()).history;
    const there = (await open("/elsewhere")).history;
    here.add(text("here"));
    there.add(text("there"));
    await Promise.all([here.close(), there.close()]);
    assert.deepEqual(texts((await open()).history), ["here", "there"]);
    assert.deepEqual(texts((await open("/elsewhere")).history), ["there", "here"]);
  });

  it("stores the path of an image, and a too long paste as its label", async () => {
    const { history } = await open();
    const image = { mimeType: "image/png", data: "AAAA", bytes: 3 };
    history.add([
      { type: "image", number: 1, image: { ...image, path: "/a.png" } },
      { type: "image", number: 2, image },
      { type: "paste", number: 1, text: "x".repeat(1_000_001) },
    ]);
    await history.close();
    assert.deepEqual((await open()).history.entries()[0]?.parts, [
      { type: "imagePath", path: "/a.png" },
      { type: "text", text: "[Image #2, PNG, 3 bytes, not kept]" },
      { type: "text", text: "[Pasted text #1, 1 line, 1.0 MB, too long to keep]" },
    ]);
  });

  it("skips damaged lines with a notice, and an entry after a cut line is whole", async () => {
    const { history } = await open();
    history.add(text("one"));
    await history.close();
    await appendFile(join(folder, "current.jsonl"), '\n{"time":5,"project":"/home');
    const second = (await open()).history;
    second.add(text("two"));
    await second.close();
    await appendFile(
      join(folder, "current.jsonl"),
      '\n[]\n{"time":1,"project":"/","parts":[{}]}\n',
    );
    const { history: third, notices } = await open();
    assert.deepEqual(texts(third), ["two", "one"]);
    assert.deepEqual(notices, ["History: 3 damaged lines were skipped."]);
  });

  it("goes on without the file when it cannot be written, and says so once", async () => {
    await writeFile(join(folder, "file"), "");
    const notices: string[] = [];
    const history = new History({
      file: new HistoryFile({ folder: join(folder, "file"), now: Date.now, newId: () => "a" }),
      project: PROJECT,
      clock: { now: () => ++time },
      onNotice: (notice) => notices.push(notice),
    });
    history.add(text("one"));
    history.add(text("two"));
    await history.close();
    assert.deepEqual(texts(history), ["two", "one"]);
    assert.equal(notices.length, 1);
    assert.match(notices[0] ?? "", /not stored \((?:ENOTDIR|EEXIST)\)/);
  });

  it("is bounded: the oldest entries disappear", async () => {
    const { history } = await open();
    for (let index = 0; index < 80; index++) history.add(text(`${index} ${"x".repeat(100_000)}`));
    await history.close();
    let size = 0;
    for (const name of await readdir(folder)) size += (await stat(join(folder, name))).size;
    assert.ok(size < 5_500_000, `${size} bytes`);
    const left = texts((await open()).history).map((entry) => Number.parseInt(entry, 10));
    assert.equal(left[0], 79);
    assert.ok(left.length > 20 && left.length < 60, `${left.length} entries`);
    assert.deepEqual(
      left,
      left.toSorted((a, b) => b - a),
    );
  });

  it("loses no entry of two processes that append and rotate at once", async () => {
    const writers = ["a", "b"].map((name) => startWriter(["history", folder, name, "250"]));
    assert.deepEqual(await Promise.all(writers.map(({ stored }) => stored)), [250, 250]);
    assert.ok((await readdir(folder)).length > 1, "no file was put aside");
    const { entries, damaged } = await file().read();
    assert.equal(damaged, 0);
    const found = new Set(entries.map((entry) => entry.text.split(" ", 2).join(" ")));
    assert.equal(found.size, 500);
  });

  it("keeps all stored entries of a process that is killed", async () => {
    const stored = await startWriter(["history", folder, "a", "5000"], 150).stored;
    const { history, notices } = await open();
    const entries = history.entries();
    assert.ok(entries.length >= Math.min(stored, 150));
    for (const [index, entry] of entries.toReversed().entries())
      assert.ok(entry.text.startsWith(`a ${index} `) && entry.text.endsWith(`${index}`));
    assert.ok(notices.length <= 1);
    history.add(text("after"));
    await history.close();
    assert.equal(texts((await open()).history)[0], "after");
  });

  it("reports a folder that cannot be read", { skip: process.getuid?.() === 0 }, async () => {
    await chmod(folder, 0);
    const { notices } = await open();
    await chmod(folder, 0o700);
    assert.deepEqual(notices, ["History: cannot be read (EACCES)."]);
  });
});
