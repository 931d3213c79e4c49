/** Both stores satisfy the contract of a store. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createMemoryStore } from "../../src/session/index.ts";
import { createJsonlStore } from "../../src/session/node/index.ts";
import { storeConformance, type StoreFixture } from "../../src/testing/index.ts";
import { within } from "../../../../test/support/within.ts";

async function files(): Promise<StoreFixture> {
  const folder = await mkdtemp(join(tmpdir(), "bowline-store-"));
  return {
    store: createJsonlStore(folder),
    reopen: () => createJsonlStore(folder),
    dispose: () => rm(folder, { recursive: true }),
  };
}

describe("the memory store", () => {
  for (const { name, run } of storeConformance(() => ({ store: createMemoryStore() })))
    it(name, () => within(name, run()));

  it("can fork more entries than fit in a call's arguments", async () => {
    const base = { timestamp: 1, type: "title", title: "t" };
    const entries = Array.from({ length: 150_000 }, (_, seq) => ({
      ...base,
      seq,
      id: `${seq}`,
      parentId: null,
    }));
    const writer = await createMemoryStore().create({ id: "a", createdAt: 1 }, entries);
    assert.equal(writer.nextSeq, entries.length);
  });
});

describe("the JSONL store", () => {
  for (const { name, run } of storeConformance(files)) it(name, () => within(name, run()));
});
