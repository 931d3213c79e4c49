/** The first step of a run: what it begins with. */
import { isBowlineError, toErrorInfo, type Agent, type ErrorInfo } from "@bowline/core";
import {
  openSession,
  unansweredResults,
  type EntryBody,
  type SessionState,
} from "@bowline/core/session";
import type {
  DurableItem,
  InboxMessage,
  MessagePlace,
  PostgresStore,
  RunBeginning,
} from "@bowline/postgres";
import type { RunInput, WakeInput } from "../wire.ts";
import type { SessionLog } from "./session-log.ts";

/** What the journal has of the start. */
export type RunStart =
  | { readonly state: "taken" | "cancelled"; readonly runId: string }
  | { readonly state: "idle" }
  | {
      readonly state: "ready";
      /** The epoch of the attempt that recorded the start. */
      readonly epoch: number;
      /** The last entry that belongs to the context. `null`: none. */
      readonly head: string | null;
      readonly taken: readonly InboxMessage[];
      readonly agent?: string;
      /** Why there is no agent. */
      readonly error?: ErrorInfo;
    };

export interface LoadParts {
  readonly store: PostgresStore;
  readonly log: SessionLog;
  readonly runId: string;
  readonly by: RunBeginning["by"];
  readonly input: RunInput | WakeInput;
  /** Creates the agent, to name its model and to find out whether it can be created. */
  readonly agentFor: (agent: string | undefined) => Promise<Agent>;
}

/** Called in a closure. Called again, it finds what it wrote before. */
export async function loadRun({
  store,
  log,
  runId,
  by,
  input,
  agentFor,
}: LoadParts): Promise<RunStart> {
  const messageId = "messageId" in input ? input.messageId : undefined;
  const known = messageId === undefined ? undefined : await log.find(messageId);
  if (isElsewhere(known, runId)) return known;
  const session = await openSession(store, log.sessionId, { readOnly: true });
  const state = await session.state();
  const agent = input.agent ?? state.model?.agent;
  // Before the messages are taken: while it cannot be created, they wait and can be cancelled.
  const made = await attempt(() => agentFor(agent));
  const ends = endsOf(await session.contextMessages(), state, runId);
  const start: DurableItem = {
    key: `${runId}:start`,
    body: {
      type: "run_start",
      runId,
      ...("id" in made && { model: { ...made.id, ...(agent !== undefined && { agent }) } }),
    },
  };
  const begun = await log.begin({ runId, name: "start", by, messageId, items: [...ends, start] });
  if (begun.state !== "begun") return begun;
  return {
    state: "ready",
    epoch: log.epoch,
    head: begun.entries.at(-1)?.id ?? null,
    taken: begun.taken,
    ...(agent !== undefined && { agent }),
    ...("error" in made && { error: made.error }),
  };
}

/** Whether a message is not for this run. */
function isElsewhere(
  place: MessagePlace | undefined,
  runId: string,
): place is Extract<RunStart, { state: "taken" | "cancelled" }> {
  if (place === undefined || place.state === "pending") return false;
  return place.state === "cancelled" || place.runId !== runId;
}

interface ModelId {
  readonly provider: string;
  readonly model: string;
  readonly thinkingLevel: string;
}

async function attempt(
  create: () => Promise<Agent>,
): Promise<{ readonly id: ModelId } | { readonly error: ErrorInfo }> {
  try {
    const { model, thinkingLevel } = (await create()).state;
    return { id: { provider: model.provider, model: model.id, thinkingLevel } };
  } catch (error) {
    if (!isBowlineError(error) || error.retryable) throw error;
    return { error: toErrorInfo(error) };
  }
}

/**
 * Returns the entries that end a run which its engine gave up: results for its open calls, so that
 * the transcript is valid, and its end.
 */
export function endsOf(
  messages: Parameters<typeof unansweredResults>[0] | readonly { readonly role: string }[],
  { run }: SessionState,
  runId: string,
  error?: ErrorInfo,
): DurableItem[] {
  if (run === undefined || run.runId === runId) return [];
  const { runId: before, reason, usage } = run;
  const results = unansweredResults(
    messages as Parameters<typeof unansweredResults>[0],
    run,
    Date.now(),
  );
  const bodies: EntryBody[] = results.map((message) => ({
    type: "message",
    runId: before,
    message,
  }));
  if (reason === undefined)
    bodies.push({
      type: "run_end",
      runId: before,
      reason: "interrupted",
      usage,
      ...(error !== undefined && { error }),
    });
  // The same keys whoever writes them first.
  return bodies.map((body, index) => ({ key: `${before}:closed:${index}`, body }));
}
