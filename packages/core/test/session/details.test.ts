/** The texts of a session: titles, exports, and error messages. */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { describe, it } from "node:test";
import type { UserMessage } from "../../src/llm/message.ts";
import {
  createMemoryStore,
  createSession,
  openSession,
  sessionToMarkdown,
} from "../../src/session/index.ts";
import { createJsonlStore } from "../../src/session/node/index.ts";
import { checkSequence } from "../../src/session/store.ts";
import { collect, say, temporaryFolder, user } from "./support.ts";
import { globSync } from "node:fs";
import { join } from "node:path";

describe("the title of a session", () => {
  it("is its first line, cut at 56 characters", async () => {
    const store = createMemoryStore();
    for (const length of [56, 57]) {
      const session = await createSession(store, { id: `s${length}` });
      await say(session, "x".repeat(length));
    }
    const { sessions } = await store.list();
    const titles = Object.fromEntries(sessions.map(({ id, title }) => [id, title]));
    assert.deepEqual(titles, { s56: "x".repeat(56), s57: `${"x".repeat(55)}…` });
  });

  it("is never cut inside a character", async () => {
    const store = createMemoryStore();
    const session = await createSession(store, { id: "s" });
    await say(session, `${"x".repeat(54)}😀${"x".repeat(9)}`);
    assert.equal((await store.list()).sessions[0]?.title, `${"x".repeat(54)}…`);
  });

  it("comes from the first message with words, and then stays", async () => {
    const store = createMemoryStore();
    const session = await createSession(store, { id: "s" });
    const titles: (string | undefined)[] = [];
    for (const text of ["", " \n\t ", " Mend\n the  roof ", "Quickly"]) {
      await say(session, text);
      titles.push((await store.list()).sessions[0]?.title);
    }
    assert.deepEqual(titles, [undefined, undefined, "Mend the roof", "Mend the roof"]);
  });

  it("leaves out the text that a program added to the message", async () => {
    const store = createMemoryStore();
    const session = await createSession(store, { id: "s" });
    const content: UserMessage["content"] = [
      { type: "text", text: "<file>1 2 3</file>", shownAs: "a.txt" },
      { type: "text", text: "Mend it" },
    ];
    await session.append({ type: "message", message: { role: "user", content, timestamp: 1 } });
    assert.equal((await store.list()).sessions[0]?.title, "Mend it");
    await session.rename("The roof");
    assert.equal((await store.list()).sessions[0]?.title, "The roof");
  });
});

it("sessions of the same time are listed by their ids, page by page", async () => {
  const store = createMemoryStore();
  const clock = { now: () => 1, setTimer: () => () => {} };
  for (const id of ["b", "c", "a"]) await createSession(store, { id, clock });
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list({ limit: 1, cursor });
    ids.push(...page.sessions.map(({ id }) => id));
    ({ cursor } = page);
  } while (cursor !== undefined);
  assert.deepEqual(ids, ["a", "b", "c"]);
});

it("an export shows no error for a run that has none", async () => {
  const session = await createSession(createMemoryStore(), { id: "s" });
  await session.append({ type: "run_start", runId: "r" });
  await session.append({ type: "run_end", runId: "r", reason: "done", usage: {} });
  await session.append({ type: "run_end", runId: "r", reason: "error", usage: {} });
  const error = { code: "overloaded", message: "Too many.", retryable: true } as const;
  assert.doesNotMatch(await sessionToMarkdown(session), /undefined|Too many/);
  await session.append({ type: "run_end", runId: "r", reason: "error", usage: {}, error });
  assert.match(await sessionToMarkdown(session), /Too many/);
});

it("an export shows malformed arguments as they were received", async () => {
  const session = await createSession(createMemoryStore(), { id: "s" });
  await session.append({
    type: "message",
    message: {
      role: "assistant",
      content: [
        {
          type: "toolCall",
          id: "1",
          name: "write",
          arguments: {},
          argumentsText: '{"path": "roof',
          argumentsError: "cut",
        },
      ],
      api: "a",
      provider: "p",
      model: "m",
      usage: {},
      stopReason: "toolUse",
      timestamp: 1,
    },
  });
  assert.ok((await sessionToMarkdown(session)).includes('{"path": "roof'));
});

it("an entry with a wrong sequence number is refused, and the error names its predecessor", () => {
  const entry = { ...user("a"), id: "e", parentId: null, timestamp: 1 };
  assert.throws(
    () => checkSequence([{ ...entry, seq: 5 }], 3),
    /The next entry must have seq 3, not 5/,
  );
  const two = [
    { ...entry, seq: 3 },
    { ...entry, seq: 7 },
  ];
  assert.throws(() => checkSequence(two, 3), /The next entry must have seq 4, not 7/);
});

describe("a file with a torn end", () => {
  it("is repaired if only the last newline is missing, and otherwise loses its last record", async () => {
    for (const [rest, became, left] of [
      [0, "was repaired", 2],
      [5, "was cut off", 1],
    ] as const) {
      await using folder = await temporaryFolder();
      const store = createJsonlStore(folder.path);
      const session = await createSession(store, { id: "s" });
      await say(session, "a", "b");
      await session.close();
      const [name = ""] = globSync("**/*.jsonl", { cwd: folder.path });
      const path = join(folder.path, name);
      const bytes = await readFile(path);
      await writeFile(path, bytes.subarray(0, bytes.length - 1 - rest));
      const again = await openSession(store, "s");
      assert.equal((await collect(again.entries())).length, left);
      assert.ok(again.damage[0]?.message.includes(became), again.damage[0]?.message);
      await again.close();
    }
  });
});
