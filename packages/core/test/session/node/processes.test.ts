/** Several processes on one session, killed processes, full disks and read-only folders. */
import assert from "node:assert/strict";
import { chmod, readdir, readFile, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createSession, openSession, type AnyEntry } from "../../../src/session/index.ts";
import { toFileName } from "../../../src/session/node/file-name.ts";
import { createJsonlStore } from "../../../src/session/node/index.ts";
import { identifySelf, isAlive } from "../../../src/session/node/process-identity.ts";
import {
  childSource,
  collect,
  say,
  seqs,
  startChild,
  temporaryFolder,
  textFor,
  upTo,
} from "../support.ts";
import { bundle } from "../../../../../test/support/bundle.ts";
import { code } from "../../../../../test/support/error-code.ts";

const KILLS = 50;
const LANES = 4;

describe("two processes on one session", () => {
  it("are one writer and a reader, whose error names the writer", async () => {
    await using folder = await temporaryFolder();
    const store = createJsonlStore(folder.path);
    await (await createSession(store, { id: "s" })).close();
    await using child = startChild(["hold", folder.path, "s"]);
    assert.equal(await child.next(), "done");
    await assert.rejects(openSession(store, "s"), (error) => {
      assert.ok(code("session_locked")(error));
      assert.match(String(error), new RegExp(`process ${child.process.pid}\\.`));
      return true;
    });
    const reader = await openSession(store, "s", { readOnly: true });
    await assert.rejects(reader.rename("x"), code("invalid_state"));
    assert.deepEqual(await collect(reader.entries()), []);
    const { pid, host, isThisProcess, since = 0 } = (await store.holder("s")) ?? {};
    const here = toFileName(hostname(), 40);
    assert.deepEqual([pid, host, isThisProcess], [child.process.pid, here, false]);
    assert.ok(Math.abs(Date.now() - since) < 60_000, String(since));
    await child.kill();
    assert.equal(await store.holder("s"), undefined);
    await (await openSession(store, "s")).close();
    assert.deepEqual(await readdir(join(folder.path, "locks")), []);
  });

  it("never write at the same time, even next to claims of dead processes", async () => {
    await using folder = await temporaryFolder();
    const store = createJsonlStore(folder.path);
    await (await createSession(store, { id: "s" })).close();
    const self = await identifySelf();
    for (let dead = 0; dead < 5; dead++) {
      const claim = `s.${self.pid}.1${dead}.${self.boot}.nonce@${self.host}`;
      await writeFile(join(folder.path, "locks", claim), "");
    }
    const names = ["a", "b", "c"];
    const children = names.map((name) => startChild(["take", folder.path, "s", name, "6"]));
    await Promise.all(children.map((child) => child.next()));
    await writeFile(join(folder.path, "go"), "");
    await Promise.all(children.map((child) => child.end()));
    const reader = await openSession(store, "s", { readOnly: true });
    const entries = (await collect(reader.entries())) as (AnyEntry & {
      targetId: string;
      label: string;
    })[];
    assert.deepEqual(reader.damage, []);
    assert.deepEqual(seqs(entries), upTo(3 * 6 * 5));
    const holds = entries.map(({ targetId, label }) => targetId + label);
    for (let at = 0; at < holds.length; at += 5) {
      assert.equal(
        new Set(holds.slice(at, at + 5)).size,
        1,
        `a mixed turn at ${at}: ${holds.join(" ")}`,
      );
    }
  });

  it("are one writer and ten followers that miss nothing", { timeout: 60_000 }, async () => {
    await using folder = await temporaryFolder();
    // With change notifications, no polling is needed.
    const store = createJsonlStore(folder.path, {
      pollMs: process.platform === "linux" ? 60_000 : 20,
    });
    await using session = await createSession(store, { id: "s" });
    await say(session, "before");
    await using child = startChild(["follow", folder.path, "s", "400", "5"]);
    assert.equal(await child.next(), "following");
    const here = upTo(5).map(async () => {
      const seen: number[] = [];
      for await (const { seq } of session.follow()) if (seen.push(seq) >= 400) break;
      return seen;
    });
    for (let seq = 1; seq < 400; seq++) await say(session, textFor(seq));
    const [, there] = (await child.end()) as [string, number[][]];
    for (const seen of [...(await Promise.all(here)), ...there]) assert.deepEqual(seen, upTo(400));
  });
});

