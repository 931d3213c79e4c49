/**
 * Turns bytes into events for any protocol: framing, JSON, and the end of the body. Synchronous.
 * The same bytes give the same events, however they are chunked.
 */
import { BowlineError, isBowlineError } from "../errors.ts";
import { asRecord, isRecord, keepDigits, parseJson, shorten } from "../json-value.ts";
import { originOf, type AssistantMessageEvent } from "../llm/event.ts";
import type { AssistantMessage } from "../llm/message.ts";
import type { Model } from "../llm/model.ts";
import { repairStrings } from "../llm/tool-arguments.ts";
import { corrupt } from "../llm/stream.ts";
import { MessageWriter } from "../llm/writer.ts";
import { htmlTitle } from "../transport/http-error.ts";
import { isUnknownField, SseReader, type SseListener, type SseOptions } from "../transport/sse.ts";
import { CallProof } from "./call-proof.ts";
import type { Protocol, ProtocolReader } from "./protocol.ts";
import { createCallIds } from "./tool-names.ts";

export interface DecoderOptions extends SseOptions {
  readonly timestamp: number;
  /** The number of this try, counted from 1. Default 1. */
  readonly attempt?: number;
  /** The names of the tools that the request declared. */
  readonly toolNames?: readonly string[];
  /**
   * The most characters of an answer's texts, thoughts, arguments, sources and media together. Default 16 Mi: more
   * than any model writes, and little enough for a small process to hold and store.
   */
  readonly maxAnswerLength?: number | undefined;
  /** Whether the request ended with tool results. Default false. */
  readonly followsResults?: boolean;
  /** Creates ids for calls without one. Default `call_1`, `call_2`, … within the answer. */
  readonly createId?: () => string;
}

const DONE = "[DONE]";
const DEFAULT_MAX_ANSWER_LENGTH = 16 * 1024 * 1024;
/** Words that mark a stray line as a failure report. */
const failureWords =
  /error|fail|exception|traceback|time[ -]?d? ?out|unavailable|refused|reset by|abort|overload|denied|exceeded|bad gateway|<html|<!doctype/i;
/**
 * Texts that servers and proxies send as an event while the model is silent. The list is closed: an
 * unknown text may be an error, and keeps calls from running.
 */
// Q006
const keepAlive = /^\s*(?:ping|keep-?alive|openrouter processing)\s*$/i;
/** How many characters an error quotes of text outside of events. */
const MAX_QUOTE_LENGTH = 500;

/**
 * Decodes one answer. After `push` or `end`, `failure` tells whether it failed; then call `fail` to
 * write the last event.
 */
export class StreamDecoder implements SseListener {
  readonly #model: Model;
  readonly #writer: MessageWriter;
  readonly #reader: ProtocolReader;
  readonly #sse: SseReader;
  readonly #proof = new CallProof();
  #isFirst = true;
  #failure: BowlineError | undefined;
  /** The payload being read: its text and its parsed value. */
  #text = "";
  #value: unknown;
  /** Maps the payload's objects and arrays to copies with exact numbers. Created on demand. */
  #exact: ReadonlyMap<unknown, unknown> | undefined;
  /** The last text from the server that was not an event. */
  #stray = "";

