/** Prints the result of a drill, and writes the evidence of each finding to files. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DrillReport } from "./drill.ts";
import type { Evidence, Finding } from "./evidence.ts";
import { sessionIn } from "./task.ts";

const SHOWN = 20;
const SHOWN_LENGTH = 600;

/** Returns true if nothing was found. */
export function writeReport(
  { findings, evidence, counts }: DrillReport,
  { seed, folder }: { readonly seed: number; readonly folder: string },
): boolean {
  console.log(
    Object.entries(counts)
      .map(([name, count]) => `${name} ${count}`)
      .join(", "),
  );
  if (findings.length === 0) {
    console.log("every message was answered once, and nothing was repeated, lost or left open");
    return true;
  }
  for (const { check, session, text } of findings.slice(0, SHOWN))
    console.log(
      `FOUND by ${check}${session === undefined ? "" : ` in ${session}`}: ${text.slice(0, SHOWN_LENGTH)}`,
    );
  if (findings.length > SHOWN) console.log(`… and ${findings.length - SHOWN} more`);
  const place = join(folder, "evidence");
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, "findings.json"), JSON.stringify(findings, null, 2));
  writeFileSync(join(place, "outages.json"), JSON.stringify(evidence.outages, null, 2));
  for (const session of new Set(findings.flatMap((finding) => finding.session ?? [])))
    writeSession(
      join(place, `${session.replaceAll("/", "_") || "all"}.json`),
      session,
      evidence,
      findings,
    );
  console.log(
    `${findings.length} finding(s) with seed ${seed}; logs in ${folder}, evidence in ${place}`,
  );
  return false;
}

/** Writes all that is known of one session. */
function writeSession(
  file: string,
  key: string,
  evidence: Evidence,
  findings: readonly Finding[],
): void {
  const { sessions, ledger, messages, streams, audit, bus, aborts, answers } = evidence;
  const own = <T extends { readonly session: string }>(all: readonly T[]): T[] =>
    all.filter(({ session }) => session === key);
  const models = ledger.models.filter(({ task }) => sessionIn(task) === key);
  const numbers = new Set(models.map(({ number }) => number));
  const text = JSON.stringify(
    {
      findings: findings.filter(({ session }) => session === key),
      messages: own(messages),
      aborts: own(aborts),
      answers: own(answers),
      entries: sessions.find((session) => session.key === key)?.entries,
      streams: own(streams).map(({ client, runId, isOwn, seq, end, faults, recent }) => ({
        client,
        runId,
        isOwn,
        seq,
        end,
        faults,
        recent,
      })),
      models,
      tools: ledger.tools.filter(({ toolCallId: id }) => numbers.has(Number(id.split("_")[1]))),
      audit: own(audit),
      bus: own(bus).map(
        ({ at, runId, attempt, seq, event }) => `${at} ${runId} ${attempt} ${seq} ${event}`,
      ),
    },
    (_, value: unknown) =>
      typeof value === "string" && value.length > 2000 ? `${value.slice(0, 2000)}…` : value,
    1,
  );
  writeFileSync(file, text);
}
