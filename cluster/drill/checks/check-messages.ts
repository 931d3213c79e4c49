/**
 * Every accepted message is in its session once, in a run that has ended, and was answered: the model heard
 * it, unless the run was aborted. No message that begins a run has two, and every run that a client was told
 * of has been.
 */
import type { Evidence, Finding, SentMessage } from "../evidence.ts";
import { textOf } from "../clients/folded-run.ts";
import { runsIn, answersIn, type StoredRun } from "./stored-run.ts";
import { taskIn } from "../task.ts";

export function checkMessages({ sessions, messages, aborts }: Evidence): Finding[] {
  const runs = new Map(sessions.map(({ key, entries }) => [key, runsIn(entries)]));
  const aborted = new Set(aborts.map(({ session, runId }) => `${session} ${runId}`));
  const isAborted = (session: string, runId: string): boolean => aborted.has(`${session} ${runId}`);
  const found: Finding[] = [];
  for (const message of messages) {
    const own = runs.get(message.session) ?? new Map<string, StoredRun>();
    for (const text of checkMessage(message, own, (runId) => isAborted(message.session, runId)))
      found.push({ check: "messages", session: message.session, text: `${message.name}: ${text}` });
  }
  for (const [session, own] of runs) {
    for (const { runId, ends } of own.values()) {
      const reason = ends.at(-1)?.reason;
      const isExpected =
        reason === "done" ||
        reason === "budget" ||
        (reason === "aborted" && isAborted(session, runId));
      if (!isExpected)
        found.push({
          check: "messages",
          session,
          text: `the run ${runId} ended with ${reason}: ${JSON.stringify(ends.at(-1)?.error)}`,
        });
    }
  }
  return found;
}

function checkMessage(
  { text, kind, key, answers, name }: SentMessage,
  runs: ReadonlyMap<string, StoredRun>,
  isAborted: (runId: string) => boolean,
): string[] {
  const ids = new Set(
    answers.flatMap(({ runId, status }) => (status === "waiting" ? [] : [runId])),
  );
  const found: string[] = [];
  const [answered] = ids;
  if (kind === "send") {
    if (ids.size > 1) found.push(`one key was answered with the runs ${[...ids].join(", ")}`);
    if (answered !== undefined && answered !== key)
      found.push(`the run is ${answered} and not ${key}`);
  }
  for (const id of ids)
    if (!runs.has(id) && !isAborted(id)) found.push(`its run is ${id}, which never began`);
  const holders = [...runs.values()].flatMap((run) =>
    userTexts(run).flatMap((own) => (own === text ? [run] : [])),
  );
  if (holders.length > 1)
    found.push(
      `it is in the transcript ${holders.length} times, in ${holders.map(({ runId }) => runId).join(", ")}`,
    );
  const [run] = holders;
  // A gateway may have accepted it and have died before it could say so.
  if (answers.length === 0 && run === undefined) return found;
  // A message without a run of its own outlives the run that it was for.
  const mayBeGone = kind === "send" && answered !== undefined && isAborted(answered);
  if (run === undefined) {
    if (!mayBeGone)
      found.push(
        `it was accepted for ${answered === undefined ? "a later run" : `the run ${answered}`} and is not in the transcript`,
      );
    return found;
  }
  if (run.ends.length !== 1) found.push(`its run ${run.runId} has ${run.ends.length} ends`);
  const reason = run.ends[0]?.reason;
  const isOver =
    reason === "aborted" || (reason === "budget" && (taskIn(text)?.isUncounted ?? true));
  if (!isOver && !isHeard(run, name)) found.push(`no answer of its run ${run.runId} heard it`);
  return found;
}

function userTexts({ messages }: StoredRun): string[] {
  return messages.flatMap((message) =>
    message.role === "user" ? [textOf((message as { readonly content?: unknown }).content)] : [],
  );
}

function isHeard({ messages }: StoredRun, name: string): boolean {
  return answersIn(messages).some(({ text }) => text.split(" ").includes(name));
}
