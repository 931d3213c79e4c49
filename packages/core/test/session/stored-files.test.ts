/** Large files beside the log: round trips, one copy of each, and what happens when one is gone. */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import type { UserContent, UserMessage } from "../../src/llm/message.ts";
import {
  createMemoryStore,
  createSession,
  isStoredFile,
  openSession,
  type Store,
} from "../../src/session/index.ts";
import { FileFolder } from "../../src/session/node/file-folder.ts";
import { createJsonlStore } from "../../src/session/node/index.ts";
import { encodeEntry } from "../../src/session/node/record.ts";
import { LogWriter } from "../../src/session/node/write-log.ts";
import { code } from "../../../../test/support/error-code.ts";
import { MemoryFile } from "./support.ts";

const base64 = (length: number, fill = 7): string => Buffer.alloc(length, fill).toString("base64");
const user = (...content: UserContent[]): UserMessage => ({ role: "user", content, timestamp: 1 });
const pdf = (data: string, name = "a.pdf"): UserContent => ({
  type: "file",
  data,
  mimeType: "application/pdf",
  name,
});

interface Folder extends AsyncDisposable {
  readonly path: string;
  readonly store: Store;
  /** The names of the files of the session `s`. */
  names(): Promise<string[]>;
}

async function folder(): Promise<Folder> {
  const path = await mkdtemp(join(tmpdir(), "bowline-files-"));
  return {
    path,
    store: createJsonlStore(path),
    names: () => readdir(join(path, "s.files")).catch(() => []),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true }),
  };
}

async function add(store: Store, ...messages: UserMessage[]): Promise<void> {
  await using session = await openSession(store, "s", { create: true });
  for (const message of messages) await session.append({ type: "message", message });
}

async function contentOf(store: Store): Promise<UserContent[]> {
  const session = await openSession(store, "s", { readOnly: true });
  const messages = (await session.contextMessages()) as UserMessage[];
  return messages.flatMap(({ content }) => content as UserContent[]);
}

const parts: fc.Arbitrary<UserContent> = fc
  .record({
    length: fc.constantFrom(0, 1, 16_383, 16_384, 16_385, 16_387, 30_000),
    fill: fc.integer({ min: 0, max: 2 }),
    wrong: fc.constantFrom("", "=", "\n", "data:x;base64,"),
    type: fc.constantFrom("file" as const, "image" as const),
  })
  .map(({ length, fill, wrong, type }) => ({
    type,
    data: wrong + base64(length, fill),
    mimeType: "image/png",
  }));

describe("a message with large files", () => {
  for (const [name, makeStore] of [
    ["memory", async () => ({ store: createMemoryStore(), [Symbol.asyncDispose]: async () => {} })],
    ["files", folder],
  ] as const)
    it(`is read as it was written, from ${name}`, async () => {
      const contents = fc.array(fc.array(parts, { maxLength: 3 }), { minLength: 1, maxLength: 3 });
      await fc.assert(
        fc.asyncProperty(contents, async (all) => {
          await using made = await makeStore();
          await add(made.store, ...all.map((content) => user(...content)));
          assert.deepEqual(await contentOf(made.store), all.flat());
          const session = await openSession(made.store, "s");
          await using fork = await session.fork({ id: "t" });
          await session.close();
          await made.store.delete("s");
          const forked = (await fork.contextMessages()) as UserMessage[];
          assert.deepEqual(
            forked.map(({ content }) => content),
            all,
          );
        }),
        { numRuns: 30 },
      );
    });

  it("has each file once on the disk, by its hash, and none within the bound", async () => {
    await using made = await folder();
    const [small, large] = [pdf(base64(16 * 1024)), pdf(base64(16 * 1024 + 3))];
    await add(made.store, user(small, large, large), user(large, pdf(base64(20_000, 8))));
    const names = await made.names();
    assert.equal(names.length, 2);
    const log = await stat(join(made.path, "s.jsonl"));
    assert.ok(log.size < 30_000, `the log has ${log.size} bytes`);
    assert.ok(names.every((name) => /^[0-9a-f]{64}$/.test(name)));
    await made.store.delete("s");
    assert.deepEqual(await readdir(made.path), ["locks"]);
  });

  it("shares one string among ten equal files, in later reads too", async () => {
    await using made = await folder();
    const size = 3_000_000;
    await add(made.store, ...Array.from({ length: 10 }, () => user(pdf(base64(size)))));
    const first = await contentOf(made.store);
    assert.equal(first.length, 10);
    // What is in use is not read again.
    await rm(join(made.path, "s.files"), { recursive: true });
    assert.deepEqual(await contentOf(made.store), first);
    const before = process.memoryUsage().heapUsed;
    const copies = await Promise.all(Array.from({ length: 5 }, () => contentOf(made.store)));
    const grown = process.memoryUsage().heapUsed - before;
    assert.ok(grown < size * 3, `fifty more parts took ${grown} bytes`);
    assert.equal(copies.flat().length, 50);
  });

  it("has its data as a reference when it is read without files", async () => {
    for (const made of [createMemoryStore(), undefined]) {
      await using disk = await folder();
      const store = made ?? disk.store;
      await add(store, user(pdf(base64(20_000))));
      const session = await openSession(store, "s", { readOnly: true });
      const [entry] = (await session.path(undefined, { files: false })) as unknown as {
        message: { content: { data: unknown; name: string }[] };
      }[];
      const { content = [] } = entry?.message ?? {};
      assert.ok(isStoredFile(content[0]?.data));
      assert.equal(content[0].data.bytes, 20_000);
      assert.equal(content[0].name, "a.pdf");
    }
  });

  it("is refused if it already holds a reference, which could name another file", async () => {
    await using disk = await folder();
    for (const store of [createMemoryStore(), disk.store]) {
      const data = { storedFile: "0".repeat(64), bytes: 1 } as unknown as string;
      await assert.rejects(add(store, user(pdf(data))), code("invalid_argument"));
    }
  });

  it("is read from a log of an earlier version, which has the data in its lines", async () => {
    await using made = await folder();
    await add(made.store, user({ type: "text", text: "Hi" }));
    const message = user(pdf(base64(50_000)));
    const entry = { seq: 1, id: "e", parentId: null, timestamp: 1, type: "message", message };
    const path = join(made.path, "s.jsonl");
    await writeFile(path, encodeEntry(entry), { flag: "a" });
    assert.deepEqual(await contentOf(made.store), message.content);
    assert.deepEqual(await made.names(), []);
  });
});

