/**
 * One model call of a run: the transcript through the hooks to the stream function, its events out,
 * its final message back.
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
import type { Emitter } from "./emitter.ts";
import type { Run } from "./run.ts";

/** Streams of others may only give one event at a time. */
type Batch = AssistantMessageEvent | readonly AssistantMessageEvent[];

/** Streams of others may also end with their answer and no event. */
interface Ended {
  result?(): Promise<AssistantMessage | undefined>;
}

/** One request to the stream function. */
interface Ask {
  readonly context: Context;
  readonly apiKey: string | undefined;
  /** Another key may be tried. */
  readonly mayExpire: boolean;
  /** Called before the stream is left, which may take for ever. */
  readonly end: (answer: AssistantMessage) => void;
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
  run.spending.settle(billedUsage(message), () =>
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
  /** Of a request that was made again with another key. */
  #discarded: Usage = {};
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
    answer = withDiscarded(answer, this.#discarded);
    if (answer.stopReason === "toolUse" && toolCallsOf(answer).length === 0) {
      answer = this.#failed(
        new BowlineError("stream_corrupt", "The model stopped to use a tool and called none."),
      );
    }
    // An abort with a cause is named after it: the caller's reason, a failed listener, the time
    // budget.
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

  /** Calls `end` with the answer; rejects when there is none. */
  async #consume(end: Ask["end"]): Promise<void> {
    const context = await this.#prepare();
    await this.#ask({ context, apiKey: await this.#key(), mayExpire: true, end });
  }

  /** What the model is asked: the transcript, through the hooks, which get copies of the list. */
  async #prepare(): Promise<Context> {
    const run = this.#run;
    const { context, config, signal } = run;
    const { transformContext } = config;
    const transformed = transformContext
      ? await callHook("transformContext", () =>
          transformContext([...context.messages], signal, run.port),
        )
      : undefined;
    const messages = await run.hook("convertToLlm", () =>
      config.convertToLlm([...(transformed ?? context.messages)]),
    );
    const { systemPrompt, tools = [] } = context;
    run.declared = tools;
    this.asked = messages;
    return { systemPrompt, messages, tools };
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
    // The whole configuration, of which a stream function reads the stream options.
    const options: StreamOptions = { ...config, signal, ...(apiKey && { apiKey }) };
    // The hooks may have been waited for beyond an abort.
    if (run.stop) throw run.stop;
    // Nor may others who share the budget have used it up meanwhile.
    spending.settle();
    const refusal = spending.reserve();
    if (refusal) throw refusal;
    try {
      const events = await run.streamFn(config.model, { ...ask.context }, options);
      await this.#read(events, ask);
    } catch (error) {
      throw toBowlineError(error, "stream_function_failed", "The stream function failed");
    }
  }

  /** Tells the events of an answer as they come. */
  async #read(events: AssistantMessageStream, ask: Ask): Promise<void> {
    for await (const batch of (events.batches?.() ?? events) as AsyncIterable<Batch>) {
      for (const event of (Array.isArray(batch) ? batch : [batch]) as AssistantMessageEvent[]) {
        this.#hear(event);
        if (this.#hearing) {
          this.#since = monotonicNow(this.#run.clock);
          await this.#hearing;
          this.#hearing = undefined;
        }
        if (event.type === "done") return ask.end(event.message);
        if (event.type === "error") return await this.#end(event, ask);
      }
    }
    // One that ended has its result by now, if that is how its answer was given.
    const ended = events.batches ? undefined : (events as Ended).result?.();
    const given = ended && (await Promise.race([ended, Promise.resolve()]));
    if (given?.role !== "assistant") throw truncated();
    ask.end(given);
  }

  /** Tells one event, folded; `#hearing` is what has to be waited for. */
  #hear(event: AssistantMessageEvent): void {
    if (this.#isOver) throw abortedRun();
    if (event.type === "request_retry" || event.type === "model_failover") {
      this.#hearing = this.#emitter.emit(event);
      return;
    }
    // Our own streams fold as they write; others are folded here.
    const partial = event.partial ?? applyEvent(this.#partial, event);
    this.#partial = partial;
    if (!partial || event.type === "start" || isTerminal(event)) return;
    this.#tellStart(partial);
    this.#hearing = this.#emitter.update(event, partial);
  }

  /**
   * Told with the first output, and once: what comes after a retraction is the same message. What
   * follows it waits behind it.
   */
  #tellStart(message: AssistantMessage): void {
    if (!this.isTold) void this.#emitter.emit({ type: "message_start", message });
    this.isTold = true;
  }

  /** A key that expired on the way may have a successor. */
  // Q226
  async #end({ attempt, error: message }: ErrorEvent, ask: Ask): Promise<void> {
    const { error } = message;
    if (ask.mayExpire && !this.isTold && error?.code === "authentication_failed") {
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
   * A stream function may ignore its signal: after the grace its call ends with what came. What
   * listeners held up is told first, if it takes no longer than they held it up, nor another grace.
   */
  async #giveUp(): Promise<never> {
    const { clock } = this.#run;
    const now = monotonicNow(clock);
    const end = now + Math.min(this.#run.grace.ms, now - this.#since);
    while (monotonicNow(clock) <= end) {
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
    const said = this.#partial ?? emptyMessage(originOf(model, clock.now()));
    // A stream that was given up may go on writing to its message.
    const content = said.content.map((part) => ({ ...part }));
    return { ...said, content, ...failureOf(error) };
  }
}
