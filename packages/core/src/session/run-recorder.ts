/** Writes an agent's runs to the log: its events and the steps of its tools. */
import type { Agent } from "../agent/agent.ts";
import { portsOf, type Effects } from "../agent/contract/effects.ts";
import type { ModelStepResult, StepAbout, StepResult } from "../agent/contract/step.ts";
import type { AgentEvent } from "../agent/contract/event.ts";
import type { Verdict } from "../agent/run/decided.ts";
import { onAbort, systemClock } from "../clock.ts";
import { defined, type Optional } from "../json-value.ts";
import type { AgentTranscript } from "./agent-transcript.ts";
import type { EntryBody } from "./entry.ts";
import { entriesOfEvent, nestedUsage } from "./event-entries.ts";
import type { KeptQueues } from "./kept-queues.ts";
import { recordCall } from "./record-call.ts";
import { inJson, outcomeOf, unansweredResults } from "./recorded-calls.ts";
import type { RunLog } from "./run-log.ts";
import type { RunState } from "./session-state.ts";
import type { StreamedText } from "./streamed-text.ts";

type EventOf<T extends AgentEvent["type"]> = Extract<AgentEvent, { type: T }>;

export interface RunRecorderParts<TContext> {
  readonly agent: Agent<TContext>;
  readonly log: RunLog;
  readonly transcript: AgentTranscript;
  /** The last run in the log. */
  readonly last: RunState | undefined;
  /** The same run, if its process did not finish it. */
  readonly open: RunState | undefined;
  /** Saves the text of answers while they stream. Absent: it is not saved. */
  readonly streamed?: StreamedText | undefined;
}

export class RunRecorder<TContext> {
  readonly #agent: Agent<TContext>;
  readonly #log: RunLog;
  readonly #transcript: AgentTranscript;
  readonly #streamed: StreamedText | undefined;
  /** The agent's original effects. */
  readonly #before: Optional<Effects> | undefined;
  /** Ids of approvals answered from the log, whose new answer is not written again. */
  readonly #answered = new Set<string>();
  #last: RunState | undefined;
  #open: RunState | undefined;
  #runId = "";
  /** Estimated tokens of the answer whose message follows. */
  #guess: number | undefined;
  /**
   * Settles when the previous event's entries are written. After an abort the run does not wait for
   * slow listeners, but entries must stay in order.
   */
  #tail: Promise<void> = Promise.resolve();
  #stopListening = (): void => {};
  #unsubscribe = (): void => {};

  constructor({ agent, log, transcript, last, open, streamed }: RunRecorderParts<TContext>) {
    this.#agent = agent;
    this.#log = log;
    this.#transcript = transcript;
    this.#streamed = streamed;
    this.#last = last;
    this.#open = open;
    this.#before = agent.effects;
    agent.effects = {
      ...portsOf(this.#before),
      step: (name, fn, about) => this.#step(name, fn, about),
      recorded: (name) => this.#recorded(name),
      decide: (name, fn) => this.#decide(name, fn),
    };
  }

  /** The run that its process did not finish, until another run begins. */
  get open(): RunState | undefined {
    return this.#open;
  }

  /** Resolves when the entries of all events so far are written. */
  get written(): Promise<void> {
    return this.#tail;
  }

  start(queues: KeptQueues): void {
    this.#unsubscribe = this.#agent.subscribe((event, signal) =>
      this.#onEvent(event, queues, signal),
    );
  }

  stop(): void {
    this.#unsubscribe();
    this.#stopListening();
    this.#streamed?.end();
    if (this.#before === undefined) delete this.#agent.effects;
    else this.#agent.effects = this.#before;
  }

  #onEvent(event: AgentEvent, queues: KeptQueues, signal: AbortSignal): Promise<void> | undefined {
    // A nested run is part of its tool's step. Only its usage needs entries.
    const isNested = event.parentRunId !== this.#agent.parentRunId;
    if (!isNested) this.#keepText(event);
    const bodies = isNested
      ? nestedUsage(event, this.#runId)
      : entriesOfEvent(event, this.#transcript);
    if (isNested && bodies.length === 0) return undefined;
    if (bodies.length === 0 && event.type !== "agent_start" && event.type !== "turn_end")
      return undefined;
    // Later messages have their own events.
    const { length } = this.#transcript.messages;
    const written = this.#tail.then(() =>
      event.type === "agent_start"
        ? this.#begin(event, queues, length, signal)
        : this.#write(event, queues, bodies, length),
    );
    this.#tail = written.catch(() => {});
    return written;
  }

  #keepText(event: AgentEvent): void {
    if (event.type === "message_update") this.#streamed?.add(event);
    else if (event.type === "message_end" && event.message.role === "assistant")
      this.#streamed?.end();
  }

