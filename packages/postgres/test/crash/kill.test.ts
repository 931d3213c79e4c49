/** Processes that write are killed, stopped and taken over. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it } from "node:test";
import { entry, errorOf, readAll, skip, startRig } from "../support.ts";
import { killWriters, startWriter } from "./kill-writers.ts";

const rig = await startRig();
const KILLS = Number(process.env.BOWLINE_POSTGRES_KILLS ?? 12);

describe("a writer that is killed", { skip }, () => {
  it("loses no acknowledged entry and stores none twice", async () => {
    const report = await killWriters(rig.open(), rig.url, KILLS, ({ kills, acknowledged }) => {
      if (KILLS > 100) process.stderr.write(`\r${kills} kills, ${acknowledged} acknowledged`);
    });
    assert.deepEqual(report.problems, []);
    assert.ok(report.acknowledged >= KILLS, `${report.acknowledged} acknowledged`);
    if (KILLS > 100) console.log(`${report.kills} kills, ${report.acknowledged} acknowledged`);
  });
});

describe("a writer that is stopped", { skip }, () => {
  it("keeps its lock, and is fenced when it wakes after a takeover", async () => {
    const url = await rig.server.createDatabase("sleeper");
    const store = rig.open({ config: configOf("sleeper") });
    await (await store.create({ id: "s", createdAt: 1 })).close();
    const sleeper = startWriter(url, "sleeper");
    await sleeper.reaches(5);
    sleeper.process.kill("SIGSTOP");

    const locked = await errorOf(store.open("s"));
    assert.equal(locked.code, "session_locked");
    assert.match(locked.message, new RegExp(`process ${sleeper.process.pid}\\b`));
    assert.equal((await store.holder("s"))?.pid, sleeper.process.pid);

    const writer = await store.open("s", { takeOver: true });
    assert.equal(await store.holder("s"), undefined);
    await writer.append([entry(writer.nextSeq, { id: "new" })]);
    const before = await readAll(store, "s");
    sleeper.process.kill("SIGCONT");
    await once(sleeper.process, "close");

    assert.equal(sleeper.lines.at(-1), "error session_locked true true");
    await writer.append([entry(writer.nextSeq, { id: "newer" })]);
    const after = await readAll(store, "s");
    assert.deepEqual(
      after.map(({ id }) => id),
      [...before.map(({ id }) => id), "newer"],
    );
    const acknowledged = sleeper.lines.filter((line) => line.startsWith("sleeper"));
    const stored = after.filter(({ id }) => id.startsWith("sleeper")).map(({ id }) => id);
    // The append that was under way when it was stopped may have been stored.
    assert.deepEqual(stored.slice(0, acknowledged.length), acknowledged);
    assert.ok(stored.length <= acknowledged.length + 1);
    await writer.close();
  });
});

function configOf(database: string): { host: string; database: string; user: string } {
  const user = new URL(rig.url.replace("@/", "@host/")).username;
  return { host: rig.server.socket, database, user };
}
