/**
 * An agent whose runs are kept. What a run did stands in the log before it goes on: messages by an
 * awaited listener, a tool's intent before it starts and its result after it ended, by the agent's
 * effects. So another process can go on where this one stopped.
 */
import type { Agent } from "../agent/agent.ts";
import type { PromptOptions } from "../agent/agent-options.ts";
import { bestAnswer } from "../agent/run/best-answer.ts";
import type { InterruptedRun, RunResult } from "../agent/run/run-result.ts";
import { BowlineError } from "../errors.ts";
import type { InferSchema } from "../infer-schema.ts";
import { AgentTranscript } from "./agent-transcript.ts";
import { keepQueues } from "./kept-queues.ts";
import { RunLog } from "./run-log.ts";
import { RunRecorder } from "./run-recorder.ts";
import { openSession, type OpenOptions, type Session } from "./session.ts";
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
 * session's, as a model is shown them. Rejects with `invalid_state` during a run, for an agent that
 * has messages already, and for a session that has another agent.
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
  const release = session.claim();
  try {
    return await attach(agent, session, release);
  } catch (error) {
    release();
    throw error;
  }
}

async function attach<TContext>(
  agent: Agent<TContext>,
  session: Session,
  release: () => void,
): Promise<AgentSession> {
  const rewound = await isRewound(session);
  const state = await session.state();
  const { run: last } = state;
  const open = last?.reason === undefined && last?.hasBegun === true && !rewound ? last : undefined;
  // An entry for each life of a run keeps the numbers of their events apart.
  const reopened = open && (await session.append({ type: "reopen", runId: open.runId }));
  const seq = ((reopened?.seq ?? 0) + 1) * SEQ_PER_ENTRY;
  const interrupted = open && { runId: open.runId, turns: open.turns, usage: open.usage, seq };
  const log = new RunLog(session);
  const transcript = new AgentTranscript(agent, log, await session.contextEntries());
  const recorder = new RunRecorder({ agent, log, transcript, last, open });
  const queued = (!rewound && state.queued) || [];
  const queues = keepQueues(agent, session, queued, (...entry) => log.add(...entry));
  recorder.start(queues);
  return {
    session,
    get interrupted() {
      return recorder.open && interrupted;
    },
    async resume(options) {
      if (recorder.open === undefined || interrupted === undefined) return undefined;
      return resumeRun(agent, interrupted, recorder.open.isAborted, options);
    },
    queued: queues.written,
    get failure() {
      return log.failure;
    },
    detach() {
      queues.release();
      recorder.stop();
      release();
    },
  };
}

async function resumeRun<TContext, const TSchema>(
  agent: Agent<TContext>,
  interrupted: InterruptedRun,
  isAborted: boolean,
  options: Pick<PromptOptions<TSchema>, "output"> | undefined,
): Promise<RunResult<InferSchema<TSchema>>> {
  const running = agent.resume(interrupted, options);
  if (isAborted) agent.abort();
  const result = await running;
  // Its best answer may be one that was given before the process ended.
  const answers = agent.state.messages.filter((message) => message.role === "assistant");
  const ofRun = result.turns > 0 ? answers.slice(-result.turns) : [];
  return { ...result, ...bestAnswer(ofRun, result.reason) };
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
  options: Omit<OpenOptions, "readOnly"> & Pick<PromptOptions<TSchema>, "output"> = {},
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
