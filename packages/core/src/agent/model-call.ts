/** One model call of a run: the transcript through the hooks to the stream function, its events out, its final message back. */
import { BowlineError, callHook, toBowlineError, toErrorInfo } from "../errors.ts";
import { applyEvent, isTerminal, type AssistantMessageEvent } from "../llm/event.ts";
import { toolCallsOf, type AssistantMessage, type Message } from "../llm/message.ts";
import type { AssistantMessageStream, StreamOptions } from "../llm/model.ts";
import type { AgentLoopConfig } from "./hooks.ts";
import { abortedRun, type Run } from "./run.ts";

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
  const { emitter, context, signal, clock } = run;
  let partial: AssistantMessage | undefined;
  let started = false;
  let isOver = false;
  let message: AssistantMessage;
  try {
    if (run.stop !== undefined) throw run.stop;
    message = await untilGivenUp(consume());
  } catch (error) {
    message = failed(toBowlineError(error, "internal_error"));
  }
  isOver = true;
  if (message.stopReason === "toolUse" && toolCallsOf(message).length === 0) {
    message = failed(new BowlineError("stream_corrupt", "The model stopped to use a tool and called none."));
  }
  // An abort that a failed listener or the time budget caused is named after its cause.
  const { stop } = run;
  if (message.stopReason === "aborted" && stop !== undefined && stop.code !== "aborted") {
    const stopReason = stop.code === "budget_exceeded" ? "aborted" : "error";
    Object.assign(message, { stopReason, errorMessage: stop.message, error: toErrorInfo(stop) });
  }
  return message;

  async function consume(): Promise<AssistantMessage> {
    const { model } = run.config;
    const messages = await llmMessages(run);
    const options = await streamOptions(run.config, signal);
    const { systemPrompt, tools = [] } = context;
    try {
      const events = await run.streamFn(model, { systemPrompt, messages, tools }, options);
      for await (const batch of events.batches?.() ?? singly(events)) {
        for (const event of batch) {
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

  /** A stream function may ignore its signal: after the grace the call is given up, with what came. */
  async function untilGivenUp(streaming: Promise<AssistantMessage>): Promise<AssistantMessage> {
    let release = (): void => {};
    const givenUp = new Promise<AssistantMessage>((resolve) => {
      const giveUp = (): void => resolve(failed(abortedRun()));
      const onAbort = (): void => {
        release = clock.setTimer(run.abortGraceMs, giveUp);
      };
      release = () => signal.removeEventListener("abort", onAbort);
      if (signal.aborted) onAbort();
      else signal.addEventListener("abort", onAbort, { once: true });
    });
    try {
      return await Promise.race([streaming, givenUp]);
    } finally {
      release();
    }
  }

  /** The message of a call that failed outside its stream: what came so far is kept. */
  function failed(error: BowlineError): AssistantMessage {
    const failure = run.failureMessage(error);
    const { stopReason, errorMessage, error: info } = failure;
    return partial === undefined ? failure : Object.assign(partial, { stopReason, errorMessage, error: info });
  }
}

function llmMessages({ config, context, signal }: Run): Promise<Message[]> {
  return callHook("transformContext or convertToLlm", async () => {
    const messages = (await config.transformContext?.(context.messages, signal)) ?? context.messages;
    return config.convertToLlm(messages);
  });
}

/** What a model call is told: the whole configuration, of which a stream function reads the stream options. */
async function streamOptions(config: AgentLoopConfig, signal: AbortSignal): Promise<StreamOptions> {
  const apiKey = await callHook("getApiKey", () => config.getApiKey?.(config.model.provider));
  return { ...config, signal, ...(apiKey && { apiKey }) };
}

/** Streams of others may only give one event at a time. */
async function* singly(stream: AssistantMessageStream): AsyncGenerator<readonly AssistantMessageEvent[]> {
  for await (const event of stream) yield [event];
}
