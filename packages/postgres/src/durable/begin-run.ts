/** Begins a run in one transaction: its message, what waits for it, and its first entries. */
import type { SessionRow, StoreContext } from "../context.ts";
import { toKey } from "../rows/column-text.ts";
import { releaseText } from "../rows/unread.ts";
import type { Run } from "../sql/database.ts";
import { appendByKey } from "./append-by-key.ts";
import type { BegunRun, RunBeginning } from "./contract.ts";
import { claimPushed, drain } from "./inbox.ts";

interface Beginning {
  readonly id: string;
  readonly session: SessionRow;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly about: RunBeginning;
}

/** The transaction must have the session's row lock. */
export async function beginRun(
  context: StoreContext,
  run: Run,
  { id, session, now, about }: Beginning,
): Promise<BegunRun> {
  const { runId, name, messageId, items } = about;
  const inbox = { run, schema: context.schema, session: session.number };
  if (messageId !== undefined) {
    const place = await claimPushed(inbox, { messageId, runId });
    // It was deleted with its session, and the engine heard of it too late.
    if (place === undefined) return { state: "cancelled", runId };
    if (place.state === "cancelled" || place.runId !== runId) return place;
  }
  // What the run before has taken and not shown to the model goes in with this one.
  if (items.some(({ body }) => body.type === "run_end"))
    await run(releaseText(context.schema, "key <> $2"), [session.number, toKey(runId)]);
  const taken = await drain(inbox, { runId, name });
  if (messageId === undefined && taken.length === 0) return { state: "idle" };
  const entries = await appendByKey(context, run, { id, session, items, now });
  return { state: "begun", taken, entries };
}
