/**
 * Compares session files with the plain calls appendFile, fdatasync, readdir, readFile and
 * JSON.parse, in the same run.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { open, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bench, do_not_optimize, group, summary } from "mitata";
import {
  createSession,
  openSession,
  type AnyEntry,
  type EntryBody,
} from "../packages/core/src/session/index.ts";
import { createJsonlStore } from "../packages/core/src/session/node/index.ts";

const folder = mkdtempSync(join(tmpdir(), "bowline-bench-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

const SESSIONS = 1000;
const ENTRIES = 100_000;

const body = (text: string): EntryBody => ({
  type: "message",
  runId: "b6b5f9f2-6a6f-4b0a-9d0f-0a3f0e6f2d11",
  message: { role: "user", content: text, timestamp: 1_795_300_000_000 },
});
const text = "word ".repeat(50);

function entry(seq: number): AnyEntry {
  const id = `00000000-0000-4000-8000-${String(seq).padStart(12, "0")}`;
  const parentId =
    seq === 0 ? null : `00000000-0000-4000-8000-${String(seq - 1).padStart(12, "0")}`;
  return { seq, id, parentId, timestamp: 1, ...body(text) };
}

const parseLines = (content: string): unknown[] =>
  content.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as unknown]));

const plain = await open(join(folder, "plain.txt"), "a");
for (const [name, sync] of [
  ["the system has it", "never"],
  ["the disk has it", "always"],
] as const) {
  const session = await createSession(createJsonlStore(join(folder, sync), { sync }));
  const appendPlain = async (): Promise<void> => {
    await plain.appendFile(`${JSON.stringify(entry(1))}\n`);
    if (sync === "always") await plain.datasync();
  };
  group(`append, acknowledged when ${name}`, () => {
    summary(() => {
      const twin = sync === "always" ? "appendFile and fdatasync" : "appendFile";
      bench(`${twin}, on an open file`, appendPlain).baseline(true);
      bench("session.append", () => session.append(body(text)));
    });
    bench("session.append, 10 at a time", () =>
      Promise.all(Array.from({ length: 10 }, () => session.append(body(text)))));
  });
}

const many = join(folder, "many");
const manyStore = createJsonlStore(many, { sync: "never" });
for (let number = 0; number < SESSIONS; number++) {
  const entries = Array.from({ length: 20 }, (_, seq) => entry(seq));
  await (await manyStore.create({ id: `session-${number}`, createdAt: number }, entries)).close();
}
await manyStore.list();
group(`list of ${SESSIONS} sessions, 20 entries each`, () => {
  summary(() => {
    bench("readdir, stat each", async () => {
      const names = await readdir(many);
      do_not_optimize(await Promise.all(names.map((name) => stat(join(many, name)))));
    }).baseline(true);
    bench("list, by a running process", () => manyStore.list());
    bench("list, by a new process", () => createJsonlStore(many).list());
  });
});
group(`first list of ${SESSIONS} sessions, without an index`, () => {
  summary(() => {
    bench("readdir, readFile, split, JSON.parse", async () => {
      for (const name of await readdir(many)) {
        if (name.endsWith(".jsonl"))
          do_not_optimize(parseLines(await readFile(join(many, name), "utf8")));
      }
    }).baseline(true);
    bench("list", async () => {
      await rm(join(many, "sessions.index"), { force: true });
      return createJsonlStore(many).list();
    });
  });
});

const long = join(folder, "long");
const longStore = createJsonlStore(long, { sync: "never" });
const entries = Array.from({ length: ENTRIES }, (_, seq) => entry(seq));
entries[ENTRIES - 100] = {
  ...entry(ENTRIES - 100),
  type: "compaction",
  summary: "…",
  firstKeptId: null,
} as AnyEntry;
entries[ENTRIES - 99] = {
  ...entry(ENTRIES - 99),
  type: "run_start",
  runId: "r",
  model: {},
} as AnyEntry;
await (await longStore.create({ id: "long", createdAt: 1 }, entries)).close();
const path = join(long, "long.jsonl");
group(`one session of ${ENTRIES} entries`, () => {
  summary(() => {
    bench("readFile, split, JSON.parse", async () =>
      do_not_optimize(parseLines(await readFile(path, "utf8")).length)).baseline(true);
    bench("read every entry, verified", async () => {
      let count = 0;
      for await (const batch of longStore.read("long")) count += batch.length;
      if (count !== ENTRIES) throw new Error(`${count} entries`);
    });
  });
  summary(() => {
    bench("open with a lock file, read 8 kB, unlink", async () => {
      const lock = await open(`${path}.plain-lock`, "wx");
      await lock.close();
      const file = await open(path, "r+");
      const { size } = await file.stat();
      await file.read(Buffer.alloc(8192), 0, 8192, size - 8192);
      await file.close();
      await rm(`${path}.plain-lock`);
    }).baseline(true);
    bench("open for writing, close", async () => (await openSession(longStore, "long")).close());
  });
  bench("open to read, the context and the state", async () => {
    const session = await openSession(longStore, "long", { readOnly: true });
    const messages = await session.contextMessages();
    const { run } = await session.state();
    if (messages.length !== 99 || run?.runId !== "r")
      throw new Error(`${messages.length} messages`);
  });
  bench("100 entries from the middle", async () => {
    for await (const batch of longStore.read("long", { from: ENTRIES / 2 })) return batch.length;
    return 0;
  });
});
