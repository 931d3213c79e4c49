/** The handlers of a session besides its runs. */
import type { ObjectContext, ObjectSharedContext } from "@restatedev/restate-sdk";
import { BowlineError, toErrorInfo } from "@bowline/core";
import { openSession } from "@bowline/core/session";
import type { PostgresStore } from "@bowline/postgres";
import { endsOf } from "./run/load.ts";
import {
  questionKey,
  questionName,
  RUNNING,
  type AbortInput,
  type AnswerCall,
  type OpenQuestion,
  type RecoverInput,
  type RecoverOutcome,
  type RunningRun,
  type SessionRuns,
} from "./wire.ts";

/** Returns the run that is going on, and the open approvals. */
export async function readState(context: ObjectSharedContext): Promise<SessionRuns> {
  const running = (await context.get<RunningRun>(RUNNING)) ?? undefined;
  const keys = await context.stateKeys();
  const approvals: SessionRuns["approvals"][number][] = [];
  for (const key of keys.toSorted()) {
    const approvalId = questionName(key);
    const question = approvalId === undefined ? null : await context.get<OpenQuestion>(key);
    if (approvalId === undefined || question === null) continue;
    const { awakeableId: _, ...about } = question;
    approvals.push({ approvalId, ...about });
  }
  return { approvals, ...(running !== undefined && { running }) };
}

/** Cancels the run that is going on. Returns false when there is none, or another one. */
export async function abortRun(
  context: ObjectSharedContext,
  { runId }: AbortInput,
): Promise<boolean> {
  const running = await context.get<RunningRun>(RUNNING);
  if (running === null || (runId !== undefined && running.runId !== runId)) return false;
  context.cancel(running.invocationId as Parameters<typeof context.cancel>[0]);
  return true;
}

/** Gives an answer to the run that waits for it. Returns false if none waits: it finds the answer itself. */
export async function answerQuestion(
  context: ObjectSharedContext,
  { approvalId, answer }: AnswerCall,
): Promise<boolean> {
  const question = await context.get<OpenQuestion>(questionKey(approvalId));
  if (question === null) return false;
  context.resolveAwakeable(question.awakeableId, answer);
  return true;
}

/**
 * Ends the run that the engine gave up, in the session and in the state. Messages that it had taken, and
 * that the transcript does not have, wait for the next message.
 */
export async function recoverSession(
  context: ObjectContext,
  store: PostgresStore,
  { reason }: RecoverInput,
): Promise<RecoverOutcome> {
  const { key: sessionId } = context;
  const outcome = await context.run("recover", async (): Promise<RecoverOutcome> => {
    const epoch = await store.durable.takeEpoch(sessionId);
    const session = await openSession(store, sessionId, { readOnly: true });
    const state = await session.state();
    const error = toErrorInfo(new BowlineError("internal_error", reason));
    const ends = endsOf(await session.contextMessages(), state, "", error);
    if (ends.length > 0) await store.durable.append(sessionId, epoch, ends);
    const { run } = state;
    return run === undefined || run.reason !== undefined ? {} : { runId: run.runId };
  });
  for (const key of await context.stateKeys())
    if (key === RUNNING || questionName(key) !== undefined) context.clear(key);
  return outcome;
}
