/**
 * Files that were torn or changed at every byte of their last 4 kB: no other record is lost, and
 * the damage is reported.
 */
import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { crc32 } from "node:zlib";
import { createSession, openSession, type AnyEntry } from "../../../src/session/index.ts";
import { createJsonlStore } from "../../../src/session/node/index.ts";
import { readEntries, readHeader } from "../../../src/session/node/read-log.ts";
import { repairTail } from "../../../src/session/node/repair.ts";
import { FileFolder } from "../../../src/session/node/file-folder.ts";
import { LogWriter } from "../../../src/session/node/write-log.ts";
import type { SessionDamage } from "../../../src/session/store.ts";
import { collect, MemoryFile, say, seqs, temporaryFolder, upTo } from "../support.ts";
import { code } from "../../../../../test/support/error-code.ts";

const LAST = 2048;

interface Sample {
  readonly bytes: Buffer;
  readonly entries: readonly AnyEntry[];
  /** The end of each line including its newline, beginning with the header. */
  readonly ends: readonly number[];
}

/**
 * A session whose last 4 kB contain short, long and unusual records, or a small one including its
 * header.
 */
async function sample(folder: string, texts: readonly string[]): Promise<Sample> {
  const store = createJsonlStore(folder, { sync: "never" });
  const session = await createSession(store, {
    id: "sample",
    clock: { now: () => 5, setTimer: () => () => {} },
  });
  await say(session, ...texts);
  await session.close();
  const bytes = await readFile(join(folder, "sample.jsonl"));
  const ends = [...bytes.entries()].flatMap(([at, byte]) => (byte === 10 ? [at + 1] : []));
  return { bytes, entries: await collect(session.entries()), ends };
}

const texts = [
  "a",
  "",
  "ü🪢".repeat(40),
  '{"seq":1},"crc":"00000000"}',
  'b\n"c"',
  "x".repeat(900),
  "d",
  "e",
  "f",
  "g",
];
const small = texts.slice(0, 4);
const large = ["y".repeat(300), "z".repeat(1500), ...texts, ...texts.slice(0, 6)];

async function read(handle: MemoryFile, damage: SessionDamage[]): Promise<AnyEntry[]> {
  const onDamage = (found: SessionDamage): void => void damage.push(found);
  return (await collect(readEntries({ handle, path: "a file" }, { onDamage }))).flat();
}

/**
 * Opens the file as its writer does, and appends one entry. Bytes that are cut off go to `kept`.
 */
async function mendAndAppend(
  handle: MemoryFile,
  damage: SessionDamage[],
  kept: Buffer[] = [],
): Promise<void> {
  const file = { handle, path: "a file" };
  const size = handle.bytes.length;
  const header = await readHeader(file, {
    id: "sample",
    size,
    onDamage: (found) => void damage.push(found),
  });
  assert.equal(header.id, "sample");
  const keep = async (torn: Buffer): Promise<string> => `aside ${kept.push(torn)}`;
  const tail = await repairTail(file, { size, header, keep, mustSync: false, damage });
  assert.equal(tail.length, handle.bytes.length);
  const files = new FileFolder("no folder", false);
  const writer = new LogWriter({ file: handle, path: "a file", sync: "never", files, ...tail });
  const { nextSeq: seq, last } = writer;
  await writer.append([{ seq, id: "after", parentId: last?.id ?? null, timestamp: 9, type: "x" }]);
}