describe("a session claim", () => {
  const cases = [
    { of: "a dead process", claim: { pid: 2 ** 22 + 1 }, isFree: true },
    {
      of: "an earlier process whose pid is reused",
      claim: { start: "1" },
      isFree: true,
    },
    {
      of: "a process before a reboot",
      claim: { boot: "00000000" },
      isFree: true,
    },
    { of: "a living process", claim: {}, isFree: false },
    {
      of: "a living process without access to system information",
      claim: { start: "", boot: "" },
      isFree: false,
    },
    {
      of: "a dead process without access to system information",
      claim: { pid: 2 ** 22 + 1, start: "", boot: "" },
      isFree: true,
    },
    { of: "a process on another machine", claim: { host: "elsewhere", pid: 1 }, isFree: false },
  ];
  for (const { of, claim, isFree } of cases) {
    it(`of ${of} ${isFree ? "does not block another process" : "blocks other processes"}`, async (t) => {
      if (process.platform !== "linux") return t.skip("processes are told apart by /proc");
      await using folder = await temporaryFolder();
      const store = createJsonlStore(folder.path);
      await (await createSession(store, { id: "s" })).close();
      const { pid, start, boot, host } = { ...(await identifySelf()), ...claim };
      await writeFile(join(folder.path, "locks", `s.${pid}.${start}.${boot}.nonce@${host}`), "");
      if (isFree) await (await openSession(store, "s")).close();
      else await assert.rejects(openSession(store, "s"), code("session_locked"));
      assert.equal((await readdir(join(folder.path, "locks"))).length, isFree ? 0 : 1);
    });
  }

  for (const platform of ["darwin", "win32"] as const) {
    it(`a process is identified on ${platform}`, async (t) => {
      const self = await identifySelf(platform);
      if (platform === "darwin" && self.start === "") return t.skip("there is no ps");
      assert.equal(await isAlive(self, self, platform), true);
      assert.equal(await isAlive({ ...self, pid: 2 ** 22 + 1 }, self, platform), false);
      // Only a system that reports start times can recognise a reused pid.
      assert.equal(
        await isAlive({ ...self, start: "SunNov1" }, self, platform),
        platform === "win32",
      );
    });
  }

  it("a killed process that was not reaped blocks no other process", async (t) => {
    if (process.platform !== "linux") return t.skip("processes are told apart by /proc");
    await using folder = await temporaryFolder();
    const store = createJsonlStore(folder.path);
    await (await createSession(store, { id: "s" })).close();
    // The shell becomes a program that never waits for its child.
    await using parent = startChild(["hold", folder.path, "s"], {}, [
      "sh",
      "-c",
      '"$0" "$@" & exec sleep 60',
    ]);
    assert.equal(await parent.next(), "done");
    const [claim = ""] = await readdir(join(folder.path, "locks"));
    const pid = Number(claim.split(".")[1]);
    process.kill(pid, "SIGKILL");
    while (!/\) Z /.test(await readFile(`/proc/${pid}/stat`, "utf8"))) await sleep(5);
    await (await openSession(store, "s")).close();
  });

  it("a process without access to system information still identifies others", async (t) => {
    if (process.platform !== "linux") return t.skip("processes are told apart by /proc");
    const self = await identifySelf();
    const blind = { ...self, start: "", boot: "" };
    assert.equal(await isAlive(self, blind), true);
    assert.equal(await isAlive({ ...self, pid: 2 ** 22 + 1 }, blind), false);
  });

  it("this process uses a host name that is valid in file names", async () => {
    assert.equal((await identifySelf()).host, toFileName(hostname()));
  });
});

