/** The status line of a wait: for the model server, or for a tool with its output. */
import type { Style } from "../terminal.ts";
import type { StatusLine } from "./status-line.ts";

/** The model server that a run waits for. */
export interface Awaited {
  /** Host and port of the model server. */
  readonly server: string;
  /** Time limit of one request, in milliseconds. */
  readonly answerMs: number;
  /** How long failures are retried, in milliseconds; undefined if retries are limited by count. */
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

  /** Starts counting seconds, unless already counting. */
  start(): void {
    if (this.#timer !== undefined) return;
    const { server, answerMs } = this.#awaited;
    this.#count(
      Date.now(),
      (seconds) => `… waiting for ${server}, ${seconds} s (limit ${durationText(answerMs)})`,
    );
  }

  /** Shows a retry and counts the seconds since the first failure, at `since`. */
  retry(reason: string, retry: number, since: number): void {
    this.#count(since, (seconds) => `… ${reason}. Retrying (${retry}) for ${seconds} s.`);
    this.#show();
  }

  /** Shows lines of a tool's output and counts the seconds since it started. */
  tool(name: string, lines: readonly string[], since: number): void {
    this.#count(since, (seconds) => [`… ${name}, ${seconds} s`, ...lines].join("\n"));
    this.#show();
  }

  /** Has something written above the line, which goes on with its seconds. */
  above(write: () => void): void {
    this.#line.clear();
    write();
    if (this.#timer !== undefined) this.#show();
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

/** Formats a duration in seconds, or in whole minutes from two minutes. */
export function durationText(ms: number): string {
  if (ms >= 120_000 && ms % 60_000 === 0) return `${ms / 60_000} min`;
  return `${ms < 10_000 ? ms / 1000 : Math.round(ms / 1000)} s`;
}
