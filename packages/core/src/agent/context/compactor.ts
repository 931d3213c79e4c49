/**
 * What the compactions of one transcript remember, for their two faces: the hook and the stream
 * function.
 */
import { systemClock } from "../../clock.ts";
import { BowlineError, callHook, toBowlineError } from "../../errors.ts";
import { defined } from "../../json-value.ts";
import { isLlmMessage, type Context, type Message } from "../../llm/message.ts";
import type { Model, StreamFn, StreamOptions } from "../../llm/model.ts";
import { abortedRun } from "../contract/aborted-run.ts";
import type { AgentMessage } from "../contract/agent-message.ts";
import { budgetChain, charge } from "../contract/budget.ts";
import type { CompactionEvent, CompactionReason } from "../contract/compaction-event.ts";
import type { RunPort } from "../contract/run-port.ts";
import { compactOnce } from "./compact-once.ts";
import type { CompactionOptions } from "./compaction-options.ts";
import { limitOf, roomFor } from "./plan.ts";
import {
  instructionFor,
  roomToAnswer,
  writeSummary,
  type Summarizer,
  type SummaryResult,
  type SummaryTask,
} from "./summary.ts";
import { estimateTokens, rememberEstimates, sumTokens, tokensSince } from "./tokens.ts";
import { untilAborted } from "./until-aborted.ts";
import { compactedView, markOf, standInText, type CompactionState } from "./view.ts";

/** The conversation's last request, but for its messages. */
interface Asked {
  readonly model: Model;
  readonly streamFn: StreamFn;
  readonly context: Omit<Context, "messages">;
  readonly options: StreamOptions;
}

export interface Compactor {
  readonly state: CompactionState | undefined;
  /** A stream function is wrapped: who writes summaries is known with the first request. */
  expectRequests(): void;
  transform(
    messages: AgentMessage[],
    signal: AbortSignal | undefined,
    run: RunPort | undefined,
  ): Promise<AgentMessage[]>;
  compact(
    messages: AgentMessage[],
    reason: CompactionReason,
    signal: AbortSignal | undefined,
  ): Promise<boolean>;
  /**
   * Whether a request is made of what `transform` gave last: it has the run's signal, or ends with
   * the same message.
   */
  owns(signal: AbortSignal | undefined, messages: readonly Message[]): boolean;
  /**
   * Learns from the request. Gives other messages for it when only now it is known that they must
   * be fewer.
   */
  meet(request: Asked, signal: AbortSignal): Promise<Message[] | undefined>;
  /**
   * The messages for another try of a request that was refused as too long; undefined when they
   * cannot be fewer.
   */
  recover(signal: AbortSignal): Promise<Message[] | undefined>;
}

const STUCK = "the conversation fills the context window, and compaction frees nothing";
/** To the model, at the first such try. */
const NOTE = `Note: ${STUCK}. Answer with what is known.`;
/** Shorter summaries say nothing. */
const MIN_SUMMARY_TOKENS = 32;

