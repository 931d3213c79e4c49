/** Fills the tables of runs and approvals from the entries that exist. */
import type { SessionHeader } from "@bowline/core/session";
import { toKey } from "../rows/column-text.ts";
import { restore } from "../rows/read-entries.ts";
import { applyRunChanges, runChanges } from "../rows/run-changes.ts";
import type { Run } from "../sql/database.ts";

/** Entries per statement. Few of them are about runs. */
const PAGE = 20_000;

/** JSON without spaces has these texts, if it has such an entry. */
const types = ["run_start", "run_end", "reopen", "approval_request", "approval_answer"];
const isAboutRuns = types.map((type) => `strpos(body, '"type":"${type}"') > 0`).join(" or ");

export async function fillRuns(run: Run, schema: string): Promise<void> {
  let [session, seq, ownFrom] = [-1, -1, 0];
  for (;;) {
    // The last entry of the page is always there: the next page follows it.
    const rows = await run(
      `with page as materialized (
        select session, seq, body, parts from ${schema}.entries
        where (session, seq) > ($1::bigint, $2::int) order by session, seq limit ${PAGE}
      ), last as (select session, seq from page order by session desc, seq desc limit 1)
      select page.session, page.seq, body, parts from page, last
      where ${isAboutRuns} or (page.session, page.seq) = (last.session, last.seq)
      order by page.session, page.seq`,
      [session, seq],
    );
    for (const row of rows) {
      const number = Number(row.session);
      if (number !== session) ownFrom = await firstOwnEntry(run, schema, number);
      [session, seq] = [number, Number(row.seq)];
      if (seq < ownFrom) continue;
      const source = { run, schema, id: "", number };
      const { entry } = await restore(source, row, false, undefined);
      // A damaged entry is left out here as everywhere.
      if (entry !== undefined)
        await applyRunChanges(run, schema, number, runChanges([entry]), { isFilling: true });
    }
    if (rows.length === 0) return;
  }
}

/** Returns the number of entries that a session has from the one that it was forked from. */
async function firstOwnEntry(run: Run, schema: string, number: number): Promise<number> {
  const [row] = await run(`select header from ${schema}.sessions where number = $1`, [number]);
  const { origin } = JSON.parse(String(row?.header)) as SessionHeader;
  if (origin === undefined) return 0;
  const [last] = await run(`select seq from ${schema}.entries where session = $1 and key = $2`, [
    number,
    toKey(origin.entryId),
  ]);
  return last === undefined ? 0 : Number(last.seq) + 1;
}
