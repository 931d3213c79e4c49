/**
 * One model call of a run: passes the transcript through the hooks to the stream function, emits
 * the events, and returns the final message.
 */
import { monotonicNow, sleep } from "../../clock.ts";
import { BowlineError, callHook, toBowlineError } from "../../errors.ts";
import {
  applyEvent,
  emptyMessage,
  failureOf,
  isTerminal,
  originOf,
  type AssistantMessageEvent,
  type ErrorEvent,
} from "../../llm/event.ts";
import {
  toolCallsOf,
  withDiscarded,
  type AssistantMessage,
  type Context,
  type Message,
} from "../../llm/message.ts";
import type { AssistantMessageStream, StreamOptions } from "../../llm/model.ts";
import { truncated } from "../../llm/stream.ts";
import { addUsage, billedUsage, type Usage } from "../../llm/usage.ts";
import { estimateTokens, sumTokens } from "../context/tokens.ts";
import { abortedRun } from "../contract/aborted-run.ts";
import type { RunPort } from "../contract/run-port.ts";
import type { CallPlan, ModelStepResult } from "../contract/step.ts";
import { planOf } from "./call-plan.ts";
import type { Emitter } from "./emitter.ts";
import type { Run } from "./run.ts";

/** Custom stream functions may yield single events instead of batches. */
type Batch = AssistantMessageEvent | readonly AssistantMessageEvent[];

/**
 * Custom stream functions may also end without a final event and return their answer from
 * `result()`.
 */
interface Ended {
  result?(): Promise<AssistantMessage | undefined>;
}

/** One request to the stream function. */
interface Ask {
  readonly context: Context;
  readonly apiKey: string | undefined;
  /** Whether another API key may be tried. */
  readonly mayExpire: boolean;
  /** Called before the stream is closed, because closing a custom stream may hang. */
  readonly end: (answer: AssistantMessage) => void;
}

/**
 * Calls the model and resolves with its message, after `message_start` and `message_end` were
 * emitted. Failures of hooks, streams and servers become part of the message and never reject.
 */
export async function callModel(
  run: Run,
): Promise<{ readonly message: AssistantMessage; readonly plan: CallPlan | undefined }> {
  const turn = run.turns++;
  run.declared = run.context.tools ?? [];
  const call = new ModelCall(run);
  const { message, guess, isUnsent, calls } = await run.step(
    `model:${turn}`,
    (port) => call.result(port),
    { kind: "model", turn },
  );
  // Settle before listeners run: they may be slow, and other runs draw on the same budget.
  run.spending.settle(isUnsent ? undefined : billedUsage(message), guess);
  await run.add(message, call.isStarted);
  return { message, plan: calls };
}

class ModelCall {
  readonly #run: Run;
  readonly #emitter: Emitter;
  /** The messages of the request. */
  #asked: readonly Message[] = [];
  #isUnsent = false;
  /** Whether `message_start` was emitted. */
  isStarted = false;
  #partial: AssistantMessage | undefined;
  #isOver = false;
  /** Usage of a request that was retried with another key. */
  #discarded: Usage = {};
  /** The pending listeners, and the time since which they are awaited. */
  #hearing: Promise<void> | undefined;
  #since = 0;

  constructor(run: Run) {
    this.#run = run;
    this.#emitter = run.emitter;
  }

