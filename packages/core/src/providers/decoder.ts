/**
 * Bytes to events for any protocol: framing, JSON, the end of the body. Synchronous; the same bytes
 * in any chunking give the same events.
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
  /** Counts tries of the request from 1. Default 1. */
  readonly attempt?: number;
  /** Names of the tools that the request declared. */
  readonly toolNames?: readonly string[];
  /**
   * The most characters of an answer's texts, thoughts and arguments together. Default 16 Mi: more
   * than any model writes, and no more than a small process can hold and store.
   */
  readonly maxAnswerLength?: number | undefined;
  /** Whether the request ended with the results of tools. Default false. */
  readonly followsResults?: boolean;
  /** For calls that come without an id. Default `call_1`, `call_2`, … of this answer. */
  readonly createId?: () => string;
}

const DONE = "[DONE]";
const DEFAULT_MAX_ANSWER_LENGTH = 16 * 1024 * 1024;
/** Words of lines that report a failure, though they are no event. */
const failureWords =
  /error|fail|exception|traceback|time[ -]?d? ?out|unavailable|refused|reset by|abort|overload|denied|exceeded|bad gateway|<html|<!doctype/i;
/**
 * What servers and proxies send as an event while a model is silent. No other words: what is
 * unknown may be an error, and keeps calls from running.
 */
// Q006
const keepAlive = /^\s*(?:ping|keep-?alive|openrouter processing)\s*$/i;
/** How much is quoted of what a server sent outside of its events. */
const MAX_QUOTE_LENGTH = 500;

/**
 * Decodes one answer. After `push` or `end`, `failure` says whether it went wrong; then `fail`
 * writes the last event.
 */
export class StreamDecoder implements SseListener {
  readonly #model: Model;
  readonly #writer: MessageWriter;
  readonly #reader: ProtocolReader;
  readonly #sse: SseReader;
  readonly #proof = new CallProof();
  #isFirst = true;
  #failure: BowlineError | undefined;
  /** The payload that is being read: its text, and what was made of it. */
  #text = "";
  #value: unknown;
  /** Its objects and arrays with exact numbers, once they are asked for. */
  #exact: ReadonlyMap<unknown, unknown> | undefined;
  /** What the server sent last that is no event. */
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
    return this.#read(chunk);
  }

  /** The body ended: the rest, and `done` if the answer was complete. */
  end(): AssistantMessageEvent[] {
    return this.#read(undefined);
  }

  /** Ends the message with this error, keeping what came. */
  fail(error: BowlineError): AssistantMessageEvent[] {
    this.#writer.fail(error);
    return this.#writer.take();
  }

  /** A chunk, or the end. */
  #read(chunk: Uint8Array | undefined): AssistantMessageEvent[] {
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

  /** An event of the body, as its framing gives it. */
  event(data: string, name: string): void {
    if (this.#writer.ended) return;
    if (this.#isFirst) {
      this.#isFirst = false;
      // Lines before the first event that were no field: an answer in one piece, of which only the
      // end is an event (Q239).
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
   * Lines that are no field: an error, a payload without its field's name, or words. Words
   * that report a failure end the answer; others only keep its calls from running.
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
    this.#proof.suspect("the stream held what is no event", said);
  }

  /** A part of the payload that is being read, with the digits of its numbers as they came. */
  #exactly(part: unknown): unknown {
    if (!this.#exact) {
      const text = keepDigits(this.#text);
      this.#exact = text === this.#text ? new Map() : counterparts(this.#value, parseJson(text));
    }
    return this.#exact.get(part) ?? part;
  }

  /**
   * One payload, as it is or as proxies mangle it. Throws `stream_corrupt` for what nobody can read.
   */
  // Q025, Q026
  #payload(data: string, name: string): void {
    const reader = this.#reader;
    // What is no JSON costs an exception: the one text that comes with every answer is known
    // before.
    const value = data === DONE ? undefined : parseJson(data);
    this.#text = data;
    this.#value = value;
    this.#exact = undefined;
    if (isRecord(value)) return reader.event(value, name);
    if (Array.isArray(value)) return value.forEach((item) => reader.event(asRecord(item), name)); // Q212
    if (typeof value === "string") return this.stray(value);
    const text = data.trim();
    if (value === null || text === "" || text.startsWith(":")) return; // Q007, Q008, Q080
    if (value !== undefined) return this.#proof.suspect("the stream held what is no event", text);
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
      throw corrupt(`The stream holds what is no JSON: ${text}`);
    }
    // Events without a blank line between them, or JSON lines (Q012, Q024); the last may be cut.
    const last = lines.pop() as string;
    for (const line of lines) this.#payload(line, name);
    if (last.trimEnd().endsWith("]") || parseJson(last) !== undefined) this.#payload(last, name);
  }

  /**
   * A 2xx body without a single event: a page, JSON instead of a stream, or nothing.
   */
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
      // Whoever says why it ended is a model that said nothing, or was not let.
      if (this.started || this.ended || !whole || this.message.rawStopReason) return;
    }
    // A cut field's name is the beginning of a stream, and what begins as JSON and is none was cut,
    // too (Q233).
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

/** Each object and array of a value, with what stands in its place in another of the same form. */
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
 * A raw tab, say, may stand in what the model wrote, which Messages sends as it is. In
 * a name or a type it is damage.
 */
// Q052, Q150
function undamaged(name: string, value: unknown): unknown {
  if (/[\u0000-\u001f\\]/.test(name === "type" ? String(value) : name)) throw new SyntaxError(name);
  return value;
}
