/** Rules that people added by allowing calls from then on. */
import { BowlineError } from "@bowline/core";
import { sessionNotFound } from "@bowline/core/session";
import type { StoreContext } from "../context.ts";
import { fromColumn, toColumn, toKey } from "../rows/column-text.ts";

/** A rule that allows calls of a tool. */
export interface AllowRule {
  readonly tool: string;
  /** What the calls must match. */
  readonly pattern: string;
  /** The session in which it applies. Absent: in all. */
  readonly sessionId?: string | undefined;
}

export interface StoredRule extends AllowRule {
  /** Names the rule. */
  readonly key: string;
  /** When it was added, in milliseconds since the epoch. */
  readonly at: number;
}

export interface RuleFilter {
  /** Only rules that apply in this session: its own, and those for all sessions. */
  readonly sessionId?: string | undefined;
  /** Only rules for this tool. */
  readonly tool?: string | undefined;
}

/** Rules of one session, and rules for all sessions. */
const MOST = 1000;

export async function addRule(
  { database, schema, clock }: StoreContext,
  key: string,
  { tool, pattern, sessionId }: AllowRule,
): Promise<void> {
  await database.transaction("Adding a rule", async (run) => {
    const [known] = await run(`select 1 from ${schema}.rules where key = $1`, [toKey(key)]);
    if (known !== undefined) return;
    let session: number | null = null;
    if (sessionId !== undefined) {
      const [row] = await run(`select number from ${schema}.sessions where id = $1 for key share`, [
        toColumn(sessionId),
      ]);
      if (row === undefined) throw sessionNotFound(sessionId);
      session = Number(row.number);
    }
    const [row] = await run(
      `select count(*) as rules from ${schema}.rules where session is not distinct from $1::bigint`,
      [session],
    );
    if (Number(row?.rules) >= MOST) throw tooMany(sessionId);
    await run(
      `insert into ${schema}.rules (key, name, session, tool, pattern, at)
      values ($1, $2, $3, $4, $5, $6) on conflict do nothing`,
      [toKey(key), toColumn(key), session, toColumn(tool), toColumn(pattern), clock.now()],
    );
  });
}

export async function removeRule({ database, schema }: StoreContext, key: string): Promise<void> {
  await database.query("Removing a rule", `delete from ${schema}.rules where key = $1`, [
    toKey(key),
  ]);
}

export async function readRules(
  { database, schema }: StoreContext,
  { sessionId, tool }: RuleFilter,
): Promise<StoredRule[]> {
  const rows = await database.query(
    "Reading rules",
    `select name, id, tool, pattern, rules.at
    from ${schema}.rules left join ${schema}.sessions on sessions.number = rules.session
    where ($1::text is null or session is null
        or session = (select number from ${schema}.sessions where id = $1))
      and ($2::text is null or tool = $2)
    order by rules.at, rules.key limit 10000`,
    [
      sessionId === undefined ? null : toColumn(sessionId),
      tool === undefined ? null : toColumn(tool),
    ],
  );
  return rows.map((row) => ({
    key: fromColumn(String(row.name)),
    tool: fromColumn(String(row.tool)),
    pattern: fromColumn(String(row.pattern)),
    at: Number(row.at),
    ...(typeof row.id === "string" && { sessionId: fromColumn(row.id) }),
  }));
}

function tooMany(sessionId: string | undefined): BowlineError {
  const where = sessionId === undefined ? "for all sessions" : "for this session";
  return new BowlineError(
    "invalid_state",
    `${MOST} rules are remembered ${where}. Remove some of them, or allow this call once.`,
  );
}
