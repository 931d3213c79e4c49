/**
 * Folds the events of a run into one message of a page. Each event returns the chunks that bring a
 * page up to date; the folded message returns the chunks for a page that joins later.
 */
import { BowlineError } from "../errors.ts";
import type { AgentEvent } from "../agent/contract/event.ts";
import type { ToolOutcome } from "../agent/contract/tool-result.ts";
import { joinTexts, type UserMessage } from "../llm/message.ts";
import type { UIMessageChunk, UIUserPart } from "./chunk.ts";
import { dataOf, metadataOf, type UIStreamSettings, type UIToolResult } from "./options.ts";
import type { ShownCall } from "./shown-call.ts";
import { ShownStep } from "./shown-step.ts";
import { filePart } from "./whole-part.ts";

/** A message that was added to the run while it worked. */
interface ShownSteering {
  readonly kind: "steering";
  readonly id: string;
  readonly parts: readonly UIUserPart[];
}

type Item = ShownStep | ShownSteering;
type EventOf<TType extends AgentEvent["type"]> = Extract<AgentEvent, { type: TType }>;

/** An approval that the run has asked for. */
export interface AskedApproval {
  readonly call: ShownCall;
  readonly isOpen: boolean;
  /** Index of its step among the items. */
  readonly item: number;
}

export class MessageFold {
  readonly #settings: UIStreamSettings;
  readonly items: Item[] = [];
  readonly #asked = new Map<string, { readonly call: ShownCall; readonly item: number }>();
  #runId: string | undefined;
  #end: UIMessageChunk[] | undefined;
  /** The chunks of a step that an event of another kind had to open. */
  readonly #opened: UIMessageChunk[] = [];

  constructor(settings: UIStreamSettings) {
    this.#settings = settings;
  }

  /** Whether the run has ended. */
  get isOver(): boolean {
    return this.#end !== undefined;
  }

