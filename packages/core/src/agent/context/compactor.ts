/**
 * What the compactions of one transcript remember, for their two faces: the hook and the stream
 * function.
 */
import { systemClock, type Clock } from "../../clock.ts";
import { BowlineError, callHook } from "../../errors.ts";
import { defined } from "../../json-value.ts";
import type { Message } from "../../llm/message.ts";
import { abortedRun } from "../contract/aborted-run.ts";
import type { AgentMessage } from "../contract/agent-message.ts";
import { budgetChain, charge, usesOf } from "../contract/budget.ts";
import type { CompactionEvent, CompactionReason } from "../contract/compaction-event.ts";
import type { RunPort } from "../contract/run-port.ts";
import { compactOnce, type CompactionResult } from "./compact-once.ts";
import { CompactedTranscript } from "./compacted-transcript.ts";
import type { CompactionOptions } from "./compaction-options.ts";
import { roomFor } from "./plan.ts";
import { SummaryWriter, type Asked } from "./summary-writer.ts";
import { estimateTokens, rememberEstimates, sumTokens, type TokenEstimate } from "./tokens.ts";
import { untilAborted } from "./until-aborted.ts";
import { markOf, standInText, type CompactionState } from "./view.ts";

const STUCK = "the conversation fills the context window, and compaction frees nothing";
/** To the model, at the first such try. */
const NOTE = `Note: ${STUCK}. Answer with what is known.`;
/** Shorter summaries say nothing. */
const MIN_SUMMARY_TOKENS = 32;

/** What `transform` gave last, and of what. */
interface Given {
  readonly messages: AgentMessage[];
  readonly signal: AbortSignal | undefined;
  readonly state: CompactionState | undefined;
  readonly last: AgentMessage | undefined;
}

export class Compactor {
  readonly #options: CompactionOptions;
  readonly #clock: Clock;
  readonly #estimate: TokenEstimate;
  readonly #minFreedShare: number;
  readonly #transcript: CompactedTranscript;
  readonly #writer: SummaryWriter;
  #isExpecting = false;
  #given: Given | undefined;
  /** After a try that did not come below the limit: the size from which another may. */
  #retryAbove = 0;
  /** Tries in a row that freed nothing. */
  #failures = 0;
  /** Of what transcript the two are: its beginning, and its length. */
  #of = { mark: "", length: 0 };
  #previous: Promise<unknown> = Promise.resolve();
  /** The run whose context was asked for last. */
  #run: RunPort | undefined;

  constructor(options: CompactionOptions) {
    this.#options = options;
    this.#clock = options.streamOptions?.clock ?? systemClock;
    this.#estimate = rememberEstimates(options.estimateTokens ?? estimateTokens);
    this.#minFreedShare = options.minFreedShare ?? 0.1;
    this.#transcript = new CompactedTranscript(options.state, this.#estimate);
    this.#writer = new SummaryWriter(options, this.#estimate, this.#transcript);
  }

  get state(): CompactionState | undefined {
    return this.#transcript.state;
  }

  /** A stream function is wrapped: who writes summaries is known with the first request. */
  expectRequests(): void {
    this.#isExpecting = true;
  }

