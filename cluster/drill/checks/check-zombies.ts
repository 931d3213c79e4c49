/**
 * Nothing of an attempt that was taken over is in a transcript, and none speaks on. A process may write
 * to a run only while the session's last epoch is its own.
 */
import type { AuditRow, BusEvent, Evidence, Finding, Outage } from "../evidence.ts";

/**
 * A process may need this long to notice that its attempt is over, in milliseconds. On a busy machine the
 * engine took 3.4 seconds to end the stream of an attempt that it had given up.
 */
const NOTICE_MS = 5000;
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
    const own = epochs.get(session) ?? [];
    const later = own.find(({ epoch }) => epoch > attempt);
    if (later === undefined || at < later.at + NOTICE_MS) continue;
    // Not said by the attempt: a gateway asked its worker to tell of a message.
    if (event === "chat.queued") continue;
    const speaker = own.find(({ epoch }) => epoch === attempt)?.by;
    const mayBeLate = outages.some(
      (outage) =>
        (hides(outage, speaker) || sleeps(outage, later.by)) &&
        outage.from <= at &&
        (outage.to ?? Infinity) + NOTICE_MS >= later.at,
    );
    if (mayBeLate) continue;
    const text = `attempt ${attempt} of the run ${runId} published ${event} ${seq}, ${at - later.at} ms after attempt ${later.epoch} began`;
    found.set(`${session} ${attempt}`, { check: "zombies", session, text });
  }
  return [...found.values()];
}

/**
 * Whether a process may not notice during an outage that its attempt is over. A stopped one says what it had
 * ready when it wakes. A cut link does not end connections. A node of Restate that loses a run to another node,
 * as when one dies or comes back, keeps its own attempt until it notices.
 */
function hides({ how, kind, name }: Outage, speaker: string | undefined): boolean {
  if (kind === "restate") return true;
  if (how === "killed") return false;
  return speaker === undefined || name.split(" ").includes(speaker);
}

/**
 * Whether a process slept through the time in which Restate gave its run away. When it wakes, it may still take
 * the epoch. The attempt that Restate knows notices this at its next write, which is refused.
 */
function sleeps({ how, name }: Outage, by: string): boolean {
  return how !== "killed" && name.split(" ").includes(by);
}
