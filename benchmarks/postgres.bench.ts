/**
 * Compares sessions in PostgreSQL with plain statements of `pg`, in the same run, on a server of its
 * own whose commits wait for the disk.
 */
import { bench, do_not_optimize, group, summary } from "mitata";
import pg from "pg";
import type { AnyEntry, SessionWriter } from "../packages/core/src/session/index.ts";
import { createPostgresStore } from "../packages/postgres/src/index.ts";
import { postgresIsMissing, startPostgres } from "../test/support/postgres.ts";

const skip = postgresIsMissing();
if (skip === false) await compare();
else console.log(`not measured: ${skip}`);

async function compare(): Promise<void> {
  const server = await startPostgres({ settings: [] });
  const pool = new pg.Pool({ connectionString: server.url() });
  const store = createPostgresStore({ connectionString: server.url() });
  await pool.query(
    "create table plain (session int, seq int, body text, primary key (session, seq))",
  );
  await pool.query("create table sessions (number int primary key, epoch int)");
  await pool.query("insert into sessions values (1, 0)");
  const writer = await store.create({ id: "s", createdAt: 1 });
  let seq = 0;
  const insert = (session: number, bodies: readonly string[]): Promise<unknown> =>
    pool.query(
      "insert into plain select $1, $2::int + at - 1, body from unnest($3::text[]) with ordinality as given (body, at)",
      [session, (seq += bodies.length), bodies],
    );

  for (const count of [1, 100])
    summary(() =>
      group(`append ${count}`, () => {
        bench("one insert", () =>
          insert(
            2,
            entries(0, count).map((one) => JSON.stringify(one)),
          ));
        bench("the store", () => append(writer, count));
      }),
    );

  await (await store.create({ id: "read", createdAt: 1 }, entries(0, 1000))).close();
  await insert(
    3,
    entries(0, 1000).map((one) => JSON.stringify(one)),
  );
  summary(() =>
    group("read 1,000", () => {
      bench("one select and JSON.parse", async () => {
        const { rows } = await pool.query<{ body: string }>(
          "select body from plain where session = 3 order by seq",
        );
        do_not_optimize(rows.map(({ body }) => JSON.parse(body) as unknown));
      });
      bench("the store", async () => {
        let count = 0;
        for await (const batch of store.read("read")) count += batch.length;
        do_not_optimize(count);
      });
    }),
  );
  summary(() =>
    group("open and close", () => {
      bench("lock, update, unlock", async () => {
        const client = await pool.connect();
        await client.query("select pg_try_advisory_lock(1)");
        await client.query(
          "update sessions set epoch = epoch + 1 where number = 1 returning epoch",
        );
        await client.query("select pg_advisory_unlock(1)");
        client.release();
      });
      bench("the store", async () => (await store.open("read")).close());
    }),
  );
}

function append(writer: SessionWriter, count: number): Promise<void> {
  return writer.append(entries(writer.nextSeq, count));
}

function entries(from: number, count: number): AnyEntry[] {
  return Array.from({ length: count }, (_, index) => ({
    seq: from + index,
    id: crypto.randomUUID(),
    parentId: null,
    timestamp: 1,
    type: "message",
    runId: "b6b5f9f2-6a6f-4b0a-9d0f-0a3f0e6f2d11",
    message: { role: "user", content: "word ".repeat(50), timestamp: 1 },
  }));
}
