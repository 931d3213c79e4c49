/** The server finds messages, runs and approvals by its indexes, however many there are. */
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import pg from "pg";
import type { PostgresClient, PostgresPool } from "../src/index.ts";
import { skip, startRig } from "./support.ts";

const rig = await startRig();
const SCHEMA = "plans";
const message = { role: "user", content: "x", timestamp: 1 } as const;

/** Asks the server for its plan of each statement. */
class PlanningPool implements PostgresPool {
  readonly plans = new Map<string, string>();
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  async connect(): Promise<PostgresClient> {
    const client = await this.#pool.connect();
    const query = client.query.bind(client) as PostgresClient["query"];
    return Object.assign(Object.create(client) as PostgresClient, {
      query: async ({ text, values = [] }: { text: string; values?: unknown[] }) => {
        if (/^\s*(?:select|with|insert|update|delete)[^]*\b(?:runs|inbox|approvals)\b/.test(text)) {
          const { rows } = await query({ text: `explain ${text}`, values });
          const lines = rows.map((row) => (row as Record<string, string>)["QUERY PLAN"]);
          this.plans.set(text, lines.join("\n"));
        }
        return query({ text, values });
      },
      release: (error?: Error | boolean) => client.release(error),
    });
  }
}

/** 300 sessions with 100 ended and 3 open runs, taken messages and answered approvals each. */
const fill = `
insert into ${SCHEMA}.sessions (number, id, header, metadata, updated_at)
  select n, 'f' || n, '{}', '{}', n from generate_series(10001, 10300) n;
insert into ${SCHEMA}.entries (session, seq, key, body)
  select n, 0, 'k', '{}' from generate_series(10001, 10300) n;
insert into ${SCHEMA}.runs (session, key, run_id, state, reason, owner, at)
  select s, 'r' || s || '-' || n, 'r', 'ended', 'done', 'o' || n, n
  from generate_series(10001, 10300) s, generate_series(1, 100) n;
insert into ${SCHEMA}.runs (session, key, run_id, state, owner, at)
  select s, 'q' || s || '-' || n, 'q', 'queued', 'o' || s, n
  from generate_series(10001, 10300) s, generate_series(1, 3) n;
insert into ${SCHEMA}.inbox (session, message_id, queue, message, at, run_id)
  select s, 'm' || s || '-' || n, 'start', '{}', n, 'r'
  from generate_series(10001, 10300) s, generate_series(1, 100) n;
insert into ${SCHEMA}.approvals (session, key, run, seq, is_open)
  select s, 'a' || s || '-' || n, 'r' || s || '-' || n, 0, false
  from generate_series(10001, 10300) s, generate_series(1, 100) n;
analyze`;

describe("the plans of the server", { skip }, () => {
  const pool = skip === false ? new pg.Pool({ connectionString: rig.url }) : (undefined as never);
  after(() => pool?.end());

  it("read no whole table of messages, runs or approvals", async () => {
    const planning = new PlanningPool(pool);
    const store = rig.open({ pool: planning, schema: SCHEMA });
    const { durable } = store;
    await durable.ensure({ id: "s", createdAt: 1 });
    await pool.query(fill);
    planning.plans.clear();
    const start = { queue: "start", message, owner: "ada", maxOwned: 9 } as const;
    for (const id of ["a", "b"]) await durable.push("s", { ...start, id, runId: id });
    await durable.push("s", { id: "c", queue: "steering", message });
    const epoch = await durable.takeEpoch("s");
    await durable.claimRun("s", "a", "other");
    await durable.append("s", epoch, [
      { key: "1", body: { type: "run_start", runId: "other" } },
      {
        key: "2",
        body: {
          type: "approval_request",
          approvalId: "q",
          toolCallId: "c",
          toolName: "t",
          args: {},
        },
      },
    ]);
    // Asked first, since the same statement has other filters below.
    assert.equal((await durable.openRuns({ limit: 2 })).length, 2);
    assert.match([...planning.plans.values()].at(-1) ?? "", /runs_open/);
    const counts = [
      (await durable.waiting("s")).length,
      (await durable.waitingSince(Date.now() + 1, 10)).length,
      await durable.pending("s"),
      (await durable.openRuns({ sessionId: "s" })).length,
      (await durable.openRuns({ owner: "ada" })).length,
      (await durable.countRuns()).running,
      (await durable.findRun("other")).length,
      (await durable.openApprovals()).length,
      (await durable.openApprovals({ sessionId: "s" })).length,
      (await durable.openApprovals({ beginning: "s" })).length,
      (await durable.findApproval("q")).length,
      (await durable.answer("s", "q", { decision: "allow" })).state === "stored" ? 1 : 0,
      (await durable.runningSince(Date.now() + 1, 10)).length,
      (await durable.answeredSince(Date.now() + 1, 10)).length,
      (await durable.findAnswer("s", "q", { isClosing: true }))?.at === undefined ? 0 : 1,
      (await durable.waiting("s", { isTaken: true })).length,
      (await durable.drain("s", epoch, { runId: "other", name: "1" })).length,
      (await durable.cancel("s")).length,
    ];
    assert.deepEqual(counts, [2, 2, 1, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 1, 1]);
    await durable.append("s", epoch, [
      { key: "3", body: { type: "approval_answer", approvalId: "q", decision: "allow" } },
      { key: "4", body: { type: "run_end", runId: "other", reason: "done" } },
    ]);
    assert.ok(planning.plans.size >= 20, `${planning.plans.size} statements`);
    for (const [text, plan] of planning.plans)
      assert.doesNotMatch(plan, /Seq Scan on (?:runs|inbox|approvals)/, `${text}\n${plan}`);
    const planOf = (part: string): string => {
      const found = [...planning.plans].filter(([text]) => text.includes(part));
      assert.equal(found.length, 1, part);
      return found[0]?.[1] ?? "";
    };
    assert.match(planOf("owner = $1"), /runs_of_owner/);
    assert.match(planOf("is_held and at < $1"), /inbox_waiting/);
    assert.match(planOf("answered_at < $1"), /approvals_answered/);
    assert.match(planOf("state = 'running' and at < $1"), /Index Scan (?:using|on) runs_/);
  });
});
