/**
 * The permitted order of the events of one run: a state machine that takes one event at a time and
 * returns what is wrong.
 */
import type { AgentEvent, AgentMessage } from "../../src/agent/index.ts";
import { toolCallsOf, type AssistantMessage } from "../../src/llm/message.ts";

type EventOf<T extends AgentEvent["type"]> = Extract<AgentEvent, { readonly type: T }>;

type Phase =
  | "before"
  | "between"
  | "last"
  | "prompts"
  | "prompt"
  | "request"
  | "answer"
  | "tools"
  | "result"
  | "over";

/** The phase that each event leads to, for each phase. Events that are not listed are errors. */
const phases: Readonly<Record<Phase, Readonly<Record<string, Phase>>>> = {
  before: { agent_start: "between" },
  // Messages that were taken from a queue while the run was being stopped are recorded without a
  // turn.
  between: { turn_start: "prompts", "message_start:prompt": "last", agent_end: "over" },
  last: { "message_end:prompt": "between" },
  prompts: {
    "message_start:prompt": "prompt",
    compaction_start: "prompts",
    compaction_end: "prompts",
    request_retry: "request",
    model_failover: "request",
    "message_start:assistant": "answer",
  },
  prompt: { "message_end:prompt": "prompts" },
  request: {
    request_retry: "request",
    model_failover: "request",
    "message_start:assistant": "answer",
  },
  answer: { message_update: "answer", request_retry: "answer", "message_end:assistant": "tools" },
  tools: {
    tool_execution_start: "tools",
    tool_execution_update: "tools",
    tool_execution_end: "tools",
    approval_request: "tools",
    approval_answer: "tools",
    "message_start:toolResult": "result",
    turn_end: "between",
  },
  result: { "message_end:toolResult": "tools" },
  over: {},
};

interface CallState {
  readonly id: string;
  readonly name: string;
  state: "asked" | "started" | "ended" | "recorded";
}

export class EventOrder {
  #phase: Phase = "before";
  #seq = 0;
  #runId: string | undefined;
  #open: AgentMessage | undefined;
  #calls: CallState[] = [];
  #executing = false;
  readonly #asked = new Set<string>();
  readonly #isSequential: (toolNames: readonly string[]) => boolean;

  /** `isSequential`: whether tools of these names run one after the other. */
  constructor(isSequential: (toolNames: readonly string[]) => boolean) {
    this.#isSequential = isSequential;
  }

  get isOver(): boolean {
    return this.#phase === "over";
  }

