/**
 * An agent whose runs are kept. What a run did stands in the log before it goes on: messages by an awaited listener, a tool's intent
 * before it starts and its result after it ended, by the agent's effects. So another process can go on where this one stopped.
 */
import type { Agent } from "../agent/agent.ts";
import { textResult } from "../agent/define-tool.ts";
import type { Effects } from "../agent/effects.ts";
import type { AgentEvent, AgentMessage } from "../agent/event.ts";
import type { InterruptedRun, RunResult } from "../agent/run.ts";
import type { SettledCall } from "../agent/run-tool.ts";
import { BowlineError } from "../errors.ts";
import { defined } from "../json-value.ts";
import type { EntryBody, SessionModel } from "./entry.ts";
import type { RecordedCall, RunState } from "./session-state.ts";
import { openSession, type Session, type SessionOptions } from "./session.ts";
import type { Store } from "./store.ts";

export interface AgentSession {
  readonly session: Session;
  /** The run that its process did not finish, if the session has one. */
  readonly interrupted: InterruptedRun | undefined;
  /**
   * Goes on with {@link interrupted}; undefined when there is none. Tools with a recorded result are not run again; those that were
   * running are run again if they say `replay: "safe"`, and reported to the model as unknown otherwise.
   */
  resume(): Promise<RunResult | undefined>;
  /** Ends the keeping; the session stays open. */
  detach(): void;
}

/** More than one step of a run can have events: the numbers of a resumed run begin beyond all that were given out. */
const SEQ_PER_ENTRY = 1_000_000;

/**
 * Keeps the agent's runs in the session, which is open for writing. The agent's messages become the session's, as a model is shown
 * them. Rejects with `invalid_state` during a run, and for an agent that has messages the session does not know.
 */
export async function attachSession(agent: Agent, session: Session): Promise<AgentSession> {
  if (agent.state.isStreaming) throw new BowlineError("invalid_state", "A run is going on.");
  if (agent.state.messages.length > 0) {
    throw new BowlineError("invalid_state", "The agent has messages already: a session begins with a new agent.");
  }
  const { run } = await session.state();
  const open = run !== undefined && run.reason === undefined ? run : undefined;
  const entryOf = new WeakMap<AgentMessage, string>();
  for (const { id, message } of await session.contextEntries()) {
    const kept = message as AgentMessage;
    if (id !== undefined) entryOf.set(kept, id);
    agent.state.messages.push(kept);
  }
  const head = await session.lastSeq();
  const interrupted: InterruptedRun | undefined = open && {
    runId: open.runId,
    turns: open.turns,
    usage: open.usage,
    seq: (head + 1) * SEQ_PER_ENTRY,
  };
  const before = agent.effects;
  agent.effects = { ...before, ...recordingEffects(session, open) };
  const unsubscribe = agent.subscribe((event) => {
    if (event.parentRunId !== agent.parentRunId) return undefined; // a nested run is part of its tool's step
    return keep(event);
  });
  return {
    session,
    interrupted,
    resume: async () => (interrupted === undefined ? undefined : agent.resume(interrupted)),
    detach() {
      unsubscribe();
      if (before === undefined) delete agent.effects;
      else agent.effects = before;
    },
  };

  async function keep(event: AgentEvent): Promise<void> {
    if (event.type === "approval_request") {
      // What a person said before the crash still holds.
      const answer = open?.answers.get(event.approvalId);
      if (answer !== undefined && agent.answer(event.approvalId, answer)) return;
    }
    if (event.type === "approval_answer" && open?.answers.has(event.approvalId) === true) return;
    const body = entryOfEvent(event, agent, entryOf);
    if (body === undefined) return;
    const { id } = await session.append(body);
    if (event.type === "message_end") entryOf.set(event.message, id);
  }
}

/**
 * Opens a session, attaches the agent and goes on with the run that was interrupted, if there is one. The agent needs the model, the
 * tools and the hooks of the one before. Rejects as {@link openSession} and {@link attachSession} do.
 */
export async function resumeSession(
  store: Store,
  id: string,
  agent: Agent,
  options: SessionOptions = {},
): Promise<AgentSession & { readonly result: RunResult | undefined }> {
  const session = await openSession(store, id, options);
  try {
    const attached = await attachSession(agent, session);
    return { ...attached, result: await attached.resume() };
  } catch (error) {
    await session.close();
    throw error;
  }
}

function recordingEffects(session: Session, open: RunState | undefined): Pick<Effects, "step" | "recorded"> {
  return {
    async step(_name, fn, about) {
      if (about.kind !== "tool") return fn(); // its message is the record
      const { kind: _, ...call } = about;
      const runId = about.idempotencyKey.slice(0, about.idempotencyKey.indexOf(":"));
      await session.append({ type: "tool_intent", runId, ...call });
      const result = await fn();
      const { isError } = result as SettledCall;
      const { toolCallId, idempotencyKey } = about;
      await session.append({ type: "tool_result", runId, toolCallId, idempotencyKey, result, isError });
      return result;
    },
    recorded(name) {
      const call = open?.calls.get(`${open.runId}:${name.slice("tool:".length)}`);
      return call && outcomeOf(call);
    },
  };
}

/** What is known of a call that an earlier process began; undefined when it may be run again. */
function outcomeOf({ intent, result }: RecordedCall): SettledCall | undefined {
  if (result !== undefined) return result.result as SettledCall;
  if (intent.replay === "safe") return undefined;
  const text = `The process ended while ${intent.toolName} ran. It is not known whether the call took effect, and it was not run again. Its idempotency key is ${intent.idempotencyKey}.`;
  return { result: textResult(text), isError: true, outcome: "unknown", durationMs: 0 };
}

/** What the log keeps of an event; undefined for what it does not. */
function entryOfEvent(event: AgentEvent, agent: Agent, entryOf: WeakMap<AgentMessage, string>): EntryBody | undefined {
  const { runId } = event;
  switch (event.type) {
    case "agent_start":
      return event.resumed === true ? undefined : { type: "run_start", runId, model: modelOf(agent) };
    case "agent_end": {
      const { reason, usage, error } = event;
      return { type: "run_end", runId, reason, usage, ...defined({ error }) };
    }
    case "message_end":
      return { type: "message", runId, message: event.message };
    case "approval_request": {
      const { type, approvalId, toolCallId, toolName, args, reason, expiresAt } = event;
      return { type, approvalId, toolCallId, toolName, args, ...defined({ reason, expiresAt }) };
    }
    case "approval_answer": {
      const { type, approvalId, decision, by, reason } = event;
      return { type, approvalId, decision, ...defined({ by, reason }) };
    }
    case "compaction_end": {
      if (event.outcome === "none" || event.outcome === "shortened") return undefined;
      const firstKeptId = (event.firstKept && entryOf.get(event.firstKept)) ?? null;
      return { type: "compaction", summary: event.summary, firstKeptId, tokensBefore: event.tokensBefore };
    }
    case "turn_start":
    case "turn_end":
    case "message_start":
    case "message_update":
    case "tool_execution_start":
    case "tool_execution_update":
    case "tool_execution_end":
    case "request_retry":
    case "model_failover":
    case "compaction_start":
      return undefined;
  }
}

function modelOf({ state: { model, thinkingLevel } }: Agent): SessionModel {
  return { provider: model.provider, model: model.id, thinkingLevel };
}
