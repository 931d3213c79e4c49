/** Stores a compaction that happened outside of a run, so that another process sends the same. */
import type { CompactionEvent } from "@bowline/core";
import { isKnownEntry, type Session } from "@bowline/core/session";

type CompactionEnd = Extract<CompactionEvent, { type: "compaction_end" }>;

export async function storeCompaction(
  session: Session,
  { outcome, summary, firstKept, tokensBefore, maxResultTokens, usage }: CompactionEnd,
): Promise<void> {
  const { run } = await session.state();
  if (Object.keys(usage).length > 0 && run !== undefined)
    await session.append({ type: "usage", runId: run.runId, usage });
  if (outcome === "none") return;
  const firstKeptId = firstKept === undefined ? null : await entryOf(session, firstKept);
  // A message without an entry: the next process compacts again.
  if (firstKeptId === undefined) return;
  await session.append({
    type: "compaction",
    summary,
    firstKeptId,
    tokensBefore,
    ...(maxResultTokens !== undefined && { maxResultTokens }),
  });
}

async function entryOf(session: Session, message: object): Promise<string | undefined> {
  const wanted = JSON.stringify(message);
  const path = await session.path();
  return path.findLast(
    (entry) =>
      isKnownEntry(entry) && entry.type === "message" && JSON.stringify(entry.message) === wanted,
  )?.id;
}
