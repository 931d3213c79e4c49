/** Follows the arguments of one tool's calls through the events of a run. */
import type { AgentEvent } from "../agent/contract/event.ts";
import type { AssistantMessageEvent } from "../llm/event.ts";
import type { ToolCall } from "../llm/message.ts";
import { GrowingJson } from "./growing-json.ts";
import type { Increment } from "./increment.ts";
import { LiveIncrement, type PartialArgumentsEvent, type ResetReason } from "./partial-event.ts";
import type { SchemaPosition } from "./schema-position.ts";

/** A call that is complete. Its end is reported after its arguments were checked. */
interface CompleteCall {
  readonly type: "complete";
  readonly call: ToolCall;
}

type Step = PartialArgumentsEvent | CompleteCall;

interface OpenCall {
  readonly id: string;
  readonly json: GrowingJson;
  hasValue: boolean;
  isStopped: boolean;
  isEnded: boolean;
}

export class ArgumentsReader {
  readonly #name: string;
  readonly #position: SchemaPosition | undefined;
  #runId: string | undefined;
  /** The calls of the current answer, by the index of their part. */
  readonly #calls = new Map<number, OpenCall>();
  #steps: Step[] = [];

  constructor(name: string, position?: SchemaPosition) {
    this.#name = name;
    this.#position = position;
  }

  /** Reads the next event and returns what follows from it. Ignores nested runs. */
  read(event: AgentEvent): Step[] {
    this.#runId ??= event.runId;
    if (event.runId !== this.#runId) return [];
    if (event.type === "message_update") this.#update(event.assistantMessageEvent);
    if (event.type === "message_end" && event.message.role === "assistant") this.#endAnswer();
    const steps = this.#steps;
    this.#steps = [];
    return steps;
  }

  #update(event: AssistantMessageEvent): void {
    switch (event.type) {
      case "toolcall_start":
        if (event.name === this.#name) this.#begin(event.contentIndex, event.id);
        return;
      case "toolcall_delta": {
        const call = this.#calls.get(event.contentIndex);
        if (call !== undefined) this.#add(call, call.json.write(event.delta));
        return;
      }
      case "toolcall_end": {
        const call = this.#calls.get(event.contentIndex);
        if (call !== undefined) this.#end(call, event.toolCall);
        return;
      }
      case "message_retract":
        return this.#retract(event.contentIndex);
      case "start":
      case "text_start":
      case "text_delta":
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

  #begin(index: number, id: string): void {
    const json = new GrowingJson({ position: this.#position, mode: "arguments" });
    this.#calls.set(index, { id, json, hasValue: false, isStopped: false, isEnded: false });
  }

  #end(open: OpenCall, call: ToolCall): void {
    open.isEnded = true;
    if (call.argumentsError === undefined) {
      const again = open.json.settle(call.arguments);
      if (again !== undefined) {
        this.#reset(open, "replaced");
        this.#add(open, again);
      }
    } else {
      this.#add(open, open.json.end());
      this.#stop(open, call.argumentsError);
    }
    this.#steps.push({ type: "complete", call });
  }

  /** An answer that was cut may leave calls open. They never run. */
  #endAnswer(): void {
    for (const call of this.#calls.values())
      if (!call.isEnded) this.#stop(call, "The answer ended before the call was complete.");
    this.#calls.clear();
  }

  #retract(from: number): void {
    for (const [index, call] of this.#calls) {
      if (index < from) continue;
      this.#reset(call, "retracted");
      this.#calls.delete(index);
    }
  }

  #add(call: OpenCall, increments: readonly Increment[]): void {
    const { id, json } = call;
    for (const increment of increments)
      this.#steps.push(new LiveIncrement(increment, json.live, id) as PartialArgumentsEvent);
    call.hasValue ||= increments.length > 0;
    if (json.state === "broken") this.#stop(call, json.problem ?? "");
  }

  #stop(call: OpenCall, message: string): void {
    if (!call.isStopped)
      this.#steps.push({ type: "partial_stopped", toolCallId: call.id, message });
    call.isStopped = true;
  }

  #reset(call: OpenCall, reason: ResetReason): void {
    if (call.hasValue) this.#steps.push({ type: "partial_reset", toolCallId: call.id, reason });
    call.hasValue = false;
  }
}