  next(event: AgentEvent): string | undefined {
    if (event.seq !== this.#seq++) return `event ${this.#seq - 1} has seq ${event.seq}`;
    this.#runId ??= event.runId;
    if (event.runId !== this.#runId) return `an event of ${this.#runId} has runId ${event.runId}`;
    const kind = kindOf(event);
    const phase = phases[this.#phase][kind];
    if (phase === undefined) return `${kind} came in phase ${this.#phase}`;
    this.#phase = phase;
    return this.#detail(event);
  }

  #detail(event: AgentEvent): string | undefined {
    if (event.type === "message_start" || event.type === "message_end") return this.#message(event);
    if (event.type === "tool_execution_start") return this.#start(event.toolCallId, event.toolName);
    if (event.type === "tool_execution_end") return this.#end(event.toolCallId, event.outcome);
    if (event.type === "tool_execution_update") {
      this.#executing = true;
      return this.#isRunning(event.toolCallId)
        ? undefined
        : `an update of ${event.toolCallId}, not running`;
    }
    if (event.type === "approval_request") {
      this.#asked.add(event.approvalId);
      return this.#isRunning(event.toolCallId)
        ? undefined
        : "asked about a call that has not started";
    }
    if (event.type === "approval_answer") {
      return this.#asked.delete(event.approvalId) ? undefined : "an answer to what was not asked";
    }
    if (event.type !== "turn_end") return undefined;
    if (this.#asked.size > 0) return "the turn ended before a question was answered";
    return this.#turnEnd(event.toolResults.map(({ toolCallId }) => toolCallId));
  }

  #message({ type, message }: EventOf<"message_start" | "message_end">): string | undefined {
    if (type === "message_start") {
      this.#open = message;
      return message.role === "toolResult" ? this.#record(message.toolCallId) : undefined;
    }
    // The live message of an answer may be a different object than the final one.
    if (message.role === "assistant") this.#answered(message);
    else if (message !== this.#open) return "another message ended than began";
    return undefined;
  }

  #answered(message: AssistantMessage): void {
    this.#calls = toolCallsOf(message).map(({ id, name }) => ({ id, name, state: "asked" }));
    this.#executing = false;
  }

  #isRunning(id: string): boolean {
    return this.#calls.some((call) => call.id === id && call.state === "started");
  }

  #start(id: string, name: string): string | undefined {
    const index = this.#calls.findIndex((call) => call.id === id);
    const call = this.#calls[index];
    if (call?.state !== "asked" || call.name !== name)
      return `${id} started, which was not asked for or had started`;
    if (this.#calls.slice(index + 1).some(({ state }) => state !== "asked"))
      return `${id} started after a later call`;
    const before = this.#calls.slice(0, index);
    if (this.#isSequential(this.#calls.map((other) => other.name))) {
      if (before.some(({ state }) => state !== "recorded"))
        return `${id} started before the call before it was recorded`;
    } else if (this.#executing) return `${id} started after others began to run`;
    call.state = "started";
    return undefined;
  }

  #end(id: string, outcome: string): string | undefined {
    const call = this.#calls.find((other) => other.id === id);
    if (call?.state !== "started") return `${id} ended, which was not running`;
    call.state = "ended";
    if (outcome !== "not_started") this.#executing = true;
    return undefined;
  }

  /** Results are in the order of the calls, and for parallel calls after all have ended. */
  #record(id: string): string | undefined {
    const call = this.#calls.find(({ state }) => state !== "recorded");
    if (call?.id !== id)
      return `the result of ${id} came where that of ${call?.id ?? "none"} was due`;
    if (call.state === "started") return `the result of ${id} came before its end`;
    const isSequential = this.#isSequential(this.#calls.map(({ name }) => name));
    if (!isSequential && this.#calls.some(({ state }) => state === "started"))
      return `a result came while tools ran`;
    call.state = "recorded";
    return undefined;
  }

  #turnEnd(results: readonly string[]): string | undefined {
    if (this.#calls.some(({ state }) => state !== "recorded"))
      return "the turn ended before all calls had results";
    const ids = this.#calls.map(({ id }) => id);
    return ids.join() === results.join()
      ? undefined
      : `turn_end has results ${results.join()}, not ${ids.join()}`;
  }
}

function kindOf(event: AgentEvent): string {
  if (event.type !== "message_start" && event.type !== "message_end") return event.type;
  const { role } = event.message;
  return `${event.type}:${role === "assistant" || role === "toolResult" ? role : "prompt"}`;
}

/**
 * Returns what is wrong with the pairing of calls and results in a transcript, if anything. Results
 * must follow their answer in order.
 */
export function pairingProblem(messages: readonly { readonly role: string }[]): string | undefined {
  let due: string[] = [];
  for (const [index, message] of (messages as readonly AgentMessage[]).entries()) {
    if (message.role === "toolResult") {
      const expected = due.shift();
      if (message.toolCallId !== expected)
        return `message ${index} answers ${message.toolCallId}, due was ${expected}`;
      continue;
    }
    if (due.length > 0) return `message ${index} comes before the results of ${due.join()}`;
    due = message.role === "assistant" ? toolCallsOf(message).map(({ id }) => id) : [];
  }
  return due.length > 0 ? `the results of ${due.join()} are missing` : undefined;
}