for (const [name, said] of Object.entries({ "a large file": large, "a whole small file": small })) {
  describe(name, () => {
    it("torn at any byte loses only the torn record", async () => {
      await using folder = await temporaryFolder();
      const { bytes, entries, ends } = await sample(folder.path, said);
      for (let at = Math.max(0, bytes.length - LAST); at < bytes.length; at++) {
        const file = new MemoryFile(bytes.subarray(0, at));
        const damage: SessionDamage[] = [];
        const kept: Buffer[] = [];
        await mendAndAppend(file, damage, kept);
        // A record that lacks only its newline is complete.
        const whole = ends.slice(1).filter((end) => end - 1 <= at).length;
        const left: SessionDamage[] = [];
        const found = await read(file, left);
        assert.equal(left.length, 0);
        assert.deepEqual(found.slice(0, -1), entries.slice(0, whole), `torn at ${at}`);
        assert.deepEqual([found.at(-1)?.id, found.at(-1)?.seq], ["after", whole]);
        const from = Math.max(0, ...ends.filter((end) => end <= at));
        assert.deepEqual(kept, from === at ? [] : [bytes.subarray(from, at)]);
        if (from === at && at > 0) assert.equal(damage.length, 0);
        else
          assert.match(
            damage.map(({ message }) => message).join(),
            /^(?:The end of a file, [^.]* was incomplete|a file was empty)[^.]*\.$/,
          );
      }
    });

    it("changed at any byte loses only the record of that byte", async () => {
      await using folder = await temporaryFolder();
      const { bytes, entries, ends } = await sample(folder.path, said);
      for (let at = Math.max(0, bytes.length - LAST); at < bytes.length; at++) {
        const file = new MemoryFile(Buffer.from(bytes));
        file.bytes[at] = (file.bytes[at] ?? 0) ^ (1 << (at % 8));
        const hit = ends.findIndex((end) => at < end) - 1;
        const rest = entries.filter((_, index) => index !== hit);
        for (const isMended of [false, true]) {
          const damage: SessionDamage[] = [];
          if (isMended) await mendAndAppend(file, damage);
          const found = await read(file, damage);
          // For a reader, a last line without its newline is still being written.
          if (isMended || at < bytes.length - 1)
            assert.ok(damage.length > 0, `the change at ${at} was not noticed`);
          const others = found.filter(({ seq, id }) => seq !== hit && id !== "after");
          assert.deepEqual(others, rest, `changed at ${at}`);
          const itself = found.find(({ seq }) => seq === hit);
          if (itself !== undefined) assert.deepEqual(itself, entries[hit]);
          if (!isMended) continue;
          assert.equal(found.at(-1)?.id, "after");
          assert.ok((found.at(-1)?.seq ?? 0) >= entries.length, "a number was used twice");
        }
      }
    });
  });
}

describe("a session file", () => {
  it("is one JSON object per line, each ending in its checksum", async () => {
    await using folder = await temporaryFolder();
    const { bytes, entries } = await sample(folder.path, small);
    const lines = bytes.toString().trimEnd().split("\n");
    assert.match(
      lines[0] ?? "",
      /^\{"format":"bowline session","version":1,"id":"sample","createdAt":5,"crc":"[0-9a-f]{8}"\}$/,
    );
    for (const [at, line] of lines.entries()) {
      const { crc, ...record } = JSON.parse(line) as { crc: string };
      assert.equal(Number.parseInt(crc, 16), crc32(line.slice(0, line.lastIndexOf(',"crc"'))));
      if (at > 0) assert.deepEqual(record, entries[at - 1]);
    }
  });

  it("keeps entries of a newer writer byte for byte", async () => {
    await using folder = await temporaryFolder();
    const { bytes } = await sample(folder.path, small);
    const path = join(folder.path, "sample.jsonl");
    const body = `{"seq":4 , "id":"new","parentId":null,"timestamp":1.0,"type":"of tomorrow","big":12345678901234567890,"a":"\\u0041"`;
    const line = `${body},"crc":"${crc32(body).toString(16).padStart(8, "0")}"}\n`;
    await writeFile(path, line, { flag: "a" });
    const store = createJsonlStore(folder.path);
    const session = await openSession(store, "sample");
    assert.equal(await session.head(), "new");
    await session.label("new", "seen");
    await session.close();
    await store.list();
    assert.deepEqual(
      (await readFile(path)).subarray(0, bytes.length + line.length),
      Buffer.concat([bytes, Buffer.from(line)]),
    );
    const last = (await collect(session.entries({ from: 4 }))).map(({ type, parentId }) => [
      type,
      parentId,
    ]);
    assert.deepEqual(last, [
      ["of tomorrow", null],
      ["label", "new"],
    ]);
  });
});

