/**
 * Follows the output of a run through its events. The value is the text of the answer if the server
 * enforces the schema, and the arguments of the output tool otherwise. Both are followed in every
 * answer, because a run may change its model.
 */
import { OUTPUT_TOOL } from "../agent/asked-output.ts";
import type { AgentMessage } from "../agent/contract/agent-message.ts";
import type { AgentEvent } from "../agent/contract/event.ts";
import type { AssistantMessageEvent } from "../llm/event.ts";
import { toolCallsOf, type ToolCall } from "../llm/message.ts";
import { AnswerText } from "./answer-text.ts";
import { GrowingJson } from "./growing-json.ts";
import type { Increment } from "./increment.ts";
import type { ItemListener } from "./live-value.ts";
import { LiveIncrement, type PartialOutputEvent, type ResetReason } from "./partial-event.ts";
import type { SchemaPosition } from "./schema-position.ts";

export interface OutputReaderOptions {
  readonly position?: SchemaPosition | undefined;
  readonly wrapper?: string | undefined;
  readonly onItem?: ItemListener | undefined;
}

type ToolEnd = Extract<AgentEvent, { type: "tool_execution_end" }>;

/** Where the value comes from. */
interface Source {
  /** The first part of the answer that it stands in. */
  readonly from: number;
  /** The last such part. */
  to: number;
  readonly json: GrowingJson;
  readonly text?: AnswerText;
  /** The call of the output tool. */
  readonly toolCallId?: string;
  isStopped: boolean;
}

export class OutputReader {
  readonly #options: OutputReaderOptions;
  #runId: string | undefined;
  #source: Source | undefined;
  /** Whether there were increments since the last reset. */
  #hasValue = false;
  #events: PartialOutputEvent[] = [];

  constructor(options: OutputReaderOptions = {}) {
    this.#options = options;
  }

  /** The value so far, as the model wrote it. */
  get value(): unknown {
    return this.#hasValue ? this.#source?.json.live.value : undefined;
  }

  /** Reads the next event and returns the events that follow from it. Ignores nested runs. */
  read(event: AgentEvent): PartialOutputEvent[] {
    this.#runId ??= event.runId;
    if (event.runId !== this.#runId) return [];
    this.#readOwn(event);
    const events = this.#events;
    this.#events = [];
    return events;
  }

  #readOwn(event: AgentEvent): void {
    switch (event.type) {
      case "message_update":
        return this.#update(event.assistantMessageEvent);
      case "message_start":
        return this.#beginMessage(event.message);
      case "message_end":
        return this.#endMessage(event.message);
      case "request_retry":
      case "model_failover":
        return this.#reset("retracted");
      case "tool_execution_end":
        return this.#endTool(event);
      case "agent_start":
      case "agent_end":
      case "turn_start":
      case "turn_end":
      case "tool_execution_start":
      case "tool_execution_update":
      case "approval_request":
      case "approval_answer":
      case "compaction_start":
      case "compaction_end":
        return;
    }
  }

  #update(event: AssistantMessageEvent): void {
    switch (event.type) {
      case "text_delta":
        return this.#readText(event.contentIndex, event.delta);
      case "toolcall_start":
        if (event.name === OUTPUT_TOOL) this.#beginCall(event.contentIndex, event.id);
        return;
      case "toolcall_delta":
        if (this.#isCall() && this.#source?.from === event.contentIndex)
          this.#add(this.#source.json.write(event.delta));
        return;
      case "toolcall_end":
        if (this.#isCall() && this.#source?.from === event.contentIndex)
          this.#endCall(event.toolCall);
        return;
      case "message_retract":
        return this.#retract(event.contentIndex);
      case "start":
      case "text_start":
      case "text_end":
      case "thinking_start":
      case "thinking_delta":
      case "thinking_end":
      case "opaque_end":
      case "part_end":
      case "provider_tool":
      case "request_retry":
      case "model_failover":
      case "done":
      case "error":
        return;
    }
  }

  #isCall(id = this.#source?.toolCallId): boolean {
    return id !== undefined && this.#source?.toolCallId === id;
  }

  #beginCall(index: number, toolCallId: string): void {
    this.#reset("replaced");
    const json = new GrowingJson({ ...this.#options, mode: "arguments" });
    this.#source = { from: index, to: index, json, toolCallId, isStopped: false };
  }

  #endCall({ argumentsError, arguments: args }: ToolCall): void {
    const { json } = this.#source as Source;
    if (argumentsError !== undefined) {
      this.#add(json.end());
      return this.#stop(argumentsError);
    }
    const again = json.settle(args);
    if (again === undefined) return;
    this.#emitReset("replaced");
    this.#add(again);
  }

  #readText(index: number, delta: string): void {
    if (this.#source === undefined) {
      const text = new AnswerText(this.#options);
      this.#source = { from: index, to: index, json: text.json, text, isStopped: false };
    }
    const { text } = this.#source;
    if (text === undefined) return; // the output tool was called
    this.#source.to = Math.max(this.#source.to, index);
    this.#add(text.write(delta));
  }

  #beginMessage({ role }: AgentMessage): void {
    if (role === "assistant") this.#reset("replaced");
  }

  #endMessage(message: AgentMessage): void {
    const text = this.#source?.text;
    if (text === undefined || message.role !== "assistant") return;
    if (toolCallsOf(message).length > 0) this.#reset("replaced");
    else if (text.isObject) this.#add(text.end());
  }

  #endTool({ isError, toolName, toolCallId }: ToolEnd): void {
    if (isError && toolName === OUTPUT_TOOL && this.#isCall(toolCallId)) this.#reset("invalid");
  }

  /** Withdraws the parts from an index on. */
  #retract(index: number): void {
    const source = this.#source;
    if (source === undefined || index > source.to) return;
    this.#reset("retracted");
    if (index <= source.from) return;
    // A text of which an earlier part remains cannot be followed further.
    source.text?.stop();
    this.#source = source;
  }

  #add(increments: readonly Increment[]): void {
    const source = this.#source as Source;
    for (const increment of increments)
      this.#events.push(new LiveIncrement(increment, source.json.live) as PartialOutputEvent);
    this.#hasValue ||= increments.length > 0;
    if (source.json.state === "broken") this.#stop(source.json.problem ?? "");
  }

  #stop(message: string): void {
    const source = this.#source as Source;
    if (!source.isStopped) this.#events.push({ type: "partial_stopped", message });
    source.isStopped = true;
  }

  #reset(reason: ResetReason): void {
    this.#emitReset(reason);
    this.#source = undefined;
  }

  #emitReset(reason: ResetReason): void {
    if (this.#hasValue) this.#events.push({ type: "partial_reset", reason });
    this.#hasValue = false;
  }
}
