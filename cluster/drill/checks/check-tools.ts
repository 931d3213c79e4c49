/**
 * No tool that must not be repeated ran twice, counted outside. What ran is in the transcript. Of what may
 * have run, the model was told that it is unknown.
 */
import type { Evidence, Finding, SessionEvidence } from "../evidence.ts";
import { resultOf, type Ledger, type ToolUse } from "../outside/ledger.ts";
import { SEEN_LENGTH } from "../outside/read-request.ts";
import { tools } from "../task.ts";
import { answersIn, callsIn, messagesIn, type StoredCall } from "./stored-run.ts";

const repeatable = new Set<string>(
  Object.values(tools).flatMap(({ name, replay }) => (replay === "safe" ? [name] : [])),
);
const UNKNOWN = /^The process ended while \S+ ran\. It is not known/;

function isUnknown({ result }: StoredCall): boolean {
  return result !== undefined && UNKNOWN.test(result);
}

export function checkTools({ sessions, ledger }: Evidence): Finding[] {
  const stored = new Map(
    sessions.flatMap(({ key, entries }) =>
      callsIn(messagesIn(entries)).map((call) => [call.id, { session: key, call }] as const),
    ),
  );
  const found: Finding[] = [];
  for (const [id, uses] of Map.groupBy(ledger.tools, ({ toolCallId }) => toolCallId)) {
    const session = stored.get(id)?.session;
    for (const text of checkUses(id, uses, stored.get(id)?.call))
      found.push({ check: "tools", ...(session !== undefined && { session }), text });
  }
  for (const session of sessions)
    for (const text of checkResults(session, ledger))
      found.push({ check: "tools", session: session.key, text });
  return found;
}

function checkUses(id: string, uses: readonly ToolUse[], call: StoredCall | undefined): string[] {
  const [first] = uses;
  if (first === undefined) return [];
  const found: string[] = [];
  const { name } = first;
  const keys = new Set(uses.map(({ key }) => key));
  if (keys.size > 1) found.push(`${name} ${id} ran under the keys ${[...keys].join(", ")}`);
  if (uses.length > 1 && !repeatable.has(name))
    found.push(`${name} ${id} ran ${uses.length} times`);
  if (call === undefined) found.push(`${name} ${id} ran, and no transcript has its call`);
  return found;
}

/** A result says what happened outside, and the model's next request has it. */
function checkResults({ entries }: SessionEvidence, ledger: Ledger): string[] {
  const messages = messagesIn(entries);
  const uses = Map.groupBy(ledger.tools, ({ toolCallId }) => toolCallId);
  const models = new Map(ledger.models.map((call) => [call.number, call]));
  const found: string[] = [];
  const calls = callsIn(messages);
  for (const call of calls) {
    const { id, name, result = "" } = call;
    const count = uses.get(id)?.length ?? 0;
    if (result.startsWith(resultOf(name, id)) && count === 0)
      found.push(`${name} ${id} has a result and did not run`);
    if (isUnknown(call) && repeatable.has(name))
      found.push(`${name} ${id} may run again, and its outcome is unknown`);
  }
  // The answer after the results was given to a request that has them.
  const byId = new Map(calls.map((call) => [call.id, call]));
  const answers = answersIn(messages);
  for (const [index, { calls: ids }] of answers.entries()) {
    const next = answers.slice(index + 1).find(({ number }) => number !== undefined)?.number;
    const request = next === undefined ? undefined : models.get(next);
    if (request === undefined) continue;
    for (const id of ids) {
      const told = request.seenResults.get(id);
      const own = byId.get(id)?.result?.slice(0, SEEN_LENGTH);
      if (told !== own)
        found.push(
          `the model was told of ${id}: ${JSON.stringify(told)} instead of ${JSON.stringify(own)}`,
        );
    }
  }
  return found;
}
