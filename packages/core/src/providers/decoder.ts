/** Bytes to events for any protocol: framing, JSON, the end of the body. Synchronous; the same bytes in any chunking give the same events. */
import { BowlineError, isBowlineError } from "../errors.ts";
import { asRecord, isRecord, parseJson } from "../json-value.ts";
import type { AssistantMessageEvent } from "../llm/event.ts";
import type { AssistantMessage } from "../llm/message.ts";
import type { Model } from "../llm/model.ts";
import { MessageWriter } from "../llm/writer.ts";
import { htmlTitle } from "../transport/http-error.ts";
import { createSseReader } from "../transport/sse.ts";
import type { Protocol } from "./protocol.ts";

export interface DecoderOptions {
  readonly timestamp: number;
  /** Counts tries of the request from 1. Default 1. */
  readonly attempt?: number;
  /** Names of the tools that the request declared. */
  readonly toolNames?: readonly string[];
  /** For calls that come without an id. Default `call_1`, `call_2`, … of this answer. */
  readonly createId?: () => string;
}

const DONE = "[DONE]";

/** Decodes one answer. After `push` or `end`, `failure` says whether it went wrong; then `fail` writes the last event. */
export interface StreamDecoder {
  /** The message so far; final once an event of kind `done` or `error` was returned. */
  readonly message: AssistantMessage;
  /** Whether any output was written: before that the request may be asked again unseen. */
  readonly started: boolean;
  /** Whether the last event was written. */
  readonly ended: boolean;
  /** What went wrong; nothing is read after it. */
  readonly failure: BowlineError | undefined;
  /** The events of these bytes. */
  push(chunk: Uint8Array): AssistantMessageEvent[];
  /** The body ended: the rest, and `done` if the answer was complete. */
  end(): AssistantMessageEvent[];
  /** Ends the message with this error, keeping what came. */
  fail(error: BowlineError): AssistantMessageEvent[];
}

export function createStreamDecoder(protocol: Protocol, model: Model, options: DecoderOptions): StreamDecoder {
  const { timestamp, attempt, toolNames = [] } = options;
  let ids = 0;
  let isFirst = true;
  let failure: BowlineError | undefined;
  const { api, provider, id, contextWindow, compat } = model;
  const writer = new MessageWriter({ api, provider, model: id, timestamp }, attempt);
  const reader = protocol.createReader(writer, {
    toolNames,
    contextWindow,
    compat,
    createId: options.createId ?? (() => `call_${++ids}`),
  });
  const sse = createSseReader((data, name) => {
    if (writer.ended) return;
    // Lines before the first event that were no field: an answer in one piece, of which only the end is an event (Q239).
    if (isFirst && sse.stray.startsWith("{")) read(sse.stray, "");
    isFirst = false;
    read(data, name);
  });
  return {
    message: writer.message,
    get started() {
      return writer.started;
    },
    get ended() {
      return writer.ended;
    },
    get failure() {
      return failure;
    },
    push: (chunk) => guarded(() => sse.push(chunk)),
    end: () =>
      guarded(() => {
        sse.end();
        if (isFirst) explainStray();
        if (!writer.ended) reader.end();
      }),
    fail(error) {
      writer.fail(error);
      return writer.take();
    },
  };

  function guarded(work: () => void): AssistantMessageEvent[] {
    try {
      if (!writer.ended && failure === undefined) work();
    } catch (error) {
      if (!isBowlineError(error)) throw error;
      failure = error;
    }
    return writer.take();
  }

  /** One payload, as it is or as proxies mangle it. Throws `stream_corrupt` for what nobody can read (Q025, Q026). */
  function read(data: string, name: string): void {
    // What is no JSON costs an exception: the one text that comes with every answer is known before.
    const value = data === DONE ? undefined : parseJson(data);
    if (isRecord(value)) return reader.event(value, name);
    if (Array.isArray(value)) return value.forEach((item) => reader.event(asRecord(item), name)); // Q212
    const text = data.trim();
    if (value !== undefined || text === "" || text.startsWith(":")) return; // Q007, Q008, Q080
    if (text.toUpperCase() === DONE) return reader.done?.();
    if (text.startsWith("data:")) return read(text.slice(5).trim(), name); // Q021
    const lines = text.split("\n");
    if (lines.length === 1 || parseJson(lines[0]) === undefined) {
      throw new BowlineError("stream_corrupt", `The stream holds what is no JSON: ${text.slice(0, 200)}`, {
        retryable: true,
      });
    }
    // Events without a blank line between them, or JSON lines (Q012, Q024); the last may be cut.
    const last = lines.pop() as string;
    for (const line of lines) read(line, name);
    if (last.trimEnd().endsWith("]") || parseJson(last) !== undefined) read(last, name);
  }

  /** A 2xx body without a single event: a page, JSON instead of a stream, or nothing (Q018, Q019, Q022, Q023). */
  function explainStray(): void {
    const body = sse.stray.trim();
    if (body === "")
      throw new BowlineError("empty_response", "The server answered with an empty stream.", { retryable: true });
    const whole = parseJson(body) !== undefined;
    if (whole || parseJson(body.split("\n")[0]) !== undefined) {
      read(body, "");
      if (writer.started || writer.ended || !whole) return;
    }
    // A cut field's name is the beginning of a stream, and what begins as JSON and is none was cut, too (Q233).
    if ("data: ".startsWith(body) || (!whole && /^[[{]/.test(body))) return;
    const page = htmlTitle(body);
    const what = page ?? (body.startsWith("\u001f") ? "undeclared gzip" : body.slice(0, 200)); // Q027
    throw new BowlineError(
      "unexpected_response",
      `The server answered HTTP 2xx with ${what} instead of a stream: check the base URL ${model.baseUrl}.`,
      { retryable: /\b5\d\d\b/.test(page ?? "") },
    );
  }
}
