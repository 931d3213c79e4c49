/** One model call of a run: the transcript through the hooks to the stream function, its events out, its final message back. */
import { BowlineError, callHook, toBowlineError } from "../errors.ts";
import { applyEvent, emptyMessage, failureOf, isTerminal, type AssistantMessageEvent } from "../llm/event.ts";
import { toolCallsOf, type AssistantMessage, type Message } from "../llm/message.ts";
import type { StreamOptions } from "../llm/model.ts";
import { abortedRun, type Run } from "./run.ts";

/** Streams of others may only give one event at a time. */
type Batch = AssistantMessageEvent | readonly AssistantMessageEvent[];

/** Always gives a message, its `message_start` and `message_end` emitted; never throws for what a hook, stream or server did. */
export async function callModel(run: Run): Promise<AssistantMessage> {
  const turn = run.turns++;
  let emitted = false;
  const onStart = (): void => {
    emitted = true;
  };
  const message = await run.effects.step(`model:${turn}`, () => callStream(run, onStart), { kind: "model", turn });
  if (!emitted) await run.emitter.emit({ type: "message_start", message });
  run.append(message);
  await run.emitter.emit({ type: "message_end", message });
  return message;
}

/** The call itself. `onStart` is told when `message_start` went out. */
async function callStream(run: Run, onStart: () => void): Promise<AssistantMessage> {
  const { emitter, context, clock } = run;
  let partial: AssistantMessage | undefined;
  let started = false;
  let isOver = false;
  let message: AssistantMessage;
  try {
    if (run.stop !== undefined) throw run.stop;
    // A stream function may ignore its signal: after the grace the call is given up, with what came.
    message = await run.patiently(consume(), 0, () => failed(abortedRun()));
  } catch (error) {
    message = failed(run.stop ?? toBowlineError(error, "internal_error"));
  }
  isOver = true;
  if (message.stopReason === "toolUse" && toolCallsOf(message).length === 0) {
    message = failed(new BowlineError("stream_corrupt", "The model stopped to use a tool and called none."));
  }
  // An abort that a failed listener or the time budget caused is named after its cause.
  const { stop } = run;
  const isStopped = message.stopReason === "aborted" || message.error?.code === stop?.code;
  if (isStopped && stop !== undefined && stop.code !== "aborted") {
    Object.assign(message, failureOf(stop), stop.code === "budget_exceeded" && { stopReason: "aborted" });
  }
  return message;

  async function consume(): Promise<AssistantMessage> {
    const { model } = run.config;
    const messages = await llmMessages(run);
    const options = await streamOptions(run);
    // The hooks may have been waited for beyond an abort.
    if (isOver || run.stop !== undefined) throw run.stop ?? abortedRun();
    const { systemPrompt, tools = [] } = context;
    try {
      const events = await run.streamFn(model, { systemPrompt, messages, tools }, options);
      for await (const batch of (events.batches?.() ?? events) as AsyncIterable<Batch>) {
        for (const event of [batch].flat()) {
          if (isOver) return failed(abortedRun());
          const wait = hear(event);
          if (wait !== undefined) await wait;
          if (isTerminal(event)) return event.type === "done" ? event.message : event.error;
        }
      }
    } catch (error) {
      throw toBowlineError(error, "stream_function_failed", "The stream function failed");
    }
    throw new BowlineError("stream_truncated", "The stream ended without a final event.", { retryable: true });
  }

  function hear(event: AssistantMessageEvent): Promise<void> | undefined {
    if (event.type === "request_retry") {
      const { attempt, delayMs, error } = event;
      return emitter.emit({ type: "request_retry", attempt, delayMs, error });
    }
    if (event.type === "model_failover") {
      const { from, to, error } = event;
      return emitter.emit({ type: "model_failover", from, to, error });
    }
    // Our own streams fold as they write; others are folded here.
    partial = event.partial ?? applyEvent(partial, event);
    if (partial === undefined || isTerminal(event)) return undefined;
    if (event.type !== "start") return started ? emitter.update(event, partial) : undefined;
    if (started) return undefined; // again, after a retraction: the message goes on under its first start
    started = true;
    onStart();
    return emitter.emit({ type: "message_start", message: partial });
  }

  /** The message of a call that failed outside its stream: what came so far is kept. */
  function failed(error: BowlineError): AssistantMessage {
    const { api, provider, id } = run.config.model;
    const empty = emptyMessage({ api, provider, model: id, timestamp: clock.now() });
    // A stream that was given up may go on writing to its message.
    const content = (partial ?? empty).content.map((part) => ({ ...part }));
    return { ...(partial ?? empty), content, ...failureOf(error) };
  }
}

async function llmMessages(run: Run): Promise<Message[]> {
  const { config, context, signal, port } = run;
  const messages = await callHook(
    "transformContext",
    async () => (await config.transformContext?.(context.messages, signal, port)) ?? context.messages,
  );
  return run.hook("convertToLlm", () => config.convertToLlm(messages));
}

/** What a model call is told: the whole configuration, of which a stream function reads the stream options. */
async function streamOptions({ config, signal, hook }: Run): Promise<StreamOptions> {
  const apiKey = await hook("getApiKey", () => config.getApiKey?.(config.model.provider));
  return { ...config, signal, ...(apiKey && { apiKey }) };
}
