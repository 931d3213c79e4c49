/** One model call of a run: the transcript through the hooks to the stream function, its events out, its final message back. */
import { sleep } from "../clock.ts";
import { BowlineError, callHook, toBowlineError } from "../errors.ts";
import { applyEvent, emptyMessage, failureOf, isTerminal, type AssistantMessageEvent } from "../llm/event.ts";
import { toolCallsOf, type AssistantMessage, type Message } from "../llm/message.ts";
import type { StreamOptions } from "../llm/model.ts";
import { truncated } from "../llm/stream.ts";
import { estimateTokens, sumTokens } from "./context/tokens.ts";
import { abortedRun, graceOf, type Run } from "./run.ts";

/** Streams of others may only give one event at a time. */
type Batch = AssistantMessageEvent | readonly AssistantMessageEvent[];

/** Streams of others may also end with their answer and no event. */
interface Ended {
  result?(): Promise<AssistantMessage | undefined>;
}

/** Always gives a message, its `message_start` and `message_end` emitted; never throws for what a hook, stream or server did. */
export async function callModel(run: Run): Promise<AssistantMessage> {
  const { emitter, context, clock } = run;
  const turn = run.turns++;
  let partial: AssistantMessage | undefined;
  let started = false;
  let isOver = false;
  /** Listeners that are being waited for, and since when. */
  let hearing: Promise<void> | undefined;
  let since = 0;
  let asked: readonly Message[] = [];
  const message = await run.effects.step(`model:${turn}`, call, { kind: "model", turn });
  // Before anybody is told, who may take long: others draw on the budget meanwhile.
  run.settle(message.usage, () => (message.content.length > 0 ? sumTokens([...asked, message], estimateTokens) : 0));
  await run.add(message, started);
  return message;

  async function call(): Promise<AssistantMessage> {
    let answer: AssistantMessage;
    try {
      if (run.stop) throw run.stop;
      // A stranger's stream may never let go of who leaves it: its answer is there with its last event.
      const said = new Promise<AssistantMessage>((resolve, reject) => void consume(resolve).catch(reject));
      answer = await run.patiently(said, 0, giveUp);
    } catch (error) {
      answer = failed(run.stop ?? toBowlineError(error, "internal_error"));
    }
    isOver = true;
    if (answer.stopReason === "toolUse" && toolCallsOf(answer).length === 0) {
      answer = failed(new BowlineError("stream_corrupt", "The model stopped to use a tool and called none."));
    }
    // An abort that a failed listener or the time budget caused is named after its cause.
    const { stop } = run;
    const isStopped = answer.stopReason === "aborted" || answer.error?.code === stop?.code;
    if (isStopped && stop && stop.code !== "aborted") {
      Object.assign(answer, failureOf(stop), stop.code === "budget_exceeded" && { stopReason: "aborted" });
    }
    return answer;
  }

  async function consume(end: (answer: AssistantMessage) => void): Promise<void> {
    const { config, signal } = run;
    const { model, transformContext, getApiKey } = config;
    const transformed = transformContext
      ? await callHook("transformContext", () => transformContext(context.messages, signal, run.port))
      : undefined;
    const messages = await run.hook("convertToLlm", () => config.convertToLlm(transformed ?? context.messages));
    const askKey = async (): Promise<string | undefined> =>
      (getApiKey && (await run.hook("getApiKey", () => getApiKey(model.provider)))) || config.apiKey;
    const { systemPrompt, tools = [] } = context;
    run.declared = tools;
    asked = messages;
    return ask(await askKey(), true);

    /** A key that expired on the way may have a successor (Q226). */
    async function ask(apiKey: string | undefined, mayExpire: boolean): Promise<void> {
      // The whole configuration, of which a stream function reads the stream options.
      const options: StreamOptions = { ...config, signal, ...(apiKey && { apiKey }) };
      // The hooks may have been waited for beyond an abort.
      if (run.stop) throw run.stop;
      // Nor may others who share the budget have used it up meanwhile.
      run.settle();
      const refusal = run.reserve();
      if (refusal) throw refusal;
      try {
        const events = await run.streamFn(model, { systemPrompt, messages, tools }, options);
        for await (const batch of (events.batches?.() ?? events) as AsyncIterable<Batch>) {
          for (const event of (Array.isArray(batch) ? batch : [batch]) as readonly AssistantMessageEvent[]) {
            if (isOver) throw abortedRun();
            const wait = hear(event);
            if (wait) {
              since = clock.now();
              await (hearing = wait);
              hearing = undefined;
            }
            if (event.type === "done") return end(event.message);
            if (event.type !== "error") continue;
            const { error } = event.error;
            if (mayExpire && !started && error?.code === "authentication_failed") {
              const next = await askKey();
              if (next && next !== apiKey) {
                await emitter.emit({ type: "request_retry", attempt: event.attempt, delayMs: 0, error });
                return await ask(next, false);
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
    }
  }

  function hear(event: AssistantMessageEvent): Promise<void> | undefined {
    if (event.type === "request_retry" || event.type === "model_failover") return emitter.emit(event);
    // Our own streams fold as they write; others are folded here.
    partial = event.partial ?? applyEvent(partial, event);
    if (!partial || event.type === "start" || isTerminal(event)) return undefined;
    // Told with the first output, and once: what comes after a retraction is the same message. What follows it waits behind it.
    if (!started) void emitter.emit({ type: "message_start", message: partial });
    started = true;
    return emitter.update(event, partial);
  }

  /**
   * A stream function may ignore its signal: after the grace its call ends with what came. What listeners held up is told first, if
   * it takes no longer than they held it up, nor another grace.
   */
  async function giveUp(): Promise<never> {
    const now = clock.now();
    const end = now + Math.min(graceOf(run), now - since);
    while (clock.now() <= end) {
      if (!hearing) break;
      await hearing;
      await sleep(clock, 0); // what is at hand is told meanwhile
    }
    throw abortedRun();
  }

  /** The message of a call that failed outside its stream: what came so far is kept. */
  function failed(error: BowlineError): AssistantMessage {
    const { model } = run.config;
    const said = partial ?? emptyMessage({ ...model, model: model.id, timestamp: clock.now() });
    // A stream that was given up may go on writing to its message.
    const content = said.content.map((part) => ({ ...part }));
    return { ...said, content, ...failureOf(error) };
  }
}
