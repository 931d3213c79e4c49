/** The summary of one session, from its row alone. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { addToSummary, openSession, summaryOf } from "@bowline/core/session";
import { errorOf, message, skip, startRig } from "./support.ts";

const rig = await startRig();

describe("the summary of a session", { skip }, () => {
  it("is that of the list and of all its entries, also of a fork", async () => {
    const store = rig.open();
    const id = "a\0b\\";
    const header = { id, createdAt: 1, metadata: { agentId: "one" } };
    const writer = await store.create(header, [message(0, "hello")]);
    await writer.close();
    const session = await openSession(store, id);
    await session.rename("A title \u{1f600}");
    await session.append({ type: "model_change", provider: "p", model: "m", thinkingLevel: "off" });
    await (await session.fork({ id: "fork" })).close();
    await session.append({
      type: "message",
      message: { role: "user", content: "x", timestamp: 1 },
    });
    await session.close();
    const { sessions } = await store.list();
    for (const one of [id, "fork"]) {
      let folded = summaryOf(await store.load(one));
      for await (const batch of store.read(one)) folded = batch.reduce(addToSummary, folded);
      const summary = await store.summary(one);
      assert.deepEqual(summary, folded);
      assert.deepEqual(
        summary,
        sessions.find((listed) => listed.id === one),
      );
    }
    assert.equal((await errorOf(store.summary("nobody"))).code, "not_found");
    assert.equal((await errorOf(store.summary(""))).code, "invalid_argument");
  });
});
