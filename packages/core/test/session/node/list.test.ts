/**
 * Lists of session files: correct for any state of the index and the files, without reading
 * anything twice.
 */
import assert from "node:assert/strict";
import { readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createSession, openSession, type Store } from "../../../src/session/index.ts";
import { createJsonlStore } from "../../../src/session/node/index.ts";
import { encodeRecord } from "../../../src/session/node/record.ts";
import { say, temporaryFolder, upTo } from "../support.ts";

async function rig(): Promise<
  AsyncDisposable & { path: string; store: Store; file: (name: string) => string }
> {
  const folder = await temporaryFolder();
  const store = createJsonlStore(folder.path, { sync: "never" });
  for (const id of ["a", "b"]) {
    const session = await createSession(store, { id });
    await say(session, `Title of ${id}`, "two", "three");
    await session.close();
  }
  return { ...folder, store, file: (name) => join(folder.path, name) };
}

const show = async (store: Store): Promise<(string | number | undefined)[][]> =>
  (await store.list()).sessions
    .map(({ id, title, messageCount }) => [id, title, messageCount])
    .toSorted(([a = ""], [b = ""]) => (a < b ? -1 : 1));

async function add(store: Store, id: string, ...texts: string[]): Promise<void> {
  const session = await openSession(store, id);
  await say(session, ...texts);
  await session.close();
}

const both = [
  ["a", "Title of a", 3],
  ["b", "Title of b", 3],
];

describe("a list of session files", () => {
  it("is the same without an index, with a damaged one, and with one of another version", async () => {
    await using folder = await rig();
    assert.deepEqual(await show(folder.store), both);
    const index = folder.file("sessions.index");
    const written = await readFile(index, "utf8");
    const newer = encodeRecord({ version: 3, sessions: 5 }).toString();
    for (const text of [
      written,
      "",
      "{",
      "[]\n",
      written.slice(0, 50),
      written.replace("Title", "title"),
      newer,
    ]) {
      await writeFile(index, text);
      assert.deepEqual(await show(createJsonlStore(folder.path)), both, text);
    }
    await rm(index);
    assert.deepEqual(await show(createJsonlStore(folder.path)), both);
    assert.deepEqual((await readdir(folder.path)).toSorted(), [
      "a.jsonl",
      "b.jsonl",
      "locks",
      "sessions.index",
    ]);
  });

  it("reads only the entries appended since the last list", async () => {
    await using folder = await rig();
    await show(folder.store);
    const path = folder.file("a.jsonl");
    const bytes = await readFile(path);
    const header = bytes.indexOf(10) + 1;
    await writeFile(
      path,
      Buffer.concat([bytes.subarray(0, header), Buffer.alloc(bytes.length - header, "x")]),
    );
    await writeFile(path, bytes.subarray(-1), { flag: "a" });
    // A new store knows the first three only from the index.
    const { sessions } = await createJsonlStore(folder.path).list();
    assert.equal(sessions.find(({ id }) => id === "a")?.messageCount, 3);
  });

  it("recounts a truncated file", async () => {
    await using folder = await rig();
    await show(folder.store);
    const path = folder.file("a.jsonl");
    const lines = (await readFile(path, "utf8")).split("\n").slice(0, 3);
    await truncate(path, Buffer.byteLength(`${lines.join("\n")}\n`));
    for (const store of [folder.store, createJsonlStore(folder.path)])
      assert.deepEqual(await show(store), [["a", "Title of a", 2], both[1]]);
  });

  it("recounts a file that was truncated and has grown again", async () => {
    await using folder = await rig();
    await add(folder.store, "a", ...upTo(5).map(String));
    assert.deepEqual(await show(folder.store), [["a", "Title of a", 8], both[1]]);
    const path = folder.file("a.jsonl");
    const lines = (await readFile(path, "utf8")).split("\n").slice(0, 3);
    await truncate(path, Buffer.byteLength(`${lines.join("\n")}\n`));
    await add(folder.store, "a", "y".repeat(5000), "1", "2", "3");
    assert.deepEqual(await show(folder.store), [["a", "Title of a", 6], both[1]]);
  });

  it("does not confuse a new session with a deleted one of the same id", async () => {
    await using folder = await rig();
    await show(folder.store);
    await folder.store.delete("a");
    const session = await createSession(folder.store, { id: "a" });
    await say(session, "Other of a", "two", "three", "four");
    await session.close();
    assert.deepEqual(await show(folder.store), [["a", "Other of a", 4], both[1]]);
  });

  it("omits a session whose first entries were refused, and no file of it stays", async () => {
    await using folder = await rig();
    const before = await readdir(folder.path);
    const circular: Record<string, unknown> = {};
    circular["self"] = circular;
    const entry = { seq: 0, id: "e0", parentId: null, timestamp: 1, type: "x", ...circular };
    await assert.rejects(folder.store.create({ id: "c", createdAt: 1 }, [entry]), /must be JSON/);
    assert.deepEqual(await readdir(folder.path), before);
    assert.deepEqual(await show(folder.store), both);
  });

  it("includes a new session only when it is complete", async () => {
    await using folder = await rig();
    const entries = upTo(30_000).map((seq) => ({
      seq,
      id: `e${seq}`,
      parentId: null,
      timestamp: 1,
      type: "x",
    }));
    const made = new AbortController();
    const making = folder.store
      .create({ id: "c", createdAt: 1 }, entries)
      .finally(() => made.abort());
    let looks = 0;
    for (; !made.signal.aborted; looks++) {
      const { sessions } = await folder.store.list();
      for (const { id, entryCount } of sessions)
        if (id === "c") assert.equal(entryCount, entries.length);
    }
    assert.ok(looks > 1, `${looks} looks`);
    await (await making).close();
  });

  it("includes the readable part of a damaged session", async () => {
    await using folder = await rig();
    const bytes = await readFile(folder.file("a.jsonl"));
    bytes[20] = 0; // in the header
    bytes[bytes.length - 20] = 0; // in the last entry
    await writeFile(folder.file("a.jsonl"), bytes);
    assert.deepEqual(await show(folder.store), [["a", "Title of a", 2], both[1]]);
  });

  it("ignores other files", async () => {
    await using folder = await rig();
    await writeFile(folder.file("notes.jsonl"), '{"a":1}\n');
    await writeFile(folder.file("empty.jsonl"), "");
    await writeFile(folder.file("b.jsonl.new"), "half a session");
    await writeFile(folder.file("readme.md"), "#");
    assert.deepEqual(await show(folder.store), both);
    assert.deepEqual(await show(createJsonlStore(folder.file("nowhere"))), []);
  });

  it("is not affected by a clock that is set back", async () => {
    await using folder = await rig();
    const clock = { now: () => 1, setTimer: () => () => {} };
    const session = await openSession(folder.store, "a", { clock });
    const before = (await folder.store.list()).sessions.find(({ id }) => id === "a");
    await say(session, "late");
    await session.close();
    const after = (await folder.store.list()).sessions.find(({ id }) => id === "a");
    assert.deepEqual(after, { ...before, entryCount: 4, messageCount: 4 });
    assert.deepEqual(
      (await session.path()).map(({ seq }) => seq),
      upTo(4),
    );
    assert.equal((await session.path()).at(-1)?.timestamp, 1);
  });
});
