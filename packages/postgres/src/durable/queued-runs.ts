/** Runs that wait for their turn. Each function needs the row lock of the session. */
import { BowlineError } from "@bowline/core";
import { invalid } from "../options.ts";
import { fromColumn, toColumn, toKey } from "../rows/column-text.ts";
import type { Run } from "../sql/database.ts";
import type { MessagePlace } from "./contract.ts";
import type { StartInput } from "./run-types.ts";
import type { Inbox } from "./session-inbox.ts";

/**
 * Adds the run that a message is to begin. Returns where the message is if the session has had that
 * run already, such as one that was imported.
 */
export async function addQueuedRun(
  { run, schema, session }: Inbox,
  { runId, owner, maxOwned }: StartInput,
  at: number,
): Promise<MessagePlace | undefined> {
  const [known] = await run(
    `select state, reason from ${schema}.runs where session = $1 and key = $2`,
    [session, toKey(runId)],
  );
  if (known?.state === "queued")
    throw invalid(`Another message is to begin the run ${JSON.stringify(runId)}.`);
  if (known !== undefined)
    return { state: known.reason === "cancelled" ? "cancelled" : "taken", runId };
  const ownerKey = owner === undefined ? null : toKey(owner);
  if (ownerKey !== null && maxOwned !== undefined)
    await checkOwned(run, schema, ownerKey, maxOwned);
  await run(
    `insert into ${schema}.runs (session, key, run_id, state, owner, at)
    values ($1, $2, $3, 'queued', $4, $5)`,
    [session, toKey(runId), toColumn(runId), ownerKey, at],
  );
  return undefined;
}

/** Counts under a lock of the owner, since two sessions have two row locks. */
async function checkOwned(run: Run, schema: string, owner: string, most: number): Promise<void> {
  await run("select pg_advisory_xact_lock(hashtextextended($1, 0))", [
    `bowline ${schema} runs of ${owner}`,
  ]);
  const [row] = await run(
    `select count(*) as open from ${schema}.runs where owner = $1 and state <> 'ended'`,
    [owner],
  );
  const open = Number(row?.open);
  if (open < most) return;
  throw new BowlineError(
    "rate_limited",
    `${open} ${open === 1 ? "run is" : "runs are"} queued or running for this user, and ${most} may be. Try again when one has ended.`,
    { retryable: true },
  );
}

/** Gives the row of a queued run to the run that has its message. */
export async function renameQueuedRun(
  { run, schema, session }: Inbox,
  from: string,
  to: string,
): Promise<void> {
  await run(
    `with gone as (
      delete from ${schema}.runs where session = $1 and key = $2 and state = 'queued'
      returning owner, at
    )
    insert into ${schema}.runs (session, key, run_id, state, owner, at)
    select $1, $3, $4, 'queued', owner, at from gone on conflict do nothing`,
    [session, toKey(from), toKey(to), toColumn(to)],
  );
}

/** Ends queued runs for good. Their messages keep their ids. */
export async function cancelStarts(
  { run, schema, session }: Inbox,
  starts: readonly { readonly number: unknown; readonly startRun: string }[],
  at: number,
): Promise<void> {
  if (starts.length === 0) return;
  await run(
    `update ${schema}.inbox set run_id = start_run, is_cancelled = true
    where number = any($1::bigint[])`,
    [starts.map(({ number }) => number)],
  );
  await run(
    `update ${schema}.runs set state = 'ended', reason = 'cancelled', at = $3
    where session = $1 and key = any($2::text[]) and state = 'queued'`,
    [session, starts.map(({ startRun }) => toKey(fromColumn(startRun))), at],
  );
}