  async #write(
    event: AgentEvent,
    queues: KeptQueues,
    bodies: readonly EntryBody[],
    count: number,
  ): Promise<void> {
    if (event.type === "agent_end") {
      this.#stopListening();
      [this.#last, this.#open] = [undefined, undefined];
    }
    if (event.type === "turn_end" || event.type === "agent_end")
      await this.#transcript.addUpTo(count);
    // The loop reads the queues next. Wait until every queued message is in the log.
    if (event.type === "turn_end") return queues.written();
    if (this.#isAnswered(event)) return;
    for (const body of bodies) {
      if (event.type === "message_end" && body.type === "message") {
        await this.#transcript.addBefore(event.message);
        const queuedId = queues.take(event.message);
        const isAnswer = event.message.role === "assistant";
        const guess = isAnswer ? this.#guess : undefined;
        await this.#transcript.add(event.message, { ...body, ...defined({ queuedId, guess }) });
      } else {
        const instead = "args" in body && (() => ({ ...body, args: inJson(body.args) }));
        await this.#log.add(body, instead || undefined);
      }
    }
  }

  async #begin(
    event: EventOf<"agent_start">,
    queues: KeptQueues,
    count: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { runId, resumed = false, deadline } = event;
    this.#runId = runId;
    this.#log.begin(undefined);
    if (this.#log.failure !== undefined) throw this.#log.failure;
    try {
      await queues.written();
      await this.#transcript.catchUp(count);
      if (!resumed) await this.#endInterrupted();
    } catch (error) {
      throw this.#log.fail(error, "internal_error");
    }
    if (!resumed) {
      const { model, thinkingLevel } = this.#agent.state;
      const asked = { provider: model.provider, model: model.id, thinkingLevel };
      const about = { ...queues.ids(), ...defined({ deadline }) };
      this.#log.begin({ type: "run_start", runId, model: asked, ...about });
    }
    this.#stopListening = onAbort(signal, () => {
      // The error cannot be reported here. A failing store also fails the next entry.
      const reason = typeof signal.reason === "string" ? signal.reason : undefined;
      this.#log.add({ type: "abort", runId, ...defined({ reason }) }).catch(() => {});
    });
  }

  /** Ends the interrupted run before another begins, and writes results for its pending calls. */
  async #endInterrupted(): Promise<void> {
    const run = this.#last;
    [this.#last, this.#open] = [undefined, undefined];
    const now = (this.#agent.clock ?? systemClock).now();
    for (const message of unansweredResults(this.#transcript.messages, run, now)) {
      this.#transcript.messages.push(message);
      const body = { type: "message", ...(run && { runId: run.runId }), message } as const;
      await this.#transcript.add(message, body);
    }
    if (run !== undefined && run.reason === undefined) {
      const { runId, usage } = run;
      await this.#log.add({ type: "run_end", runId, reason: "interrupted", usage });
    }
  }

  /**
   * Returns whether an event needs no entry because a person answered the same approval before the
   * crash. Gives that answer to the agent. It is valid only for the same arguments.
   */
  #isAnswered(event: AgentEvent): boolean {
    if (event.type === "approval_answer") return this.#answered.delete(event.approvalId);
    if (event.type !== "approval_request" || this.#open === undefined) return false;
    const { request, answer } = this.#open.answers.get(event.approvalId) ?? {};
    if (JSON.stringify(request?.args) !== JSON.stringify(inJson(event.args))) return false;
    // The answer was in time when it was given.
    if (!this.#agent.answer(event.approvalId, { ...answer, at: answer?.timestamp })) return false;
    this.#answered.add(event.approvalId);
    return true;
  }

  async #step<T extends StepResult>(
    name: string,
    run: () => Promise<T>,
    about: StepAbout,
  ): Promise<T> {
    const before = this.#before;
    const fn = (): Promise<T> =>
      before?.step === undefined ? run() : before.step(name, run, about);
    if (about.kind === "model") {
      await this.#log.startToContinue();
      const result = await fn();
      // The message is the record, with this.
      this.#guess = (result as Partial<ModelStepResult>).guess;
      return result;
    }
    const { kind: _, ...call } = about;
    const intent = { type: "tool_intent", runId: this.#runId, ...call } as const;
    return (await recordCall(this.#log, intent, fn)) as unknown as T;
  }

  /** A question that was open when its process ended keeps its time limit. */
  async #decide<T>(name: string, fn: () => Promise<T>): Promise<T> {
    const open = this.#open?.openApprovals.find(
      ({ approvalId }) => name === `expires:${approvalId}`,
    );
    if (open?.expiresAt !== undefined)
      return { value: open.expiresAt } satisfies Verdict<number> as T;
    return this.#before?.decide?.(name, fn) ?? fn();
  }

  #recorded(name: string): ReturnType<NonNullable<Effects["recorded"]>> {
    const call = this.#open?.calls.get(`${this.#runId}:${name.slice("tool:".length)}`);
    return (call && outcomeOf(call)) ?? this.#before?.recorded?.(name);
  }
}
