/**
 * A stream function that behaves as a plan says, in the forms of this library's streams and of
 * custom ones.
 */
import { BowlineError } from "../../src/errors.ts";
import type { AssistantMessageEvent } from "../../src/llm/event.ts";
import type { AssistantMessageStream, Model, StreamFn } from "../../src/llm/model.ts";
import { EventStream } from "../../src/llm/stream.ts";
import { MessageWriter } from "../../src/llm/writer.ts";
import { argumentTexts } from "./arguments.ts";
import type { CallFacts } from "./facts.ts";
import type { AnswerPlan, PartPlan } from "./plan.ts";
import { hops, type Timeline } from "./timeline.ts";
import type { Watch } from "./watch.ts";

type Batch = AssistantMessageEvent[];

interface Call {
  readonly answer: AnswerPlan;
  readonly model: Model;
  readonly facts: CallFacts;
  readonly timeline: Timeline;
  /** Waits for the signal, or without end. */
  readonly stall: (signal?: AbortSignal) => Promise<void>;
}

export function createStreamFn(
  answers: readonly AnswerPlan[],
  watch: Watch,
  timeline: Timeline,
): StreamFn {
  return (model, context, options) => {
    const facts = watch.request(model, context, options);
    const answer: AnswerPlan = (watch.circumstances.isCalm ? undefined : answers[facts.number]) ?? {
      parts: [{ type: "text", pieces: 1 }],
    };
    const { signal = new AbortController().signal } = options;
    const call = {
      answer,
      model,
      facts,
      timeline,
      stall: (until?: AbortSignal) => watch.stall(until),
    };
    switch (answer.opens) {
      case "throws":
        facts.closed = true;
        facts.failure = new Error("the stream function threw");
        throw facts.failure;
      case "rejects":
        facts.closed = true;
        facts.failure = new Error("the stream function rejected");
        return Promise.reject(facts.failure);
      case "garbage":
        facts.closed = true;
        facts.failure = new TypeError("no stream");
        return undefined as never;
      case "later":
        return hops(3).then(() => openStream(call, signal));
      case undefined:
        break;
    }
    return openStream(call, signal);
  };
}

function openStream(call: Call, signal: AbortSignal): AssistantMessageStream {
  const { shape } = call.answer;
  if (shape === undefined) {
    return new EventStream(async (push, left) => {
      const either = AbortSignal.any([signal, left]);
      for await (const batch of produce(call, either)) {
        note(
          call.facts,
          batch,
          batch.map((event) => JSON.stringify(event)),
        );
        push(batch);
      }
      return {} as never;
    });
  }
  const batches = strange(call, signal);
  if (shape === "batches")
    return { batches: () => batches, [Symbol.asyncIterator]: () => oneByOne(batches) };
  if (shape !== "iterator") return oneByOne(batches);
  const events = oneByOne(batches);
  call.facts.closed = true; // a stream without return() cannot be closed
  return { [Symbol.asyncIterator]: () => ({ next: () => events.next() }) };
}

/** Plain events, as from another realm or a file: no shared or live objects. */
async function* strange(call: Call, signal: AbortSignal): AsyncGenerator<Batch> {
  for await (const batch of produce(call, signal)) {
    const heard =
      call.answer.shape === "final"
        ? batch.filter(({ type }) => type === "done" || type === "error")
        : batch;
    const plain = heard.map((event) => JSON.stringify(event));
    note(call.facts, heard, plain);
    yield plain.map((json) => JSON.parse(json) as AssistantMessageEvent);
  }
}

async function* oneByOne(batches: AsyncIterable<Batch>): AsyncGenerator<AssistantMessageEvent> {
  for await (const batch of batches) yield* batch;
}

function note(facts: CallFacts, batch: Batch, jsons: readonly string[]): void {
  for (const [index, { type }] of batch.entries()) {
    if (facts.ended !== undefined) return; // events after the end are ignored
    const json = jsons[index] as string;
    facts.delivered.push(json);
    if (type === "done" || type === "error") facts.ended = type;
    else if (type !== "start" && type !== "request_retry" && type !== "model_failover")
      facts.updates.push(json);
  }
}

async function* produce(call: Call, signal: AbortSignal): AsyncGenerator<Batch> {
  const { answer, facts } = call;
  try {
    yield* before(call, signal);
    yield* attempt(call, signal);
  } catch (error) {
    facts.failure = error;
    throw error;
  } finally {
    facts.closed = true;
  }
  if (answer.babbles) yield [{ type: "text_delta", attempt: 1, contentIndex: 0, delta: "babble" }];
}

