/** Which model writes the summary of a compaction, and what it is asked. */
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

/** The conversation's last request, but for its messages. */
export interface Asked {
  readonly model: Model;
  readonly streamFn: StreamFn;
  readonly context: Omit<Context, "messages">;
  readonly options: StreamOptions;
}

/** The messages before `cut`, which are to be summarized. */
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
  /** A size that the conversation's server refused. */
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

  /** Learns the model of the conversation, its key and its window. */
  meet(request: Asked): void {
    if (this.#asked && this.#asked.model.id !== request.model.id) this.#refused = Infinity;
    this.#asked = request;
  }

  /** Notes that the server refused a request of this many tokens. */
  noteRefusal(tokens: number): void {
    this.#refused = Math.min(this.#refused, tokens);
  }

  /** The size from which the context is compacted, in tokens. */
  get limit(): number {
    const { reserveTokens } = this.#options;
    const limit = limitOf(this.#window, reserveTokens, this.#asked?.options.maxTokens);
    return Math.min(limit, this.#refused * 0.9);
  }

  /** Which model can be asked for a summary now. */
  get model(): Summarizer | undefined {
    const own = this.#options;
    const asked = this.#asked;
    const model = own.model ?? asked?.model;
    const streamFn = own.streamFn ?? asked?.streamFn;
    if (!model || !streamFn) return undefined;
    if (asked?.model.provider !== model.provider)
      return { model, streamFn, options: own.streamOptions ?? {} };
    // A cache of the conversation is no use to another text, and to write one costs. A summary is
    // no value of the run's output.
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

  /** Never rejects: what a hook throws is why there is no summary. */
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
   * The conversation's own request up to the cut, if its model may be asked to go on from there and
   * that fits.
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
