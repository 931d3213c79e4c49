/** Answers every approval, by a rule that all approvers share: the first answer counts. */
import { setTimeout as sleep } from "node:timers/promises";
import { Refusal, type DrillClient } from "./drill-client.ts";
import type { Journal } from "./journal.ts";

const PAUSE_MS = 500;
/** What an approval may be besides open. */
const expected = new Set(["conflict", "not_found"]);

/** The same for everybody, so that two answers to one approval never differ. */
function decisionOn(toolCallId: string): "allow" | "deny" {
  const sum = Buffer.from(toolCallId).reduce((all, byte) => all + byte, 0);
  return sum % 4 === 0 ? "deny" : "allow";
}

/** Lists the open approvals again and again, and answers them, until the signal fires. */
export async function answerApprovals(
  client: DrillClient,
  journal: Journal,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const { approvals } = await client.request("approvals.list", {});
      for (const { approvalId, toolCallId, sessionKey } of approvals)
        await answer(client, journal, { approvalId, toolCallId, session: sessionKey });
    } catch (error) {
      if (!(error instanceof Refusal) || !error.isRetryable)
        journal.complain(client.name, "", `approvals: ${String(error)}`);
    }
    await sleep(PAUSE_MS, undefined, { signal }).catch(() => {});
  }
}

async function answer(
  client: DrillClient,
  journal: Journal,
  about: { readonly approvalId: string; readonly toolCallId: string; readonly session: string },
): Promise<void> {
  const { approvalId, toolCallId, session } = about;
  const decision = decisionOn(toolCallId);
  try {
    await client.request("approvals.resolve", {
      approvalId,
      decision: decision === "allow" ? "allow-once" : "deny",
    });
    journal.answers.push({ session, approvalId, decision });
  } catch (error) {
    if (error instanceof Refusal && (error.isRetryable || expected.has(error.code))) return;
    throw error;
  }
}
