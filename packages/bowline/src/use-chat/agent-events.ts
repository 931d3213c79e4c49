/** The gateway's events of a run as the events of an agent, as far as a page with `useChat` shows them. */
import {
  BowlineError,
  type AgentEvent,
  type AgentEventBody,
  type UserMessage,
} from "@bowline/core";
import type { RunEvent } from "../gateway/client/client.ts";
import type { Approval, Block } from "../gateway/protocol/protocol.ts";
import { emptyAnswer, endOf, update, userContent } from "./event-bodies.ts";

type CallBlock = Extract<Block, { readonly type: "tool_call" }>;
type UserBlock = Extract<Block, { readonly type: "user" }>;
type TextType = "text" | "thinking";

/** What was told of the run, in order. */
type Told =
  | { readonly type: "user"; readonly text: string }
  | { readonly type: TextType; text: string; readonly index: number; readonly step: number }
  | { readonly type: "tool_call"; readonly toolCallId: string; isOver: boolean };

export class AgentEvents {
  readonly #runId: string;
  #seq = 0;
  #told: Told[] = [];
  /** The number of the model's answer that is shown. -1 before the first. */
  #turn = -1;
  /** Counts the steps that a page sees. */
  #step = 0;
  /** The next place in the step's content. */
  #index = 0;
  /** Whether the last thing told is a text that may grow. */
  #isTextOpen = false;
  /** The calls of the approvals that were asked for. */
  readonly #asked = new Map<string, string>();
  readonly #denied = new Set<string>();

  constructor(runId: string) {
    this.#runId = runId;
  }

  /** Throws `stream_truncated` for a snapshot that changes what a page cannot change any more. */
  take(event: RunEvent): AgentEvent[] {
    return this.#numbered(this.#take(event));
  }

  /** Asks for an approval, once. */
  ask(approval: Approval): AgentEvent[] {
    return this.#numbered(this.#ask(approval));
  }

