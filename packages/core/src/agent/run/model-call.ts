/**
 * One model call of a run: the transcript through the hooks to the stream function, its events out,
 * its final message back.
 */
import { sleep } from "../../clock.ts";
import { BowlineError, callHook, toBowlineError } from "../../errors.ts";
import {
  applyEvent,
  emptyMessage,
  failureOf,
  isTerminal,
  type AssistantMessageEvent,
} from "../../llm/event.ts";
import { LiveDelta } from "../../llm/live.ts";
import { toolCallsOf, type AssistantMessage, type Message } from "../../llm/message.ts";
import type { StreamOptions } from "../../llm/model.ts";
import { truncated } from "../../llm/stream.ts";
import { estimateTokens, sumTokens } from "../context/tokens.ts";
import { abortedRun } from "../contract/aborted-run.ts";
import type { Emitter } from "./emitter.ts";
import type { Run } from "./run.ts";

/** Streams of others may only give one event at a time. */
type Batch = AssistantMessageEvent | readonly AssistantMessageEvent[];

/** Streams of others may also end with their answer and no event. */
interface Ended {
  result?(): Promise<AssistantMessage | undefined>;
}

/**
 * Always gives a message, its `message_start` and `message_end` emitted; never throws for what a
 * hook, stream or server did.
 */
export async function callModel(run: Run): Promise<AssistantMessage> {
  const turn = run.turns++;
  const call = new ModelCall(run);
  const message = await run.effects.step(`model:${turn}`, () => call.answer(), {
    kind: "model",
    turn,
  });
  // Before anybody is told, who may take long: others draw on the budget meanwhile.
  run.spending.settle(message.usage, () =>
    message.content.length > 0 ? sumTokens([...call.asked, message], estimateTokens) : 0,
  );
  await run.add(message, call.isTold);
  return message;
}

class ModelCall {
  readonly #run: Run;
  readonly #emitter: Emitter;
  /** What the model is asked. */
  asked: readonly Message[] = [];
  /** Whether `message_start` is out. */
  isTold = false;
  #partial: AssistantMessage | undefined;
  #isOver = false;
  /** Listeners that are being waited for, and since when. */
  #hearing: Promise<void> | undefined;
  #since = 0;

  constructor(run: Run) {
    this.#run = run;
    this.#emitter = run.emitter;
  }

  async answer(): Promise<AssistantMessage> {
    const run = this.#run;
    let answer: AssistantMessage;
    try {
      if (run.stop) throw run.stop;
      // A stranger's stream may never let go of who leaves it: its answer is there with its last
      // event.
      const said = new Promise<AssistantMessage>(
        (resolve, reject) => void this.#consume(resolve).catch(reject),
      );
      answer = await run.grace.patiently(said, 0, () => this.#giveUp());
    } catch (error) {
      answer = this.#failed(run.stop ?? toBowlineError(error, "internal_error"));
    }
    this.#isOver = true;
    if (answer.stopReason === "toolUse" && toolCallsOf(answer).length === 0) {
      answer = this.#failed(
        new BowlineError("stream_corrupt", "The model stopped to use a tool and called none."),
      );
    }
    // An abort that a failed listener or the time budget caused is named after its cause.
    const { stop } = run;
    const isStopped = answer.stopReason === "aborted" || answer.error?.code === stop?.code;
    if (isStopped && stop && stop.code !== "aborted") {
      Object.assign(
        answer,
        failureOf(stop),
        stop.code === "budget_exceeded" && { stopReason: "aborted" },
      );
    }
    return answer;
  }

