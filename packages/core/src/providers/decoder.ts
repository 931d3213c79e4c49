/** Bytes to events for any protocol: framing, JSON, the end of the body. Synchronous; the same bytes in any chunking give the same events. */
import { BowlineError, isBowlineError } from "../errors.ts";
import { asRecord, isRecord, parseJson } from "../json-value.ts";
import type { AssistantMessageEvent } from "../llm/event.ts";
import type { AssistantMessage } from "../llm/message.ts";
import type { Model } from "../llm/model.ts";
import { MessageWriter } from "../llm/writer.ts";
import { htmlTitle } from "../transport/http-error.ts";
import { SseReader } from "../transport/sse.ts";
import type { Protocol, ProtocolReader } from "./protocol.ts";

export interface DecoderOptions {
  readonly timestamp: number;
  /** Counts tries of the request from 1. Default 1. */
  readonly attempt?: number;
  /** Names of the tools that the request declared. */
  readonly toolNames?: readonly string[];
  /** For calls that come without an id. Default `call_1`, `call_2`, … of this answer. */
  readonly createId?: () => string;
}

/** Decodes one answer. After `push` or `end`, {@link failure} says whether it went wrong; then {@link fail} writes the last event. */
export class StreamDecoder {
  readonly #writer: MessageWriter;
  readonly #reader: ProtocolReader;
  readonly #sse: SseReader;
  #failure: BowlineError | undefined;
  #events = 0;

  constructor(protocol: Protocol, model: Model, options: DecoderOptions) {
    const { timestamp, attempt = 1, toolNames = [] } = options;
    let ids = 0;
    this.#writer = new MessageWriter({ api: model.api, provider: model.provider, model: model.id, timestamp }, attempt);
    this.#reader = protocol.createReader(this.#writer, {
      toolNames,
      createId: options.createId ?? (() => `call_${++ids}`),
    });
    this.#sse = new SseReader((data, name) => this.#event(data, name));
  }

  /** The message so far; final once an event of kind `done` or `error` was returned. */
  get message(): AssistantMessage {
    return this.#writer.message;
  }

  /** Whether any output was written: before that the request may be asked again unseen. */
  get started(): boolean {
    return this.#writer.started;
  }

  /** Whether the last event was written. */
  get ended(): boolean {
    return this.#writer.ended;
  }

  /** What went wrong; nothing is read after it. */
  get failure(): BowlineError | undefined {
    return this.#failure;
  }

  /** The events of these bytes. */
  push(chunk: Uint8Array): AssistantMessageEvent[] {
    return this.#guarded(() => this.#sse.push(chunk));
  }

  /** The body ended: the rest, and `done` if the answer was complete. */
  end(): AssistantMessageEvent[] {
    return this.#guarded(() => {
      this.#sse.end();
      if (this.#writer.ended || this.#failure !== undefined) return;
      if (this.#events === 0) this.#explainStray();
      if (!this.#writer.ended) this.#reader.end();
    });
  }

  /** Ends the message with this error, keeping what came. */
  fail(error: BowlineError): AssistantMessageEvent[] {
    this.#failure ??= error;
    this.#writer.fail(error);
    return this.#writer.take();
  }

  #guarded(work: () => void): AssistantMessageEvent[] {
    if (this.#failure === undefined && !this.#writer.ended) {
      try {
        work();
      } catch (error) {
        if (!isBowlineError(error)) throw error;
        this.#failure = error;
      }
    }
    return this.#writer.take();
  }

  #event(data: string, name: string): void {
    if (this.#writer.ended || this.#failure !== undefined) return;
    // Lines before the first event that were no field: an answer in one piece, of which only the end is an event (Q239).
    if (this.#events++ === 0 && this.#sse.stray.startsWith("{")) this.#read(this.#sse.stray, "");
    this.#read(data, name);
  }

  /** One payload, as it is or as proxies mangle it. Throws `stream_corrupt` for what nobody can read (Q025, Q026). */
  #read(data: string, name: string): void {
    if (this.#reader.sentinel?.(data) === true) return;
    const value = parseJson(data);
    if (isRecord(value)) return this.#reader.event(value, name);
    if (Array.isArray(value)) return value.forEach((item) => this.#reader.event(asRecord(item), name)); // Q212
    const text = data.trim();
    if (value !== undefined || text === "" || text.startsWith(":")) return; // Q007, Q008, Q080
    if (text.startsWith("data:")) return this.#read(text.slice(5).trim(), name); // Q021
    const lines = text.split("\n");
    if (lines.length === 1 || parseJson(lines[0]) === undefined) {
      throw new BowlineError("stream_corrupt", `The stream holds what is no JSON: ${text.slice(0, 200)}`, {
        retryable: true,
      });
    }
    // Events without a blank line between them, or JSON lines (Q012, Q024); the last may be cut.
    for (const [index, line] of lines.entries()) {
      if (index + 1 < lines.length || line.trimEnd().endsWith("]") || parseJson(line) !== undefined)
        this.#read(line, name);
    }
  }

  /** A 2xx body without a single event: a page, JSON instead of a stream, or nothing (Q018, Q019, Q022, Q023). */
  #explainStray(): void {
    const body = this.#sse.stray.trim();
    if (body === "")
      throw new BowlineError("empty_response", "The server answered with an empty stream.", { retryable: true });
    if ("data: ".startsWith(body)) return; // a field's name that was cut is the beginning of a stream
    const first = parseJson(body.split("\n")[0]);
    const whole = parseJson(body);
    if (first !== undefined || whole !== undefined) {
      this.#read(body, "");
      if (this.#writer.started || this.#writer.ended || whole === undefined) return;
    }
    const page = htmlTitle(body);
    const what =
      page ?? (body.startsWith("\u001f") ? "compressed bytes (gzip) that say so nowhere" : body.slice(0, 200)); // Q027
    throw new BowlineError(
      "unexpected_response",
      `The server answered with ${what} instead of a stream: check the base URL.`,
      {
        retryable: /\b5\d\d\b/.test(page ?? ""),
      },
    );
  }
}
