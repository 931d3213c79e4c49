/** The state of one transcript's compactions, shared by the hook and the stream function. */
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
/** The note that the model gets after the first compaction that frees nothing. */
const NOTE = `Note: ${STUCK}. Answer with what is known.`;
/** Minimum room for a summary, in tokens. A shorter summary is useless. */
const MIN_SUMMARY_TOKENS = 32;

/** The name under which a run keeps the state of its compaction. */
const MEMORY = "compaction";

/** The state after a compaction, JSON-safe. */
interface Kept {
  readonly state: CompactionState | undefined;
  readonly retryAbove: number;
  readonly failures: number;
  /** The transcript of the two numbers before: its beginning and its length. */
  readonly of: { readonly mark: string; readonly length: number };
  /** The size of a request that the server refused. Absent if there was none. */
  readonly refused?: number | undefined;
}

/** The last result of `transform`, and its input. */
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
  /** After a compaction that stayed above the limit: the size above which to try again. */
  #retryAbove = 0;
  /** Number of consecutive compactions that freed nothing. */
  #failures = 0;
  /** The transcript that `#retryAbove` and `#failures` belong to: its beginning and its length. */
  #of = { mark: "", length: 0 };
  #previous: Promise<unknown> = Promise.resolve();
  /** The run that called `transform` last. */
  #run: RunPort | undefined;
  /** What the run keeps of the last compaction. */
  #kept: Kept | undefined;

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

  get limit(): number {
    return this.#writer.limit;
  }

  /** Takes over a state, and forgets what was tried since. */
  restore(state: CompactionState | undefined): void {
    this.#transcript.state = state;
    this.#retryAbove = this.#failures = 0;
    this.#given = this.#kept = undefined;
  }

  /**
   * Called when a stream function is wrapped. The model for summaries is then known from the first
   * request.
   */
  expectRequests(): void {
    this.#isExpecting = true;
  }

  async transform(
    messages: AgentMessage[],
    signal: AbortSignal | undefined,
    run: RunPort | undefined,
  ): Promise<AgentMessage[]> {
    this.#run = run;
    this.#recall(run);
    // Skip the check once if the model is still unknown. The first request will name it. Do not skip it again
    // if that request never comes.
    const waits = this.#isExpecting && !this.#writer.model;
    this.#isExpecting = false;
    const before = this.#failures;
    if (!waits) await this.compact(messages, "limit", signal);
    if (this.#failures > Math.max(1, before))
      throw new BowlineError("no_progress", `Stopped after two attempts: ${STUCK}.`);
    return this.#show(messages, signal, this.#failures > before);
  }

  /** Compacts. Concurrent calls are queued, so a second call finds the work done. */
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
   * Returns whether a request comes from the last `transform`: it has the run's signal or ends with
   * the same message.
   */
  owns(signal: AbortSignal | undefined, messages: readonly Message[]): boolean {
    const given = this.#given;
    if (given === undefined) return false;
    return given.signal === signal || (messages.length > 0 && messages.at(-1) === given.last);
  }

  /**
   * Reads the model and its limits from a request. Returns shorter messages if the request exceeds
   * limits that were unknown before, otherwise undefined.
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
   * Returns shorter messages to retry a request that was refused as too long. Undefined if they
   * cannot be shortened.
   */
  async recover(signal: AbortSignal): Promise<Message[] | undefined> {
    const given = this.#given;
    if (!given || !(await this.compact(given.messages, "overflow", signal))) return undefined;
    return this.#writer.toLlm(this.#show(given.messages, given.signal));
  }

  /**
   * Returns the messages of the request and stores them as the last result. With `isStuck`, adds a
   * note to the model.
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
    await this.#report({ type: "compaction_start", reason, tokensBefore: before }, signal);
    const result = await this.#compactOnce(messages, reason, before, limit, signal);
    this.#note(result, { reason, before, limit, isAborted: signal?.aborted === true });
    await this.#report(this.#endOf(messages, reason, before, result), signal);
    if (signal?.aborted) throw abortedRun();
    return result.state !== undefined;
  }

  /** Resets the failure counters if the transcript is another one or was rewound. */
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
    const graceMs = (this.#run?.abortGraceMs ?? 0) / 2; // less than the run's grace period
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

  /** Charges the summary's usage, stores the new state, and updates when to try again. */
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
    this.#kept = {
      state: this.state,
      retryAbove: this.#retryAbove,
      failures: this.#failures,
      of: this.#of,
      refused: this.#writer.refused,
    };
    this.#run?.memory.set(MEMORY, this.#kept);
  }

  /** Takes over what the run keeps of a compaction that another attempt at the run made. */
  #recall(run: RunPort | undefined): void {
    const kept = run?.memory.get(MEMORY) as Kept | undefined;
    if (kept === undefined || kept === this.#kept) return;
    this.#kept = kept;
    this.#transcript.state = kept.state;
    this.#retryAbove = kept.retryAbove;
    this.#failures = kept.failures;
    this.#of = kept.of;
    if (kept.refused !== undefined) this.#writer.noteRefusal(kept.refused);
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
      ...defined({
        firstKept: messages[firstKeptIndex],
        maxResultTokens: state?.maxResultTokens,
      }),
      ...result,
    };
  }

  /**
   * Reports an event to the hook and the run. Stops waiting for the hook at an abort, because the
   * next compaction waits for this one.
   */
  async #report(event: CompactionEvent, signal: AbortSignal | undefined): Promise<void> {
    const told = callHook("onCompaction", () => this.#options.onCompaction?.(event));
    await untilAborted(told, signal, undefined);
    await this.#run?.emit(event);
  }
}
