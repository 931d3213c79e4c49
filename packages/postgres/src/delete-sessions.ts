/** Deletes sessions for good. */
import { BowlineError, isBowlineError } from "@bowline/core";
import { naming, notify, takeEpoch, type StoreContext } from "./context.ts";
import { invalid } from "./options.ts";
import { fromColumn, toSearchable } from "./rows/column-text.ts";

export interface DeleteOptions {
  /**
   * Called for each session before it is deleted, and awaited: purge what else has its content, such
   * as the journal of an engine. The session's writers are refused already. If it fails, the session
   * stays.
   */
  readonly beforeDelete?: ((id: string) => unknown) | undefined;
}

export interface DeleteResult {
  /** Ids of the deleted sessions. */
  readonly deleted: readonly string[];
  readonly failed: readonly { readonly id: string; readonly error: BowlineError }[];
}

/** Sessions per statement. */
const PAGE = 500;

/** Deletes a session with everything that belongs to it, and ends its followers. */
export async function deleteSession(
  { database, schema, channel }: StoreContext,
  id: string,
  number: number,
): Promise<void> {
  await database.transaction(naming("Deleting", id), async (run) => {
    const [gone] = await run(`delete from ${schema}.sessions where number = $1 returning epoch`, [
      number,
    ]);
    if (gone !== undefined)
      await run(`update ${schema}.deleted_epochs set highest = $1 where highest < $1`, [
        gone.epoch,
      ]);
    await notify(run, channel, number);
  });
}

/** Deletes the sessions whose metadata contains this. */
export async function deleteMatching(
  context: StoreContext,
  metadata: Readonly<Record<string, unknown>>,
  { beforeDelete }: DeleteOptions,
): Promise<DeleteResult> {
  const { database, schema } = context;
  if (Object.keys(metadata).length === 0)
    throw invalid("deleteSessions needs at least one field of metadata. All sessions match none.");
  const deleted: string[] = [];
  const failed: { id: string; error: BowlineError }[] = [];
  for (let after = 0; ;) {
    const rows = await database.query(
      "Finding the sessions to delete",
      `select number, id from ${schema}.sessions
      where metadata @> $1::jsonb and number > $2 order by number limit ${PAGE}`,
      [toSearchable(metadata), after],
    );
    for (const row of rows) {
      after = Number(row.number);
      const id = fromColumn(String(row.id));
      try {
        await database.query(naming("Deleting", id), takeEpoch(schema), [after, null]);
        await purge(id, beforeDelete);
        await deleteSession(context, id, after);
        deleted.push(id);
      } catch (error) {
        failed.push({ id, error: error as BowlineError });
      }
    }
    if (rows.length < PAGE) return { deleted, failed };
  }
}

async function purge(id: string, beforeDelete: DeleteOptions["beforeDelete"]): Promise<void> {
  try {
    await beforeDelete?.(id);
  } catch (error) {
    if (isBowlineError(error)) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new BowlineError("hook_failed", `beforeDelete failed: ${why}`, { cause: error });
  }
}
