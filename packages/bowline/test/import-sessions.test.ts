/** `bowline sessions import`: sessions of files in a PostgreSQL database, as a user copies them. */
import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createSession, openSession, type AnyEntry, type Store } from "@bowline/core/session";
import { createJsonlStore } from "@bowline/core/session/node";
import { createPostgresStore } from "@bowline/postgres";
import { postgresIsMissing, startPostgres } from "../../../test/support/postgres.ts";
import { bowline, temporary, type Ended } from "./command.ts";

const skip = postgresIsMissing();
const server = skip === false ? await startPostgres() : undefined;
after(() => server?.stop());

interface Place extends AsyncDisposable {
  readonly folder: string;
  readonly files: Store;
  readonly database: ReturnType<typeof createPostgresStore>;
  run(...args: string[]): Promise<Ended>;
}

async function place(schema: string): Promise<Place> {
  const temp = await temporary();
  const env = { BOWLINE_HOME: join(temp.path, "home"), BOWLINE_DATABASE_URL: server?.url() ?? "" };
  const folder = join(temp.path, "home", "sessions");
  const database = createPostgresStore({ connectionString: server?.url(), schema });
  return {
    folder,
    files: createJsonlStore(folder, { sync: "never" }),
    database,
    run: (...args) =>
      bowline(["sessions", "import", "--schema", schema, ...args], { cwd: temp.path, env }),
    async [Symbol.asyncDispose]() {
      await database.close();
      await temp[Symbol.asyncDispose]();
    },
  };
}

async function add(store: Store, id: string, messages: number): Promise<void> {
  await using session = await openSession(store, id, { create: true, metadata: { cwd: "/x" } });
  const data = Buffer.alloc(50_000, messages).toString("base64");
  for (let n = 0; n < messages; n++) {
    const content = [
      { type: "text", text: `message ${n}\0` },
      { type: "file", data, mimeType: "a/b" },
    ];
    const message = { role: "user", content, timestamp: n } as { role: string };
    await session.append({ type: "message", message });
  }
}

async function readAll(store: Store, id: string): Promise<AnyEntry[]> {
  const all: AnyEntry[] = [];
  for await (const batch of store.read(id)) all.push(...batch);
  return all;
}

const lines = ({ stdout }: Ended): unknown[] =>
  stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as unknown);

