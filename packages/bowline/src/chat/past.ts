/** Turns a stored session into blocks: the same blocks that its runs showed. */
import {
  billedUsage,
  isLlmMessage,
  messageText,
  type AssistantMessage,
  type ToolOutcome,
  type ToolResultMessage,
} from "@bowline/core";
import { isKnownEntry, type AnyEntry, type Entry } from "@bowline/core/session";
import type { Block, ToolBlock } from "./block.ts";
import { blocksOfAnswer, contextOf, userBlock } from "./message-blocks.ts";
import type { Cost } from "./state.ts";

type EntryOf<T extends Entry["type"]> = Extract<Entry, { type: T }>;

/** What the status row shows of the past. */
export interface PastTotals extends Cost {
  readonly contextTokens: number | undefined;
}

export class Past {
  readonly #names = new Map<string, string>();
  readonly #args = new Map<string, unknown>();
  /** Ids of calls whose result was drawn when the tool ended. */
  readonly #shown = new Set<string>();
  readonly #questions = new Map<string, EntryOf<"approval_request">>();
  /** Text of an answer that was streaming, and has no message yet. */
  #streamed = "";
  #totals: PastTotals = { cost: 0, isCostUnknown: false, requests: 0, contextTokens: undefined };

  get totals(): PastTotals {
    return this.#totals;
  }

  /** Returns the blocks of the next entry. Entries are given in their order. */
  blocks(entry: AnyEntry): Block[] {
    if (!isKnownEntry(entry)) return [];
    switch (entry.type) {
      case "message":
        this.#streamed = "";
        return this.#message(entry);
      case "streamed_text":
        if (entry.retractedFrom === 0) this.#streamed = "";
        this.#streamed += entry.pieces.map(({ text }) => text).join("");
        return [];
      case "tool_intent":
        this.#names.set(entry.toolCallId, entry.toolName);
        this.#args.set(entry.toolCallId, entry.args);
        return [];
      case "tool_result":
        return this.#result(entry);
      case "approval_request":
        return this.#question(entry);
      case "approval_answer": {
        const { approvalId, decision, by, reason } = entry;
        const toolName = this.#questions.get(approvalId)?.toolName ?? "a call";
        const more = { ...(by !== undefined && { by }), ...(reason !== undefined && { reason }) };
        return [{ type: "answered", toolName, decision, ...more }];
      }
      case "compaction":
        return [{ type: "compaction", outcome: "summarized", ...this.#resized(entry) }];
      case "compaction_undo":
        return [{ type: "compaction_undone", ...this.#resized(entry) }];
      case "model_change":
        return entry.model === ""
          ? []
          : [{ type: "model", model: `${entry.provider}/${entry.model}` }];
      case "run_end": {
        const { reason, error } = entry;
        if (reason === "done") return [];
        return [{ type: "ended", reason, ...(error !== undefined && { error }) }];
      }
      case "usage":
        this.#count(entry.usage.cost?.total, Object.keys(entry.usage).length > 0);
        return [];
      case "run_start":
      case "reopen":
      case "queued":
      case "queue_remove":
      case "queue_clear":
      case "label":
      case "title":
      case "abort":
        return [];
    }
  }

  /** The blocks after the last entry: an answer that was cut by the end of its process. */
  end(): Block[] {
    if (this.#streamed === "") return [];
    return [
      { type: "text", delta: this.#streamed },
      { type: "text_end" },
      { type: "ended", reason: "interrupted" },
    ];
  }

  #message(entry: EntryOf<"message">): Block[] {
    const { message, timestamp } = entry;
    if (!isLlmMessage(message)) return [];
    if (message.role === "user") return [userBlock(message)];
    if (message.role === "toolResult") return this.#unrun(message);
    const contextTokens = contextOf(message) ?? this.#totals.contextTokens;
    this.#count(billedUsage(message).cost?.total, true);
    this.#totals = {
      ...this.#totals,
      contextTokens,
      requests: this.#totals.requests + 1,
    };
    this.#noteCalls(message);
    return blocksOfAnswer(message, timestamp);
  }

  #question(entry: EntryOf<"approval_request">): Block[] {
    const { approvalId, toolName, args, reason = "" } = entry;
    this.#questions.set(approvalId, entry);
    return [{ type: "asked", toolName, args, reason, parts: [], rules: [] }];
  }

  /** The sizes of the context before and after a compaction, or its undo. */
  #resized({
    tokensBefore: before,
    tokensAfter: after,
  }: EntryOf<"compaction" | "compaction_undo">): { before?: number; after?: number } {
    this.#totals = { ...this.#totals, contextTokens: after };
    return { ...(before !== undefined && { before }), ...(after !== undefined && { after }) };
  }

  #count(cost: number | undefined, isRequest: boolean): void {
    this.#totals = {
      ...this.#totals,
      cost: this.#totals.cost + (cost ?? 0),
      isCostUnknown: this.#totals.isCostUnknown || (isRequest && cost === undefined),
    };
  }

  #noteCalls({ content }: AssistantMessage): void {
    for (const part of content) {
      if (part.type !== "toolCall") continue;
      // Servers reuse ids of calls in later answers.
      this.#shown.delete(part.id);
      this.#names.set(part.id, part.name);
      this.#args.set(part.id, part.arguments);
    }
  }

  #result({ toolCallId, result, isError }: EntryOf<"tool_result">): Block[] {
    const settled = (result ?? {}) as {
      readonly result?: { readonly content?: ToolResultMessage["content"]; details?: unknown };
      readonly outcome?: ToolOutcome;
      readonly durationMs?: number;
    };
    this.#shown.add(toolCallId);
    const { content = [], details } = settled.result ?? {};
    return [
      this.#tool(toolCallId, {
        outcome: settled.outcome ?? (isError ? "failed" : "finished"),
        isError,
        ms: settled.durationMs ?? 0,
        text: messageText({ content }),
        details,
      }),
    ];
  }

  /** A result without a step: the call did not run, or its process died. */
  #unrun({ toolCallId, toolName, content, isError, details }: ToolResultMessage): Block[] {
    if (this.#shown.delete(toolCallId)) return [];
    this.#names.set(toolCallId, toolName);
    const text = messageText({ content });
    const outcome: ToolOutcome = /is not known|unknown/.test(text) ? "unknown" : "not_started";
    return [this.#tool(toolCallId, { outcome, isError, ms: 0, text, details })];
  }

  #tool(
    id: string,
    end: Pick<ToolBlock, "outcome" | "isError" | "ms" | "text" | "details">,
  ): ToolBlock {
    const { details, ...rest } = end;
    return {
      type: "tool",
      name: this.#names.get(id) ?? "a tool",
      args: this.#args.get(id) ?? {},
      ...rest,
      ...(details !== undefined && { details }),
    };
  }
}