  #numbered(bodies: readonly AgentEventBody[]): AgentEvent[] {
    return bodies.map((body) => ({ ...body, runId: this.#runId, seq: this.#seq++ }));
  }

  #take(event: RunEvent): AgentEventBody[] {
    switch (event.event) {
      case "chat.user":
        return this.#user(event.data);
      case "chat.delta":
        return this.#grow("text", event.data.turn, event.data.text);
      case "chat.thinking":
        return this.#grow("thinking", event.data.turn, event.data.text);
      case "chat.turn":
        return [...this.#toTurn(event.data.turn, true), ...this.#closeText()];
      case "chat.tool_call":
        return this.#call({ ...event.data, type: "tool_call", state: "running", output: "" });
      case "tool.progress":
        return [this.#progress(event.data, event.data.text)];
      case "chat.tool_result":
        return this.#result(event.data);
      case "chat.snapshot":
        return this.#replace(event.data.blocks);
      case "exec.approval_request":
        return this.#ask(event.data);
      case "exec.approval_resolved":
        return this.#answered(event.data);
      case "chat.final": {
        const { stopReason, usage } = event.data;
        return [endOf(stopReason === "stop" ? "done" : stopReason, usage)];
      }
      case "chat.error":
        return [{ ...endOf("error"), error: event.data.error }];
      case "chat.aborted":
        return [endOf("aborted", event.data.usage)];
      case "chat.queued":
      case "chat.notice":
        return [];
    }
  }

  /** Begins a new step if the run is in a later turn. A live one is a new answer of the model. */
  #toTurn(turn: number, isLive: boolean): AgentEventBody[] {
    if (turn <= this.#turn) return [];
    const closed = this.#closeText();
    this.#turn = turn;
    this.#step++;
    this.#index = 0;
    const message = emptyAnswer();
    const opened: AgentEventBody = { type: isLive ? "message_start" : "message_end", message };
    return [...closed, { type: "turn_end", message, toolResults: [] }, opened];
  }

  #user({ text, added }: Pick<UserBlock, "text" | "added">): AgentEventBody[] {
    const closed = this.#closeText();
    this.#told.push({ type: "user", text });
    const message: UserMessage = {
      role: "user",
      content: userContent(text, added),
      timestamp: Date.now(),
    };
    return [...closed, { type: "message_end", message }];
  }

  #grow(type: TextType, turn: number, text: string, isLive = true): AgentEventBody[] {
    const begun = this.#toTurn(turn, isLive);
    const last = this.#told.at(-1);
    const isSame = last?.type === type && last.step === this.#step;
    const closed = isSame ? [] : this.#closeText();
    if (isSame) last.text += text;
    else this.#told.push({ type, text, index: this.#index++, step: this.#step });
    this.#isTextOpen = true;
    const contentIndex = this.#index - 1;
    return [...begun, ...closed, update({ type: `${type}_delta`, contentIndex, delta: text })];
  }

  #closeText(): AgentEventBody[] {
    const last = this.#told.at(-1);
    if (last === undefined || !("index" in last) || !this.#isTextOpen) return [];
    this.#isTextOpen = false;
    const { type, index: contentIndex } = last;
    return [update({ type: `${type}_end`, contentIndex, content: last.text })];
  }

  #call({ toolCallId, name, arguments: args, state, output }: CallBlock): AgentEventBody[] {
    const closed = this.#closeText();
    this.#told.push({ type: "tool_call", toolCallId, isOver: state !== "running" });
    this.#denied.delete(toolCallId); // a server may use an id again
    const about = { toolCallId, name };
    const began: AgentEventBody = {
      type: "tool_execution_start",
      toolCallId,
      toolName: name,
      args: (args ?? {}) as Record<string, unknown>,
    };
    if (state !== "running")
      return [...closed, began, this.#settled({ ...about, output, isError: state === "failed" })];
    return [...closed, began, ...(output === "" ? [] : [this.#progress(about, output)])];
  }

  #progress(
    { toolCallId, name }: { readonly toolCallId: string; readonly name: string },
    text: string,
  ): AgentEventBody {
    const partialResult = { content: [{ type: "text", text }] } as const;
    return {
      type: "tool_execution_update",
      toolCallId,
      toolName: name,
      args: {},
      partialResult: { content: [...partialResult.content] },
    };
  }

  #result(settled: Settled): AgentEventBody[] {
    const call = this.#told.findLast(
      (told) => told.type === "tool_call" && told.toolCallId === settled.toolCallId,
    );
    if (call?.type === "tool_call") call.isOver = true;
    return [this.#settled(settled)];
  }

  #settled({ toolCallId, name, output, isError, durationMs = 0 }: Settled): AgentEventBody {
    const outcome = this.#denied.has(toolCallId) ? "not_started" : isError ? "failed" : "finished";
    return {
      type: "tool_execution_end",
      toolCallId,
      toolName: name,
      result: { content: [{ type: "text", text: output }] },
      isError,
      outcome,
      durationMs,
    };
  }

  #ask(approval: Approval): AgentEventBody[] {
    const { approvalId, toolCallId, toolName, arguments: args, reason, expiresAt } = approval;
    if (this.#asked.has(approvalId)) return [];
    this.#asked.set(approvalId, toolCallId);
    const about = {
      ...(reason !== undefined && { reason }),
      ...(expiresAt !== undefined && { expiresAt }),
    };
    return [{ type: "approval_request", approvalId, toolCallId, toolName, args, ...about }];
  }

  #answered({
    approvalId,
    decision,
    by,
    reason,
  }: Extract<RunEvent, { readonly event: "exec.approval_resolved" }>["data"]): AgentEventBody[] {
    if (decision !== "allow") this.#denied.add(this.#asked.get(approvalId) ?? "");
    const about = { ...(by !== undefined && { by }), ...(reason !== undefined && { reason }) };
    return [{ type: "approval_answer", approvalId, decision, ...about }];
  }

  /** Brings what was told to the run's content. */
  #replace(blocks: readonly Block[]): AgentEventBody[] {
    const before = this.#told;
    let same = 0;
    while (same < before.length && equals(before[same], blocks[same])) same++;
    const bodies: AgentEventBody[] = [];
    const wrong = before.slice(same);
    const isLast = same === before.length - 1;
    const [first] = wrong;
    if (first !== undefined && !(isLast && grows(first, blocks[same]))) {
      // Only texts of the current step can be taken back: they were of an answer that was lost.
      for (const told of wrong) if (!("index" in told) || told.step !== this.#step) throw lost();
      const { index } = first as Extract<Told, { readonly index: number }>;
      bodies.push(update({ type: "message_retract", contentIndex: index }));
      this.#index = index;
      this.#told = before.slice(0, same);
      this.#isTextOpen = false;
    }
    for (const [at, block] of blocks.entries()) {
      const told = this.#told[at];
      if (told === undefined) bodies.push(...this.#add(block));
      else if (block.type === "tool_call") bodies.push(...this.#bringOn(told, block));
      else if ("index" in told && block.text.length > told.text.length)
        bodies.push(
          ...this.#grow(told.type, this.#turn, block.text.slice(told.text.length), false),
        );
    }
    return bodies;
  }

  #add(block: Block): AgentEventBody[] {
    switch (block.type) {
      case "user":
        return this.#user(block);
      case "text":
      case "thinking":
        return this.#grow(block.type, block.turn, block.text, false);
      case "tool_call":
        return this.#call(block);
    }
  }

  #bringOn(told: Told, block: CallBlock): AgentEventBody[] {
    if (told.type !== "tool_call" || told.isOver) return [];
    if (block.state !== "running")
      return this.#result({ ...block, isError: block.state === "failed" });
    return block.output === "" ? [] : [this.#progress(block, block.output)];
  }
}

interface Settled {
  readonly toolCallId: string;
  readonly name: string;
  readonly output: string;
  readonly isError: boolean;
  readonly durationMs?: number;
}

function equals(told: Told | undefined, block: Block | undefined): boolean {
  if (told === undefined || block === undefined || told.type !== block.type) return false;
  if (told.type === "tool_call")
    return block.type === "tool_call" && told.toolCallId === block.toolCallId;
  return block.type !== "tool_call" && told.text === block.text;
}

function grows(told: Told, block: Block | undefined): boolean {
  if (!("index" in told) || block?.type !== told.type) return false;
  return block.text.startsWith(told.text);
}

function lost(): BowlineError {
  const why = "The answer continues in a way that this response cannot show. Load the page again.";
  return new BowlineError("stream_truncated", why);
}
