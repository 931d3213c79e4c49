/**
 * An agent whose runs are kept. What a run did stands in the log before it goes on: messages by an
 * awaited listener, a tool's intent before it starts and its result after it ended, by the agent's
 * effects. So another process can go on where this one stopped.
 */
import type { Agent } from "../agent/agent.ts";
import type { PromptOptions } from "../agent/agent-options.ts";
import { portsOf, type Effects } from "../agent/contract/effects.ts";
import type { AgentEvent } from "../agent/contract/event.ts";
import type { AgentMessage } from "../agent/contract/agent-message.ts";
import { bestAnswer } from "../agent/run/best-answer.ts";
import type { InterruptedRun, RunResult } from "../agent/run/run-result.ts";
import type { SettledCall } from "../agent/contract/tool-result.ts";
import { onAbort, systemClock } from "../clock.ts";
import { BowlineError, isBowlineError, toBowlineError } from "../errors.ts";
import type { InferSchema } from "../infer-schema.ts";
import { defined } from "../json-value.ts";
import type { Entry, EntryBody } from "./entry.ts";
import { entriesOfEvent } from "./event-entries.ts";
import { keepQueues } from "./kept-queues.ts";
import { inJson, outcomeOf, unansweredResults, unwritable } from "./recorded-calls.ts";
import { openSession, type Session, type SessionOptions } from "./session.ts";
import type { Store } from "./store.ts";

export interface AgentSession {
  readonly session: Session;
  /**
   * The run that its process did not finish. Undefined when there is none, and from the next run's
   * start on.
   */
  readonly interrupted: InterruptedRun | undefined;
  /**
   * Goes on with {@link interrupted}; undefined when there is none. Tools with a recorded result
   * are not run again; those that were running are run again if they say `replay: "safe"`, and
   * reported to the model as unknown otherwise. A run that was being aborted is brought to its end.
   * A prompt instead of this ends the run as `interrupted`, its calls answered. `output` is the
   * schema of a run that was asked for a value, once more.
   */
  resume<const TSchema>(
    this: void,
    options?: Pick<PromptOptions<TSchema>, "output">,
  ): Promise<RunResult<InferSchema<TSchema>> | undefined>;
  /**
   * Resolves when what was queued so far (`steer`, `followUp`) is in the log, from which the next
   * process takes what no run has taken. Rejects when it could not be written.
   */
  queued(this: void): Promise<void>;
  /**
   * Why nothing is kept any more. Until there is a reason, what a later listener hears of a run
   * that goes on is in the log.
   */
  readonly failure: BowlineError | undefined;
  /**
   * Ends the keeping; the session stays open. What waits in the agent's queues is the agent's alone
   * from then on.
   */
  detach(this: void): void;
}

/**
 * More than one step of a run can have events: the numbers of a resumed run begin beyond all that
 * were given out.
 */
const SEQ_PER_ENTRY = 1_000_000;

/**
 * Keeps the agent's runs in the session, which is open for writing. The agent's messages become the
 * session's, as a model is shown them. Rejects with `invalid_state` during a run, and for an agent
 * that has messages already.
 *
 * When an entry cannot be written, the run ends with that error (`storage_failed`), and so does
 * every later one: the session then has to be opened again, with a new agent, and holds all that
 * was written before.
 */
