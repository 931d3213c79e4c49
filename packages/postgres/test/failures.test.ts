/** Servers that refuse, are missing, full or newer; and what errors say. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { inspect, promisify } from "node:util";
import { randomBytes } from "node:crypto";
import pg from "pg";
import { deferred } from "../../../test/support/deferred.ts";
import { startPostgres } from "../../../test/support/postgres.ts";
import { startProgram } from "../../../test/support/start-program.ts";
import {
  createPostgresStore,
  type PostgresClient,
  type PostgresPool,
  type PostgresStoreOptions,
} from "../src/index.ts";
import { migrate } from "../src/schema/migrate.ts";
import { migrations } from "../src/schema/migrations.ts";
import { Database } from "../src/sql/database.ts";
import { entry, errorOf, message, readAll, skip, startRig } from "./support.ts";

const execute = promisify(execFile);
const rig = await startRig({
  access: ["local all secured scram-sha-256", "local all nobody reject"],
});
const host = skip === false ? rig.server.socket : "";
const SECRET = "s3cret/pass word";

describe("a process that stands still in a transaction", { skip }, () => {
  it("does not keep the session from others, and goes on when it wakes", async () => {
    const pool = new pg.Pool({ connectionString: rig.url });
    const asleep = deferred();
    let hasSlept = false;
    /** As a process that is stopped when it has the lock of a session. */
    const sleeping: PostgresPool = {
      async connect() {
        const client = await pool.connect();
        const query = client.query.bind(client) as PostgresClient["query"];
        return Object.assign(Object.create(client) as PostgresClient, {
          async query(asked: Parameters<PostgresClient["query"]>[0]) {
            const result = await query(asked);
            if (!hasSlept && asked.text.includes("for update")) {
              hasSlept = true;
              asleep.resolve();
              await new Promise((resolve) => setTimeout(resolve, 8000));
            }
            return result;
          },
          release: (error?: Error | boolean) => client.release(error),
        });
      },
    };
    const [slow, quick] = [rig.open({ pool: sleeping }), rig.open()];
    await quick.durable.ensure({ id: "stopped", createdAt: 1 });
    const said = { role: "user", content: "x", timestamp: 1 } as const;
    const push = (store: typeof slow, id: string): Promise<unknown> =>
      store.durable.push("stopped", { id, queue: "followUp", message: said });
    const sleeper = push(slow, "a");
    await asleep.promise;
    const began = performance.now();
    await push(quick, "b");
    assert.ok(performance.now() - began < 7500, "the lock was not given up");
    await sleeper;
    const waiting = await quick.durable.waiting("stopped");
    assert.deepEqual(
      waiting.map(({ id }) => id),
      ["b", "a"],
    );
    await slow.close();
    await pool.end();
  });
});

describe("a server that cannot be used", { skip }, () => {
  it("fails with a typed error that says why and never shows the password", async () => {
    await rig.server.sql(`create role secured login password '${SECRET}'`);
    const password = `${SECRET}-wrong`;
    const encoded = encodeURIComponent(password);
    const place = `host=${encodeURIComponent(host)}`;
    const cases: [PostgresStoreOptions, RegExp, boolean][] = [
      [
        { connectionString: `postgresql://secured:${encoded}@/test_1?${place}` },
        /refused the sign-in.*28P01.*Check the user and the password/,
        false,
      ],
      [
        { config: { host, database: "test_1", user: "secured", password } },
        /user secured\): the server refused/,
        false,
      ],
      [
        { config: { host, database: "test_1", user: "secured", password: () => password } },
        /28P01/,
        false,
      ],
      [{ config: { host, database: "test_1", user: "nobody", password } }, /28000/, false],
      [
        { config: { host, database: "missing", user: "postgres", password } },
        /database "missing" does not exist.*Create it first/,
        false,
      ],
      [
        { config: { host: "127.0.0.1", port: 1, user: "x", database: "d", password } },
        /127\.0\.0\.1:1, database d, user x\): the server cannot be reached.*ECONNREFUSED/,
        true,
      ],
      [
        { config: { host: "/nowhere", user: "x", database: "d", password } },
        /cannot be reached.*ENOENT/,
        true,
      ],
      [
        { config: { host: "nowhere.invalid", user: "x", database: "d", password } },
        /nowhere\.invalid/,
        true,
      ],
      [
        { config: { host, database: "test_1", user: "postgres", ssl: true, password } },
        /SSL/,
        false,
      ],
    ];
    for (const [options, expected, retryable] of cases) {
      const store = createPostgresStore({ ...options, retryMs: 0 });
      const error = await errorOf(store.list());
      assert.equal(error.code, "storage_failed", error.message);
      assert.match(error.message, expected);
      assert.equal(error.retryable, retryable, error.message);
      const shown = inspect(error, { depth: 10, showHidden: true }) + JSON.stringify(error);
      assert.ok(!shown.includes(SECRET) && !shown.includes(encodeURIComponent(SECRET)), shown);
      await store.close();
    }
  });

  it("is refused before it is asked when the options cannot work", async () => {
    const wrong: [PostgresStoreOptions, RegExp][] = [
      [
        { connectionString: `postgresql://me:${SECRET}@host:port:1/x` },
        /connection string is invalid/,
      ],
      [{ connectionString: "x", config: {} }, /Pass only one of connectionString and config/],
      [{ schema: 'x"; drop' }, /schema must be/],
      [{ retryMs: Number.NaN }, /retryMs/],
      [{ config: { max: 1 } }, /at least 2 connections/],
      [{ pool: new pg.Pool({ max: 1 }) }, /at least 2 connections/],
      [{ conectionString: "x" } as PostgresStoreOptions, /Did you mean "connectionString"/],
      [{ migrations: "never" as "manual" }, /"automatic" or "manual"/],
    ];
    for (const [options, expected] of wrong) {
      const error = await errorOf((async () => createPostgresStore(options))());
      assert.equal(error.code, "invalid_argument");
      assert.match(error.message, expected);
      assert.ok(!inspect(error, { depth: 10, showHidden: true }).includes(SECRET));
    }
  });

  it("bounds the time of a statement", async () => {
    const store = rig.open({ schema: "slow", timeoutMs: 300, retryMs: 0 });
    const writer = await store.create({ id: "s", createdAt: 1 });
    const client = new pg.Client({ host, database: "test_1", user: "postgres" });
    await client.connect();
    await client.query("begin; lock slow.sessions");
    const error = await errorOf(writer.append([entry(0)]));
    assert.deepEqual([error.code, error.retryable], ["storage_failed", true]);
    assert.match(error.message, /No answer within 300 ms/);
    await client.query("rollback");
    await client.end();
    await writer.append([entry(0)]);
    assert.deepEqual(await readAll(store, "s"), [entry(0)]);
    await writer.close();
  });
});

