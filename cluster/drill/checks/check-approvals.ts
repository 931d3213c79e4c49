/** Every question to a person has one answer, the one that a client gave, and it was obeyed. */
import type { Entry } from "@bowline/core/session";
import type { Evidence, Finding } from "../evidence.ts";
import { callsIn, knownEntries, messagesIn, runsIn } from "./stored-run.ts";

type EntryOf<T extends Entry["type"]> = Extract<Entry, { readonly type: T }>;

export function checkApprovals({ sessions, answers, ledger, left }: Evidence): Finding[] {
  const ran = new Set(ledger.tools.map(({ toolCallId }) => toolCallId));
  const found: Finding[] = left.approvals.map(({ session, approvalId }) => ({
    check: "approvals",
    session,
    text: `the approval ${approvalId} is still open`,
  }));
  for (const { key, entries } of sessions) {
    const known = knownEntries(entries);
    const given = new Map(
      answers.filter(({ session }) => session === key).map((one) => [one.approvalId, one.decision]),
    );
    const hasAborted = [...runsIn(entries).values()].some(({ ends }) =>
      ends.some(({ reason }) => reason === "aborted"),
    );
    const requests = known.filter((entry) => entry.type === "approval_request");
    const told = Map.groupBy(
      known.filter((entry) => entry.type === "approval_answer"),
      ({ approvalId }) => approvalId,
    );
    const calls = new Set(callsIn(messagesIn(entries)).map(({ id }) => id));
    const texts = requests.flatMap((request) =>
      checkOne(request, told.get(request.approvalId) ?? [], {
        given: given.get(request.approvalId),
        hasRun: ran.has(request.toolCallId),
        hasAborted,
      }),
    );
    for (const { toolCallId } of requests)
      if (!calls.has(toolCallId))
        texts.push(`no answer has the call ${toolCallId}, which was asked about`);
    found.push(...texts.map((text) => ({ check: "approvals", session: key, text })));
  }
  return found;
}

function checkOne(
  { approvalId, toolCallId }: EntryOf<"approval_request">,
  told: readonly EntryOf<"approval_answer">[],
  about: {
    readonly given: "allow" | "deny" | undefined;
    readonly hasRun: boolean;
    readonly hasAborted: boolean;
  },
): string[] {
  const { given, hasRun, hasAborted } = about;
  const found: string[] = [];
  const decisions = new Set(told.map(({ decision }) => decision));
  if (told.length === 0 && !hasAborted) found.push(`the approval ${approvalId} has no answer`);
  if (told.length > 1) found.push(`the approval ${approvalId} has ${told.length} answers`);
  if (given !== undefined && told.length > 0 && !decisions.has(given) && !hasAborted)
    found.push(
      `the approval ${approvalId} is ${[...decisions].join()}, and the answer was ${given}`,
    );
  if (hasRun && !decisions.has("allow")) found.push(`${toolCallId} ran without being allowed`);
  return found;
}
