/** The open runs of a session as PostgreSQL has them: those that wait have begun in no worker. */
import type { UserMessage } from "@bowline/core";
import type { OpenRun, PostgresStore, WaitingInput } from "@bowline/postgres";
import {
  isMissing,
  queuedRun,
  waitingMessage,
  type EngineRuns,
  type SecretFilter,
  type StoredRun,
} from "bowline/engine";
import type { GatewayLimits } from "bowline/gateway";
import { readMetadata } from "./message-metadata.ts";

type Waiting = Awaited<ReturnType<EngineRuns["waitingIn"]>>[number];

export interface OpenRunsParts {
  readonly store: PostgresStore;
  readonly filter: SecretFilter;
  readonly limits: GatewayLimits;
}

const kinds = { start: "send", steering: "steer", followUp: "followUp" } as const;

/** Returns the open runs. None for a session that does not exist. */
export async function openRuns(
  { store }: Pick<OpenRunsParts, "store">,
  sessionKey: string,
): Promise<readonly OpenRun[]> {
  return orNone(store.durable.openRuns({ sessionId: sessionKey }));
}

/** Returns the open runs for a client that follows one of them. */
export async function openRunsFor(
  parts: OpenRunsParts,
  sessionKey: string,
  asked: string | undefined,
): Promise<readonly StoredRun[]> {
  const open = await openRuns(parts, sessionKey);
  const isAsked = open.some(({ runId, state }) => runId === asked && state === "queued");
  const waiting = isAsked ? await waitingInputs(parts, sessionKey) : [];
  return open.map(({ runId, state }): StoredRun => {
    const input = runId === asked ? waiting.find((one) => one.runId === runId) : undefined;
    if (input !== undefined && readMetadata(input.metadata).isAnnounced === true)
      return queuedRun({ runId, sessionKey, limits: parts.limits }, shownWaiting(input, parts));
    return { info: { runId, sessionKey, state, seq: -1 }, since: () => [] };
  });
}

/** Returns the messages that no transcript has, in the order in which runs take them. */
export async function waitingInputs(
  { store }: Pick<OpenRunsParts, "store">,
  sessionKey: string,
): Promise<readonly WaitingInput[]> {
  return orNone(store.durable.waiting(sessionKey, { isTaken: true }));
}

/** Returns a waiting message as clients see it. */
export function shownWaiting(
  { id: messageId, queue, message, isHeld }: WaitingInput,
  { filter }: Pick<OpenRunsParts, "filter">,
): Waiting {
  return waitingMessage(message as UserMessage, {
    messageId,
    kind: isHeld === true ? "held" : kinds[queue],
    filter,
  });
}

async function orNone<T>(listed: Promise<readonly T[]>): Promise<readonly T[]> {
  try {
    return await listed;
  } catch (error) {
    if (!isMissing(error)) throw error;
    return [];
  }
}
