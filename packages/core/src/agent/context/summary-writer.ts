/** Selects the model that writes a summary and builds its request. */
import { toBowlineError } from "../../errors.ts";
import { defined } from "../../json-value.ts";
import { isLlmMessage, type Context, type Message } from "../../llm/message.ts";
import type { Model, StreamFn, StreamOptions } from "../../llm/model.ts";
import type { AgentMessage } from "../contract/agent-message.ts";
import type { CompactionReason } from "../contract/compaction-event.ts";
import type { CompactedTranscript } from "./compacted-transcript.ts";
import type { CompactionOptions } from "./compaction-options.ts";
import { limitOf } from "./plan.ts";
import {
  instructionFor,
  roomToAnswer,
  writeSummary,
  type Summarizer,
  type SummaryResult,
  type SummaryTask,
} from "./summary.ts";
import { sumTokens, type TokenEstimate } from "./tokens.ts";
import { untilAborted } from "./until-aborted.ts";

/** The conversation's last request without its messages. */
export interface Asked {
  readonly model: Model;
  readonly streamFn: StreamFn;
  readonly context: Omit<Context, "messages">;
  readonly options: StreamOptions;
}

/** The task: summarise the messages before `cut`. */
export interface OlderPart {
  readonly messages: AgentMessage[];
  readonly cut: number;
  readonly before: number;
  readonly reason: CompactionReason;
  readonly maxTokens: number;
  readonly signal: AbortSignal | undefined;
  readonly graceMs: number;
}

export class SummaryWriter {
  readonly #options: CompactionOptions;
  readonly #estimate: TokenEstimate;
  readonly #transcript: CompactedTranscript;
  #asked: Asked | undefined;
  /** The smallest request size that the server refused, in tokens. */
  #refused = Infinity;

  constructor(
    options: CompactionOptions,
    estimate: TokenEstimate,
    transcript: CompactedTranscript,
  ) {
    this.#options = options;
    this.#estimate = estimate;
    this.#transcript = transcript;
  }

  /** Stores the request, which carries the conversation's model, key and window. */
  meet(request: Asked): void {
    if (this.#asked && this.#asked.model.id !== request.model.id) this.#refused = Infinity;
    this.#asked = request;
  }

  /** Notes that the server refused a request of this many tokens. */
  noteRefusal(tokens: number): void {
    this.#refused = Math.min(this.#refused, tokens);
  }

  /** The smallest size that the server refused. Undefined if there was none. */
  get refused(): number | undefined {
    return this.#refused === Infinity ? undefined : this.#refused;
  }

  /** The size above which the context is compacted, in tokens. */
  get limit(): number {
    const { reserveTokens } = this.#options;
    const limit = limitOf(this.#window, reserveTokens, this.#asked?.options.maxTokens);
    return Math.min(limit, this.#refused * 0.9);
  }

  /** The model that can write a summary now, if known. */
  get model(): Summarizer | undefined {
    const own = this.#options;
    const asked = this.#asked;
    const model = own.model ?? asked?.model;
    const streamFn = own.streamFn ?? asked?.streamFn;
    if (!model || !streamFn) return undefined;
    if (asked?.model.provider !== model.provider)
      return { model, streamFn, options: own.streamOptions ?? {} };
    // The conversation's cache does not help another text, and writing a cache costs. The output
    // schema is for the run's answer, not for a summary.
    const {
      sessionId: _,
      reasoning: __,
      thinkingBudgets: ___,
      toolChoice: ____,
      output: _____,
      ...rest
    } = asked.options;
    const options = {
      ...rest,
      cacheRetention: "none" as const,
      ...defined({ ...own.streamOptions }),
    };
    return { model, streamFn, options };
  }

  /** Writes a summary. Never rejects: an error of a hook is returned in the result. */
  async summarize(by: Summarizer, task: OlderPart): Promise<SummaryResult> {
    const { messages, cut, before, maxTokens, signal, graceMs } = task;
    const {
      summary = "",
      firstKeptIndex = 0,
      droppedFrom = firstKeptIndex,
    } = this.#transcript.state ?? {};
    const { contextWindow = Math.min(this.#window, before) } = by.model;
    const { prompt = instructionFor(maxTokens) } = this.#options;
    try {
      const key = this.#options.getApiKey?.(by.model.provider);
      const apiKey = await untilAborted(key, signal, undefined);
      const older = this.toLlm(messages.slice(droppedFrom, cut));
      return await writeSummary({
        by: { ...by, options: { ...by.options, ...(apiKey && { apiKey }) } },
        previous: summary,
        older: await untilAborted(older, signal, []),
        request: await this.#continuedRequest(task),
        instruction: prompt,
        maxInputTokens: Math.floor(contextWindow / 2),
        maxTokens,
        signal,
        graceMs,
      });
    } catch (error) {
      return { error: toBowlineError(error, "hook_failed"), usage: {} };
    }
  }

  toLlm(messages: AgentMessage[]): Message[] | PromiseLike<Message[]> {
    const { convertToLlm } = this.#options;
    return convertToLlm === undefined ? messages.filter(isLlmMessage) : convertToLlm(messages);
  }

  get #window(): number {
    const { contextWindow, model } = this.#options;
    const told = typeof contextWindow === "function" ? contextWindow() : contextWindow;
    return told ?? (this.#asked?.model ?? model)?.contextWindow ?? Infinity;
  }

  /**
   * Returns the conversation's own request up to the cut, if its model can continue from there and
   * the summary fits.
   */
  async #continuedRequest(task: OlderPart): Promise<SummaryTask["request"]> {
    const { messages, cut, before, reason, maxTokens, signal } = task;
    const asked = this.#asked;
    if (!asked || this.#options.model || reason === "overflow") return undefined;
    const { toolChoice = "auto" } = asked.options;
    if (this.#transcript.state?.droppedFrom !== undefined || toolChoice !== "auto")
      return undefined;
    const kept = messages.slice(cut);
    const rest = before - sumTokens(kept, this.#estimate);
    if (rest + roomToAnswer(asked.model, maxTokens) > this.#window) return undefined;
    const older = this.toLlm(this.#transcript.view(messages).slice(0, -kept.length));
    const context = { ...asked.context, messages: await untilAborted(older, signal, []) };
    const { output: _, ...options } = asked.options;
    return { context, options };
  }
}