describe("a file of a session", () => {
  for (const [what, spoil] of [
    ["missing", (path: string) => rm(path)],
    ["damaged", (path: string) => writeFile(path, "other")],
    ["a folder", (path: string) => rm(path).then(() => mkdir(path))],
  ] as const)
    it(`that is ${what} is replaced by a note, and is reported`, async () => {
      await using made = await folder();
      await add(made.store, user(pdf(base64(20_000)), pdf(base64(20_000, 8), "b.pdf")));
      const names = await made.names();
      await spoil(join(made.path, "s.files", names[0] ?? ""));
      const session = await openSession(createJsonlStore(made.path), "s", { readOnly: true });
      const [message = user()] = (await session.contextMessages()) as UserMessage[];
      const texts = (message.content as UserContent[]).filter(({ type }) => type === "text");
      assert.equal(texts.length, 1);
      assert.match(
        JSON.stringify(texts),
        /A file of 20000 bytes \([ab]\.pdf, application\/pdf\) is missing or damaged/,
      );
      assert.match(
        session.damage[0]?.message ?? "",
        new RegExp(`${names[0]} is missing or damaged`),
      );
    });

  it("is replaced by a note if the log refers to it by what is no hash", async () => {
    for (const storedFile of ["a\0b", "../s.jsonl", "a".repeat(300)]) {
      await using made = await folder();
      await add(made.store, user({ type: "text", text: "Hi" }));
      const message = user(pdf({ storedFile, bytes: 3 } as unknown as string));
      const entry = { seq: 1, id: "e", parentId: null, timestamp: 1, type: "message", message };
      await writeFile(join(made.path, "s.jsonl"), encodeEntry(entry), { flag: "a" });
      assert.match(JSON.stringify(await contentOf(made.store)), /is missing or damaged/);
    }
  });

  it("that is damaged is written again with the next message that has it", async () => {
    await using made = await folder();
    const part = pdf(base64(20_000));
    await add(made.store, user(part));
    const [name = ""] = await made.names();
    await writeFile(join(made.path, "s.files", name), "other");
    await add(made.store, user(part));
    assert.deepEqual(await contentOf(createJsonlStore(made.path)), [part, part]);
  });

  it("that cannot be written fails the append, and the log names no file", async () => {
    await using made = await folder();
    await add(made.store, user({ type: "text", text: "Hi" }));
    const before = await readFile(join(made.path, "s.jsonl"));
    await writeFile(join(made.path, "s.files"), "in the way");
    await assert.rejects(add(made.store, user(pdf(base64(20_000)))), code("storage_failed"));
    assert.deepEqual(await readFile(join(made.path, "s.jsonl")), before);
    await rm(join(made.path, "s.files"));
    await add(made.store, user(pdf(base64(20_000))));
    assert.equal((await contentOf(made.store)).length, 2);
  });

  it("is written before the line that names it", async () => {
    const file = new MemoryFile();
    let finish = (): void => {};
    class Slow extends FileFolder {
      override write(): Promise<void> {
        return new Promise((resolve) => (finish = resolve));
      }
    }
    const files = new Slow("no folder", false);
    const about = {
      path: "a file",
      length: 0,
      last: undefined,
      nextSeq: 0,
      sync: "commit",
    } as const;
    const writer = new LogWriter({ file, files, ...about });
    const message = user(pdf(base64(20_000)));
    const entry = { seq: 0, id: "e", parentId: null, timestamp: 1, type: "message", message };
    const written = writer.append([entry]);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(file.bytes.length, 0);
    finish();
    await written;
    assert.match(file.bytes.toString(), /"storedFile":"[0-9a-f]{64}","bytes":20000/);
  });
});

it("creates a session with files in the memory store without sharing them with another", async () => {
  const store = createMemoryStore();
  const session = await createSession(store, { id: "s" });
  await session.append({ type: "message", message: user(pdf(base64(20_000))) });
  await session.close();
  await store.delete("s");
  await add(store, user(pdf(base64(20_000, 9))));
  assert.deepEqual(await contentOf(store), [pdf(base64(20_000, 9))]);
});