  async transform(
    messages: AgentMessage[],
    signal: AbortSignal | undefined,
    run: RunPort | undefined,
  ): Promise<AgentMessage[]> {
    this.#run = run;
    // Waits for the first request once; one that never comes this way is not waited for again.
    const waits = this.#isExpecting && !this.#writer.model;
    this.#isExpecting = false;
    const before = this.#failures;
    if (!waits) await this.compact(messages, "limit", signal);
    if (this.#failures > Math.max(1, before))
      throw new BowlineError("no_progress", `Stopped: ${STUCK}, twice.`);
    return this.#show(messages, signal, this.#failures > before);
  }

  /** One at a time: a second call finds it done. */
  compact(
    messages: AgentMessage[],
    reason: CompactionReason,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const next = this.#previous.then(() => this.#compactNow(messages, reason, signal));
    this.#previous = next.catch(() => {});
    return next;
  }

  /**
   * Whether a request is made of what `transform` gave last: it has the run's signal, or ends with
   * the same message.
   */
  owns(signal: AbortSignal | undefined, messages: readonly Message[]): boolean {
    const given = this.#given;
    if (given === undefined) return false;
    return given.signal === signal || (messages.length > 0 && messages.at(-1) === given.last);
  }

  /**
   * Learns from the request. Gives other messages for it when only now it is known that they must
   * be fewer.
   */
  async meet(request: Asked, signal: AbortSignal): Promise<Message[] | undefined> {
    this.#writer.meet(request);
    const given = this.#given;
    if (!given) return undefined;
    await this.compact(given.messages, "limit", signal);
    if (given.state === this.state) return undefined;
    return this.#writer.toLlm(this.#show(given.messages, given.signal));
  }

  /**
   * The messages for another try of a request that was refused as too long; undefined when they
   * cannot be fewer.
   */
  async recover(signal: AbortSignal): Promise<Message[] | undefined> {
    const given = this.#given;
    if (!given || !(await this.compact(given.messages, "overflow", signal))) return undefined;
    return this.#writer.toLlm(this.#show(given.messages, given.signal));
  }

  /**
   * The request's messages, noted as given; with a note to the model when they could not be made
   * fewer.
   */
  #show(
    messages: AgentMessage[],
    signal: AbortSignal | undefined,
    isStuck = false,
  ): AgentMessage[] {
    let shown = this.#transcript.view(messages);
    if (isStuck) shown = [...shown, { role: "user", content: NOTE, timestamp: this.#clock.now() }];
    this.#given = { messages, signal, state: this.state, last: shown.at(-1) };
    return shown;
  }

  async #compactNow(
    messages: AgentMessage[],
    reason: CompactionReason,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    this.#transcript.forgetOthers(messages);
    this.#forgetTries(messages);
    const before = this.#transcript.count(messages);
    const { limit } = this.#writer;
    if (reason === "limit" && before <= Math.max(limit, this.#retryAbove)) return false;
    await this.#tell({ type: "compaction_start", reason, tokensBefore: before }, signal);
    const result = await this.#compactOnce(messages, reason, before, limit, signal);
    this.#note(result, { reason, before, limit, isAborted: signal?.aborted === true });
    await this.#tell(this.#endOf(messages, reason, before, result), signal);
    if (signal?.aborted) throw abortedRun();
    return result.state !== undefined;
  }

  /** Tries of another transcript, or of one that was rewound, say nothing of this one. */
  #forgetTries(messages: readonly AgentMessage[]): void {
    const { length } = messages;
    const mark = markOf(messages, Math.min(1, length));
    if (mark !== this.#of.mark || length < this.#of.length) this.#retryAbove = this.#failures = 0;
    this.#of = { mark, length };
  }

  #compactOnce(
    messages: AgentMessage[],
    reason: CompactionReason,
    before: number,
    limit: number,
    signal: AbortSignal | undefined,
  ): Promise<CompactionResult> {
    const { keepRecentTokens = 20_000, maxSummaryTokens = 4096 } = this.#options;
    const sizes = { before, shown: sumTokens(this.#transcript.view(messages), this.#estimate) };
    const target = reason === "limit" ? limit : 0;
    const room = roomFor(sizes, target, keepRecentTokens, maxSummaryTokens);
    const { maxSummary: maxTokens } = room;
    const by = maxTokens < MIN_SUMMARY_TOKENS ? undefined : this.#writer.model;
    const graceMs = (this.#run?.abortGraceMs ?? 0) / 2; // then the run's own patience ends
    const asked = { messages, before, reason, maxTokens, signal, graceMs };
    return compactOnce({
      messages,
      old: this.state,
      sizes,
      room,
      minFreed: Math.max(1, before * this.#minFreedShare),
      estimate: this.#estimate,
      now: this.#clock.now(),
      signal,
      write: by && ((cut) => this.#writer.summarize(by, { ...asked, cut })),
    });
  }

  /** Counts what the summary cost, takes the new state, and learns when to try again. */
  #note(
    { state: next, usage, tokensAfter }: CompactionResult,
    about: { reason: CompactionReason; before: number; limit: number; isAborted: boolean },
  ): void {
    const { budget } = this.#options;
    if (this.#run) this.#run.addUsage(usage, budget);
    else if (budget) charge(usesOf(budgetChain(budget)), 0, usage);
    this.#transcript.state = next ?? this.state;
    if (!about.isAborted) {
      const isOver = tokensAfter > about.limit;
      this.#retryAbove = isOver ? tokensAfter * (1 + this.#minFreedShare) : 0;
      this.#failures = next ? 0 : this.#failures + 1;
    }
    if (next && about.reason === "overflow") this.#writer.noteRefusal(about.before);
  }

  #endOf(
    messages: AgentMessage[],
    reason: CompactionReason,
    before: number,
    compacted: CompactionResult,
  ): CompactionEvent {
    const { state: _, ...result } = compacted;
    const { state } = this;
    const { firstKeptIndex = 0 } = state ?? {};
    return {
      type: "compaction_end",
      reason,
      tokensBefore: before,
      freed: before - result.tokensAfter,
      summary: state ? standInText(state) : "",
      firstKeptIndex,
      ...(firstKeptIndex < messages.length && { firstKept: messages[firstKeptIndex] }),
      ...defined({ maxResultTokens: state?.maxResultTokens }),
      ...result,
    };
  }

  /**
   * Hooks that never answer are left behind with an abort: the next compaction waits for this one.
   */
  async #tell(event: CompactionEvent, signal: AbortSignal | undefined): Promise<void> {
    const told = callHook("onCompaction", () => this.#options.onCompaction?.(event));
    await untilAborted(told, signal, undefined);
    await this.#run?.emit(event);
  }
}
