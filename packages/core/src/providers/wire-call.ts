/** One model call with its retries, as events that end with `done` or `error`. */
import { monotonicNow, randomId, sleep, systemClock } from "../clock.ts";
import { callHook, toBowlineError, toErrorInfo, type BowlineError } from "../errors.ts";
import { defined } from "../json-value.ts";
import type { AssistantMessageEvent } from "../llm/event.ts";
import { withDiscarded, type AssistantMessage, type Context } from "../llm/message.ts";
import type { Model, StreamOptions } from "../llm/model.ts";
import type { Push } from "../llm/stream.ts";
import { addUsage, billedUsage, costOf, type Usage } from "../llm/usage.ts";
import { postForStream } from "../transport/post.ts";
import type { ChunkVerdict, PostOptions, PostRequest } from "../transport/request.ts";
import { prepareRequest } from "./prepare-request.ts";
import { RetryBudget } from "./retry-budget.ts";
import { reworded, withoutKeys } from "./reword-error.ts";
import { limitsOf } from "./timeouts.ts";
import type { Decoder, Wire } from "./wire.ts";

export class WireCall {
  readonly #wire: Wire;
  readonly #model: Model;
  readonly #context: Context;
  readonly #options: StreamOptions;
  readonly #push: Push<AssistantMessageEvent>;
  /** The options of every try. */
  readonly #posting: Omit<PostOptions, "fresh" | "onChunk">;
  readonly #budget: RetryBudget;
  #firstFailureAt: number | undefined;
  /** The billed usage of the discarded tries so far. */
  #discarded: Usage = {};
  /** The model with what the wire learned so far. */
  #asked: Model;
  /** Shared by all tries until the wire learns something. */
  #request: Promise<PostRequest> | undefined;

  constructor(
    wire: Wire,
    model: Model,
    context: Context,
    options: StreamOptions,
    push: Push<AssistantMessageEvent>,
    signal: AbortSignal,
  ) {
    const { clock = systemClock, fetch = globalThis.fetch } = options;
    const { maxRetries = 2, random = Math.random, onResponse } = options;
    this.#wire = wire;
    this.#model = model;
    this.#context = context;
    this.#options = options;
    this.#push = push;
    this.#posting = {
      ...limitsOf(options),
      begunAt: monotonicNow(clock),
      fetch,
      clock,
      signal,
      model: model.id,
      onResponse:
        onResponse && ((response) => callHook("onResponse", () => onResponse(response, model))),
    };
    this.#budget = new RetryBudget(maxRetries, random);
    this.#asked = wire.asLearned?.(model) ?? model;
  }

  async answer(): Promise<AssistantMessage> {
    const { headers, apiKey } = this.#options;
    const { clock, signal } = this.#posting;
    for (let attempt = 1; ; attempt++) {
      const decoder = this.#createDecoder(attempt);
      const failure = await this.#try(decoder);
      if (!failure) return decoder.message;
      const error = withoutKeys(failure, { ...this.#model.headers, ...headers, key: apiKey });
      const delayMs = this.#learn(error, decoder) ?? this.#plan(error, decoder, attempt);
      if (delayMs === undefined) return decoder.message;
      this.#price(decoder);
      this.#discarded = addUsage(this.#discarded, billedUsage(decoder.message));
      const failed = { attempt, error: toErrorInfo(error) };
      if (decoder.started) this.#push([{ type: "message_retract", ...failed, contentIndex: 0 }]);
      this.#push([{ type: "request_retry", ...failed, delayMs }]);
      await sleep(clock, delayMs, signal);
    }
  }

  #createDecoder(attempt: number): Decoder {
    const { createId = randomId, maxEventLength, maxAnswerLength } = this.#options;
    return this.#wire.createDecoder(this.#model, {
      timestamp: this.#posting.clock.now(),
      attempt,
      toolNames: (this.#context.tools ?? []).map((tool) => tool.name),
      followsResults: this.#context.messages.at(-1)?.role === "toolResult",
      maxEventLength,
      maxAnswerLength,
      // OpenAI accepts 40 characters (Q119).
      createId: () => `call_${createId().replaceAll("-", "").slice(0, 24)}`,
    });
  }

  /** Makes one try. Returns its error, or undefined after `done`. */
  async #try(decoder: Decoder): Promise<BowlineError | undefined> {
    try {
      this.#request ??= prepareRequest(this.#wire, this.#asked, this.#context, this.#options);
      await postForStream(await this.#request, {
        ...this.#posting,
        fresh: this.#budget.isFresh,
        onChunk: (chunk) => this.#tell(decoder, decoder.push(chunk)),
      });
      this.#tell(decoder, decoder.end());
      return decoder.failure;
    } catch (error) {
      return toBowlineError(error, "internal_error");
    }
  }

  #tell(decoder: Decoder, events: AssistantMessageEvent[]): ChunkVerdict {
    const { ended } = decoder;
    if (ended) {
      this.#price(decoder);
      Object.assign(decoder.message, withDiscarded(decoder.message, this.#discarded));
      this.#discarded = {};
    }
    this.#push(events, ended);
    if (ended || decoder.failure) return "complete";
    return events.length > 0 ? "progress" : "alive";
  }

  #price({ message: { usage } }: Decoder): void {
    const { cost } = this.#model;
    if (cost) Object.assign(usage, defined({ cost: usage.cost ?? costOf(usage, cost) }));
  }

  /**
   * Changes the request if the wire knows how. Returns a delay of 0, or undefined if it does not.
   */
  #learn(error: BowlineError, { started }: Decoder): number | undefined {
    if (started || this.#options.maxRetries === 0) return undefined;
    const taught = this.#wire.learn?.(this.#model, this.#asked, error);
    if (!taught) return undefined;
    this.#budget.countLesson();
    this.#asked = taught;
    this.#request = undefined;
    return 0;
  }

  /**
   * Returns the delay before the next try. If there is none, emits the failure and returns
   * undefined.
   */
  #plan(error: BowlineError, decoder: Decoder, attempt: number): number | undefined {
    const { maxRetryDelayMs = 60_000, retryAfterOutput = false } = this.#options;
    const { signal } = this.#posting;
    const { retryable, retryAfterMs = 0 } = error;
    const isStarted = decoder.message.content.length > 0; // and not only a tool of the vendor's
    const { delayMs, isSpent } = this.#budget.count(error, attempt, isStarted);
    const isTooLong = maxRetryDelayMs > 0 && retryAfterMs > maxRetryDelayMs && retryable;
    const isShown = isStarted && !retryAfterOutput;
    const mayRetry = retryable && !isSpent && !isShown && !isTooLong && !this.#isLate(delayMs);
    if (mayRetry && !signal.aborted) return delayMs;
    const message = `${error.message} (the server asks to wait ${Math.ceil(retryAfterMs / 1000)} s)`;
    this.#tell(decoder, decoder.fail(isTooLong ? reworded(error, message) : error));
    return undefined;
  }

  /**
   * Returns whether a try after this delay would start too late. The call then fails now, since the
   * current error says more than an expired limit.
   */
  // Q235
  #isLate(delayMs: number): boolean {
    const { maxRetryTimeMs = 0 } = this.#options;
    const { clock, totalMs, begunAt } = this.#posting;
    const now = monotonicNow(clock);
    this.#firstFailureAt ??= now;
    const isOverTotal = totalMs > 0 && now + delayMs - begunAt >= totalMs;
    return (
      isOverTotal || (maxRetryTimeMs > 0 && now + delayMs - this.#firstFailureAt > maxRetryTimeMs)
    );
  }
}
