/**
 * Watches one agent in a simulation: takes what the simulation sees and what the agent emits, and
 * checks the invariants at each step.
 */
import type {
  AgentEvent,
  AgentMessage,
  RunResult,
  StepAbout,
  ToolRunContext,
} from "../../src/agent/index.ts";
import { BowlineError } from "../../src/errors.ts";
import type { Context } from "../../src/llm/message.ts";
import type { Model, StreamOptions } from "../../src/llm/model.ts";
import { checkBudget } from "./check-budget.ts";
import { checkExecution } from "./check-calls.ts";
import { checkResult } from "./check-end.ts";
import { Circumstances, DEFAULT_ABORT_GRACE_MS } from "./circumstances.ts";
import { describe, namesOf } from "./describe.ts";
import { newRun, type CallFacts, type ExecutionFacts, type RunRecord } from "./facts.ts";
import { EventOrder, pairingProblem } from "./order.ts";
import type { AgentPlan, ToolPlan } from "./plan.ts";
import { QueueWatch } from "./queue-watch.ts";
import type { Report } from "./report.ts";
import { RunWatch } from "./run-watch.ts";
import type { CountingClock, Timeline } from "./timeline.ts";
import { TranscriptWatch } from "./transcript-watch.ts";

export type Moment = "event" | "request" | "execution" | "hook";

export interface WatchOptions {
  readonly tag: string;
  readonly plan: AgentPlan;
  readonly timeline: Timeline;
  readonly report: Report;
  readonly note: (line: () => string) => void;
  readonly count: (what: string) => void;
  /** Checks a request as a strict server would. */
  readonly checkWire: (model: Model, context: Context, options: StreamOptions) => void;
  /** The other agent's tag, which must never occur here. */
  readonly stranger: string | undefined;
  /** The watch of the agent whose tool this agent is. */
  readonly parent?: Watch;
}

export class Watch {
  readonly tag: string;
  readonly key: string;
  /** Passed to tools as the agent's context. */
  readonly context: object;
  readonly clock: CountingClock;
  readonly queue: QueueWatch;
  readonly circumstances: Circumstances;
  readonly signals = new Set<AbortSignal>();
  readonly children: Watch[] = [];
  /** Answers an approval request; false if none is pending. */
  answer: (approvalId: string, value: unknown) => boolean = () => false;
  /** Something stalls, so a person may abort. */
  isStalled = false;
  events = 0;
  readonly #options: WatchOptions;
  readonly #report: Report;
  readonly #transcript: TranscriptWatch;
  readonly #keys = new Set<string>();
  readonly #orders = new Map<string, EventOrder>();
  readonly #counts: Record<Moment, number> = { event: 0, request: 0, execution: 0, hook: 0 };
  readonly #calls: CallFacts[] = [];
  /** The approval requests of this run, including those of nested runs. */
  readonly #questions = new Set<string>();
  #trigger: (on: Moment, at: number) => void = () => {};
  #ids = 0;
  #run: RunWatch | undefined;

  constructor(options: WatchOptions) {
    const { tag, plan, timeline, report, parent } = options;
    this.#options = options;
    this.tag = tag;
    this.key = `key of ${tag}`;
    this.context = { of: tag };
    this.clock = timeline.clock(plan.yields);
    this.#report = (check, text) => report(check, `${tag}: ${text}`);
    this.queue = new QueueWatch(plan.settings, this.#report);
    this.#transcript = new TranscriptWatch(this.#report);
    this.circumstances = new Circumstances(plan, () => timeline.now(), parent?.circumstances);
    if (parent !== undefined) this.answer = (name, value) => parent.answer(name, value);
  }

  readonly createId = (): string => `${this.tag}${++this.#ids}`;

  /** The watch of a nested agent. */
  child(plan: AgentPlan): Watch {
    const watch = new Watch({
      ...this.#options,
      tag: `${this.tag}/${this.children.length}.`,
      plan,
      parent: this,
    });
    this.children.push(watch);
    return watch;
  }

  /** Calls `trigger` at every event, request, execution and hook, with its number. */
  onMoment(trigger: (on: Moment, at: number) => void): void {
    this.#trigger = trigger;
  }

  note(line: () => string): void {
    this.#options.note(() => `${this.tag} ${line()}`);
  }

  count(what: string): void {
    this.#options.count(what);
  }

  /** The current run. */
  get run(): RunRecord | undefined {
    return this.#run?.record;
  }

  get lastCall(): CallFacts | undefined {
    return this.#calls.at(-1);
  }

  /** A hook with a plan for this call is called. */
  hooked(line: () => string): void {
    this.note(line);
    this.#moment("hook");
  }

  #moment(on: Moment): void {
    this.#trigger(on, this.#counts[on]++);
  }

  // Calls by the simulation

