/**
 * A model that plays a script, for tests of agents. It uses the same message writer as the real
 * protocols, no network, and no delays by default.
 */
import { sleep, systemClock } from "../clock.ts";
import { BowlineError } from "../errors.ts";
import type { AssistantContent, Context, StopReason } from "../llm/message.ts";
import type { AssistantMessageEventStream, Model, StreamFn, StreamOptions } from "../llm/model.ts";
import { EventStream } from "../llm/stream.ts";
import type { Usage } from "../llm/usage.ts";
import { MessageWriter } from "../llm/writer.ts";

/** One answer: text, or an object with the fields of the message. */
export type ScriptedAnswer =
  | string
  | {
      readonly content?: readonly AssistantContent[];
      readonly stopReason?: StopReason;
      readonly usage?: Usage;
      /** Whether the provider paused, so that the run calls the model again to continue. */
      readonly paused?: boolean;
      /** Ends the stream with this error after the content. */
      readonly error?: BowlineError;
    };

/** An answer, or a function that returns one for a request. */
export type ScriptedStep =
  | ScriptedAnswer
  | ((
      context: Context,
      options: StreamOptions,
      model: Model,
    ) => ScriptedAnswer | Promise<ScriptedAnswer>);

export interface ScriptedModelOptions {
  /** Characters per delta, at least 1. Default 8. */
  readonly deltaLength?: number | undefined;
  /** Delay before each delta in milliseconds, on the clock of the call. Default 0: no delay. */
  readonly delayMs?: number | undefined;
}

/** One request to the model. */
export interface ScriptedCall {
  readonly model: Model;
  readonly context: Context;
  readonly options: StreamOptions;
}

export interface ScriptedModel {
  readonly model: Model;
  readonly streamFn: StreamFn;
  /** Every call so far, with a copy of its list of messages. */
  readonly calls: readonly ScriptedCall[];
  /** Adds steps to the script. */
  push(...steps: ScriptedStep[]): void;
  /** Throws `invalid_state` unless every step was used. */
  assertFinished(): void;
}

/**
 * Creates a model that answers each call with the next step of the script. A call beyond the script
 * fails with `invalid_state`. Throws `invalid_argument` for a `deltaLength` below 1.
 */
export function createScriptedModel(
  script: readonly ScriptedStep[],
  options: ScriptedModelOptions = {},
): ScriptedModel {
  const { deltaLength = 1 } = options;
  if (!(deltaLength >= 1))
    throw new BowlineError(
      "invalid_argument",
      `deltaLength must be at least 1, not ${deltaLength}.`,
    );
  const steps = [...script];
  const calls: ScriptedCall[] = [];
  let next = 0;
  const model: Model = {
    id: "scripted",
    name: "Scripted model",
    api: "scripted",
    provider: "scripted",
    baseUrl: "",
    reasoning: true,
    input: ["text", "image"],
    cost: { input: 0, output: 0 },
  };
  const streamFn: StreamFn = (asked, context, callOptions) => {
    const messages = [...context.messages];
    calls.push({ model: asked, context: { ...context, messages }, options: callOptions });
    const step = steps[next++] ?? missingStep(steps.length, next);
    return streamStep(step, { model: asked, context, options: callOptions }, options);
  };
  return {
    model,
    streamFn,
    calls,
    push: (...more) => void steps.push(...more),
    assertFinished() {
      if (next < steps.length)
        throw new BowlineError(
          "invalid_state",
          `The script has ${steps.length} steps; only ${next} were used.`,
        );
    },
  };
}

function missingStep(length: number, call: number): ScriptedStep {
  return () => {
    throw new BowlineError(
      "invalid_state",
      `The script has ${length} steps; this is call ${call}.`,
    );
  };
}

function streamStep(
  step: ScriptedStep,
  { model, context, options: callOptions }: ScriptedCall,
  options: ScriptedModelOptions,
): AssistantMessageEventStream {
  return new EventStream(async (push, signal) => {
    const { clock = systemClock } = callOptions;
    const { api, provider, id } = model;
    const writer = new MessageWriter({ api, provider, model: id, timestamp: clock.now() });
    const flush = (): void => push(writer.take());
    try {
      const answer = typeof step === "function" ? await step(context, callOptions, model) : step;
      await write(writer, answer, options, flush, (ms) => sleep(clock, ms, signal), signal);
    } catch (error) {
      writer.fail(
        error instanceof BowlineError
          ? error
          : new BowlineError("internal_error", String(error), { cause: error }),
      );
    }
    flush();
    return writer.message;
  }, callOptions.signal);
}

/** Creates a tool call for a script. Default id: `call_<name>`. */
export function scriptedToolCall(
  name: string,
  args: Record<string, unknown>,
  id: string = `call_${name}`,
): AssistantContent {
  return { type: "toolCall", id, name, arguments: args };
}

async function write(
  writer: MessageWriter,
  answer: ScriptedAnswer,
  { deltaLength = 8, delayMs = 0 }: ScriptedModelOptions,
  flush: () => void,
  pause: (ms: number) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const {
    content = [],
    stopReason,
    usage,
    paused,
    error,
  } = typeof answer === "string" ? { content: [{ type: "text" as const, text: answer }] } : answer;
  const stream = async (index: number, text: string): Promise<void> => {
    for (let at = 0; at < text.length; at += deltaLength) {
      if (delayMs > 0) await pause(delayMs);
      if (signal.aborted) throw new BowlineError("aborted", "The request was aborted.");
      writer.append(index, text.slice(at, at + deltaLength));
      flush();
    }
  };
  for (const part of content) await writePart(writer, part, stream);
  writer.describe({ usage: usage ?? {}, ...(paused !== undefined && { paused }) });
  if (error !== undefined) throw error;
  if (stopReason === "error" || stopReason === "aborted") {
    throw new BowlineError(
      stopReason === "aborted" ? "aborted" : "server_error",
      `Scripted: ${stopReason}.`,
    );
  }
  writer.done(
    stopReason ?? (content.some((part) => part.type === "toolCall") ? "toolUse" : "stop"),
  );
}

async function writePart(
  writer: MessageWriter,
  part: AssistantContent,
  stream: (index: number, text: string) => Promise<void>,
): Promise<void> {
  switch (part.type) {
    case "text": {
      const index = writer.openText();
      await stream(index, part.text);
      return writer.close(index, { textSignature: part.textSignature });
    }
    case "thinking": {
      const index = writer.openThinking(part.field);
      await stream(index, part.thinking);
      return writer.close(index, {
        thinkingSignature: part.thinkingSignature,
        redacted: part.redacted || undefined,
      });
    }
    case "toolCall": {
      const index = writer.openToolCall(part.id, part.name);
      await stream(index, part.argumentsText ?? JSON.stringify(part.arguments));
      return writer.close(index, { thoughtSignature: part.thoughtSignature });
    }
    case "opaque":
      return writer.opaque(part);
    case "source":
    case "image":
    case "file":
      return writer.whole(part);
  }
}