  constructor(protocol: Protocol, model: Model, options: DecoderOptions) {
    const { timestamp, attempt, toolNames = [], followsResults } = options;
    const { maxAnswerLength = DEFAULT_MAX_ANSWER_LENGTH } = options;
    const { contextWindow, compat } = model;
    this.#model = model;
    this.#writer = new MessageWriter(originOf(model, timestamp), attempt, maxAnswerLength);
    this.#reader = protocol.createReader(this.#writer, {
      toolNames,
      contextWindow,
      compat,
      followsResults,
      proof: this.#proof,
      callId: createCallIds(options.createId),
      exactly: (part) => this.#exactly(part),
    });
    this.#sse = new SseReader(this, options);
  }

  /** The message so far; final after a `done` or `error` event was returned. */
  get message(): AssistantMessage {
    return this.#writer.message;
  }

  /**
   * Whether any output was written. Until then the request can be retried without the reader
   * noticing.
   */
  get started(): boolean {
    return this.#writer.started;
  }

  /** Whether the last event was written. */
  get ended(): boolean {
    return this.#writer.ended;
  }

  /** The error of this answer. Nothing is read after it. */
  get failure(): BowlineError | undefined {
    return this.#failure;
  }

  /** Decodes a chunk and returns its events. */
  push(chunk: Uint8Array): AssistantMessageEvent[] {
    return this.#decode(chunk);
  }

  /** Ends the body and returns the remaining events, with `done` if the answer was complete. */
  end(): AssistantMessageEvent[] {
    return this.#decode(undefined);
  }

  /** Ends the message with `error` and keeps its content so far. */
  fail(error: BowlineError): AssistantMessageEvent[] {
    this.#writer.fail(error);
    return this.#writer.take();
  }

  /** Reads a chunk, or the end if it is undefined. */
  #decode(chunk: Uint8Array | undefined): AssistantMessageEvent[] {
    try {
      if (!this.#writer.ended && this.#failure === undefined) {
        if (chunk === undefined) this.#end();
        else this.#sse.push(chunk);
      }
    } catch (error) {
      if (!isBowlineError(error)) throw error;
      this.#failure = error;
    }
    return this.#writer.take();
  }

  #end(): void {
    this.#sse.end();
    if (this.#isFirst) this.#explainStray();
    if (this.#writer.ended) return;
    try {
      this.#reader.end();
    } catch (error) {
      if (this.#stray === "" || !isBowlineError(error) || error.code !== "stream_truncated")
        throw error;
      const { code, message, retryable } = error;
      throw new BowlineError(code, `${message} The server said: ${this.#stray}`, { retryable });
    }
  }

  /** Receives an event from the SSE reader. */
  event(data: string, name: string): void {
    if (this.#writer.ended) return;
    if (this.#isFirst) {
      this.#isFirst = false;
      // Lines before the first event that are not fields: an answer in one piece, with only its end
      // sent as an event (Q239).
      const { stray } = this.#sse;
      if (stray.startsWith("{")) this.#payload(stray, "");
      else {
        const words = stray.split("\n").filter((line) => !isUnknownField(line));
        if (words.some((line) => line !== "")) this.stray(words.join("\n"));
      }
    }
    this.#payload(data, name);
  }

  /**
   * Handles lines that are not SSE fields: an error, a payload without its field name, or plain
   * text. Text that reports a failure ends the answer; other text keeps its calls from running.
   */
  // Q024
  stray(text: string): void {
    if (this.#writer.ended) return;
    const said = text.trim();
    if (said.split("\n").every((line) => keepAlive.test(line))) return;
    const isPayload =
      /^(?:data:|\[done\]$)/i.test(said) || isContainer(parseJson(said.split("\n")[0]));
    if (isPayload || isContainer(parseJson(said))) return this.#payload(said, "");
    this.#stray = shorten(said, MAX_QUOTE_LENGTH);
    if (failureWords.test(said)) throw corrupt(`The server said in the stream: ${this.#stray}`);
    this.#proof.suspect("the stream contained text that is not an event", said);
  }

  /** Returns a part of the current payload with the original digits of its numbers. */
  #exactly(part: unknown): unknown {
    if (!this.#exact) {
      const text = keepDigits(this.#text);
      this.#exact = text === this.#text ? new Map() : counterparts(this.#value, parseJson(text));
    }
    return this.#exact.get(part) ?? part;
  }

  /**
   * Reads one payload, including the ways in which proxies mangle it. Throws `stream_corrupt` if it
   * cannot be parsed.
   */
  // Q025, Q026
  #payload(data: string, name: string): void {
    const reader = this.#reader;
    // Parsing invalid JSON throws, which is slow. `[DONE]` comes with every answer and is known.
    const value = data === DONE ? undefined : parseJson(data);
    this.#text = data;
    this.#value = value;
    this.#exact = undefined;
    if (isRecord(value)) return reader.event(value, name);
    if (Array.isArray(value)) return value.forEach((item) => reader.event(asRecord(item), name)); // Q212
    if (typeof value === "string") return this.stray(value);
    const text = data.trim();
    if (value === null || text === "" || text.startsWith(":")) return; // Q007, Q008, Q080
    if (value !== undefined)
      return this.#proof.suspect("the stream contained text that is not an event", text);
    if (keepAlive.test(text)) return;
    if (text.toUpperCase() === DONE) return reader.done?.();
    if (text.startsWith("data:")) return this.#payload(text.slice(5).trim(), name); // Q021
    const lines = text.split("\n");
    const [first = ""] = lines;
    if (lines.length === 1 || (parseJson(first) === undefined && !keepAlive.test(first))) {
      this.#text = repairStrings(text);
      const repaired = parseJson(this.#text, undamaged);
      this.#value = repaired;
      this.#exact = undefined;
      if (isRecord(repaired)) return reader.event(repaired, name);
      throw corrupt(`The stream contains invalid JSON: ${text}`);
    }
    // Events without a blank line between them, or JSON lines (Q012, Q024). The last line may be
    // truncated.
    const last = lines.pop() as string;
    for (const line of lines) this.#payload(line, name);
    if (last.trimEnd().endsWith("]") || parseJson(last) !== undefined) this.#payload(last, name);
  }

  /** Handles a 2xx body without any event: a page, JSON instead of a stream, or nothing. */
  // Q018, Q019, Q022, Q023
  #explainStray(): void {
    const body = this.#sse.stray.trim();
    if (body === "")
      throw new BowlineError("empty_response", "The server answered with an empty stream.", {
        retryable: true,
      });
    const whole = parseJson(body) !== undefined;
    if (whole || parseJson(body.split("\n")[0]) !== undefined) {
      this.#payload(body, "");
      // The body was an answer if it has content, an end, a stop reason, or several JSON lines.
      if (this.started || this.ended || !whole || this.message.rawStopReason) return;
    }
    // The body was truncated, within the first field name or within its JSON (Q233).
    if ("data: ".startsWith(body) || (!whole && /^[[{]/.test(body))) return;
    const page = htmlTitle(body);
    const what = page ?? (body.startsWith("\u001f") ? "undeclared gzip" : body.slice(0, 200)); // Q027
    throw new BowlineError(
      "unexpected_response",
      `The server answered HTTP 2xx with ${what} instead of a stream: check the base URL ${this.#model.baseUrl}.`,
      { retryable: /\b5\d\d\b/.test(page ?? "") },
    );
  }
}

function isContainer(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

/** Maps each object and array of a value to its counterpart in a value of the same shape. */
function counterparts(value: unknown, other: unknown): Map<unknown, unknown> {
  const found = new Map<unknown, unknown>();
  const waiting: [unknown, unknown][] = [[value, other]];
  for (let pair = waiting.pop(); pair; pair = waiting.pop()) {
    const [own, its] = pair;
    if (typeof own !== "object" || own === null) continue;
    found.set(own, its);
    for (const [key, inner] of Object.entries(own))
      waiting.push([inner, (its as Record<string, unknown>)[key]]);
  }
  return found;
}

/**
 * Text that the model wrote may hold a raw tab, which Messages sends as it is. In a name or a type
 * it means damage.
 */
// Q052, Q150
function undamaged(name: string, value: unknown): unknown {
  if (/[\u0000-\u001f\\]/.test(name === "type" ? String(value) : name)) throw new SyntaxError(name);
  return value;
}