  /** Whether the run waits for an answer that the page can give. */
  get isAsking(): boolean {
    return !this.isOver && [...this.#asked.values()].some(({ call }) => call.isAsking);
  }

  /** Number of approvals asked for so far. */
  get asked(): number {
    return this.#asked.size;
  }

  approval(approvalId: string): AskedApproval | undefined {
    const asked = this.#asked.get(approvalId);
    return asked && { ...asked, isOpen: !this.isOver && asked.call.isAsking };
  }

  push(event: AgentEvent): UIMessageChunk[] {
    const isFirst = this.#runId === undefined;
    this.#runId ??= event.runId;
    const chunks = event.runId === this.#runId ? this.#own(event) : this.#nested(event);
    const opened = this.#opened.splice(0);
    return isFirst ? [...this.#start(), ...opened, ...chunks] : [...opened, ...chunks];
  }

  /** Returns the chunks for a page that has nothing of the message. */
  replay(): UIMessageChunk[] {
    return [
      ...this.#start(),
      ...this.items.flatMap((item) => itemChunks(item)),
      ...(this.#end ?? []),
    ];
  }

  /**
   * Returns the chunks for a page that has the message up to where these approvals were asked for.
   * That step is sent again, because the page shows it without the calls that `pause` took out.
   */
  replayAfter(approvalIds: readonly string[]): UIMessageChunk[] {
    if (this.#runId === undefined) return []; // the first event begins the message
    const lastStep = this.items.findLastIndex(({ kind }) => kind === "step");
    const known = approvalIds.flatMap((id) => this.#asked.get(id)?.item ?? []);
    const from = known.length > 0 ? Math.max(...known) : lastStep;
    const [step, ...later] = this.items.slice(Math.max(from, 0));
    return [
      ...this.#start(),
      { type: "reset-step" },
      ...(step ? itemChunks(step).filter(({ type }) => type !== "start-step") : []),
      ...later.flatMap((item) => itemChunks(item)),
      ...(this.#end ?? []),
    ];
  }

  /**
   * Returns the chunks that end a response while the run waits for approval. The client posts an
   * answer once every call of its last step is settled or answered, so that step may not show calls
   * that are neither: they are taken out, and shown again by `replayAfter`. The requests come last,
   * because a step that is sent again would undo what the person clicked in the meantime.
   */
  pause(): UIMessageChunk[] {
    const step = this.#step();
    const shown = step.parts.filter((part) => part.kind !== "call" || part.mayWait);
    const isWhole = shown.length === step.parts.length;
    return [
      ...(isWhole ? [] : ([{ type: "reset-step" }, ...step.replay(shown)] as const)),
      ...step.calls.flatMap((call) => call.request()),
      { type: "finish-step" },
      { type: "finish", finishReason: "tool-calls" },
    ];
  }

  #start(): UIMessageChunk[] {
    const runId = this.#runId;
    return runId === undefined
      ? []
      : [{ type: "start", messageId: this.#settings.messageId ?? runId }];
  }

  #own(event: AgentEvent): UIMessageChunk[] {
    switch (event.type) {
      case "message_start":
        return event.message.role === "assistant" ? this.#openStep() : [];
      case "message_update":
        return this.#step().update(event.assistantMessageEvent);
      case "message_end":
        return this.#complete(event);
      case "tool_execution_start":
        return this.#show(event);
      case "tool_execution_update":
        return this.#progress(event);
      case "tool_execution_end":
        return this.#settle(event);
      case "approval_request":
        return this.#ask(event, this.#callOf(event));
      case "approval_answer":
        return this.#answer(event);
      case "turn_end":
        return this.#closeStep();
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
    return event.type === "tool_execution_end" && this.#callOf(event) ? this.#settle(event) : [];
  }

  #step(): ShownStep {
    const last = this.items.at(-1);
    if (last?.kind === "step") return last;
    this.#opened.push(...this.#openStep());
    return this.items.at(-1) as ShownStep;
  }

  #openStep(): UIMessageChunk[] {
    const closed = this.#closeStep();
    const port = {
      settings: this.#settings,
      runId: this.#runId ?? "",
      newCallId: (callId: string) => this.#newCallId(callId),
    };
    this.items.push(new ShownStep(port, this.items.length));
    return [...closed, { type: "start-step" }];
  }

  #closeStep(): UIMessageChunk[] {
    const last = this.items.at(-1);
    if (last?.kind !== "step" || !last.isOpen) return [];
    last.isOpen = false;
    return [{ type: "finish-step" }];
  }

  #complete({ message, seq }: EventOf<"message_end">): UIMessageChunk[] {
    switch (message.role) {
      case "assistant": {
        const last = this.items.at(-1);
        const opened = last?.kind === "step" && last.isOpen ? [] : this.#openStep();
        return [...opened, ...this.#step().complete(message)];
      }
      case "toolResult": {
        // A call that was not run has no events of its own.
        const { content, details, isError } = message;
        const call = this.#callOf({ ...message, runId: this.#runId ?? "" });
        const outcome = isError ? "not_started" : "finished";
        return call ? this.#settleWith(call, { content, details }, isError, outcome) : [];
      }
      case "user":
        return this.#steer(message, seq);
      default:
        return []; // an application's own message
    }
  }

  /** The page knows the prompts. Later messages are shown where the run took them. */
  #steer(message: UserMessage, seq: number): UIMessageChunk[] {
    if (!this.items.some(({ kind }) => kind === "step")) return [];
    const closed = this.#closeStep();
    const steering: ShownSteering = {
      kind: "steering",
      id: `${this.#runId ?? ""}:${seq}`,
      parts: userParts(message),
    };
    this.items.push(steering);
    return [...closed, ...itemChunks(steering)];
  }

  #show({ toolCallId, toolName, args }: EventOf<"tool_execution_start">): UIMessageChunk[] {
    const step = this.#step();
    if (step.calls.some(({ names }) => names.callId === toolCallId)) return [];
    // The run was resumed without the answer that has this call.
    const call = step.addCall(toolCallId, toolName, {});
    return call.setInput({ state: "available", value: args });
  }

  #progress(event: EventOf<"tool_execution_update">): UIMessageChunk[] {
    const call = this.#callOf(event);
    if (call === undefined) return [];
    const result = resultOf(call, event.partialResult, true);
    const value = this.#settings.toOutput(result);
    return [...call.setOutput({ state: "progress", value }), ...this.#data(result)];
  }

  #settle(event: EventOf<"tool_execution_end">): UIMessageChunk[] {
    const call = this.#callOf(event);
    return call ? this.#settleWith(call, event.result, event.isError, event.outcome) : [];
  }

  #settleWith(
    call: ShownCall,
    given: UIToolResult["result"],
    isError: boolean,
    outcome: ToolOutcome,
  ): UIMessageChunk[] {
    if (call.approval?.answer?.approved === false && outcome === "not_started")
      return call.setOutput({ state: "denied" });
    const result = resultOf(call, given, false);
    const { toolErrorText, value } = isError
      ? { toolErrorText: this.#errorText(call, given, outcome), value: undefined }
      : { toolErrorText: undefined, value: this.#settings.toOutput(result) };
    const chunks =
      toolErrorText === undefined
        ? call.setOutput({ state: "done", value })
        : call.setOutput({ state: "error", errorText: toolErrorText });
    return [...chunks, ...this.#data(result)];
  }

  #errorText(
    { names }: ShownCall,
    { content = [] }: UIToolResult["result"],
    outcome: ToolOutcome,
  ): string {
    const text = joinTexts(content, "\n");
    return this.#settings.toErrorText({ kind: "tool", toolName: names.name, outcome, text });
  }

  #data(result: UIToolResult): UIMessageChunk[] {
    const chunks = dataOf(this.#settings, result);
    for (const chunk of chunks) {
      if (chunk.transient) continue;
      const parts = this.items.flatMap((item) => (item.kind === "step" ? item.parts : []));
      const known = parts.find(
        (part) =>
          part.kind === "data" &&
          part.chunk.type === chunk.type &&
          chunk.id !== undefined &&
          part.chunk.id === chunk.id,
      );
      if (known?.kind === "data") known.chunk = chunk;
      else this.#step().parts.push({ kind: "data", chunk });
    }
    return chunks;
  }

  #ask(event: EventOf<"approval_request">, known: ShownCall | undefined): UIMessageChunk[] {
    const { approvalId, toolCallId, toolName, runId, args, reason } = event;
    const call = known ?? this.#step().addCall(toolCallId, toolName, { runId });
    this.#asked.set(approvalId, { call, item: this.items.length - 1 });
    // The arguments that will run, which validation may have changed.
    return [...call.setInput({ state: "available", value: args }), ...call.ask(approvalId, reason)];
  }

  #answer({ approvalId, decision, reason }: EventOf<"approval_answer">): UIMessageChunk[] {
    return this.#asked.get(approvalId)?.call.answer(decision === "allow", reason) ?? [];
  }