describe("a damaged session", () => {
  it("reports the damage once, skips the gap, and can be forked without it", async () => {
    await using folder = await temporaryFolder();
    const { bytes, entries, ends } = await sample(folder.path, large);
    const path = join(folder.path, "sample.jsonl");
    bytes[(ends[7] ?? 0) + 30] = 0;
    await writeFile(path, bytes);
    const store = createJsonlStore(folder.path);
    const session = await openSession(store, "sample");
    assert.equal(session.damage.length, 0); // unread records are not checked
    assert.deepEqual(
      seqs(await session.path()),
      upTo(entries.length).filter((seq) => seq !== 7),
    );
    await session.allMessages();
    assert.equal(session.damage.length, 1);
    assert.match(
      session.damage[0]?.message ?? "",
      /A record of .* at bytes \d+ to \d+ is damaged and was left out\./,
    );
    const fork = await session.fork();
    assert.deepEqual(seqs(await fork.path()), upTo(entries.length - 1));
    assert.deepEqual(fork.damage, []);
    await Promise.all([fork.close(), session.close()]);
  });

  it("that ends in zeros after a power loss is cut, and the zeros are saved", async () => {
    await using folder = await temporaryFolder();
    const { bytes, entries } = await sample(folder.path, small);
    await writeFile(join(folder.path, "sample.jsonl"), Buffer.concat([bytes, Buffer.alloc(5000)]));
    const store = createJsonlStore(folder.path);
    const session = await openSession(store, "sample");
    assert.deepEqual(await collect(session.entries()), entries);
    const [{ message, savedTo = "" }] = session.damage as [SessionDamage];
    assert.match(message, /, 5000 bytes from \d+ on, was incomplete and was cut off\./);
    assert.equal(savedTo, join(folder.path, "sample.damaged-1"));
    assert.deepEqual(await readFile(savedTo), Buffer.alloc(5000));
    await session.close();
    await store.delete("sample");
    assert.deepEqual(await readdir(folder.path), ["locks"]);
  });

  it("that is empty can be used, and is reported", async () => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, "s.jsonl"), "");
    const store = createJsonlStore(folder.path);
    const session = await openSession(store, "s");
    assert.equal(session.damage.length, 1);
    await say(session, "a");
    await session.close();
    assert.deepEqual((await openSession(store, "s", { readOnly: true })).damage, []);
    assert.deepEqual(
      (await store.list()).sessions.map(({ id, title }) => [id, title]),
      [["s", "a"]],
    );
  });

  it("of a newer version is refused and left unchanged", async () => {
    await using folder = await temporaryFolder();
    const { bytes } = await sample(folder.path, small);
    const path = join(folder.path, "sample.jsonl");
    const body = '{"format":"bowline session","version":2,"id":"sample","createdAt":1';
    const header = `${body},"crc":"${crc32(body).toString(16).padStart(8, "0")}"}\n`;
    const newer = Buffer.concat([
      Buffer.from(header),
      bytes.subarray(bytes.indexOf(10) + 1),
      Buffer.from("torn"),
    ]);
    await writeFile(path, newer);
    const store = createJsonlStore(folder.path);
    await assert.rejects(openSession(store, "sample"), code("storage_failed"));
    await assert.rejects(
      store.load("sample"),
      /version 2 of the session format, but this release reads versions up to 1/,
    );
    assert.deepEqual(await readFile(path), newer);
    assert.deepEqual(await readdir(join(folder.path, "locks")), []);
    assert.deepEqual((await store.list()).sessions, []);
  });
});