  begins(history: readonly AgentMessage[], isForOutput = false): void {
    const { circumstances, queue } = this;
    const { plan, parent, timeline, count } = this.#options;
    const record = newRun(new EventOrder(this.isSequential), timeline.now(), history);
    record.isForOutput = isForOutput;
    circumstances.hasFailed = false;
    circumstances.runs.push(record);
    parent?.run?.nested.push(record);
    this.#transcript.begin(history);
    const now = (): number => timeline.now();
    const parts = {
      plan,
      now,
      circumstances,
      queue,
      transcript: this.#transcript,
      report: this.#report,
      count,
    };
    this.#run = new RunWatch(record, parts);
  }

  /** The agent has refused to begin a run. */
  refused(): void {
    this.#run = undefined;
    this.circumstances.runs.pop();
  }

  /** Whether tools of these names run one after the other. */
  readonly isSequential = (names: readonly string[]): boolean => {
    const { settings, tools } = this.#options.plan;
    if (settings.toolExecution === "sequential") return true;
    return tools.some(({ name, sequential }) => sequential === true && names.includes(name));
  };

  /** Call this just before the abort, and the returned function just after it. */
  aborts(): () => void {
    const { run } = this;
    this.note(() => "abort");
    if (run === undefined || run.order.isOver) return () => {};
    // The reader of a loop's stream receives turns later, and may have left.
    const turnEnds = this.#options.plan.face === "agent" ? run.turnEnds : Infinity;
    run.abort ??= { at: this.clock.now(), turnEnds, isStreamOver: this.lastCall?.closed ?? true };
    return () => {
      const call = this.lastCall;
      if (call?.closed === false && call.signal?.aborted !== true)
        this.#report("3 signal", "a stream was not told");
      for (const [id, { settled, hasBegun, signal }] of call?.executions ?? []) {
        if (hasBegun && settled === undefined && !signal.aborted)
          this.#report("3 signal", `the tool of ${id} was not told`);
      }
    };
  }

  /** Waits for the signal, or without end: only an abort or a limit can end it. */
  stall<T = void>(signal?: AbortSignal): Promise<T> {
    const { parent } = this.#options;
    if (parent !== undefined) return parent.stall<T>(signal);
    this.note(() => "stalls");
    this.isStalled = true;
    return new Promise((resolve) => {
      const leave = (): void => resolve(undefined as T);
      if (signal?.aborted === true) leave();
      else signal?.addEventListener("abort", leave, { once: true });
    });
  }

  /** The run is asked to stop after this turn. */
  stopAsked(): true {
    if (this.run !== undefined) this.run.stopAsked = true;
    return true;
  }

  // Calls by the agent

  request(model: Model, context: Context, options: StreamOptions): CallFacts {
    const { tag, run } = this;
    const { messages } = context;
    const { signal, apiKey } = options;
    const number = this.#calls.length;
    this.note(() => `request ${number} with ${messages.length} messages`);
    const facts = {
      delivered: [],
      updates: [],
      closed: false,
      executions: new Map(),
      kept: new Set<string>(),
    };
    const call: CallFacts = { tag, number, signal, ...facts, edited: new Set() };
    this.#calls.push(call);
    if (signal !== undefined) this.signals.add(signal);
    if (run === undefined) this.#report("3 request", `request ${number} outside a run`);
    else {
      run.calls.set(messages.filter(({ role }) => role === "assistant").length, call);
      if (run.abort !== undefined) this.#report("3 request", `request ${number} after the abort`);
      if (run.failedStep !== undefined)
        this.#report("3 request", `request ${number} after ${run.failedStep} failed`);
      this.#checkBudget();
    }
    const problem = pairingProblem(messages);
    if (problem !== undefined) this.#report("1 pairs", `request ${number}: ${problem}`);
    const { stranger, checkWire } = this.#options;
    if (apiKey !== this.key)
      this.#report("12 strangers", `request ${number} has the key ${apiKey}`);
    if (stranger !== undefined && JSON.stringify(messages).includes(stranger)) {
      this.#report("12 strangers", `request ${number} has messages of ${stranger}`);
    }
    checkWire(model, context, options);
    this.#moment("request");
    return call;
  }

  /** Checks the budgets of the run and of the run whose tool started it. */
  #checkBudget(): void {
    const { plan, parent } = this.#options;
    const { isCalm, together } = this.circumstances;
    if (!isCalm) checkBudget(together, plan.settings.budget, this.clock.now(), this.#report);
    if (parent?.run !== undefined) parent.#checkBudget();
  }

  /**
   * A step is to be recorded; a recorded step may have taken effect. Returns a function that makes
   * the error of a failed recording.
   */
  steps(name: string, { kind }: StepAbout): () => BowlineError {
    const { run } = this;
    if (kind === "tool" && run?.abort !== undefined)
      this.#report("3 tool", `${name} was recorded after the abort`);
    return () => {
      if (run !== undefined && run === this.run) {
        run.failedStep ??= name;
        this.circumstances.hasFailed = true;
      }
      return new BowlineError("storage_failed", `${name} was not recorded`);
    };
  }

