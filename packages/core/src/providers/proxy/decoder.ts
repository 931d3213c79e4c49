/**
 * Turns a proxy's bytes into events, folded with the shared reducer. Synchronous. The same bytes
 * give the same events, however they are chunked, and each delta has the same cost. Nothing is
 * trusted: an event in the wrong place ends the answer.
 */
import { BowlineError, isBowlineError } from "../../errors.ts";
import { isRecord } from "../../json-value.ts";
import { originOf, type AssistantMessageEvent } from "../../llm/event.ts";
import type { AssistantMessage } from "../../llm/message.ts";
import type { Model } from "../../llm/model.ts";
import { htmlTitle } from "../../transport/http-error.ts";
import { SseReader, type SseListener } from "../../transport/sse.ts";
import type { DecoderOptions } from "../decoder.ts";
import { corrupt, truncated } from "./fields.ts";
import { ProxyMessage } from "./message.ts";

export class ProxyDecoder implements SseListener {
  readonly #answer: ProxyMessage;
  readonly #sse: SseReader;
  #failure: BowlineError | undefined;
  #atEnd = false;

  constructor(model: Model, { timestamp, attempt = 1, maxEventLength }: DecoderOptions) {
    this.#answer = new ProxyMessage(originOf(model, timestamp), attempt);
    this.#sse = new SseReader(this, { maxEventLength });
  }

  /** The message so far. Before the first event, an empty one. */
  get message(): AssistantMessage {
    return this.#answer.message;
  }

  get started(): boolean {
    return this.#answer.started;
  }

  get ended(): boolean {
    return this.#answer.ended;
  }

  get failure(): BowlineError | undefined {
    return this.#failure;
  }

  push(chunk: Uint8Array): AssistantMessageEvent[] {
    return this.#guarded(() => this.#sse.push(chunk));
  }

  /** Ends the body. This never completes an answer. */
  end(): AssistantMessageEvent[] {
    return this.#guarded(() => {
      this.#atEnd = true;
      this.#sse.end();
      if (this.ended) return;
      this.#explainStray();
      throw truncated();
    });
  }

  fail(error: BowlineError): AssistantMessageEvent[] {
    if (this.ended) return [];
    this.#failure ??= error;
    this.#answer.fail(error);
    return this.#answer.take();
  }

  #guarded(work: () => void): AssistantMessageEvent[] {
    if (this.#failure === undefined && !this.ended) {
      try {
        work();
      } catch (error) {
        if (!isBowlineError(error)) throw error;
        this.#failure = error;
      }
    }
    return this.#answer.take();
  }

  /** Receives an event from the SSE reader. */
  event(data: string): void {
    if (this.ended) return;
    let event: unknown;
    try {
      event = JSON.parse(data);
    } catch (error) {
      // The last line of a truncated body is not valid JSON either.
      throw this.#atEnd
        ? truncated()
        : corrupt(`it contains invalid JSON: ${data.slice(0, 200)}`, error);
    }
    if (!isRecord(event) || typeof event.type !== "string")
      throw corrupt(`it contains no event: ${data.slice(0, 200)}`);
    this.#answer.read(event.type, event);
  }

  /** Handles a 2xx body without events. It is usually a page, because `proxyUrl` is wrong. */
  #explainStray(): void {
    const body = this.#sse.stray.trim();
    // Empty, or cut within the field name. After an event, no stray text is held.
    if ("data: ".startsWith(body)) return;
    const what = htmlTitle(body) ?? `text (${body.slice(0, 200)})`;
    throw new BowlineError(
      "unexpected_response",
      `The proxy answered with ${what} instead of a stream: check proxyUrl.`,
    );
  }
}