describe("bowline sessions import", { skip }, () => {
  it("copies all sessions exactly, and again only what is new", async () => {
    await using here = await place("exact");
    for (const [id, count] of [
      ["a", 3],
      ["b/../ü\\", 1],
      ["empty", 0],
    ] as const)
      await add(here.files, id, count);
    const planned = await here.run("--dry-run");
    assert.deepEqual([planned.code, planned.stdout], [0, ""]);
    assert.match(planned.stderr, /3 sessions would be copied; 4 entries/);
    assert.equal(await here.database.hasTables(), false, "a dry run created tables");

    const first = await here.run("--json");
    assert.equal(first.code, 0, first.stderr);
    assert.match(first.stderr, /^bowline: 3 sessions copied; 4 entries$/m);
    assert.deepEqual(
      lines(first).toSorted((x, y) => JSON.stringify(x).localeCompare(JSON.stringify(y))),
      [
        { id: "a", state: "copied", entries: 3 },
        { id: "b/../ü\\", state: "copied", entries: 1 },
        { id: "empty", state: "copied", entries: 0 },
      ],
    );
    for (const id of ["a", "b/../ü\\", "empty"]) {
      assert.deepEqual(await here.database.load(id), await here.files.load(id));
      assert.deepEqual(await readAll(here.database, id), await readAll(here.files, id));
    }
    const summary = async (store: Store): Promise<unknown> =>
      (await store.list()).sessions.toSorted((x, y) => (x.id < y.id ? -1 : 1));
    assert.deepEqual(await summary(here.database), await summary(here.files));

    const again = await here.run();
    assert.match(again.stderr, /^bowline: 0 sessions copied, 3 there already; 0 entries$/m);
    await add(here.files, "a", 2);
    assert.match((await here.run("--dry-run")).stderr, /1 extended, 2 there already; 2 entries/);
    assert.match((await here.run()).stderr, /1 extended, 2 there already; 2 entries/);
    assert.deepEqual(await readAll(here.database, "a"), await readAll(here.files, "a"));

    // Continued in the database, a session stays as it is there.
    await add(here.database, "a", 1);
    assert.match((await here.run()).stderr, /0 sessions copied, 3 there already/);
    assert.equal((await readAll(here.database, "a")).length, 6);
  });

  it("upgrades tables of an earlier version, which a dry run does not read", async () => {
    await using here = await place("earlier");
    await add(here.files, "a", 1);
    await here.database.migrate();
    await server?.sql(
      `drop table earlier.runs, earlier.approvals, earlier.deleted_epochs, earlier.rules;
      drop index earlier.inbox_waiting;
      alter table earlier.inbox drop column start_run, drop column is_cancelled, drop column is_held,
        drop column returns, drop column is_read;
      update earlier.bowline_version set version = 1`,
    );
    const planned = await here.run("--dry-run");
    assert.notEqual(planned.code, 0);
    assert.match(planned.stderr, /of an earlier version, which a dry run cannot read/);
    assert.notEqual(await here.database.pendingMigrations(), 0);
    assert.match((await here.run()).stderr, /^bowline: 1 sessions? copied; 1 entr/m);
    assert.equal(await here.database.pendingMigrations(), 0);
  });

  it("reports each session that cannot be copied, and copies the others", async () => {
    await using here = await place("errors");
    for (const id of ["both", "damaged", "good", "other", "used"]) await add(here.files, id, 3);
    await (await createSession(here.database, { id: "other" })).close();
    await here.run();
    await using used = await openSession(here.database, "used");
    await add(here.database, "both", 1);
    for (const id of ["both", "used", "good"]) await add(here.files, id, 1);
    await here.database.delete("damaged");
    const file = (await readdir(here.folder)).find((name) => name === "damaged.jsonl") ?? "";
    const text = await readFile(join(here.folder, file), "utf8");
    await writeFile(join(here.folder, file), text.replace("message 1", "message x"));

    const { code, stderr, stdout } = await here.run("--json");
    assert.equal(code, 1);
    assert.match(stderr, /^bowline: 0 sessions copied, 1 extended, 4 failed; 1 entry$/m);
    const errors = new Map(
      (
        stdout
          .split("\n")
          .filter(Boolean)
          .map((line) => JSON.parse(line)) as { id: string; state: string; error?: string }[]
      ).map(({ id, state, error }) => [id, `${state}: ${error}`]),
    );
    assert.match(String(errors.get("used")), /failed: Session "used" is in use by process \d+/);
    assert.match(
      String(errors.get("both")),
      /failed: .*continued in both places. It was not changed/,
    );
    assert.match(
      String(errors.get("other")),
      /failed: the database has another session with this id/,
    );
    assert.match(String(errors.get("damaged")), /failed: it is damaged/);
    assert.equal(errors.get("good"), "extended: undefined");
    await assert.rejects(here.database.load("damaged"), /no session/);
    assert.match((await here.run()).stderr, /^bowline: damaged: it is damaged/m);
    assert.equal(used.id, "used");
  });

  it("says what to do without a database or its package, and never shows a password", async () => {
    await using here = await place("none");
    await add(here.files, "a", 1);
    const secret = "geheim";
    const url = `postgresql://me:${secret}@127.0.0.1:1/x`;
    const none = await bowline(["sessions", "import"], {});
    assert.equal(none.code, 2);
    assert.match(none.stderr, /Into which database\? Set BOWLINE_DATABASE_URL to .* or pass --to/);
    const misplaced = await bowline(["sessions", "import", url], {});
    assert.equal(misplaced.code, 2);
    assert.match(misplaced.stderr, /takes no "postgresql:\/\/me:…@127/);
    const invalid = await here.run("--to", `postgresql://me:${secret}@h:x:1/y`);
    assert.match(invalid.stderr, /connection string is invalid/);
    const hook = `import { registerHooks } from "node:module";
      registerHooks({ resolve(name, context, next) {
        if (name === "@bowline/postgres") throw Object.assign(new Error("gone"), { code: "ERR_MODULE_NOT_FOUND" });
        return next(name, context);
      } });`;
    const missing = await bowline(["sessions", "import", "--to", url], {
      env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hook)}` },
    });
    assert.equal(missing.code, 1);
    assert.match(
      missing.stderr,
      /is not installed. Install it beside bowline: npm install @bowline\/postgres/,
    );
    const away = await here.run("--to", url);
    assert.equal(away.code, 1);
    assert.match(away.stderr, /cannot be reached.*ECONNREFUSED/);
    for (const { stdout, stderr } of [none, misplaced, invalid, missing, away])
      assert.ok(!`${stdout}${stderr}`.includes(secret), stderr);
  });
});