export function createCompactor(options: CompactionOptions): Compactor {
  const { keepRecentTokens = 20_000, maxSummaryTokens = 4096, minFreedShare = 0.1 } = options;
  const {
    convertToLlm = (all) => all.filter(isLlmMessage),
    streamOptions: { clock = systemClock } = {},
  } = options;
  const estimate = rememberEstimates(options.estimateTokens ?? estimateTokens);
  let { state } = options;
  let asked: Asked | undefined;
  let isExpecting = false;
  let given: Given | undefined;
  /** What stands for the compacted part: made once, so that it stays the same. */
  let part:
    | { readonly of: CompactionState; readonly last: unknown; readonly messages: AgentMessage[] }
    | undefined;
  /** What `count` said last, and of what. */
  let counted:
    | { of: CompactionState | undefined; length: number; last: unknown; tokens: number }
    | undefined;
  /** A size that the conversation's server refused. */
  let refused = Infinity;
  /** After a try that did not come below the limit: the size from which another may. */
  let retryAbove = 0;
  /** Tries in a row that freed nothing. */
  let failures = 0;
  let previous: Promise<unknown> = Promise.resolve();
  /** The run whose context was asked for last. */
  let run: RunPort | undefined;

  return {
    get state() {
      return state;
    },
    expectRequests: () => void (isExpecting = true),
    async transform(messages, signal, asking) {
      run = asking;
      // Waits for the first request once; one that never comes this way is not waited for again.
      const waits = isExpecting && !writer();
      isExpecting = false;
      const before = failures;
      if (!waits) await compact(messages, "limit", signal);
      if (failures > Math.max(1, before))
        throw new BowlineError("no_progress", `Stopped: ${STUCK}, twice.`);
      return show(messages, signal, failures > before);
    },
    compact,
    owns: (signal, messages) =>
      given !== undefined &&
      (given.signal === signal || (messages.length > 0 && messages.at(-1) === given.last)),
    async meet(request, signal) {
      if (asked && asked.model.id !== request.model.id) refused = Infinity;
      asked = request;
      if (!given) return undefined;
      await compact(given.messages, "limit", signal);
      return given.state === state ? undefined : convertToLlm(show(given.messages, given.signal));
    },
    async recover(signal) {
      if (!given || !(await compact(given.messages, "overflow", signal))) return undefined;
      return convertToLlm(show(given.messages, given.signal));
    },
  };

  /**
   * The request's messages, noted as given; with a note to the model when they could not be made
   * fewer.
   */
  function show(
    messages: AgentMessage[],
    signal: AbortSignal | undefined,
    isStuck = false,
  ): AgentMessage[] {
    let shown = view(messages);
    if (isStuck) shown = [...shown, { role: "user", content: NOTE, timestamp: clock.now() }];
    given = { messages, signal, state, last: shown.at(-1) };
    return shown;
  }

  function view(messages: AgentMessage[]): AgentMessage[] {
    forgetOthers(messages);
    if (!state) return messages;
    const { messageCount } = state;
    const last = messages[messageCount - 1];
    // What another hook had added at the end is there no more.
    if (part?.of !== state || part.last !== last)
      part = { of: state, last, messages: compactedView(messages, state) };
    return [...part.messages, ...messages.slice(messageCount)];
  }

  /** A transcript that was reset, or rewound beyond the summary, has none. */
  function forgetOthers(messages: readonly AgentMessage[]): void {
    if (!state) return;
    const { firstKeptIndex, mark, messageCount } = state;
    const isOther = mark !== undefined && mark !== markOf(messages, firstKeptIndex);
    if (isOther || messages.length < firstKeptIndex) state = undefined;
    else if (messages.length < messageCount) state = { ...state, messageCount: messages.length };
  }

  /**
   * The context as it stands: what is new is added to what was counted before. What a server
   * reported before the last compaction is of a request that is no longer sent.
   */
  function count(messages: AgentMessage[]): number {
    const { messageCount = 0, tokensAfter } = state ?? {};
    let known = counted;
    if (!known || known.of !== state || known.last !== messages[known.length - 1]) {
      const tokens = state
        ? (tokensAfter ?? sumTokens(compactedView(messages, state), estimate))
        : 0;
      known = { of: state, length: messageCount, last: undefined, tokens };
    }
    const since = tokensSince(messages, known.length, estimate);
    const tokens = since.reported ? since.tokens : known.tokens + since.tokens;
    counted = { of: state, length: messages.length, last: messages.at(-1), tokens };
    return tokens;
  }

  /** One at a time: who comes second finds it done. */
  function compact(...task: Parameters<Compactor["compact"]>): Promise<boolean> {
    const next = previous.then(() => compactNow(...task));
    previous = next.catch(() => {});
    return next;
  }

  async function compactNow(
    messages: AgentMessage[],
    reason: CompactionReason,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    forgetOthers(messages);
    const before = count(messages);
    const limit = limitNow();
    if (reason === "limit" && before <= Math.max(limit, retryAbove)) return false;
    await tell({ type: "compaction_start", reason, tokensBefore: before }, signal);
    const sizes = { before, shown: sumTokens(view(messages), estimate) };
    const room = roomFor(sizes, reason === "limit" ? limit : 0, keepRecentTokens, maxSummaryTokens);
    const by = room.maxSummary < MIN_SUMMARY_TOKENS ? undefined : writer();
    const { state: next, ...result } = await compactOnce({
      messages,
      old: state,
      sizes,
      room,
      minFreed: Math.max(1, before * minFreedShare),
      estimate,
      now: clock.now(),
      signal,
      write:
        by &&
        ((cut) =>
          summarize(by, { messages, cut, before, reason, maxTokens: room.maxSummary, signal })),
    });
    if (options.budget) charge(budgetChain(options.budget), 0, result.usage);
    else run?.addUsage(result.usage);
    state = next ?? state;
    if (!signal?.aborted) {
      retryAbove = result.tokensAfter > limit ? result.tokensAfter * (1 + minFreedShare) : 0;
      failures = next ? 0 : failures + 1;
    }
    if (next && reason === "overflow") refused = Math.min(refused, before);
    const { firstKeptIndex } = state ?? { firstKeptIndex: 0 };
    const end: CompactionEvent = {
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
    await tell(end, signal);
    if (signal?.aborted) throw abortedRun();
    return next !== undefined;
  }

  /**
   * Hooks that never answer are left behind with an abort: the next compaction waits for this one.
   */
  async function tell(event: CompactionEvent, signal: AbortSignal | undefined): Promise<void> {
    const told = callHook("onCompaction", () => options.onCompaction?.(event));
    await untilAborted(told, signal, undefined);
    await run?.emit(event);
  }

  function limitNow(): number {
    const limit = limitOf(windowNow(), options.reserveTokens, asked?.options.maxTokens);
    return Math.min(limit, refused * 0.9);
  }

  function windowNow(): number {
    const { contextWindow, model } = options;
    const told = typeof contextWindow === "function" ? contextWindow() : contextWindow;
    return told ?? (asked?.model ?? model)?.contextWindow ?? Infinity;
  }

  /** Who can be asked for a summary now. */
  function writer(): Summarizer | undefined {
    const model = options.model ?? asked?.model;
    const streamFn = options.streamFn ?? asked?.streamFn;
    if (!model || !streamFn) return undefined;
    if (asked?.model.provider !== model.provider)
      return { model, streamFn, options: options.streamOptions ?? {} };
    // A cache of the conversation is no use to another text, and to write one costs.
    const {
      sessionId: _,
      reasoning: __,
      thinkingBudgets: ___,
      toolChoice: ____,
      ...rest
    } = asked.options;
    return {
      model,
      streamFn,
      options: { ...rest, cacheRetention: "none", ...options.streamOptions },
    };
  }

  /** Never rejects: what a hook throws is why there is no summary. */
  async function summarize(by: Summarizer, task: OlderPart): Promise<SummaryResult> {
    const { messages, cut, before, maxTokens, signal } = task;
    const { summary = "", firstKeptIndex = 0, droppedFrom = firstKeptIndex } = state ?? {};
    const { contextWindow = Math.min(windowNow(), before) } = by.model;
    try {
      const apiKey = await untilAborted(options.getApiKey?.(by.model.provider), signal, undefined);
      return await writeSummary({
        by: { ...by, options: { ...by.options, ...(apiKey && { apiKey }) } },
        previous: summary,
        older: await untilAborted(convertToLlm(messages.slice(droppedFrom, cut)), signal, []),
        request: await continuedRequest(task),
        instruction: options.prompt ?? instructionFor(maxTokens),
        maxInputTokens: Math.floor(contextWindow / 2),
        maxTokens,
        signal,
      });
    } catch (error) {
      return { error: toBowlineError(error, "hook_failed"), usage: {} };
    }
  }

  /**
   * The conversation's own request up to the cut, if its model may be asked to go on from there and
   * that fits.
   */
  async function continuedRequest({
    messages,
    cut,
    before,
    reason,
    maxTokens,
    signal,
  }: OlderPart): Promise<SummaryTask["request"]> {
    if (!asked || options.model || reason === "overflow") return undefined;
    const { toolChoice = "auto" } = asked.options;
    if (state?.droppedFrom !== undefined || toolChoice !== "auto") return undefined;
    const kept = messages.slice(cut);
    if (before - sumTokens(kept, estimate) + roomToAnswer(asked.model, maxTokens) > windowNow())
      return undefined;
    const older = await untilAborted(
      convertToLlm(view(messages).slice(0, -kept.length)),
      signal,
      [],
    );
    return { context: { ...asked.context, messages: older }, options: asked.options };
  }
}

/** What `transform` gave last, and of what. */
interface Given {
  readonly messages: AgentMessage[];
  readonly signal: AbortSignal | undefined;
  readonly state: CompactionState | undefined;
  readonly last: AgentMessage | undefined;
}

interface OlderPart {
  readonly messages: AgentMessage[];
  readonly cut: number;
  readonly before: number;
  readonly reason: CompactionReason;
  readonly maxTokens: number;
  readonly signal: AbortSignal | undefined;
}
