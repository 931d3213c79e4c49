/** `openSession` with `create`: a session that may or may not exist yet. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { code } from "../../../../test/support/error-code.ts";
import {
  createMemoryStore,
  createSession,
  openSession,
  resumeSession,
  type Store,
} from "../../src/session/index.ts";
import { createJsonlStore } from "../../src/session/node/index.ts";
import { rig } from "../support.ts";
import { say, temporaryFolder } from "./support.ts";

describe("openSession() with create", () => {
  it("creates the session once and opens it from then on", async () => {
    await using folder = await temporaryFolder();
    const store = createJsonlStore(folder.path);
    const metadata = { owner: "ann" };
    const first = await openSession(store, "a", { create: true, metadata });
    const [headOfFirst] = await say(first, "Hello");
    await first.close();
    const second = await openSession(store, "a", { create: true, metadata: { owner: "bob" } });
    assert.deepEqual(second.header.metadata, metadata);
    assert.equal(await second.head(), headOfFirst);
    await second.close();
  });

  it("gives a session to one of several that open it at the same time", async () => {
    await using folder = await temporaryFolder();
    const store = createJsonlStore(folder.path);
    const opened = await Promise.allSettled(
      Array.from({ length: 8 }, () => openSession(store, "a", { create: true })),
    );
    const reasons = opened.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
    assert.equal(reasons.length, 7);
    assert.ok(reasons.every(code("session_locked")));
    for (const one of opened) if (one.status === "fulfilled") await one.value.close();
  });

  it("opens a session that another writer created between the look and the creation", async () => {
    const memory = createMemoryStore();
    let isFirst = true;
    const store: Store = {
      ...memory,
      async open(id) {
        if (!isFirst) return memory.open(id);
        isFirst = false;
        await (await createSession(memory, { id, metadata: { by: "the other" } })).close();
        return createMemoryStore().open(id); // there was none when it was looked for
      },
    };
    const session = await openSession(store, "a", { create: true });
    assert.deepEqual(session.header.metadata, { by: "the other" });
  });

  it("rejects with other errors of the store, and without create for a session that is missing", async () => {
    const store = createMemoryStore();
    await assert.rejects(openSession(store, "a"), code("not_found"));
    await assert.rejects(openSession(store, "", { create: true }), code("invalid_argument"));
    await assert.rejects(
      openSession(store, "a", { create: true, readOnly: true }),
      code("invalid_argument"),
    );
  });

  it("lets resumeSession begin a conversation", async () => {
    const store = createMemoryStore();
    const { agent } = rig(["Hi."]);
    const { session, result } = await resumeSession(store, "a", agent, { create: true });
    assert.equal(result, undefined);
    await agent.prompt("Hello");
    assert.equal((await store.list()).sessions[0]?.messageCount, 2);
    await session.close();
  });
});
