/**
 * Messages that a run has taken and that its transcript does not have. A run whose engine gave it up
 * leaves them in the inbox.
 */
import type { Run } from "../sql/database.ts";
import { toKey } from "./column-text.ts";

/** Notes that the transcript has these messages. Needs the row lock of the session. */
export async function markRead(
  run: Run,
  schema: string,
  session: number,
  ids: readonly string[],
): Promise<void> {
  await run(
    `update ${schema}.inbox set is_read = true where session = $1 and message_id = any($2::text[])`,
    [session, ids.map(toKey)],
  );
}

/**
 * Returns the statement that puts the unread messages of a session's running runs back, as held. They
 * keep their places. A message that began its run begins no other: it goes in with the next message.
 * `$1` is the session, `which` selects the runs. A message that was never pushed has no content here.
 */
export const releaseText = (schema: string, which: string): string => `
update ${schema}.inbox set run_id = null, drain = null, start_run = null, is_held = true,
  queue = case queue when 'start' then 'followUp' else queue end, returns = returns + 1
where session = $1::bigint and not is_read and not is_cancelled and message is not null
  and run_id in (
    select run_id from ${schema}.runs where session = $1 and state = 'running' and ${which}
  )`;