  /** Makes the call. Everything that the loop needs of it is in the result. */
  async result(port: RunPort): Promise<ModelStepResult> {
    const run = this.#run;
    const message = await this.#answer(port);
    const isCounted = run.spending.countsTokens && billedUsage(message).totalTokens === undefined;
    const { content } = message;
    const guess =
      isCounted && content.length > 0 ? sumTokens([...this.#asked, message], estimateTokens) : 0;
    return {
      message,
      ...(isCounted && { guess }),
      ...(this.#isUnsent && { isUnsent: true }),
      ...(toolCallsOf(message).length > 0 && { calls: planOf(run, message) }),
    };
  }

  async #answer(port: RunPort): Promise<AssistantMessage> {
    const run = this.#run;
    let answer: AssistantMessage;
    try {
      if (run.stop) throw run.stop;
      // Take the answer with the last event, because closing a custom stream may hang.
      const said = new Promise<AssistantMessage>(
        (resolve, reject) => void this.#consume(port, resolve).catch(reject),
      );
      answer = await run.grace.patiently(said, 0, () => this.#giveUp());
    } catch (error) {
      answer = this.#failed(run.stop ?? toBowlineError(error, "internal_error"));
    }
    this.#isOver = true;
    answer = withDiscarded(answer, this.#discarded);
    if (answer.stopReason === "toolUse" && toolCallsOf(answer).length === 0) {
      answer = this.#failed(
        new BowlineError(
          "stream_corrupt",
          "The model's answer ended with stop reason toolUse, but it calls no tool.",
        ),
      );
    }
    // Report the cause of an abort if there is one: the caller's reason, a failed listener, the
    // time budget.
    const { stop } = run;
    const isStopped = answer.stopReason === "aborted" || answer.error?.code === stop?.code;
    if (isStopped && stop && (stop.code !== "aborted" || stop.cause !== undefined)) {
      Object.assign(
        answer,
        failureOf(stop),
        stop.code === "budget_exceeded" && { stopReason: "aborted" },
      );
    }
    return answer;
  }

  /** Makes the request and calls `end` with the answer. Rejects without an answer. */
  async #consume(port: RunPort, end: Ask["end"]): Promise<void> {
    const context = await this.#prepare(port);
    await this.#ask({ context, apiKey: await this.#key(), mayExpire: true, end });
  }

  /** Prepares the request: passes copies of the transcript through the hooks. */
  async #prepare(port: RunPort): Promise<Context> {
    const run = this.#run;
    const { context, config, signal } = run;
    const { transformContext } = config;
    const transformed = transformContext
      ? await callHook("transformContext", () =>
          transformContext([...context.messages], signal, port),
        )
      : undefined;
    const messages = await run.hook("convertToLlm", () =>
      config.convertToLlm([...(transformed ?? context.messages)]),
    );
    this.#asked = messages;
    const { systemPrompt } = context;
    return { systemPrompt, messages, tools: [...(run.declared ?? [])] };
  }

  async #key(): Promise<string | undefined> {
    const { getApiKey, model, apiKey } = this.#run.config;
    return (
      (getApiKey && (await this.#run.hook("getApiKey", () => getApiKey(model.provider)))) || apiKey
    );
  }

  async #ask(ask: Ask): Promise<void> {
    const run = this.#run;
    const { config, signal, spending } = run;
    const { apiKey } = ask;
    // Pass the whole configuration; the stream function reads the stream options from it.
    const options: StreamOptions = { ...config, signal, ...(apiKey && { apiKey }) };
    // The run may have been aborted while the hooks ran.
    if (run.stop) throw run.stop;
    // Reserve again, because other runs may have used up a shared budget in the meantime.
    spending.settle();
    const refusal = spending.reserve();
    this.#isUnsent = refusal !== undefined;
    if (refusal) throw refusal;
    try {
      const events = await run.streamFn(config.model, { ...ask.context }, options);
      await this.#readEvents(events, ask);
    } catch (error) {
      throw toBowlineError(error, "stream_function_failed", "The stream function failed");
    }
  }

  /** Emits the events of an answer as they arrive. */
  async #readEvents(events: AssistantMessageStream, ask: Ask): Promise<void> {
    for await (const batch of (events.batches?.() ?? events) as AsyncIterable<Batch>) {
      for (const event of (Array.isArray(batch) ? batch : [batch]) as AssistantMessageEvent[]) {
        this.#handleEvent(event);
        if (this.#hearing) {
          this.#since = monotonicNow(this.#run.clock);
          await this.#hearing;
          this.#hearing = undefined;
        }
        if (event.type === "done") return ask.end(event.message);
        if (event.type === "error") return await this.#end(event, ask);
      }
    }
    // A stream that ended without a final event must have its result by now.
    const ended = events.batches ? undefined : (events as Ended).result?.();
    const given = ended && (await Promise.race([ended, Promise.resolve()]));
    if (given?.role !== "assistant") throw truncated();
    ask.end(given);
  }

  /**
   * Applies one event to the partial message and emits it. Sets `#hearing` if listeners must be
   * awaited.
   */
  #handleEvent(event: AssistantMessageEvent): void {
    if (this.#isOver) throw abortedRun();
    if (event.type === "request_retry" || event.type === "model_failover") {
      this.#hearing = this.#emitter.emit(event);
      return;
    }
    // This package's streams attach the partial message. Build it here for custom streams.
    const partial = event.partial ?? applyEvent(this.#partial, event);
    this.#partial = partial;
    if (!partial || event.type === "start" || isTerminal(event)) return;
    this.#emitStart(partial);
    this.#hearing = this.#emitter.update(event, partial);
  }

  /**
   * Emits `message_start` with the first output, once: after a retraction the message stays the
   * same. Later events are queued after it.
   */
  #emitStart(message: AssistantMessage): void {
    if (!this.isStarted) void this.#emitter.emit({ type: "message_start", message });
    this.isStarted = true;
  }

  /** Handles an error event. Retries once if a rejected API key has a replacement. */
  // Q226
  async #end({ attempt, error: message }: ErrorEvent, ask: Ask): Promise<void> {
    const { error } = message;
    if (ask.mayExpire && !this.isStarted && error?.code === "authentication_failed") {
      const apiKey = await this.#key();
      if (apiKey && apiKey !== ask.apiKey) {
        this.#discarded = addUsage(this.#discarded, billedUsage(message));
        await this.#emitter.emit({ type: "request_retry", attempt, delayMs: 0, error });
        return this.#ask({ ...ask, apiKey, mayExpire: false });
      }
    }
    return ask.end(message);
  }

  /**
   * Ends the call of a stream function that ignored its signal beyond the grace period. Emits the
   * events first that a slow listener delayed. This takes at most as long as the delay, and at most
   * another grace period.
   */
  async #giveUp(): Promise<never> {
    const { clock } = this.#run;
    const now = monotonicNow(clock);
    const end = now + Math.min(this.#run.grace.ms, now - this.#since);
    while (monotonicNow(clock) <= end) {
      if (!this.#hearing) break;
      await this.#hearing;
      await sleep(clock, 0); // lets the stream emit events that have already arrived
    }
    throw abortedRun();
  }

  /**
   * Returns the message of a call that failed outside its stream, with the output received so far.
   */
  #failed(error: BowlineError): AssistantMessage {
    const { clock, config } = this.#run;
    const { model } = config;
    const said = this.#partial ?? emptyMessage(originOf(model, clock.now()));
    // Copy the parts, because an abandoned stream may still write to its message.
    const content = said.content.map((part) => ({ ...part }));
    return { ...said, content, ...failureOf(error) };
  }
}
