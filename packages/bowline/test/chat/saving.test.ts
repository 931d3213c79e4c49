/** What a person is told when the session cannot be written, or was damaged. */
import assert from "node:assert/strict";
import { readdir, readFile, rm, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { BowlineError, messageText } from "@bowline/core";
import {
  createMemoryStore,
  openSession,
  type SessionWriter,
  type Store,
} from "@bowline/core/session";
import { createJsonlStore } from "@bowline/core/session/node";
import { Talk } from "./converse.ts";

/** A store on a disk that can be full. */
function fillableStore(): { readonly store: Store; isFull: boolean } {
  const memory = createMemoryStore();
  const fill = (writer: SessionWriter): SessionWriter =>
    new Proxy(writer, {
      get: (target, name) => {
        if (name === "append" && disk.isFull)
          return () =>
            Promise.reject(new BowlineError("storage_failed", "There is no space left (ENOSPC)."));
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  const store: Store = {
    ...memory,
    create: async (...args) => fill(await memory.create(...args)),
    open: async (...args) => fill(await memory.open(...args)),
  };
  const disk = { store, isFull: false };
  return disk;
}

test("a disk that fills while an answer streams is told at once, and saves again when it has room", async () => {
  const disk = fillableStore();
  const long = `${"some more words ".repeat(40)}and the end of it.`;
  await using talk = await Talk.begin(["First answer.", long, "Third answer."], {
    store: disk.store,
    delayMs: 20,
  });
  talk.send("one");
  await talk.until(/First answer/);
  await talk.idle();
  talk.send("two");
  await talk.until(/some more/);
  disk.isFull = true;
  const early = await talk.until(/There is no space left/);
  assert.doesNotMatch(early, /the end of it/, "not only when the answer is complete");
  await talk.until(/failed: There is no space left/);
  talk.send("not sent");
  await talk.until((shown) => talk.editor.text() === "not sent" && /^> not sent$/m.test(shown));
  assert.equal(talk.model.calls.length, 2);
  disk.isFull = false;
  talk.type("\r");
  await talk.until(/saved again[^]*Third answer/);
  await talk.idle();
  const sent = talk.model.calls[2]?.context.messages.map(messageText);
  assert.ok(
    sent?.includes("one") && sent.includes("two") && sent.at(-1) === "not sent",
    String(sent),
  );
  const session = await talk.reopened();
  const kept = (await session.allMessages()).map((one) => messageText(one as never));
  assert.equal(kept.at(-1), "Third answer.");
  await session.close();
});

test("a damaged session says so when it is opened", async () => {
  const folder = await mkdtemp(join(tmpdir(), "bowline-damaged-"));
  try {
    const store = createJsonlStore(folder);
    {
      await using talk = await Talk.begin(["An answer."], { store });
      talk.send("a question");
      await talk.until(/An answer/);
      await talk.idle();
    }
    const [name = ""] = (await readdir(folder)).filter((one) => one.endsWith(".jsonl"));
    const lines = (await readFile(join(folder, name), "utf8")).split("\n");
    lines[2] = `X${lines[2] ?? ""}`;
    await writeFile(join(folder, name), lines.join("\n"));
    const session = await openSession(store, name.replace(/\.jsonl$/, ""));
    await using talk = await Talk.begin([], { store, session });
    await talk.until(/The session's file was damaged\. A record of/);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
