/**
 * Folds the events of a run into the message of a page. Each event returns the chunks that bring a
 * page up to date.
 */
import type { AgentEvent } from "../agent/contract/event.ts";
import type { UIMessageChunk } from "./chunk.ts";
import { dataOf, type UIStreamSettings, type UIToolResult } from "./options.ts";
import { endChunks, shownResult, settleCall, type CallEnd } from "./settle-call.ts";
import type { ShownApproval, ShownCall } from "./shown-call.ts";
import { ShownMessage } from "./shown-message.ts";
import { userParts } from "./user-parts.ts";

type EventOf<TType extends AgentEvent["type"]> = Extract<AgentEvent, { type: TType }>;

export class MessageFold {
  readonly message: ShownMessage;
  readonly #settings: UIStreamSettings;

  constructor(settings: UIStreamSettings) {
    this.#settings = settings;
    this.message = new ShownMessage(settings);
  }

  push(event: AgentEvent): UIMessageChunk[] {
    const { message } = this;
    const isFirst = message.runId === undefined;
    message.runId ??= event.runId;
    const chunks = event.runId === message.runId ? this.#own(event) : this.#nested(event);
    const opened = message.opened.splice(0);
    return isFirst ? [...message.start(), ...opened, ...chunks] : [...opened, ...chunks];
  }

  #own(event: AgentEvent): UIMessageChunk[] {
    const { message } = this;
    switch (event.type) {
      case "message_start":
        return event.message.role === "assistant" ? message.openStep() : [];
      case "message_update":
        return message.step().update(event.assistantMessageEvent);
      case "message_end":
        return this.#complete(event);
      case "tool_execution_start":
        return this.#show(event);
      case "tool_execution_update":
        return this.#progress(event);
      case "tool_execution_end":
        return this.#settle(message.callOf(event), event);
      case "approval_request":
        return this.#ask(event, message.callOf(event));
      case "approval_answer":
        return this.#answer(event);
      case "turn_end":
        return message.closeStep();
      case "agent_end":
        return this.#finish(event);
      case "agent_start":
      case "turn_start":
      case "request_retry":
      case "model_failover":
      case "compaction_start":
      case "compaction_end":
        return [];
    }
  }

  /** Of a nested run, only calls that need approval are shown, each as a call of its own. */
  #nested(event: AgentEvent): UIMessageChunk[] {
    if (event.type === "approval_request") return this.#ask(event, undefined);
    if (event.type === "approval_answer") return this.#answer(event);
    return event.type === "tool_execution_end"
      ? this.#settle(this.message.callOf(event), event)
      : [];
  }

  #complete({ message: given, seq }: EventOf<"message_end">): UIMessageChunk[] {
    const { message } = this;
    switch (given.role) {
      case "assistant": {
        const last = message.items.at(-1);
        const opened = last?.kind === "step" && last.isOpen ? [] : message.openStep();
        return [...opened, ...message.step().complete(given)];
      }
      case "toolResult": {
        // A call that was not run has no events of its own.
        const { content, details, isError } = given;
        const call = message.callOf({ ...given, runId: message.runId ?? "" });
        const outcome = isError ? "not_started" : "finished";
        return this.#settle(call, { result: { content, details }, isError, outcome });
      }
      case "user":
        // The page knows the prompts. Later messages are shown where the run took them.
        return message.items.length > 0 ? message.steer(userParts(given), seq) : [];
      default:
        return []; // an application's own message
    }
  }

  #show({ runId, toolCallId, toolName, args }: EventOf<"tool_execution_start">): UIMessageChunk[] {
    const step = this.message.step();
    if (step.callsOf({ runId, callId: toolCallId }).length > 0) return [];
    // The run was resumed without the answer that has this call.
    const call = step.addCall(toolCallId, toolName, {});
    return call.setInput({ state: "available", value: args });
  }

  #progress(event: EventOf<"tool_execution_update">): UIMessageChunk[] {
    const call = this.message.callOf(event);
    if (call === undefined) return [];
    const result = shownResult(call, event.partialResult, true);
    const value = this.#settings.toOutput(result);
    return [...call.setOutput({ state: "progress", value }), ...this.#data(result)];
  }

  #settle(call: ShownCall | undefined, settled: CallEnd): UIMessageChunk[] {
    if (call === undefined) return [];
    const chunks = settleCall(call, settled, this.#settings);
    return call.output?.state === "denied"
      ? chunks
      : [...chunks, ...this.#data(shownResult(call, settled.result, false))];
  }

  #data(result: UIToolResult): UIMessageChunk[] {
    const chunks = dataOf(this.#settings, result);
    for (const chunk of chunks) this.message.addData(chunk);
    return chunks;
  }

  #ask(event: EventOf<"approval_request">, known: ShownCall | undefined): UIMessageChunk[] {
    const { approvalId, toolCallId, toolName, runId, args, reason } = event;
    const call = known ?? this.message.step().addCall(toolCallId, toolName, { runId });
    const approval: ShownApproval = { approvalId, reason };
    this.message.ask(call, approval);
    // The arguments that will run, which validation may have changed.
    return [...call.setInput({ state: "available", value: args }), ...call.ask(approval)];
  }

  #answer({ approvalId, decision, reason }: EventOf<"approval_answer">): UIMessageChunk[] {
    const asked = this.message.approval(approvalId);
    return asked?.call.answer(asked.approval, { approved: decision === "allow", reason }) ?? [];
  }

  #finish(event: EventOf<"agent_end">): UIMessageChunk[] {
    const { message } = this;
    const open = message.calls().filter((call) => !call.isSettled);
    const settled = { result: {}, isError: true, outcome: "not_started" } as const;
    const chunks = open.flatMap((call) => this.#settle(call, settled));
    chunks.push(...message.closeStep());
    message.end = endChunks(event, this.#settings);
    return [...chunks, ...message.end];
  }
}
