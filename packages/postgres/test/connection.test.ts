/** Connections are cut at every statement of a run, ended by the server, and lost with it. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { AnyEntry } from "@bowline/core/session";
import { within } from "../../../test/support/within.ts";
import type { PostgresStore } from "../src/index.ts";
import { startProxy } from "./cutting-proxy.ts";
import { entry, errorOf, message, readAll, skip, startRig } from "./support.ts";

const rig = await startRig();
const user = skip === false ? new URL(rig.url.replace("@/", "@host/")).username : "";
const database = "test_1";
const file = { type: "file", data: "QUJD".repeat(8000), mimeType: "text/plain" };

/** Creates a session, writes to it, follows it, and reads it. Resolves with what the follower got. */
async function useStore(store: PostgresStore, id: string): Promise<AnyEntry[]> {
  const writer = await store.create({ id, createdAt: 1 }, [entry(0)]);
  const followed = follow(store, id, 6);
  await writer.append([entry(1)]);
  await Promise.all([writer.append([entry(2)]), writer.append([entry(3)])]);
  await writer.append([message(4, [file])]);
  await writer.close();
  const again = await store.open(id);
  await again.append([entry(5)]);
  await again.close();
  return within("the follower has all entries", followed);
}

async function follow(store: PostgresStore, id: string, count: number): Promise<AnyEntry[]> {
  const seen: AnyEntry[] = [];
  for await (const batch of store.follow(id)) {
    seen.push(...batch);
    if (seen.length >= count) break;
  }
  return seen;
}

const whole = [entry(0), entry(1), entry(2), entry(3), message(4, [file]), entry(5)];

/** Runs once with a cut at a statement. Resolves with the number of statements. */
async function cutRun(
  direct: PostgresStore,
  when: "before" | "after",
  at: number,
): Promise<number> {
  await using proxy = await startProxy(join(rig.server.socket, ".s.PGSQL.5432"));
  const config = { host: proxy.host, port: 5432, database, user };
  const store = rig.open({ config, schema: "cuts", pollMs: 200 });
  const id = `${when} ${at}`;
  proxy.cut(at, when);
  assert.deepEqual(await useStore(store, id), whole, `what the follower of cut ${at} got`);
  assert.deepEqual(await readAll(direct, id), whole, `cut ${at}`);
  await store.close();
  return proxy.statements;
}

describe("a broken connection", { skip }, () => {
  for (const when of ["before", "after"] as const) {
    it(`loses and repeats nothing when it is cut ${when} any statement of a run`, async () => {
      const direct = rig.open({ schema: "cuts" });
      await direct.migrate();
      // Once without a cut, to count the statements.
      const count = await cutRun(direct, when, -1);
      assert.ok(count > 25, `${count} statements`);
      let at = 0;
      const worker = async (): Promise<void> => {
        while (at < count) await cutRun(direct, when, ++at);
      };
      await Promise.all(Array.from({ length: 4 }, worker));
    });
  }

  it("is made anew when the server ends all of them, without losing the lock", async () => {
    const store = rig.open({ schema: "ended" });
    const writer = await store.create({ id: "s", createdAt: 1 });
    const seen = follow(store, "s", 40);
    for (let seq = 0; seq < 40; seq++) {
      await writer.append([entry(seq)]);
      if (seq % 10 === 5)
        await rig.server.sql(
          "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = 'test_1'",
        );
    }
    const all = Array.from({ length: 40 }, (_, seq) => entry(seq));
    assert.deepEqual(await within("the follower has all entries", seen), all);
    // The lock is held again, by the connection that was made anew.
    const other = rig.open({ schema: "ended" });
    await within("the session is locked again", untilHeld(other, "s"));
    assert.equal((await errorOf(other.open("s"))).code, "session_locked");
    await writer.close();
    await (await other.open("s")).close();
  });
});

async function untilHeld(store: PostgresStore, id: string): Promise<void> {
  while ((await store.holder(id)) === undefined)
    await new Promise((resolve) => setTimeout(resolve, 20));
}

describe("a server that crashes", { skip }, () => {
  it("loses no acknowledged entry, and appends wait until it is back", async () => {
    const store = rig.open({ schema: "crash" });
    const writer = await store.create({ id: "s", createdAt: 1 });
    const seen = follow(store, "s", 60);
    for (let seq = 0; seq < 60; seq++) {
      if (seq === 20) {
        await rig.server.crash();
        const back = rig.server.start();
        await Promise.all([writer.append([entry(seq)]), back]);
      } else await writer.append([entry(seq)]);
    }
    const all = Array.from({ length: 60 }, (_, seq) => entry(seq));
    assert.deepEqual(await readAll(store, "s"), all);
    assert.deepEqual(await within("the follower has all entries", seen), all);
    await writer.close();
  });

  it("makes an append fail with a retryable error when it stays away", async () => {
    const store = rig.open({ schema: "away", retryMs: 300 });
    const writer = await store.create({ id: "s", createdAt: 1 }, [entry(0)]);
    await rig.server.crash();
    const error = await errorOf(writer.append([entry(1)]));
    assert.deepEqual([error.code, error.retryable], ["storage_failed", true]);
    assert.match(error.message, /append the same ones again, or open the session again/);
    await rig.server.start();
    await writer.append([entry(1)]);
    assert.deepEqual(await readAll(store, "s"), [entry(0), entry(1)]);
    await writer.close();
  });
});
