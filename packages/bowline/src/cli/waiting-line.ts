/** The line that says for whom the command waits and how long; of a tool also what it prints. */
import type { Style } from "../terminal.ts";
import type { StatusLine } from "./status-line.ts";

/** What a run waits for. */
export interface Awaited {
  /** Host and port of the model server. */
  readonly server: string;
  /** How long one request may be without an answer. */
  readonly answerMs: number;
  /** How long a server that fails is retried; undefined where its retries are counted instead. */
  readonly retryMs: number | undefined;
}

export class WaitingLine {
  readonly #line: StatusLine;
  readonly #style: Style;
  readonly #awaited: Awaited;
  #timer: ReturnType<typeof setInterval> | undefined;
  #show: () => void = () => {};

  constructor(line: StatusLine, style: Style, awaited: Awaited) {
    this.#line = line;
    this.#style = style;
    this.#awaited = awaited;
  }

  /** Counts the seconds from now on, unless it counts already. */
  start(): void {
    if (this.#timer !== undefined) return;
    const { server, answerMs } = this.#awaited;
    this.#count(
      Date.now(),
      (seconds) => `… waiting for ${server}, ${seconds} s (limit ${durationText(answerMs)})`,
    );
  }

  /** Counts the seconds since the first failure, from `since`. */
  retry(reason: string, retry: number, since: number): void {
    this.#count(since, (seconds) => `… ${reason}. Retrying (${retry}) for ${seconds} s.`);
    this.#show();
  }

  /** Shows these lines of a tool, and counts the seconds since it began. */
  tool(name: string, lines: readonly string[], since: number): void {
    this.#count(since, (seconds) => [`… ${name}, ${seconds} s`, ...lines].join("\n"));
    this.#show();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#line.clear();
  }

  #count(since: number, text: (seconds: number) => string): void {
    this.#show = () =>
      this.#line.show(text(Math.round((Date.now() - since) / 1000)), this.#style.dim);
    if (this.#timer !== undefined) return;
    this.#timer = setInterval(() => this.#show(), 1000);
    this.#timer.unref();
  }
}

/** In seconds, or in minutes where they are whole. */
export function durationText(ms: number): string {
  if (ms >= 120_000 && ms % 60_000 === 0) return `${ms / 60_000} min`;
  return `${ms < 10_000 ? ms / 1000 : Math.round(ms / 1000)} s`;
}
