/** Watches the events of one run, and checks the invariants at each event. */
import type { AgentEvent, AgentMessage } from "../../src/agent/index.ts";
import { OUTPUT_TOOL } from "./arguments.ts";
import { checkAnswer } from "./check-answer.ts";
import { checkRefusal } from "./check-budget.ts";
import { checkNoneLost, checkOutcome } from "./check-calls.ts";
import { checkEnd } from "./check-end.ts";
import type { Circumstances } from "./circumstances.ts";
import { callOf, type EventOf, type RunRecord } from "./facts.ts";
import type { AgentPlan } from "./plan.ts";
import type { QueueWatch } from "./queue-watch.ts";
import type { Report } from "./report.ts";
import type { TranscriptWatch } from "./transcript-watch.ts";

export interface RunWatchOptions {
  readonly plan: AgentPlan;
  readonly now: () => number;
  readonly circumstances: Circumstances;
  readonly queue: QueueWatch;
  readonly transcript: TranscriptWatch;
  readonly report: Report;
  readonly count: (what: string) => void;
}

export class RunWatch {
  readonly record: RunRecord;
  readonly #options: RunWatchOptions;
  readonly #report: Report;

  constructor(record: RunRecord, options: RunWatchOptions) {
    this.record = record;
    this.#options = options;
    this.#report = options.report;
  }

  take(event: AgentEvent): void {
    const run = this.record;
    const { plan, circumstances } = this.#options;
    const problem = run.order.next(event);
    if (problem !== undefined) this.#report("5 order", problem);
    switch (event.type) {
      case "turn_start":
        run.toolEnds.clear();
        run.terminating.clear();
        break;
      case "message_start":
        run.updates = [];
        if (event.message.role === "user") this.#seen(event.message.content);
        if (event.message.role === "toolResult") this.#mayBeSkipped(event.message.toolCallId);
        break;
      case "message_update":
        run.updates.push(JSON.stringify(event.assistantMessageEvent));
        break;
      case "message_end":
        this.#recorded(event.message);
        break;
      case "tool_execution_end":
        run.toolEnds.set(event.toolCallId, event);
        if (event.result.terminate === true) run.terminating.add(event.toolCallId);
        this.#mayBeSkipped(event.toolCallId);
        if (plan.face === "agent" && event.toolName !== OUTPUT_TOOL)
          checkOutcome(event, callOf(run, -1), circumstances.isLate, this.#report);
        break;
      case "turn_end":
        this.#turnEnds(event);
        break;
      case "agent_end":
        run.end = event;
        checkEnd(run, circumstances.isStopped, circumstances.hasBudget, this.#report);
        if (plan.face === "agent" && !circumstances.isNested)
          checkRefusal(circumstances.together, plan.settings.budget ?? {}, event, this.#report);
        break;
      case "request_retry":
      case "model_failover":
        this.#announced(event);
        break;
      case "agent_start":
      case "tool_execution_start":
      case "tool_execution_update":
      case "approval_request":
      case "approval_answer":
      case "compaction_start":
      case "compaction_end":
        break;
    }
  }

  #seen(content: unknown): void {
    const { plan, now, queue, circumstances, count } = this.#options;
    // A slow listener, or the reader of a loop's stream, may receive a message long after the run
    // took it from the queue.
    const taken = plan.face === "agent" && circumstances.listening === 0 ? now() : 0;
    const kind = queue.seen(content, this.record, circumstances.isCalm, taken);
    if (kind !== undefined) count(`queued ${kind}`);
  }

  /** A pending steering message prevents calls from starting, if the settings say so. */
  #mayBeSkipped(id: string): void {
    const { plan, queue } = this.#options;
    if (plan.settings.skipToolsOnSteering === true && queue.hasSteering)
      callOf(this.record, -1)?.kept.add(id);
  }

  #recorded(message: AgentMessage): void {
    const run = this.record;
    const { circumstances, transcript } = this.#options;
    const recorded = transcript.record(message);
    run.messages.push(recorded);
    if (message.role === "assistant") {
      const answer = { message, json: recorded.json };
      checkAnswer(answer, callOf(run), run, circumstances.isStopped, this.#report);
      run.lastAnswer = message;
      run.answers++;
    } else if (message.role === "toolResult") {
      const end = run.toolEnds.get(message.toolCallId);
      if (end === undefined) return;
      const { content, details } = end.result;
      const said = JSON.stringify([content, details, end.isError]);
      if (JSON.stringify([message.content, message.details, message.isError]) === said) return;
      this.#report("7 stored", `the result of ${message.toolCallId} is not what its end said`);
    }
  }

  #turnEnds(event: EventOf<"turn_end">): void {
    const run = this.record;
    const { message } = event;
    const call = callOf(run, -1);
    run.turnEnds++;
    run.taken = { steering: 0, followUp: 0 };
    run.lastTurn = event;
    const isWhole = message.stopReason === "stop" || message.stopReason === "toolUse";
    const { circumstances, plan } = this.#options;
    if (call === undefined || !isWhole || run.abort !== undefined || circumstances.isStopped)
      return;
    checkNoneLost(message, call, run, plan.tools, this.#report);
  }

  /** Checks that the error is the stream's own, with all fields. */
  #announced({ type, error }: EventOf<"request_retry"> | EventOf<"model_failover">): void {
    const json = JSON.stringify(error);
    if (callOf(this.record)?.delivered.some((delivered) => delivered.includes(json)) === true)
      return;
    this.#report("4 error", `${type} says ${json}`);
  }
}
