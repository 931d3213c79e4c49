/**
 * Records an agent's runs in a session. Each step is in the log before the run continues, so
 * another process can resume where this one stopped. An awaited listener writes messages. The
 * agent's effects write a tool's intent before it starts and its result after it ends.
 */
import type { Agent } from "../agent/agent.ts";
import type { PromptOptions } from "../agent/agent-options.ts";
import type { CompactionEvent } from "../agent/contract/compaction-event.ts";
import { bestAnswer } from "../agent/run/best-answer.ts";
import type { InterruptedRun, RunResult } from "../agent/run/run-result.ts";
import { systemClock } from "../clock.ts";
import { BowlineError } from "../errors.ts";
import type { InferSchema } from "../infer-schema.ts";
import { defined } from "../json-value.ts";
import { messageText } from "../llm/message.ts";
import { AgentTranscript } from "./agent-transcript.ts";
import { entriesOfEvent } from "./event-entries.ts";
import { keepQueues } from "./kept-queues.ts";
import { RunLog } from "./run-log.ts";
import { RunRecorder } from "./run-recorder.ts";
import { openSession, type OpenOptions } from "./open-session.ts";
import type { Session } from "./session.ts";
import type { RunState } from "./session-state.ts";
import type { Store } from "./store.ts";
import { StreamedText } from "./streamed-text.ts";

export interface AttachOptions {
  /**
   * Saves the text of an answer while it streams: its first piece at once, then what has arrived in
   * each 100 ms. If the process ends, the next one keeps the text as a cut answer. Default false.
   */
  readonly saveStreamedText?: boolean | undefined;
}

/** Sizes of the context that a reader of the session can show, in tokens. */
export interface CompactionSizes {
  readonly tokensBefore?: number | undefined;
  readonly tokensAfter?: number | undefined;
}

/** A run in a session that its process did not finish. */
export interface InterruptedSessionRun extends InterruptedRun {
  /**
   * The text of the answer that was streaming, as far as it was saved. It is the last message of
   * the transcript, with the stop reason `aborted`.
   */
  readonly partialText?: string;
}

export interface AgentSession {
  readonly session: Session;
  /**
   * The run that an earlier process did not finish. Undefined when there is none, and after the
   * next run has started.
   */
  readonly interrupted: InterruptedSessionRun | undefined;
  /**
   * Resumes {@link interrupted}. Resolves with undefined when there is none. Tools with a recorded
   * result do not run again. Tools that were running run again if they have `replay: "safe"`;
   * otherwise the model is told that their outcome is unknown. A run that was being aborted is
   * ended. Pass `output` again for a run that had it. If you call `prompt()` instead, the run ends
   * as `interrupted` and its pending calls get results.
   */
  resume<const TSchema>(
    this: void,
    options?: Pick<PromptOptions<TSchema>, "output">,
  ): Promise<RunResult<InferSchema<TSchema>> | undefined>;
  /**
   * Resolves when all messages queued so far (`steer`, `followUp`) are in the log. The next process
   * queues those again that no run has taken. Rejects when they could not be written.
   */
  queued(this: void): Promise<void>;
  /**
   * Records a compaction that no run contains, by its event. Runs record their own. Rejects with
   * `invalid_state` during a run.
   */
  addCompaction(
    this: void,
    event: Extract<CompactionEvent, { type: "compaction_end" }>,
  ): Promise<void>;
  /**
   * Undoes the compaction in force ({@link Session.compaction}): writes a `compaction_undo` entry, then
   * gives the agent the messages that the model saw before that compaction, and all later ones. Resolves
   * with false if there is none. Afterwards call `restore(undefined)` of the agent's `Compaction`. Rejects with
   * `invalid_state` during a run; do not begin one before this resolves.
   */
  undoCompaction(this: void, sizes?: CompactionSizes): Promise<boolean>;
  /**
   * The error after which nothing more is recorded. While it is undefined, an event that reaches a
   * later listener is in the log.
   */
  readonly failure: BowlineError | undefined;
  /**
   * Stops recording and leaves the session open. Messages in the agent's queues then stay only in
   * the agent.
   */
  detach(this: void): void;
}

/**
 * Sequence numbers reserved per log entry, so that the events of a resumed run begin after all
 * numbers already used. A step can have more than one event.
 */
const SEQ_PER_ENTRY = 1_000_000;

/**
 * Records the agent's runs in the session, which must be open for writing. The agent gets the
 * session's messages, in the form that a model sees. Rejects with `invalid_state` during a run, for
 * an agent that already has messages, and for a session that has another agent.
 *
 * When an entry cannot be written, this run and every later one end with `storage_failed`. Open the
 * session again with a new agent; it holds everything written before.
 */