  #finish(event: EventOf<"agent_end">): UIMessageChunk[] {
    const open = this.#unsettled().flatMap((call) =>
      this.#settleWith(call, {}, true, "not_started"),
    );
    const messageMetadata = metadataOf(event, this.#settings);
    const { reason, error } = event;
    const closed = this.#closeStep();
    if (reason === "error" && error) {
      const errorText = this.#settings.toErrorText({ kind: "run", error });
      // The client stops reading at an error, so the metadata comes first.
      this.#end = [
        { type: "message-metadata", messageMetadata },
        { type: "error", errorText },
        { type: "finish", finishReason: "error" },
      ];
    } else {
      const finishReason = finishReasons[reason];
      const finish: UIMessageChunk = { type: "finish", finishReason, messageMetadata };
      this.#end = reason === "aborted" ? [{ type: "abort" }, finish] : [finish];
    }
    return [...open, ...closed, ...this.#end];
  }

  #unsettled(): ShownCall[] {
    return this.items
      .flatMap((item) => (item.kind === "step" ? item.calls : []))
      .filter((call) => !call.isSettled);
  }

  /** Returns the open call of a run. Ids may repeat in later answers. */
  #callOf({
    runId,
    toolCallId,
  }: {
    readonly runId: string;
    readonly toolCallId: string;
  }): ShownCall | undefined {
    const last = this.items.at(-1);
    if (last?.kind !== "step") return undefined;
    return last.calls.findLast(
      ({ names, isSettled }) => names.runId === runId && names.callId === toolCallId && !isSettled,
    );
  }

  #newCallId(callId: string): string {
    const ids = new Set(
      this.items.flatMap((item) =>
        item.kind === "step" ? item.calls.map((call) => call.names.id) : [],
      ),
    );
    let id = callId;
    for (let count = 2; ids.has(id); count++) id = `${callId}#${count}`;
    return id;
  }
}

const finishReasons = {
  done: "stop",
  length: "length",
  error: "error",
  aborted: "interrupted",
  budget: "other",
} as const;

function itemChunks(item: Item): UIMessageChunk[] {
  if (item.kind === "steering")
    return [{ type: "steering-message", id: item.id, parts: item.parts }];
  return [
    { type: "start-step" },
    ...item.replay(),
    ...(item.isOpen ? [] : [{ type: "finish-step" } as const]),
  ];
}

function resultOf(
  { names: { id, name } }: ShownCall,
  result: UIToolResult["result"],
  isPreliminary: boolean,
): UIToolResult {
  return { toolCallId: id, toolName: name, result, isPreliminary };
}

/** Returns the parts of a user's message that a page can show. */
export function userParts({ content }: Pick<UserMessage, "content">): UIUserPart[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return content.flatMap((part): UIUserPart[] => {
    if (part.type === "text") return [{ type: "text", text: part.text }];
    const file = filePart(part);
    return file ? [file] : [];
  });
}

/** Returns the error of a stream whose run ended without its last event. */
export function cutShort(): BowlineError {
  return new BowlineError("stream_truncated", "The run's events ended without agent_end.");
}
