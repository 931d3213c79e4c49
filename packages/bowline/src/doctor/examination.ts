/**
 * Examines one server: sends requests as Bowline would, and records the bytes along with what
 * Bowline read.
 */
import {
  createRedactor,
  getModel,
  systemClock,
  type Clock,
  type Compat,
  type Context,
  type Model,
  type Redactor,
} from "@bowline/core";
import { streamOpenaiChat } from "@bowline/core/openai-chat";
import { createRecorder, type Recorder } from "./exchange.ts";
import type { Finding } from "./finding.ts";
import { modelsUrl } from "./model-list.ts";
import type { Question, Reply } from "./reply.ts";
import { readWire } from "./wire.ts";

export interface ExaminationOptions {
  readonly baseUrl: string;
  readonly model?: string;
  readonly apiKey?: string;
  /** Time limit of one request, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly fetch?: typeof globalThis.fetch;
  readonly clock?: Clock;
  /** Called before each request with its subject. */
  readonly onProgress?: (what: string, requests: number) => void;
}

export interface ListReply {
  /** Absent if the server did not answer. */
  readonly status?: number;
  readonly body: string;
  readonly error?: string;
}

/** Longest wait for a busy server before the one retry. */
const MAX_BUSY_WAIT_MS = 5000;
const systemPrompt = "You are being tested by a program. Do exactly what is asked, briefly.";

export class Examination {
  readonly findings: Finding[] = [];
  /** The settings found so far. */
  readonly compat: Compat = {};
  readonly options: ExaminationOptions;
  model: string;
  readonly #clock: Clock;
  readonly #recorder: Recorder;
  readonly #redactor: Redactor;

  constructor(options: ExaminationOptions) {
    this.options = options;
    this.model = options.model ?? "";
    this.#clock = options.clock ?? systemClock;
    this.#redactor = createRedactor([options.apiKey ?? ""]);
    this.#recorder = createRecorder(options.fetch ?? globalThis.fetch, () => this.#clock.now());
  }

  get requests(): number {
    return this.#recorder.requests;
  }

  /** True if there is no point in continuing. */
  get isOver(): boolean {
    return this.options.signal.aborted || this.findings.some(({ blocks }) => blocks === "use");
  }

  /** Adds a finding. Redacts the key, because servers quote it in errors. */
  note(finding: Finding): void {
    if (this.options.signal.aborted) return; // an interrupted request proves nothing
    const { says, means } = finding;
    this.findings.push({
      ...finding,
      says: this.#redactor.text(says),
      ...(means !== undefined && { means: this.#redactor.text(means) }),
    });
  }

  /**
   * Makes one model call through Bowline's own wire. Retries once if the server is busy or fails.
   */
  async ask(question: Question): Promise<Reply> {
    const reply = await this.#askOnce(question);
    const { error } = reply.message;
    const wait = Math.max(error?.retryAfterMs ?? 0, 500);
    const isPassing =
      error?.code === "rate_limited" || error?.code === "overloaded" || (error?.status ?? 0) >= 500;
    if (!isPassing || wait > MAX_BUSY_WAIT_MS || this.options.signal.aborted) return reply;
    await this.#pause(wait);
    return this.#askOnce(question);
  }

  /** Requests the model list, optionally from another base URL. */
  async list(about: string, baseUrl: string = this.options.baseUrl): Promise<ListReply> {
    const { apiKey } = this.options;
    this.options.onProgress?.(about, this.requests);
    const limit = this.#limit();
    try {
      const response = await this.#recorder.fetch(modelsUrl(baseUrl), {
        headers: apiKey === undefined ? {} : this.#keyHeader(apiKey),
        redirect: "manual",
        signal: limit.signal,
      });
      return { status: response.status, body: await response.text() };
    } catch (error) {
      const { cause, message } = error as Error & { cause?: { code?: string; message?: string } };
      return {
        body: "",
        error: limit.isOver() ? this.slow : (cause?.code ?? cause?.message ?? message),
      };
    } finally {
      limit.end();
    }
  }

  get slow(): string {
    return `no whole answer within ${this.options.timeoutMs / 1000} s`;
  }

  async #askOnce({
    about,
    messages,
    tools,
    compat,
    model = this.model,
    ...options
  }: Question): Promise<Reply> {
    const { baseUrl, apiKey, onProgress } = this.options;
    onProgress?.(about, this.requests);
    const limit = this.#limit();
    this.#recorder.forget();
    const context: Context = {
      systemPrompt,
      messages: messages.map((message) =>
        typeof message === "string"
          ? { role: "user", content: message, timestamp: this.#clock.now() }
          : message,
      ),
      ...(tools !== undefined && { tools }),
    };
    try {
      const message = await streamOpenaiChat(this.#target(model, baseUrl, compat), context, {
        ...(apiKey !== undefined && { apiKey }),
        ...options,
        fetch: this.#recorder.fetch,
        clock: this.#clock,
        signal: limit.signal,
        maxRetries: 0,
      }).result();
      const exchange = this.#recorder.last;
      const slow = { code: "timeout", message: this.slow, retryable: true } as const;
      return {
        message: limit.isOver() ? { ...message, stopReason: "error", error: slow } : message,
        wire: readWire(exchange?.body() ?? ""),
        exchange,
      };
    } finally {
      limit.end();
    }
  }

  #keyHeader(apiKey: string): Record<string, string> {
    const { keyHeader } = this.compat;
    return keyHeader === undefined
      ? { authorization: `Bearer ${apiKey}` }
      : { [keyHeader]: apiKey };
  }

  #target(id: string, baseUrl: string, compat: Compat = {}): Model {
    return getModel("custom", id, {
      baseUrl,
      reasoning: true,
      compat: { ...this.compat, ...compat },
    });
  }

  /** Combines the caller's signal and the time limit. */
  #limit(): { readonly signal: AbortSignal; isOver(): boolean; end(): void } {
    const { signal, timeoutMs } = this.options;
    const controller = new AbortController();
    let isOver = false;
    const stop = (): void => controller.abort();
    const cancel = this.#clock.setTimer(timeoutMs, () => {
      isOver = true;
      stop();
    });
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
    return {
      signal: controller.signal,
      isOver: () => isOver,
      end() {
        cancel();
        signal.removeEventListener("abort", stop);
      },
    };
  }

  #pause(ms: number): Promise<void> {
    const { signal } = this.options;
    return new Promise((resolve) => {
      const end = (): void => {
        cancel();
        signal.removeEventListener("abort", end);
        resolve();
      };
      const cancel = this.#clock.setTimer(ms, end);
      signal.addEventListener("abort", end);
    });
  }
}