export async function attachSession<TContext>(
  agent: Agent<TContext>,
  session: Session,
  options: AttachOptions = {},
): Promise<AgentSession> {
  if (agent.state.isStreaming)
    throw new BowlineError(
      "invalid_state",
      "The agent is running. Attach it before or after the run.",
    );
  if (agent.state.messages.length > 0) {
    throw new BowlineError("invalid_state", "The agent already has messages. Attach a new agent.");
  }
  const release = session.claim();
  try {
    return await attach(agent, session, options, release);
  } catch (error) {
    release();
    throw error;
  }
}

async function attach<TContext>(
  agent: Agent<TContext>,
  session: Session,
  { saveStreamedText = false }: AttachOptions,
  release: () => void,
): Promise<AgentSession> {
  const rewound = await isRewound(session);
  const state = await session.state();
  const { run: last } = state;
  const open = last?.reason === undefined && last?.hasBegun === true && !rewound ? last : undefined;
  const interrupted = open && (await reopen(session, open));
  const log = new RunLog(session);
  const transcript = new AgentTranscript(agent, log, await session.contextEntries());
  const clock = agent.clock ?? systemClock;
  const streamed = saveStreamedText ? new StreamedText(log, clock) : undefined;
  const recorder = new RunRecorder({ agent, log, transcript, last, open, streamed });
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
    async addCompaction(event) {
      await catchUp(agent, recorder, transcript);
      const { run } = await session.state();
      const bodies = entriesOfEvent({ ...event, runId: run?.runId ?? "", seq: 0 }, transcript);
      // Usage belongs to a run.
      for (const body of bodies)
        if (body.type !== "usage" || run !== undefined) await log.add(body);
    },
    async undoCompaction(sizes = {}) {
      await catchUp(agent, recorder, transcript);
      const compaction = await session.compaction();
      if (compaction === undefined) return false;
      await log.add({
        type: "compaction_undo",
        compactionId: compaction.id,
        ...defined({ ...sizes }),
      });
      transcript.reload(await session.contextEntries());
      return true;
    },
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

/** Writes what the log does not have yet. Rejects with `invalid_state` during a run. */
async function catchUp<TContext>(
  agent: Agent<TContext>,
  recorder: RunRecorder<TContext>,
  transcript: AgentTranscript,
): Promise<void> {
  if (agent.state.isStreaming)
    throw new BowlineError("invalid_state", "The agent is running. Wait until the run has ended.");
  await recorder.written;
  await transcript.catchUp(transcript.messages.length);
}

/** Takes over a run. Its partial answer becomes a message, so that nothing shown is lost. */
async function reopen(session: Session, run: RunState): Promise<InterruptedSessionRun> {
  const { runId, usage, guess, deadline, partialAnswer: message } = run;
  // An entry for each resume separates the event numbers of the processes of a run.
  const { seq: at } = await session.append({ type: "reopen", runId });
  const seq = (at + 1) * SEQ_PER_ENTRY;
  const kept = { runId, usage, seq, ...defined({ guess, deadline }) };
  if (message === undefined) return { ...kept, turns: run.turns };
  await session.append({ type: "message", runId, message });
  return { ...kept, turns: run.turns + 1, partialText: messageText(message) };
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
  // The best answer may be one from the earlier process.
  const answers = agent.state.messages.filter((message) => message.role === "assistant");
  const ofRun = result.turns > 0 ? answers.slice(-result.turns) : [];
  return { ...result, ...bestAnswer(ofRun, result.reason) };
}

/**
 * Opens a session, attaches the agent and resumes the interrupted run, if any. Configure the agent
 * with the same model, tools and hooks as before. Rejects as {@link openSession} and {@link
 * attachSession} do.
 */
export async function resumeSession<TContext, const TSchema>(
  store: Store,
  id: string,
  agent: Agent<TContext>,
  options: Omit<OpenOptions, "readOnly"> &
    AttachOptions &
    Pick<PromptOptions<TSchema>, "output"> = {},
): Promise<AgentSession & { readonly result: RunResult<InferSchema<TSchema>> | undefined }> {
  const session = await openSession(store, id, options);
  try {
    const attached = await attachSession(agent, session, options);
    return Object.assign(attached, { result: await attached.resume(options) });
  } catch (error) {
    await session.close();
    throw error;
  }
}

/** Returns whether the session was rewound. A run that was rewound is not resumed. */
async function isRewound(session: Session): Promise<boolean> {
  const head = await session.head();
  for await (const { id } of session.entries({ reverse: true, files: false })) return id !== head;
  return false;
}