export async function attachSession<TContext>(
  agent: Agent<TContext>,
  session: Session,
): Promise<AgentSession> {
  if (agent.state.isStreaming) throw new BowlineError("invalid_state", "A run is going on.");
  if (agent.state.messages.length > 0) {
    throw new BowlineError(
      "invalid_state",
      "The agent has messages already: a session begins with a new agent.",
    );
  }
  const rewound = await isRewound(session);
  const state = await session.state();
  let { run: last } = state;
  let open = last?.reason === undefined && last?.hasBegun === true && !rewound ? last : undefined;
  // An entry for each life of a run keeps the numbers of their events apart.
  const reopened = open && (await session.append({ type: "reopen", runId: open.runId }));
  const seq = ((reopened?.seq ?? 0) + 1) * SEQ_PER_ENTRY;
  const interrupted = open && { runId: open.runId, turns: open.turns, usage: open.usage, seq };
  const ids = new WeakMap<AgentMessage, string>();
  for (const { id, message } of await session.contextEntries()) {
    agent.state.messages.push(message as AgentMessage);
    if (id !== undefined) ids.set(message as AgentMessage, id);
  }
  const transcript = {
    get messages() {
      return agent.state.messages;
    },
    idOf: (message: AgentMessage) => ids.get(message),
  };
  /** The agent's messages that are in the session, in their order. */
  const known = [...agent.state.messages];
  let runId = "";
  /** Written with the first thing that the run does. */
  let start: Extract<EntryBody, { type: "run_start" }> | undefined;
  let failure: BowlineError | undefined;
  let stopListening = (): void => {};
  /** Approvals that were answered before the crash. */
  const answered = new Set<string>();

  const before = agent.effects;
  agent.effects = { ...portsOf(before), step, recorded };
  const queues = keepQueues(agent, session, (!rewound && state.queued) || [], add);
  /**
   * After an abort the run does not wait for what takes long: one event is kept behind the other
   * all the same.
   */
  let keeping: Promise<void> = Promise.resolve();
  const unsubscribe = agent.subscribe((event, signal) => {
    if (event.parentRunId !== agent.parentRunId) return undefined; // a nested run is part of its tool's step
    const bodies = entriesOfEvent(event, transcript);
    if (bodies.length === 0 && event.type !== "agent_start" && event.type !== "turn_end")
      return undefined;
    const { length } = agent.state.messages;
    const kept = keeping.then(() => keep(event, bodies, length, signal));
    keeping = kept.catch(() => {});
    return kept;
  });
  return {
    session,
    get interrupted() {
      return open && interrupted;
    },
    async resume(options) {
      if (open === undefined || interrupted === undefined) return undefined;
      const { isAborted } = open;
      const running = agent.resume(interrupted, options);
      if (isAborted) agent.abort();
      const result = await running;
      // Its best answer may be one that was given before the process ended.
      const answers = agent.state.messages.filter((message) => message.role === "assistant");
      const message = bestAnswer(
        result.turns > 0 ? answers.slice(-result.turns) : [],
        result.reason,
      );
      return { ...result, ...defined({ message }) };
    },
    queued: queues.written,
    get failure() {
      return failure;
    },
    detach() {
      queues.release();
      unsubscribe();
      stopListening();
      if (before === undefined) delete agent.effects;
      else agent.effects = before;
    },
  };

  /**
   * `count` is how many messages the agent had at the event: what came behind it has an event of
   * its own.
   */
  async function keep(
    event: AgentEvent,
    bodies: readonly EntryBody[],
    count: number,
    signal: AbortSignal,
  ): Promise<void> {
    if (event.type === "agent_start") return begin(event, count, signal);
    if (event.type === "agent_end") {
      stopListening();
      [last, open] = [undefined, undefined];
    }
    if (event.type === "turn_end" || event.type === "agent_end") await keepAdded(count);
    if (event.type === "turn_end") return queues.written(); // they are read behind it: what no log has is not taken
    if (isAnswered(event)) return;
    for (const body of bodies) {
      if (event.type === "message_end") {
        await keepAdded(agent.state.messages.indexOf(event.message, known.length));
        const queuedId = queues.take(event.message);
        know(event.message, (await add({ ...body, ...defined({ queuedId }) })).id);
      } else
        await add(body, "args" in body ? () => ({ ...body, args: inJson(body.args) }) : undefined);
    }
  }

  async function begin(
    event: Extract<AgentEvent, { type: "agent_start" }>,
    count: number,
    signal: AbortSignal,
  ): Promise<void> {
    ({ runId } = event);
    start = undefined;
    if (failure !== undefined) throw failure;
    try {
      await queues.written();
      await catchUp(count);
      if (event.resumed !== true) await endInterrupted();
    } catch (error) {
      failure ??= toBowlineError(error, "internal_error");
      throw failure;
    }
    if (event.resumed !== true) {
      const { model, thinkingLevel } = agent.state;
      const asked = { provider: model.provider, model: model.id, thinkingLevel };
      start = { type: "run_start", runId, model: asked, ...queues.ids() };
    }
    stopListening = onAbort(signal, () => {
      // Nobody can be told here; a store that fails says so with the next entry.
      add({ type: "abort", runId: event.runId }).catch(() => {});
    });
  }

  /**
   * Keeps what the program added to the agent's messages between runs; other changes cannot be
   * kept.
   */
  async function catchUp(count: number): Promise<void> {
    const { messages } = agent.state;
    const changed = known.findIndex((message, index) => messages[index] !== message);
    if (changed >= 0) {
      const advice = `messages[${changed}] is another. Rewind the session, and attach a new agent.`;
      throw new BowlineError(
        "invalid_state",
        `The agent's messages are no longer those of its session: ${advice}`,
      );
    }
    await keepAdded(count);
  }

  /**
   * Keeps the first `count` of the agent's messages, those that the program added; none where it
   * moved others, as the next run says.
   */
  async function keepAdded(count: number): Promise<void> {
    const { messages } = agent.state;
    if (messages[known.length - 1] !== known.at(-1)) return;
    for (const message of messages.slice(known.length, Math.max(count, 0)))
      know(message, (await add({ type: "message", message })).id);
  }

  /**
   * Another run begins: the one that was left open is over, and what it knows of its calls is said.
   */
  async function endInterrupted(): Promise<void> {
    const run = last;
    [last, open] = [undefined, undefined];
    for (const message of unansweredResults(
      agent.state.messages,
      run,
      (agent.clock ?? systemClock).now(),
    )) {
      agent.state.messages.push(message);
      know(message, (await add({ type: "message", ...(run && { runId: run.runId }), message })).id);
    }
    if (run !== undefined && run.reason === undefined) {
      await add({ type: "run_end", runId: run.runId, reason: "interrupted", usage: run.usage });
    }
  }

  function know(message: AgentMessage, id: string): void {
    ids.set(message, id);
    known.push(message);
  }

  /** What a person said before the crash still holds, for exactly what was asked. */
  function isAnswered(event: AgentEvent): boolean {
    if (event.type === "approval_answer") return answered.delete(event.approvalId);
    if (event.type !== "approval_request" || open === undefined) return false;
    const { request, answer } = open.answers.get(event.approvalId) ?? {};
    if (JSON.stringify(request?.args) !== JSON.stringify(inJson(event.args))) return false;
    if (!agent.answer(event.approvalId, answer)) return false;
    answered.add(event.approvalId);
    return true;
  }

  async function step<T>(...[name, run, about]: Parameters<Effects["step"]>): Promise<T> {
    const fn = (): Promise<T> =>
      (before?.step === undefined ? run() : before.step(name, run, about)) as Promise<T>;
    if (about.kind === "model") {
      if (start !== undefined) {
        const first = { ...start, continues: true } as const;
        start = undefined;
        await add(first);
      }
      return fn(); // its message is the record
    }
    const { kind: _, ...call } = about;
    const { toolCallId, idempotencyKey } = about;
    const intent = { type: "tool_intent", runId, ...call } as const;
    await add(intent, () => ({ ...intent, args: inJson(call.args) }));
    let result = (await fn()) as SettledCall;
    const entry = (): EntryBody => {
      const { isError } = result;
      return {
        type: "tool_result",
        runId: intent.runId,
        toolCallId,
        idempotencyKey,
        result,
        isError,
      };
    };
    await add(entry(), (error) => {
      result = unwritable(result, error);
      return entry();
    });
    return result as T;
  }

  function recorded(name: string): ReturnType<NonNullable<Effects["recorded"]>> {
    const call = open?.calls.get(`${runId}:${name.slice("tool:".length)}`);
    return (call && outcomeOf(call)) ?? before?.recorded?.(name);
  }

  /**
   * `instead` makes an entry of one that is no JSON. After a failure nothing is written: what came
   * behind would have a gap before it.
   */
  async function add(
    body: EntryBody,
    instead?: (error: BowlineError) => EntryBody,
    id?: string,
  ): Promise<Entry> {
    if (failure !== undefined) throw failure;
    const first = start;
    start = undefined;
    try {
      if (first !== undefined) await session.append(first);
      return await session.append(body, id);
    } catch (error) {
      if (instead !== undefined && isBowlineError(error) && error.code === "invalid_argument")
        return add(instead(error));
      failure ??= toBowlineError(error, "storage_failed");
      throw failure;
    }
  }
}

/**
 * Opens a session, attaches the agent and goes on with the run that was interrupted, if there is
 * one. The agent needs the model, the tools and the hooks of the one before. Rejects as {@link
 * openSession} and {@link attachSession} do.
 */
export async function resumeSession<TContext, const TSchema>(
  store: Store,
  id: string,
  agent: Agent<TContext>,
  options: SessionOptions & Pick<PromptOptions<TSchema>, "output"> = {},
): Promise<AgentSession & { readonly result: RunResult<InferSchema<TSchema>> | undefined }> {
  const session = await openSession(store, id, options);
  try {
    const attached = await attachSession(agent, session);
    return Object.assign(attached, { result: await attached.resume(options) });
  } catch (error) {
    await session.close();
    throw error;
  }
}

/** Who rewound into the middle of a run does not want its end. */
async function isRewound(session: Session): Promise<boolean> {
  const head = await session.head();
  for await (const { id } of session.entries({ reverse: true })) return id !== head;
  return false;
}
