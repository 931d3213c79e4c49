/** A tool call as the page shows it, and the chunks that bring a page to its current state. */
import { toText } from "../json-value.ts";
import type { UIMessageChunk } from "./chunk.ts";

type Output =
  | { readonly state: "progress" | "done"; readonly value: unknown }
  | { readonly state: "error"; readonly errorText: string }
  | { readonly state: "denied" };

type Input =
  | { readonly state: "streaming" }
  | { readonly state: "available"; readonly value: unknown }
  | { readonly state: "error"; readonly value: unknown; readonly errorText: string };

export interface ShownApproval {
  readonly approvalId: string;
  readonly reason: string | undefined;
  /** Set when the run got an answer, before its event. */
  isGiven?: boolean;
  /** Undefined while a person is asked. */
  answer?: { readonly approved: boolean; readonly reason: string | undefined };
}

/** Identifies a call: its run, its id in the answer, and its place there. */
export interface CallNames {
  readonly runId: string;
  readonly callId: string;
  readonly name: string;
  /** Undefined for a call of a nested run. */
  readonly contentIndex: number | undefined;
  /** The id that the page gets, unique in the message. */
  readonly id: string;
}

export class ShownCall {
  readonly kind = "call";
  readonly names: CallNames;
  inputText = "";
  input: Input = { state: "streaming" };
  output: Output | undefined;
  approval: ShownApproval | undefined;

  /** Whether the open request for approval is sent by `atPause` alone. */
  readonly #isHeldBack: boolean;

  constructor(names: CallNames, isHeldBack: boolean) {
    this.names = names;
    this.#isHeldBack = isHeldBack;
  }

  get contentIndex(): number | undefined {
    return this.names.contentIndex;
  }

  /** Whether the call has its result. */
  get isSettled(): boolean {
    return (
      this.input.state === "error" || (this.output ?? { state: "progress" }).state !== "progress"
    );
  }

  get isAsking(): boolean {
    const { approval } = this;
    return approval !== undefined && !approval.isGiven && approval.answer === undefined;
  }

  /** Whether a page that waits for an answer may show the call: see `MessageFold.pause`. */
  get mayWait(): boolean {
    if (this.output?.state === "progress") return false;
    return this.isSettled || this.approval !== undefined;
  }

  append(delta: string): UIMessageChunk[] {
    this.inputText += delta;
    return [{ type: "tool-input-delta", toolCallId: this.names.id, inputTextDelta: delta }];
  }

  /** Sets the input. Returns no chunks if the page has it already. */
  setInput(input: Input): UIMessageChunk[] {
    if (toText(input) === toText(this.input)) return [];
    this.input = input;
    return this.#inputChunks();
  }

  ask(approval: ShownApproval): UIMessageChunk[] {
    this.approval = approval;
    return this.#isHeldBack ? [] : this.#approvalChunks();
  }

  /** Adds the answer to an approval that this call was asked for. */
  answer(approval: ShownApproval, answer: NonNullable<ShownApproval["answer"]>): UIMessageChunk[] {
    approval.answer = answer;
    return this.#approvalChunks().slice(this.#isHeldBack ? 0 : 1);
  }

  /** Returns the request for approval, at the end of a response that held it back. */
  request(): UIMessageChunk[] {
    return this.isAsking ? this.#approvalChunks() : [];
  }

  setOutput(output: Output): UIMessageChunk[] {
    this.output = output;
    return this.#outputChunks();
  }

  /** Returns the chunks that create the call on a page. */
  chunks(): UIMessageChunk[] {
    const isHeld = this.#isHeldBack && this.approval?.answer === undefined;
    const approval = isHeld ? [] : this.#approvalChunks();
    return [...this.#inputChunks(), ...approval, ...this.#outputChunks()];
  }

  #inputChunks(): UIMessageChunk[] {
    const { id: toolCallId, name: toolName } = this.names;
    const about = { toolCallId, toolName, dynamic: true } as const;
    const { input } = this;
    switch (input.state) {
      case "streaming": {
        const start: UIMessageChunk = { type: "tool-input-start", ...about };
        if (this.inputText === "") return [start];
        return [start, { type: "tool-input-delta", toolCallId, inputTextDelta: this.inputText }];
      }
      case "available":
        return [{ type: "tool-input-available", ...about, input: input.value ?? null }];
      case "error": {
        const { value, errorText } = input;
        return [{ type: "tool-input-error", ...about, input: value ?? null, errorText }];
      }
    }
  }

  #approvalChunks(): UIMessageChunk[] {
    if (this.approval === undefined) return [];
    const { approvalId, reason, answer } = this.approval;
    const request: UIMessageChunk = {
      type: "tool-approval-request",
      approvalId,
      toolCallId: this.names.id,
      ...(reason !== undefined && { reason }),
    };
    if (answer === undefined) return [request];
    const { approved, reason: why } = answer;
    return [
      request,
      {
        type: "tool-approval-response",
        approvalId,
        approved,
        ...(why !== undefined && { reason: why }),
      },
    ];
  }

  #outputChunks(): UIMessageChunk[] {
    const { id: toolCallId } = this.names;
    const { output } = this;
    if (output === undefined) return [];
    const about = { toolCallId, dynamic: true } as const;
    switch (output.state) {
      case "progress":
        return [
          {
            type: "tool-output-available",
            ...about,
            output: output.value ?? null,
            preliminary: true,
          },
        ];
      case "done":
        return [{ type: "tool-output-available", ...about, output: output.value ?? null }];
      case "error":
        return [{ type: "tool-output-error", ...about, errorText: output.errorText }];
      case "denied":
        return [{ type: "tool-output-denied", toolCallId }];
    }
  }
}
