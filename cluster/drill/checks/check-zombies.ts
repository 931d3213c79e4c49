/**
 * Nothing of an attempt that was taken over is in a transcript, and none speaks on. A process may write
 * to a run only while the session's last epoch is its own.
 */
import type { AuditRow, BusEvent, Evidence, Finding, Outage } from "../evidence.ts";

/** A process may need this long to notice that its attempt is over, in milliseconds. */
const NOTICE_MS = 3000;
const WORKER = /^worker-/;

export function checkZombies({ audit, bus, outages }: Evidence): Finding[] {
  return [...checkWrites(audit), ...checkSpeech(audit, bus, outages)];
}

function checkWrites(audit: readonly AuditRow[]): Finding[] {
  const holders = new Map<string, { readonly by: string; readonly epoch: number }>();
  const found: Finding[] = [];
  for (const row of audit) {
    const { session, by } = row;
    if (row.what === "epoch") {
      holders.set(session, { by, epoch: row.epoch });
      continue;
    }
    const holder = holders.get(session);
    if (!WORKER.test(by) || holder?.by === by) continue;
    const owner = holder === undefined ? "nobody" : `${holder.by} since epoch ${holder.epoch}`;
    found.push({
      check: "zombies",
      session,
      text: `${by} wrote ${row.key} to a session that belongs to ${owner}`,
    });
  }
  return found;
}

function checkSpeech(
  audit: readonly AuditRow[],
  bus: readonly BusEvent[],
  outages: readonly Outage[],
): Finding[] {
  const epochs = Map.groupBy(
    audit.filter((row) => row.what === "epoch"),
    ({ session }) => session,
  );
  const found = new Map<string, Finding>();
  for (const { at, session, attempt, runId, event, seq } of bus) {
    const later = epochs.get(session)?.find(({ epoch }) => epoch > attempt);
    if (later === undefined || at < later.at + NOTICE_MS) continue;
    // Not said by the attempt: a gateway asked its worker to tell of a message.
    if (event === "chat.queued") continue;
    // A stopped process says what it had ready when it wakes.
    const mayBeLate = outages.some(
      ({ how, from, to = Infinity }) =>
        how !== "killed" && from <= at && to + NOTICE_MS >= later.at,
    );
    if (mayBeLate) continue;
    const text = `attempt ${attempt} of the run ${runId} published ${event} ${seq}, ${at - later.at} ms after attempt ${later.epoch} began`;
    found.set(`${session} ${attempt}`, { check: "zombies", session, text });
  }
  return [...found.values()];
}
