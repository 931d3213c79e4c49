/**
 * A screen that only appends lines, for screen readers and terminals that cannot move the cursor.
 * The terminal itself edits the typed line.
 */
import { createInterface, type Interface } from "node:readline";
import { systemClock, type Clock } from "@bowline/core";
import { key } from "./keys.ts";
import type { FullView, Screen, ScreenOptions } from "./live.ts";
import { safeRow } from "./safe-row.ts";

/** Lines that come within this time were pasted together. */
const PASTE_MS = 30;
/** A state is printed when it has lasted this long. */
const STATE_MS = 300;

export class PlainScreen implements Screen {
  readonly isPlain = true;
  readonly #options: ScreenOptions;
  readonly #clock: Clock;
  readonly #lines: Interface;
  #isClosed = false;
  #typed: string[] = [];
  /** The question that was open when the first of these lines came. */
  #typedFor: ((line: string | undefined) => void) | undefined;
  #stopTypedTimer: () => void = () => {};
  #state = "";
  #stopStateTimer: (() => void) | undefined;
  /** Takes the next typed lines instead of the conversation. */
  #answer: ((line: string | undefined) => void) | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: ScreenOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#lines = createInterface({ input: options.input, terminal: false });
    this.#lines.on("line", (line) => this.#take(line));
    this.#lines.on("close", () => this.#end());
    options.output.on("error", this.#onError);
    options.signals?.on("SIGINT", this.#onInterrupt);
    this.invalidate();
  }

  get columns(): number {
    return this.#options.output.columns || 80;
  }

  get rows(): number {
    return this.#options.output.rows || 24;
  }

  print(lines: readonly string[]): void {
    const rows = lines.flatMap((line) => line.split("\n")).map(safeRow);
    if (rows.length > 0) this.#options.output.write(rows.map((row) => `${row}\n`).join(""));
  }

  /** Prints the state in words if it has changed and stays. */
  invalidate(): void {
    const { state } = this.#options;
    if (this.#isClosed || state === undefined || this.#stopStateTimer !== undefined) return;
    if (state() === this.#state) return;
    this.#stopStateTimer = this.#clock.setTimer(STATE_MS, () => {
      this.#stopStateTimer = undefined;
      const now = state();
      if (now === this.#state) return;
      this.#state = now;
      if (now !== "") this.print([now]);
    });
  }

  async full<T>(view: FullView<T>): Promise<T | undefined> {
    const turn = this.#turn.then(() => this.#ask(view));
    this.#turn = turn.catch(() => {});
    return await turn;
  }

  /** The terminal stops the process itself on Ctrl-Z: it is in no raw mode. */
  suspend(): void {}

  bell(): void {
    this.#options.output.write("\u0007");
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#release();
    await new Promise<void>((resolve) => void this.#options.output.write("", () => resolve()));
  }

  restore(): string {
    this.#release();
    return "";
  }

  async #ask<T>(view: FullView<T>): Promise<T | undefined> {
    const { plain } = view;
    this.print(plain.lines);
    if (plain.type === "text") return plain.result;
    for (;;) {
      const line = await this.#nextLine();
      if (line === undefined) return undefined;
      const answer = plain.answer(line);
      if ("result" in answer) return answer.result;
      this.print([answer.problem]);
    }
  }

  async #nextLine(): Promise<string | undefined> {
    if (this.#isClosed) return undefined;
    return await new Promise((resolve) => {
      this.#answer = (line) => {
        this.#answer = undefined;
        resolve(line);
      };
    });
  }

  #take(line: string): void {
    if (this.#isClosed) return;
    this.#stopTypedTimer();
    if (this.#typed.length === 0) this.#typedFor = this.#answer;
    this.#typed.push(line);
    this.#stopTypedTimer = this.#clock.setTimer(PASTE_MS, () => this.#send());
  }

  /** Several lines at once are a paste, and one message. */
  #send(): void {
    this.#stopTypedTimer();
    const lines = this.#typed;
    this.#typed = [];
    if (lines.length === 0) return;
    const text = lines.join("\n");
    if (this.#answer !== undefined && this.#answer === this.#typedFor) return this.#answer(text);
    const { onInput } = this.#options;
    if (lines.length > 1) onInput({ type: "paste", text });
    else if (text !== "") onInput({ type: "text", text });
    onInput(key("enter"));
  }

  readonly #onInterrupt = (): void => {
    if (this.#answer !== undefined) this.#answer(undefined);
    else this.#options.onInput(key("c", { ctrl: true }));
  };

  readonly #onError = (): void => this.#end();

  /** The input has ended: a closed terminal, or Ctrl-D on an empty line. */
  #end(): void {
    if (this.#isClosed) return;
    this.#send();
    this.#release();
    this.#options.onEnd?.();
  }

  #release(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopTypedTimer();
    this.#stopStateTimer?.();
    this.#lines.close();
    this.#options.output.off("error", this.#onError);
    this.#options.signals?.off("SIGINT", this.#onInterrupt);
    this.#answer?.(undefined);
  }
}
