/**
 * Compares sessions in PostgreSQL with plain statements of `pg` on a server of its own, whose commits
 * wait for the disk. The store and its twin take turns, so that both have the same noise.
 */
import pg from "pg";
import type { AnyEntry, SessionWriter } from "../packages/core/src/session/index.ts";
import { createPostgresStore } from "../packages/postgres/src/index.ts";
import { postgresIsMissing, startPostgres } from "../test/support/postgres.ts";
import { median } from "./median.ts";

const ROUNDS = 200;
const WARM_UP = 20;
const skip = postgresIsMissing();
if (skip === false) await compare();
else console.log(`not measured: ${skip}`);

async function compare(): Promise<void> {
  await using server = await startPostgres({ settings: [] });
  const pool = new pg.Pool({ connectionString: server.url() });
  const store = createPostgresStore({ connectionString: server.url() });
  await pool.query(
    "create table plain (session int, seq int, body text, primary key (session, seq))",
  );
  await pool.query("create table plain_sessions (number int primary key, epoch int)");
  await pool.query("insert into plain_sessions values (1, 0)");
  const writer = await store.create({ id: "s", createdAt: 1 });
  let seq = 0;
  const insert = (session: number, count: number): Promise<unknown> => {
    const bodies = entries(0, count).map((one) => JSON.stringify(one));
    return pool.query(
      "insert into plain select $1, $2::int + at - 1, body from unnest($3::text[]) with ordinality as given (body, at)",
      [session, (seq += count), bodies],
    );
  };
  await (await store.create({ id: "read", createdAt: 1 }, entries(0, 1000))).close();
  await insert(3, 1000);

  for (const count of [1, 100])
    await measure(
      `append ${count}`,
      () => insert(2, count),
      () => append(writer, count),
    );
  await measure(
    "read 1,000",
    async () => {
      const { rows } = await pool.query<{ body: string }>(
        "select body from plain where session = 3 order by seq",
      );
      return rows.map(({ body }) => JSON.parse(body) as unknown);
    },
    async () => {
      const all: AnyEntry[] = [];
      for await (const batch of store.read("read")) all.push(...batch);
      return all;
    },
  );
  await measure(
    "open and close",
    async () => {
      const client = await pool.connect();
      await client.query("select pg_try_advisory_lock(1)");
      await client.query(
        "update plain_sessions set epoch = epoch + 1 where number = 1 returning epoch",
      );
      await client.query("select pg_advisory_unlock(1)");
      client.release();
    },
    async () => (await store.open("read")).close(),
  );
  await writer.close();
  await store.close();
  await pool.end();
}

/** Prints the medians, and the ratio of the store to its twin. */
async function measure(
  what: string,
  twin: () => Promise<unknown>,
  own: () => Promise<unknown>,
): Promise<void> {
  const times: [number[], number[]] = [[], []];
  for (let round = -WARM_UP; round < ROUNDS; round++)
    for (const [which, work] of [twin, own].entries()) {
      const started = performance.now();
      await work();
      if (round >= 0) times[which as 0 | 1].push(performance.now() - started);
    }
  const [plain, stored] = times.map(median) as [number, number];
  const ratio = (stored / plain).toFixed(2);
  console.log(
    `${what}: statements ${plain.toFixed(2)} ms, the store ${stored.toFixed(2)} ms, ratio ${ratio}`,
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
