/** All checks of the drill. */
import type { Check, Evidence, Finding } from "../evidence.ts";
import { checkApprovals } from "./check-approvals.ts";
import { checkBills } from "./check-bills.ts";
import { checkMessages } from "./check-messages.ts";
import { checkRest } from "./check-rest.ts";
import { checkStreams } from "./check-streams.ts";
import { checkTools } from "./check-tools.ts";
import { checkTranscripts } from "./check-transcripts.ts";
import { checkZombies } from "./check-zombies.ts";

const checks: readonly Check[] = [
  checkRest,
  checkMessages,
  checkTranscripts,
  checkStreams,
  checkTools,
  checkApprovals,
  checkBills,
  checkZombies,
];

export function findFaults(evidence: Evidence): Finding[] {
  return checks.flatMap((check) => check(evidence));
}