  async #consume(end: (answer: AssistantMessage) => void): Promise<void> {
    const run = this.#run;
    const { context, config, signal } = run;
    const { model, transformContext, getApiKey } = config;
    const transformed = transformContext
      ? await callHook("transformContext", () =>
          transformContext(context.messages, signal, run.port),
        )
      : undefined;
    const messages = await run.hook("convertToLlm", () =>
      config.convertToLlm(transformed ?? context.messages),
    );
    const askKey = async (): Promise<string | undefined> =>
      (getApiKey && (await run.hook("getApiKey", () => getApiKey(model.provider)))) ||
      config.apiKey;
    const { systemPrompt, tools = [] } = context;
    run.declared = tools;
    this.asked = messages;
    const ask = async (apiKey: string | undefined, mayExpire: boolean): Promise<void> => {
      // The whole configuration, of which a stream function reads the stream options.
      const options: StreamOptions = { ...config, signal, ...(apiKey && { apiKey }) };
      // The hooks may have been waited for beyond an abort.
      if (run.stop) throw run.stop;
      // Nor may others who share the budget have used it up meanwhile.
      run.spending.settle();
      const refusal = run.spending.reserve();
      if (refusal) throw refusal;
      try {
        const events = await run.streamFn(model, { systemPrompt, messages, tools }, options);
        for await (const batch of (events.batches?.() ?? events) as AsyncIterable<Batch>) {
          const all = (Array.isArray(batch) ? batch : [batch]) as readonly AssistantMessageEvent[];
          for (let next = 0; (next = this.#hear(all, next)) <= all.length;) {
            if (this.#hearing) {
              this.#since = run.clock.now();
              await this.#hearing;
              this.#hearing = undefined;
            }
            const event = all[next - 1];
            if (event?.type === "done") return end(event.message);
            if (event?.type !== "error") continue;
            const { error } = event.error;
            // A key that expired on the way may have a successor (Q226).
            if (mayExpire && !this.isTold && error?.code === "authentication_failed") {
              const fresh = await askKey();
              if (fresh && fresh !== apiKey) {
                await run.emitter.emit({
                  type: "request_retry",
                  attempt: event.attempt,
                  delayMs: 0,
                  error,
                });
                return await ask(fresh, false);
              }
            }
            return end(event.error);
          }
        }
        // One that ended has its result by now, if that is how its answer was given.
        const ended = events.batches ? undefined : (events as Ended).result?.();
        const given = ended && (await Promise.race([ended, Promise.resolve()]));
        if (given?.role === "assistant") return end(given);
      } catch (error) {
        throw toBowlineError(error, "stream_function_failed", "The stream function failed");
      }
      throw truncated();
    };
    return ask(await askKey(), true);
  }

  /**
   * Tells the events from this place on, up to one that is waited for or is the last: the place
   * behind it, or beyond the end.
   */
  #hear(events: readonly AssistantMessageEvent[], from: number): number {
    for (let next = from; next < events.length;) {
      if (this.#isOver) throw abortedRun();
      const event = events[next++] as AssistantMessageEvent;
      // Apart from those that come once, as in `applyToState`.
      if (event instanceof LiveDelta) this.#update(event, event.partial);
      else if (this.#other(event)) return next;
      if (this.#hearing) return next;
    }
    return Infinity;
  }

  /** Whether the event is the stream's last. */
  #other(event: AssistantMessageEvent): boolean {
    if (event.type === "request_retry" || event.type === "model_failover")
      this.#hearing = this.#emitter.emit(event);
    else {
      // Our own streams fold as they write; others are folded here.
      const partial = event.partial ?? applyEvent(this.#partial, event);
      this.#partial = partial;
      if (isTerminal(event)) return true;
      if (partial && event.type !== "start") this.#update(event, partial);
    }
    return false;
  }

  #update(event: AssistantMessageEvent, partial: AssistantMessage): void {
    this.#partial = partial;
    // Told with the first output, and once: what comes after a retraction is the same message. What
    // follows it waits behind it.
    if (!this.isTold) void this.#emitter.emit({ type: "message_start", message: partial });
    this.isTold = true;
    this.#hearing = this.#emitter.update(event, partial);
  }

  /**
   * A stream function may ignore its signal: after the grace its call ends with what came. What
   * listeners held up is told first, if it takes no longer than they held it up, nor another grace.
   */
  async #giveUp(): Promise<never> {
    const { clock } = this.#run;
    const now = clock.now();
    const end = now + Math.min(this.#run.grace.ms, now - this.#since);
    while (clock.now() <= end) {
      if (!this.#hearing) break;
      await this.#hearing;
      await sleep(clock, 0); // what is at hand is told meanwhile
    }
    throw abortedRun();
  }

  /** The message of a call that failed outside its stream: what came so far is kept. */
  #failed(error: BowlineError): AssistantMessage {
    const { clock, config } = this.#run;
    const { model } = config;
    const said =
      this.#partial ?? emptyMessage({ ...model, model: model.id, timestamp: clock.now() });
    // A stream that was given up may go on writing to its message.
    const content = said.content.map((part) => ({ ...part }));
    return { ...said, content, ...failureOf(error) };
  }
}