describe("a process that is killed", () => {
  it(`loses nothing that was acknowledged, ${KILLS} times`, { timeout: 60_000 }, async () => {
    await using folder = await temporaryFolder();
    await using programs = await temporaryFolder();
    await writeFile(join(programs.path, "package.json"), '{ "type": "module" }');
    // A bundle starts in half the time.
    await bundle({ programs: { child: childSource }, folder: programs.path });
    const program = join(programs.path, "child.js");
    const store = createJsonlStore(folder.path);
    const lane = async (id: string): Promise<void> => {
      await (await createSession(store, { id })).close();
      for (let round = 0; round < Math.ceil(KILLS / LANES); round++) {
        await using child = startChild(["write", folder.path, id], {}, [], program);
        // Either while it writes, or at any time after its start.
        if (round % 2 === 0) assert.equal(await child.next(), "open");
        await new Promise((resolve) =>
          setTimeout(resolve, Math.random() * (round % 2 === 0 ? 60 : 200)),
        );
        await child.kill();
        await using session = await openSession(store, id);
        const entries = await collect(session.entries());
        const acknowledged = child.said.filter((seq) => typeof seq === "number");
        const last = Math.max(-1, ...acknowledged);
        assert.deepEqual(seqs(entries), upTo(entries.length), `${id}: a gap`);
        assert.ok(
          entries.length > last,
          `${id}: ${last} was acknowledged, and there are ${entries.length}`,
        );
        for (const [at, { parentId }] of entries.entries())
          assert.equal(parentId, entries[at - 1]?.id ?? null);
        for (const message of await session.allMessages()) {
          const { content, timestamp } = message as { content: string; timestamp: number };
          assert.equal(content, textFor(timestamp));
        }
        for (const { message } of session.damage)
          assert.match(message, /^The end of .* was incomplete/);
      }
    };
    await Promise.all(upTo(LANES).map((number) => lane(`lane ${number}`)));
  });

  it("leaves no incomplete fork", { timeout: 60_000 }, async () => {
    await using folder = await temporaryFolder();
    const store = createJsonlStore(folder.path);
    await using session = await createSession(store, { id: "s" });
    await say(session, ...upTo(2000).map(textFor));
    const entries = await collect(session.entries());
    for (let round = 0; round < 5; round++) {
      await using child = startChild(["fork", folder.path, "s"]);
      assert.equal(await child.next(), "open");
      await new Promise((resolve) => setTimeout(resolve, 30 + Math.random() * 60));
      await child.kill();
    }
    const { sessions } = await store.list({ limit: 1000 });
    for (const { id, entryCount } of sessions) {
      assert.equal(entryCount, entries.length);
      const fork = await openSession(store, id, { readOnly: true });
      assert.equal((await fork.path()).length, entries.length);
      assert.deepEqual(fork.damage, []);
    }
  });
});

describe("a full disk", () => {
  it("fails appends with a clear error, keeps acknowledged entries, and works again when there is room", async (t) => {
    await using folder = await temporaryFolder();
    const mount = `mount -t tmpfs -o size=256k none "${folder.path}" && exec "$0" "$@"`;
    const child = startChild(["fill", folder.path], {}, ["unshare", "-m", "sh", "-c", mount]);
    const said = await child
      .end()
      .catch((error: unknown) => skipWithout(t, "the right to mount", error));
    if (said === undefined) return;
    const { error, created, acknowledged, read } = said.at(-1) as {
      error: { code: string; message: string; retryable: boolean };
      created: string;
      acknowledged: string[];
      read: string[];
    };
    assert.equal(error.code, "storage_failed");
    assert.equal(error.retryable, true);
    assert.match(error.message, /there is no space left \(ENOSPC\)/);
    assert.match(created, /^storage_failed: Creating .* no space left/);
    assert.ok(acknowledged.length > 20, `only ${acknowledged.length} fitted`);
    assert.deepEqual(read, acknowledged);
  });
});

describe("a read-only folder", () => {
  it("can be read and listed, and everything else fails with a clear error", async (t) => {
    if (process.platform === "win32") return t.skip("folders there have no such mode");
    await using folder = await temporaryFolder();
    const store = createJsonlStore(folder.path);
    const session = await createSession(store, { id: "s" });
    await say(session, "a", "b");
    await session.close();
    await chmod(join(folder.path, "s.jsonl"), 0o444);
    await chmod(folder.path, 0o555);
    // Root ignores permissions, so the child runs as an unprivileged user.
    const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    const child = startChild(["readOnly", folder.path, "s"], nobody);
    const said = await child
      .end()
      .catch((error: unknown) => skipWithout(t, "files that nobody may read", error));
    await chmod(folder.path, 0o755);
    if (said === undefined) return;
    const { created, opened, deleted, ...rest } = said.at(-1) as Record<string, unknown>;
    for (const outcome of [created, opened, deleted]) {
      assert.match(
        String(outcome),
        /^storage_failed: (?:Creating|Opening|Deleting) .* permission is denied, or it is read-only \(EACCES\)/,
      );
    }
    assert.deepEqual(rest, { listed: 1, read: 2 });
  });
});

function skipWithout(t: TestContext, what: string, error: unknown): undefined {
  if (!/permission|not permitted|must be superuser|EACCES|ENOENT|EPERM/i.test(String(error)))
    throw error;
  t.skip(`this needs ${what}: ${String(error)}`);
}
