/** One model call of a run: the transcript through the hooks to the stream function, its events out, its final message back. */
import { BowlineError, toBowlineError, toErrorInfo } from "../errors.ts";
import { applyEvent, isTerminal, type AssistantMessageEvent } from "../llm/event.ts";
import { toolCallsOf, type AssistantMessage, type Message } from "../llm/message.ts";
import type { AssistantMessageStream, StreamOptions } from "../llm/model.ts";
import type { AgentLoopConfig } from "./hooks.ts";
import type { Run } from "./run.ts";

/** Always gives a message, its `message_start` and `message_end` emitted; never throws for what a hook, stream or server did. */
export async function callModel(run: Run): Promise<AssistantMessage> {
  const turn = run.turns++;
  let emitted = false;
  const message = await run.effects.step(
    `model:${turn}`,
    async () => {
      const call = new ModelCall(run);
      const result = await call.run();
      emitted = call.emitted;
      return result;
    },
    { kind: "model", turn },
  );
  if (!emitted) await run.emitter.emit({ type: "message_start", message });
  run.append(message);
  await run.emitter.emit({ type: "message_end", message });
  return message;
}

class ModelCall {
  readonly #run: Run;
  #partial: AssistantMessage | undefined;
  #abandoned = false;
  /** Whether `message_start` went out. */
  emitted = false;

  constructor(run: Run) {
    this.#run = run;
  }

  async run(): Promise<AssistantMessage> {
    const run = this.#run;
    let message: AssistantMessage;
    try {
      if (run.stop !== undefined) throw run.stop;
      message = await this.#untilAbandoned(this.#stream());
    } catch (error) {
      message = this.#failed(toBowlineError(error, "internal_error"));
    }
    this.#abandoned = true;
    if (message.stopReason === "toolUse" && toolCallsOf(message).length === 0) {
      message = this.#failed(
        new BowlineError("stream_corrupt", "The model stopped to use a tool and called none.", { retryable: true }),
      );
    }
    // An abort that a failed listener or the time budget caused is named after its cause.
    const { stop } = run;
    if (message.stopReason === "aborted" && stop !== undefined && stop.code !== "aborted") {
      Object.assign(message, {
        stopReason: stop.code === "budget_exceeded" ? "aborted" : "error",
        errorMessage: stop.message,
        error: toErrorInfo(stop),
      });
    }
    return message;
  }

  /** A stream function may ignore its signal: after the grace the call is given up, with what came. */
  async #untilAbandoned(streaming: Promise<AssistantMessage>): Promise<AssistantMessage> {
    const { clock, signal, abortGraceMs } = this.#run;
    let release = (): void => {};
    const abandoned = new Promise<AssistantMessage>((resolve) => {
      const giveUp = (): void => resolve(this.#failed(new BowlineError("aborted", "The run was aborted.")));
      const onAbort = (): void => {
        release = clock.setTimer(abortGraceMs, giveUp);
      };
      release = () => signal.removeEventListener("abort", onAbort);
      if (signal.aborted) onAbort();
      else signal.addEventListener("abort", onAbort, { once: true });
    });
    try {
      return await Promise.race([streaming, abandoned]);
    } finally {
      release();
    }
  }

  async #stream(): Promise<AssistantMessage> {
    const run = this.#run;
    const { config } = run;
    const messages = await this.#llmMessages();
    const options = await streamOptions(config, run.signal);
    let stream: AssistantMessageStream;
    try {
      stream = await run.streamFn(
        config.model,
        { systemPrompt: run.context.systemPrompt, messages, tools: run.context.tools ?? [] },
        options,
      );
      for await (const batch of stream.batches?.() ?? singly(stream)) {
        for (const event of batch) {
          if (this.#abandoned) throw new BowlineError("aborted", "The run was aborted.");
          const wait = this.#event(event);
          if (wait !== undefined) await wait;
          if (isTerminal(event)) return event.type === "done" ? event.message : event.error;
        }
      }
    } catch (error) {
      throw toBowlineError(error, "stream_function_failed", "The stream function failed");
    }
    throw new BowlineError("stream_truncated", "The stream ended without a final event.", { retryable: true });
  }

  #event(event: AssistantMessageEvent): Promise<void> | undefined {
    const { emitter } = this.#run;
    if (event.type === "request_retry") {
      const { attempt, delayMs, error } = event;
      return emitter.emit({ type: "request_retry", attempt, delayMs, error });
    }
    // Our own streams fold as they write; others are folded here.
    this.#partial = event.partial ?? applyEvent(this.#partial, event);
    if (this.#partial === undefined || isTerminal(event)) return undefined;
    if (event.type !== "start") return this.emitted ? emitter.update(event, this.#partial) : undefined;
    this.emitted = true;
    return emitter.emit({ type: "message_start", message: this.#partial });
  }

  async #llmMessages(): Promise<Message[]> {
    const { config, context, signal } = this.#run;
    try {
      const transformed =
        config.transformContext === undefined
          ? context.messages
          : await config.transformContext(context.messages, signal);
      return await config.convertToLlm(transformed);
    } catch (error) {
      throw toBowlineError(error, "hook_failed", "transformContext or convertToLlm failed");
    }
  }

  /** The message of a call that failed outside its stream: what came so far is kept. */
  #failed(error: BowlineError): AssistantMessage {
    const failure = this.#run.failureMessage(error);
    if (this.#partial === undefined) return failure;
    const { stopReason, errorMessage, error: info } = failure;
    return Object.assign(this.#partial, { stopReason, errorMessage, error: info });
  }
}

/** What a model call is told: the whole configuration, of which a stream function reads the stream options. */
async function streamOptions(config: AgentLoopConfig, signal: AbortSignal): Promise<StreamOptions> {
  const options: StreamOptions = { ...config, signal };
  try {
    const apiKey = await config.getApiKey?.(config.model.provider);
    if (apiKey) options.apiKey = apiKey;
  } catch (error) {
    throw toBowlineError(error, "hook_failed", "getApiKey failed");
  }
  return options;
}

/** Streams of others may only give one event at a time. */
async function* singly(stream: AssistantMessageStream): AsyncGenerator<readonly AssistantMessageEvent[]> {
  for await (const event of stream) yield [event];
}
