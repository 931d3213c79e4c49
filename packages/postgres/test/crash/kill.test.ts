/** Processes that write are killed, stopped and taken over. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { after, describe, it } from "node:test";
import { entry, errorOf, readAll, skip, startRig } from "../support.ts";
import { within } from "../../../../test/support/within.ts";
import { killWriters, startChild, startWriter, type Writer } from "./kill-writers.ts";

const rig = await startRig();
/** `npm run postgres-kills` kills 1,000. */
const KILLS = 12;
const children: Writer[] = [];
after(() => {
  for (const child of children) child.process.kill("SIGKILL");
});

function keep(child: Writer): Writer {
  children.push(child);
  return child;
}

describe("a writer that is killed", { skip }, () => {
  it("loses no acknowledged entry and stores none twice", async () => {
    const { problems, acknowledged, kills } = await killWriters(rig.open(), rig.url, {
      kills: KILLS,
      session: "s",
    });
    assert.deepEqual(problems, []);
    assert.equal(kills, KILLS);
    assert.ok(acknowledged >= KILLS, `${acknowledged} acknowledged`);
  });
});

describe("a writer that is stopped", { skip }, () => {
  it("keeps its lock, and is fenced when it wakes after a takeover", async () => {
    const url = await rig.server.createDatabase("sleeper");
    const store = rig.open({ config: configOf("sleeper") });
    await (await store.create({ id: "s", createdAt: 1 })).close();
    const sleeper = keep(startWriter(url, "sleeper", "s"));
    await sleeper.reaches(5);
    sleeper.process.kill("SIGSTOP");

    const locked = await errorOf(store.open("s"));
    assert.equal(locked.code, "session_locked");
    assert.match(locked.message, new RegExp(`process ${sleeper.process.pid}\\b`));
    assert.equal((await store.holder("s"))?.pid, sleeper.process.pid);

    const writer = await store.open("s", { takeOver: true });
    assert.equal(await store.holder("s"), undefined);
    // Nothing is written meanwhile, so only the epoch keeps the old writer out.
    const before = await readAll(store, "s");
    sleeper.process.kill("SIGCONT");
    await within("the old writer has ended", once(sleeper.process, "close"));

    assert.equal(sleeper.lines.at(-1), "error session_locked true true");
    await writer.append([entry(writer.nextSeq, { id: "newer" })]);
    const later = await readAll(store, "s");
    assert.deepEqual(
      later.map(({ id }) => id),
      [...before.map(({ id }) => id), "newer"],
    );
    const acknowledged = sleeper.lines.filter((line) => line.startsWith("sleeper"));
    const stored = later.filter(({ id }) => id.startsWith("sleeper")).map(({ id }) => id);
    // The append that was under way when it was stopped may have been stored.
    assert.deepEqual(stored.slice(0, acknowledged.length), acknowledged);
    assert.ok(stored.length <= acknowledged.length + 1);
    await writer.close();
  });
});

describe("followers in other processes", { skip }, () => {
  it("get each entry once, in order, as soon as it is written", async () => {
    const url = await rig.server.createDatabase("followed");
    const store = rig.open({ config: configOf("followed") });
    const writer = await store.create({ id: "s", createdAt: 1 }, [entry(0)]);
    const followers = [1, 2].map(() => keep(startChild("follower-child.ts", [url])));
    const reach = (count: number): Promise<unknown> =>
      within(
        "both followers have the entries",
        Promise.all(followers.map((one) => one.reaches(count))),
      );
    await reach(1);
    for (let seq = 1; seq < 40; seq++) {
      await writer.append([entry(seq)]);
      // Half of the time the followers wait for the next one.
      if (seq % 2 === 0) await reach(seq + 1);
    }
    await reach(40);
    await writer.close();
    await store.delete("s");
    await reach(41);
    const all = [...Array.from({ length: 40 }, (_, seq) => `e${seq}`), "deleted"];
    for (const { lines } of followers) assert.deepEqual(lines, all);
  });
});

function configOf(database: string): { host: string; database: string; user: string } {
  const user = new URL(rig.url.replace("@/", "@host/")).username;
  return { host: rig.server.socket, database, user };
}