  executed(
    tool: ToolPlan,
    id: string,
    params: unknown,
    signal: AbortSignal,
    toolRun: ToolRunContext | undefined,
  ): ExecutionFacts {
    this.note(() => `runs ${tool.name} ${id} ${JSON.stringify(params)}`);
    const facts: ExecutionFacts = { signal, hasBegun: false };
    const call = this.lastCall;
    const { maxParallelTools = Infinity, skipToolsOnSteering = false } =
      this.#options.plan.settings;
    const { steering } = this.queue;
    this.signals.add(signal);
    if (this.run?.abort !== undefined || signal.aborted)
      this.#report("3 tool", `${id} started after the abort`);
    if (skipToolsOnSteering && steering !== undefined)
      this.#report("3 queue", `${id} started before "${steering}"`);
    checkExecution(tool, id, params, call, maxParallelTools, this.#report);
    const { context, idempotencyKey = "" } = toolRun ?? {};
    if (context !== this.context) this.#report("12 strangers", `${id} got another context`);
    if (this.#keys.has(idempotencyKey))
      this.#report("6 twice", `the key ${idempotencyKey} came twice`);
    this.#keys.add(idempotencyKey);
    call?.executions.set(id, facts);
    void Promise.resolve().then(() => (facts.hasBegun = true));
    this.#moment("execution");
    return facts;
  }

  // Events of the agent

  event(event: AgentEvent): void {
    const run = this.#run;
    this.events++;
    this.note(() => describe(event));
    if (run === undefined) return this.#report("2 terminal event", `${event.type} outside a run`);
    const nested = this.children.find(({ tag }) => event.runId.startsWith(tag));
    for (const what of nested === undefined ? namesOf(event) : ["event of a nested run"])
      this.#options.count(what);
    if (event.type === "approval_request") this.#questions.add(event.approvalId);
    if (nested !== undefined) this.#passes(event, run.record, nested);
    else {
      const isOwn = event.runId.startsWith(this.tag);
      if (!isOwn) this.#report("12 strangers", `an event of ${event.runId}`);
      if (event.type === "agent_start") {
        if (this.#orders.has(event.runId))
          this.#report("5 order", `run id ${event.runId} came twice`);
        this.#orders.set(event.runId, run.record.order);
      }
      run.take(event);
    }
    this.#moment("event");
  }

  /**
   * Checks an event of a nested run: it keeps the order of its own run, and comes while the tool
   * runs.
   */
  #passes(event: AgentEvent, run: RunRecord, nested: Watch): void {
    const order = this.#orders.get(event.runId) ?? new EventOrder(nested.isSequential);
    this.#orders.set(event.runId, order);
    const problem = order.next(event);
    if (problem !== undefined) this.#report("5 order", `of a nested run: ${problem}`);
    if (run.order.isOver)
      this.#report("2 terminal event", `${event.type} of a nested run after agent_end`);
    if (event.parentRunId === undefined)
      this.#report("5 order", "a nested event without parentRunId");
  }

  /** The last listener received an event; `isNext`: it directly follows the one before. */
  heardLast(isNext: boolean, { type, seq }: AgentEvent): void {
    if (!isNext) this.#report("5 order", `the last listener heard ${type} ${seq} out of order`);
  }

  // When the run has settled, and when the simulation ends.

  /** The run's promise has settled, so its timers must be released at this moment. */
  released(abortGraceMs = DEFAULT_ABORT_GRACE_MS): void {
    this.#options.timeline.afterwards(() => {
      const { pending } = this.clock;
      if (pending > 0 && this.#run === undefined)
        this.#report("2 timers", `${pending} timers are left behind`);
    });
    const abort = this.run?.abort;
    if (abort === undefined) return;
    const took = this.clock.now() - abort.at;
    // With unlimited grace periods, none is exceeded.
    if (took > 0 && took > this.circumstances.graces * abortGraceMs) {
      this.#report("3 grace", `settled ${took} ms after the abort; the grace is ${abortGraceMs}`);
    }
  }

  /** `isWhole`: all of its events were read. */
  settles(result: RunResult | undefined, stored: readonly AgentMessage[], isWhole = true): void {
    const { run } = this;
    if (run === undefined) return;
    this.note(() => "settled");
    if (isWhole && run.end === undefined)
      this.#report("2 terminal event", "the run settled without agent_end");
    if (!isWhole) this.queue.readLater(stored);
    this.#run = undefined;
    if (result?.output !== undefined) this.#options.count("value of a schema");
    if (result !== undefined) checkResult(run, result, this.#report);
    this.#transcript.settle(stored, isWhole);
    if (this.#options.parent !== undefined) return;
    for (const id of this.#questions)
      if (this.answer(id, undefined)) this.#report("2 state", `${id} is still asked`);
    this.#questions.clear();
  }

  ends(listenersOf: (signal: AbortSignal) => number): void {
    if (this.#run !== undefined) this.#report("2 hangs", "a run has not settled");
    this.#transcript.end();
    for (const { number, closed } of this.#calls) {
      if (!closed)
        this.#report("2 open stream", `the stream of request ${number} was never closed`);
    }
    for (const signal of this.signals) {
      const left = listenersOf(signal);
      if (left > 0) this.#report("2 abort listeners", `${left} listeners are left on a signal`);
    }
    this.queue.end();
    for (const child of this.children) child.ends(listenersOf);
  }
}