describe("a write that is refused", { skip }, () => {
  it("is storage_failed, and stores nothing", async () => {
    const store = rig.open({ schema: "refused" });
    const writer = await store.create({ id: "s", createdAt: 1 }, [entry(0)]);
    await rig.server.sql("alter table refused.entries add constraint no check (seq < 1)", "test_1");
    const error = await errorOf(writer.append([entry(1)]));
    assert.deepEqual([error.code, error.retryable], ["storage_failed", false]);
    assert.equal(writer.nextSeq, 1);
    await rig.server.sql("alter table refused.entries drop constraint no", "test_1");
    await writer.append([entry(1)]);
    await writer.close();
    await rig.server.sql("alter database test_1 set default_transaction_read_only = on");
    const other = rig.open({ schema: "refused" });
    const readOnly = await errorOf(other.open("s"));
    assert.match(readOnly.message, /read-only, such as a standby.*25006/);
    assert.deepEqual([readOnly.code, readOnly.retryable], ["storage_failed", true]);
    assert.equal((await readAll(other, "s")).length, 2);
    await rig.server.sql(
      "set default_transaction_read_only = off; alter database test_1 reset default_transaction_read_only",
    );
  });

  it("says that the disk is full, and nothing acknowledged is lost", async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "bowline-full-"));
    try {
      await execute("mount", ["-t", "tmpfs", "-o", "size=24m,mode=777", "none", folder]);
    } catch (error) {
      await rm(folder, { recursive: true });
      return t.skip(`this needs the right to mount: ${String(error)}`);
    }
    const own = await startPostgres();
    try {
      await chmod(folder, 0o777);
      const space = join(folder, "space");
      await execute("runuser", ["-u", "postgres", "--", "mkdir", space]);
      await own.sql(`create tablespace small location '${space}'`);
      await own.sql("create database full_disk tablespace small");
      const store = createPostgresStore({ connectionString: own.url("full_disk") });
      const writer = await store.create({ id: "s", createdAt: 1 });
      const part = (): object => ({
        type: "file",
        data: randomBytes(1024 * 1024).toString("base64"),
        mimeType: "a/b",
      });
      const stored: unknown[] = [];
      const errors: Error[] = [];
      for (let seq = 0; errors.length === 0 && seq < 40; seq++) {
        const next = message(seq, [part()]);
        await writer.append([next]).then(
          () => stored.push(next),
          (error: Error) => errors.push(error),
        );
      }
      const [error] = errors as { code?: string; retryable?: boolean; message: string }[];
      assert.deepEqual([error?.code, error?.retryable], ["storage_failed", true]);
      assert.match(String(error?.message), /lacks room.*53100/);
      assert.ok(stored.length >= 3, `${stored.length} fitted`);
      await execute("mount", ["-o", "remount,size=64m", folder]);
      assert.deepEqual(await readAll(store, "s"), stored);
      await writer.append([message(stored.length, "There is room again.")]);
      await writer.close();
      await store.close();
    } finally {
      await own.stop();
      await execute("umount", ["-l", folder]);
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe("the versions of the tables", { skip }, () => {
  it("are applied once, by whoever comes first", async () => {
    const stores = Array.from({ length: 5 }, () => rig.open({ schema: "once" }));
    await Promise.all(stores.map((store) => store.migrate()));
    await Promise.all(stores.map((store) => store.list()));
    assert.equal(
      await rig.server.sql("select version from once.bowline_version", "test_1"),
      String(migrations.length),
    );
  });

  it("upgrade tables with their content, and a failed one changes nothing", async () => {
    const pool = new pg.Pool({ host, database: "test_1", user: "postgres" });
    const database = new Database({
      pool,
      server: "PostgreSQL",
      secrets: [],
      timeoutMs: 5000,
      retryMs: 0,
    });
    const store = rig.open({ schema: "upgraded" });
    await (await store.create({ id: "s", createdAt: 1 }, [entry(0)])).close();
    const next = "alter table sessions add column new_one text";
    await assert.rejects(
      migrate(database, "upgraded", [...migrations, next, "create tabel wrong"]),
      /wrong|tabel/,
    );
    assert.equal(await migrate(database, "upgraded", migrations), 0);
    assert.equal(await migrate(database, "upgraded", [...migrations, next]), 1);
    assert.equal((await readAll(store, "s")).length, 1);
    await pool.end();
  });

  it("that are newer are refused by everything", async () => {
    const store = rig.open({ schema: "newer" });
    await store.migrate();
    await rig.server.sql("update newer.bowline_version set version = 99", "test_1");
    const other = rig.open({ schema: "newer" });
    for (const refused of [
      () => other.migrate(),
      () => other.list(),
      () => other.open("s"),
      () => other.durable.takeEpoch("s"),
    ]) {
      const error = await errorOf(refused());
      assert.deepEqual([error.code, error.retryable], ["storage_failed", false]);
      assert.match(
        error.message,
        /schema newer is of version 99, which is newer than this code.*Upgrade @bowline\/postgres/,
      );
    }
  });

  it("are left to a deployment step with migrations: manual, and need few rights then", async () => {
    await rig.server.sql(
      "create role app login; create schema manual; grant usage on schema manual to app",
      "test_1",
    );
    const config = { host, database: "test_1", user: "app" };
    const app = rig.open({ config, schema: "manual", migrations: "manual" });
    assert.match(
      (await errorOf(app.list())).message,
      /has no tables, and this code needs version 5\. Call migrate\(\)/,
    );
    const right = await errorOf(rig.open({ config, schema: "manual" }).list());
    assert.match(right.message, /lacks a right/);
    await rig.open({ schema: "manual" }).migrate();
    await rig.server.sql(
      `grant select, insert, update, delete on all tables in schema manual to app;
      grant usage on all sequences in schema manual to app`,
      "test_1",
    );
    // The documented rights are enough for everything but migrations.
    const writer = await app.create({ id: "s", createdAt: 1 }, [message(0, "Hello")]);
    await writer.append([entry(1)]);
    await writer.close();
    await app.durable.push("s", { id: "m", queue: "steering", message: { role: "user" } });
    assert.equal((await app.searchTexts("hello")).sessions.length, 1);
    await app.delete("s");
  });

  it("need a database in UTF-8", async () => {
    await rig.server.sql(
      "create database latin encoding 'LATIN1' lc_collate 'C' lc_ctype 'C' template template0",
    );
    const store = rig.open({ config: { host, database: "latin", user: "postgres" } });
    assert.match(
      (await errorOf(store.list())).message,
      /encoding LATIN1. Sessions need a database with the encoding UTF8/,
    );
  });
});

describe("a process with a store", { skip }, () => {
  it("ends by itself after close, and without a close", async () => {
    const program = (end: string): string => `
      import { createPostgresStore } from ${JSON.stringify(join(import.meta.dirname, "../src/index.ts"))};
      const store = createPostgresStore({ connectionString: ${JSON.stringify(rig.url)}, schema: "ending" });
      // At once, so that their locks are taken at once.
      const [writer, ...others] = await Promise.all(["a", "b", "c"].map((name) =>
        store.create({ id: name + process.pid, createdAt: 1 })));
      await Promise.all(others.map((other) => other.close()));
      await writer.append([{ seq: 0, id: "e", parentId: null, timestamp: 1, type: "x" }]);
      ${end}
      console.log("done");`;
    for (const end of ["await writer.close(); await store.close();", ""]) {
      const args = ["--conditions=@bowline/source", "--input-type=module", "-e", program(end)];
      const { code, stdout, stderr } = await startProgram(process.execPath, args, {
        cwd: tmpdir(),
        timeout: 20_000,
      });
      assert.deepEqual([code, stdout, stderr], [0, "done\n", ""]);
    }
  });

  it("takes a pool of the caller, and leaves it open", async () => {
    const pool = new pg.Pool({ host, database: "test_1", user: "postgres", max: 2 });
    const asPool: PostgresPool = pool;
    const store = createPostgresStore({ pool: asPool, schema: "pooled" });
    const writer = await store.create({ id: "s", createdAt: 1 }, [message(0, "x".repeat(20_000))]);
    await Promise.all([1, 2, 3].map((seq) => writer.append([entry(seq)])));
    await writer.close();
    assert.equal((await readAll(store, "s")).length, 4);
    await store.close();
    assert.equal((await errorOf(store.list())).code, "invalid_state");
    assert.equal((await pool.query("select 1 as one")).rows[0].one, 1);
    await pool.end();
  });
});