async function* before(
  { answer, model, timeline }: Call,
  signal: AbortSignal,
): AsyncGenerator<Batch> {
  const { before: announcements = [], error, wait } = answer;
  if (error === undefined) return;
  for (const [index, kind] of announcements.entries()) {
    const from = { provider: model.provider, model: model.id };
    if (kind === "retry")
      yield [{ type: "request_retry", attempt: index + 1, delayMs: index * 10, error }];
    else
      yield [
        {
          type: "model_failover",
          attempt: index + 1,
          from,
          to: { ...from, model: "other" },
          error,
        },
      ];
    await pause(timeline, wait, answer, signal);
    if (signal.aborted && answer.onAbort === undefined) return;
  }
}

async function* attempt(call: Call, signal: AbortSignal): AsyncGenerator<Batch> {
  const { answer, model, facts, timeline } = call;
  const { api, provider, id } = model;
  const origin = { api, provider, model: id, timestamp: timeline.now() };
  const {
    error = { code: "server_error", message: "no error was drawn", retryable: false } as const,
  } = answer;
  let writer = new MessageWriter(origin);
  const writes = answer.parts.flatMap((part, index) =>
    writesOf(part, `${facts.tag} said ${facts.number}.${index}`),
  );
  for (const [index, write] of writes.entries()) {
    if (index % (answer.batch ?? Infinity) === 0) {
      if (index > 0) yield writer.take();
      await pause(timeline, answer.wait, answer, signal);
    }
    if (signal.aborted && answer.onAbort === undefined) return yield aborted(writer);
    write(writer);
  }
  if (answer.retracts) {
    yield writer.take();
    yield [
      { type: "message_retract", attempt: 1, contentIndex: 0, error },
      { type: "request_retry", attempt: 1, delayMs: 0, error },
    ];
    writer = new MessageWriter(origin, 2);
    for (const write of writes) write(writer);
  }
  if (answer.ends === undefined) end(writer, answer);
  else if (answer.ends === "error") {
    facts.said = error;
    writer.fail(new BowlineError(error.code, error.message, error));
  } else if (answer.ends === "never") {
    yield writer.take();
    if (answer.onAbort === "ignores") facts.closed = true; // it cannot be closed
    await call.stall(answer.onAbort === "ignores" ? undefined : signal);
    if (answer.onAbort === "throws") throw signal.reason;
    writer.fail(new BowlineError("aborted", "The request was aborted."));
  }
  yield writer.take();
  if (answer.ends === "throws") throw new Error("the stream threw");
  if (answer.ends === "throwsTyped") throw new BowlineError(error.code, error.message, error);
}

function end(writer: MessageWriter, { parts, stopReason, paused, usage }: AnswerPlan): void {
  writer.describe({ usage: usage ?? {}, ...(paused && { paused }) });
  writer.done(stopReason ?? (parts.some(({ type }) => type === "call") ? "toolUse" : "stop"));
}

function aborted(writer: MessageWriter): Batch {
  writer.fail(new BowlineError("aborted", "The request was aborted."));
  return writer.take();
}

type Write = (writer: MessageWriter) => void;

function writesOf(part: PartPlan, text: string): Write[] {
  let index = 0;
  const append =
    (piece: string): Write =>
    (writer) =>
      writer.append(index, piece);
  const begin = (open: (writer: MessageWriter) => number): Write => {
    return (writer) => void (index = open(writer));
  };
  switch (part.type) {
    case "text":
      return [
        begin((writer) => writer.openText()),
        ...Array.from({ length: part.pieces }, (_, piece) => append(`${text}.${piece} `)),
        (writer) => writer.close(index),
      ];
    case "thinking":
      return [
        begin((writer) => writer.openThinking()),
        ...Array.from({ length: part.pieces }, (_, piece) => append(`${text}.${piece} `)),
        (writer) => writer.close(index, { thinkingSignature: "signature" }),
      ];
    case "opaque":
      return [(writer) => writer.opaque({ type: "opaque", protocol: "simulated", raw: { text } })];
    case "call": {
      const { text: args } = argumentTexts[part.args];
      const half = args.length >> 1;
      return [
        begin((writer) => writer.openToolCall(part.id, part.tool)),
        append(args.slice(0, half)),
        append(args.slice(half)),
        (writer) => writer.close(index),
      ];
    }
  }
}

/** Waits. Depending on `onAbort`, stops early on an abort or throws the signal's reason. */
async function pause(
  timeline: Timeline,
  ms: number | undefined,
  { onAbort }: AnswerPlan,
  signal: AbortSignal,
): Promise<void> {
  if (ms !== undefined) await timeline.sleep(ms, onAbort === "ignores" ? undefined : signal);
  if (onAbort === "throws" && signal.aborted) throw signal.reason;
}
