/** One attempt at a run. Every attempt goes the same way, by what the journal has. */
import { randomUUID } from "node:crypto";
import {
  BowlineError,
  isBowlineError,
  runLoop,
  toErrorInfo,
  type Agent,
  type RunResult,
  type ToolStepResult,
} from "@bowline/core";
import { openSession, type AnyEntry, type SessionHeader } from "@bowline/core/session";
import type { EngineContext } from "../engine/context.ts";
import type { AgentRequest, EventSource, RunEnding, RunsSettings } from "../options.ts";
import {
  APPROVED,
  RUNNING,
  type RunInput,
  type RunningRun,
  type RunOutcome,
  type WakeInput,
} from "../wire.ts";
import type { Adoptions, StepOwner } from "./adoptions.ts";
import { createRunEffects } from "./effects.ts";
import { Journal } from "./journal.ts";
import { LiveEvents } from "./live-events.ts";
import { loadRun, type RunStart } from "./load.ts";
import { checkAgent, loopInput } from "./loop-input.ts";
import { promptsOf } from "./prompts.ts";
import { SessionLog } from "./session-log.ts";
import { Transcript } from "./transcript.ts";

type Source = Omit<EventSource, "number">;
type ReadyStart = Extract<RunStart, { state: "ready" }>;

/**
 * Runs the loop for the session of the context. Rejects with `not_found` for a session that was
 * deleted. After the attempt is over, it rejects with `aborted`, or never settles.
 */
export async function runAttempt(
  context: EngineContext,
  settings: RunsSettings,
  adoptions: Adoptions,
  input: RunInput | WakeInput,
): Promise<RunOutcome> {
  const attempt = new Attempt(context, settings, adoptions, input);
  return attempt.run();
}

class Attempt {
  readonly #context: EngineContext;
  readonly #settings: RunsSettings;
  readonly #adoptions: Adoptions;
  readonly #input: RunInput | WakeInput;
  readonly #controller = new AbortController();
  readonly #journal: Journal;

  constructor(
    context: EngineContext,
    settings: RunsSettings,
    adoptions: Adoptions,
    input: RunInput | WakeInput,
  ) {
    this.#context = context;
    this.#settings = settings;
    this.#adoptions = adoptions;
    this.#input = input;
    const { clock, rest } = settings.probe ?? {};
    const now = clock && (() => clock.now());
    this.#journal = new Journal(context, () => this.#controller.abort(), now, rest);
  }

  async run(): Promise<RunOutcome> {
    const { store } = this.#settings;
    const { key: sessionId } = this.#context;
    const journal = this.#journal;
    const input = this.#input;
    if (!("messageId" in input)) {
      const waiting = await journal.record("pending", () => store.durable.pending(sessionId));
      if (waiting === 0) return { state: "idle" };
    }
    // Not journaled: each attempt takes an epoch of its own, and refuses the writes of the others.
    const epoch = await store.durable.takeEpoch(sessionId);
    const header = await store.load(sessionId);
    const given = "messageId" in input ? input.runId : undefined;
    // Random, because the engine gives a purged invocation the same id again.
    const { runId, by } = await journal.record("run", () =>
      Promise.resolve({ runId: given ?? randomUUID(), by: randomUUID() }),
    );
    const log = new SessionLog({
      durable: store.durable,
      sessionId,
      epoch,
      retryMs: this.#settings.storageRetryMs,
      ended: this.#context.ended,
    });
    const agents = this.#agents(header, runId);
    const start = await journal.record("start", () =>
      loadRun({ store, log, runId, by, input, agentFor: agents }),
    );
    if (start.state !== "ready") return start;
    try {
      return await this.#runFrom(start, { runId, log, agents, header });
    } catch (error) {
      // The session is gone: its log cannot say that the run has ended.
      const isFinal = isBowlineError(error) && error.code === "not_found";
      if (isFinal && !this.#context.ended.aborted) this.#context.clear(RUNNING);
      throw error;
    }
  }

  /** Returns a function that creates the agent at its first call. */
  #agents(header: SessionHeader, runId: string): (agent: string | undefined) => Promise<Agent> {
    let made: Promise<Agent> | undefined;
    return (agent) =>
      (made ??= (async () => {
        const created = await this.#settings.createAgent(this.#request(header, runId, agent));
        checkAgent(created);
        return created;
      })());
  }

  #request(header: SessionHeader, runId: string, agent: string | undefined): AgentRequest {
    const input = this.#input;
    const metadata = "messageId" in input ? input.metadata : undefined;
    return { sessionId: this.#context.key, header, runId, agent, metadata };
  }

  async #runFrom(start: ReadyStart, about: RunAbout): Promise<RunOutcome> {
    const { runId, log } = about;
    const journal = this.#journal;
    const context = this.#context;
    const running: RunningRun = {
      runId,
      invocationId: context.invocationId,
      since: journal.now,
    };
    context.set(RUNNING, running);
    const source: Source = {
      sessionId: log.sessionId,
      runId,
      attempt: log.epoch,
      isRepeated: start.epoch !== log.epoch,
    };
    const approved = (await journal.state<readonly string[]>(APPROVED)) ?? [];
    const approvedTools = new Set(approved);
    const session = await openSession(this.#settings.store, log.sessionId, { readOnly: true });
    const before = await session.contextEntries(start.head ?? undefined);
    const transcript = new Transcript(runId, before, () => journal.now);
    const ran =
      start.error === undefined
        ? await this.#loop(start, about, source, transcript, approvedTools)
        : this.#refused(start, about, transcript);
    const items = transcript.take();
    const left = ran.left.map(({ id }) => id);
    const isHolding = this.#settings.holdsLeft && hasFailed(ran.ending);
    await journal.record("end", () => log.end({ runId, items, left, isHolding }));
    if (approvedTools.size > approved.length) context.set(APPROVED, [...approvedTools]);
    context.clear(RUNNING);
    this.#tellEnd(ran.ending, source);
    return ran.outcome;
  }

  #tellEnd(ending: RunEnding, source: Source): void {
    if (this.#context.ended.aborted) return;
    try {
      this.#settings.onEnd(ending, source);
    } catch {
      // The run has ended, and is stored. A reader cannot change that.
    }
  }

  async #loop(
    start: ReadyStart,
    { runId, log, agents, header }: RunAbout,
    source: Source,
    transcript: Transcript,
    approvedTools: Set<string>,
  ): Promise<Ran> {
    const { store, onEvent, outputOf, maxJournaledBytes, probe } = this.#settings;
    const agent = await agents(start.agent);
    agent.state.messages = [...transcript.messages];
    const live = new LiveEvents(source, onEvent);
    const owner: StepOwner = {
      controller: this.#controller,
      ended: this.#context.ended,
      takeEvent: (event, before) => live.takeOver(event, before),
    };
    const { prompts, taken } = promptsOf(this.#input, start.taken, transcript);
    const { effects, left } = createRunEffects({
      runId,
      journal: this.#journal,
      log,
      transcript,
      adoptions: this.#adoptions,
      owner,
      live,
      modes: { steering: agent.steeringMode, followUp: agent.followUpMode },
      taken,
      approvedTools,
      maxResultBytes: maxJournaledBytes,
      load: async (seq) => resultAt(store.read(log.sessionId, { from: seq }), seq),
    });
    const output = outputOf(this.#request(header, runId, start.agent));
    const { signal } = this.#controller;
    const watched = probe?.watch(effects) ?? effects;
    const parts = { agent, runId, effects: watched, signal, output, clock: probe?.clock };
    const { input, finish } = loopInput(parts);
    transcript.follow(agent.state.messages);
    const result = await runLoop(prompts, input).then(finish);
    probe?.onResult(result);
    const { reason, error } = result;
    const ending = { reason, ...(error && { error: toErrorInfo(error) }), hasAgent: true };
    return { outcome: outcomeOf(result), ending, left: left() };
  }

  /** Ends a run without an agent: its messages are in the transcript, and the error. */
  #refused(start: ReadyStart, { runId }: RunAbout, transcript: Transcript): Ran {
    const { error } = start;
    if (error === undefined) throw new BowlineError("internal_error", "The run has an agent.");
    const { prompts, taken } = promptsOf(this.#input, start.taken, transcript);
    for (const message of prompts) transcript.add({ type: "message", runId, message });
    transcript.add({ type: "run_end", runId, reason: "error", error });
    const outcome = {
      state: "ended",
      runId,
      reason: "error",
      text: "",
      usage: {},
      turns: 0,
    } as const;
    const ending = { reason: "error", error, hasAgent: false } as const;
    return { outcome: { ...outcome, error }, ending, left: taken };
  }
}

interface RunAbout {
  readonly runId: string;
  readonly log: SessionLog;
  readonly header: SessionHeader;
  readonly agents: (agent: string | undefined) => Promise<Agent>;
}

interface Ran {
  readonly outcome: RunOutcome;
  readonly ending: RunEnding;
  readonly left: ReadyStart["taken"];
}

function outcomeOf({ runId, reason, text, output, usage, turns, error }: RunResult): RunOutcome {
  return {
    state: "ended",
    runId,
    reason,
    text,
    usage,
    turns,
    ...(output !== undefined && { output }),
    ...(error !== undefined && { error: toErrorInfo(error) }),
  };
}

/** A run that was stopped or failed leaves messages that are not to begin another one. */
function hasFailed({ reason }: RunEnding): boolean {
  return reason === "aborted" || reason === "error";
}

async function resultAt(
  batches: AsyncIterable<readonly AnyEntry[]>,
  seq: number,
): Promise<ToolStepResult> {
  for await (const [entry] of batches)
    if (entry?.seq === seq) return (entry as AnyEntry & { result: ToolStepResult }).result;
  throw new BowlineError("storage_failed", `Entry ${seq}, a tool's result, is missing.`);
}
