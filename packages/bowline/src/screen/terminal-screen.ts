/** The screen of a terminal: scrollback above, a small live area below, drawn in frames. */
import { systemClock, type Clock } from "@bowline/core";
import { frameText, NOTHING_DRAWN, reflowOf, rowsAbove, type Drawn, type Size } from "./frame.ts";
import { FullScreen } from "./full-screen.ts";
import { InputDecoder, type Input } from "./input.ts";
import type { FullView, Screen, ScreenOptions } from "./live.ts";
import { BEGIN_FRAME, END_FRAME, modesFor, RESTORE, SHOW_CURSOR, type Modes } from "./modes.ts";
import { Pace } from "./pace.ts";
import { liveRow, safeRow } from "./safe-row.ts";

export class TerminalScreen implements Screen {
  readonly isPlain = false;
  readonly #options: ScreenOptions;
  readonly #clock: Clock;
  readonly #decoder: InputDecoder;
  readonly #modes: Modes;
  readonly #pace: Pace;
  #state: "open" | "suspended" | "closed" = "open";
  /** Printed lines that no frame has written. */
  #pending: string[] = [];
  #drawn: Drawn = NOTHING_DRAWN;
  /** The width that the rows of #drawn were written for. */
  #drawnColumns: number;
  /** True if the window has changed since the last frame. */
  #isResized = false;
  /** True while the output has not taken the last frame. */
  #isBusy = false;
  #isDirty = true;
  #stopTimer: (() => void) | undefined;
  #full: FullScreen | undefined;
  #fullTurn: Promise<unknown> = Promise.resolve();

  constructor(options: ScreenOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#decoder = new InputDecoder((input) => this.#take(input), { clock: this.#clock });
    this.#modes = modesFor(options.env);
    this.#pace = new Pace({ now: () => this.#now(), env: options.env });
    this.#drawnColumns = this.columns;
    const { input, output, signals } = options;
    input.setRawMode?.(true);
    output.write(this.#modes.enter);
    input.on("data", this.#onData);
    input.on("end", this.#onEnd);
    input.on("error", this.#onEnd);
    output.on("resize", this.#onResize);
    output.on("error", this.#onEnd);
    output.on("drain", this.#onWritten);
    signals?.on("SIGCONT", this.#onContinue);
    input.resume();
    this.#schedule();
  }

  get columns(): number {
    return this.#options.output.columns || 80; // some terminals report 0
  }

  get rows(): number {
    return this.#options.output.rows || 24;
  }

  print(lines: readonly string[]): void {
    for (const line of lines) for (const row of line.split("\n")) this.#pending.push(safeRow(row));
    if (this.#state === "closed") this.#writePending();
    else this.#schedule();
  }

  invalidate(): void {
    this.#isDirty = true;
    this.#schedule();
  }

  async full<T>(view: FullView<T>): Promise<T | undefined> {
    const before = this.#fullTurn;
    const turn = before.then(() => this.#show(view));
    this.#fullTurn = turn.catch(() => {});
    return await turn;
  }

  suspend(): void {
    const { signals, input, output } = this.#options;
    if (this.#state !== "open" || signals === undefined || signals.platform === "win32") return;
    this.#state = "suspended";
    input.setRawMode?.(false);
    // The whole group, as the terminal itself does it: a shell waits for its first process.
    output.write(this.#leaveText(), () => void signals.kill(0, "SIGTSTP"));
  }

  bell(): void {
    if (this.#state === "open") this.#options.output.write("\u0007");
  }

  async close(): Promise<void> {
    if (this.#state === "closed") return;
    const isShown = this.#state === "open";
    this.#release();
    const full = this.#full;
    this.#full = undefined;
    const text = isShown ? this.#leaveText(full) : "";
    await new Promise<void>((resolve) => void this.#options.output.write(text, () => resolve()));
    this.#writePending();
    full?.end();
  }

  restore(): string {
    if (this.#state === "closed") return "";
    const wasOpen = this.#state === "open";
    this.#release();
    return wasOpen ? this.#leaveText() : "";
  }

  readonly #onData = (bytes: Uint8Array | string): void => {
    this.#decoder.feed(typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes);
  };

  readonly #onEnd = (): void => {
    if (this.#state === "closed") return;
    const { input, output, onEnd } = this.#options;
    input.on("error", ignore); // raw mode cannot be turned off any more
    output.on("error", ignore);
    this.#release();
    this.#full?.end();
    onEnd?.();
  };

  readonly #onResize = (): void => {
    this.#options.onResize?.();
    this.#isResized = true;
    if (this.#full === undefined) this.#pace.resized();
    this.invalidate();
  };

  readonly #onWritten = (): void => {
    this.#isBusy = false;
    this.#schedule();
  };

  /** The shell has written meanwhile: the live area begins where the cursor is now. */
  readonly #onContinue = (): void => {
    if (this.#state === "closed") return;
    this.#state = "open";
    this.#options.input.setRawMode?.(true);
    this.#options.output.write(`\r${this.#modes.enter}`);
    this.#drawn = NOTHING_DRAWN;
    this.#drawnColumns = this.columns;
    this.#full?.forget();
    this.invalidate();
  };

  #take(input: Input): void {
    const full = this.#full;
    if (full === undefined) this.#options.onInput(input);
    else {
      // The next key of the same read is for the live area again.
      if (full.input(input)) this.#leaveFull();
      this.#isDirty = true;
    }
    // A frame that waits is due earlier now.
    this.#pace.key();
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    this.#schedule();
  }

  #leaveFull(): void {
    this.#write(this.#full?.leaveText() ?? "");
    this.#full = undefined;
  }

  async #show<T>(view: FullView<T>): Promise<T | undefined> {
    if (this.#state === "closed") return undefined;
    return await new Promise<T | undefined>((resolve) => {
      this.#full = FullScreen.of(view, resolve);
      if (this.#state === "open") this.#write(this.#eraseLive());
      this.invalidate();
    });
  }

  #schedule(): void {
    if (this.#stopTimer !== undefined || this.#isBusy || this.#state !== "open") return;
    if (!this.#isDirty && this.#pending.length === 0) return;
    this.#stopTimer = this.#clock.setTimer(this.#pace.wait(), () => {
      this.#stopTimer = undefined;
      this.#frame();
    });
  }

  #frame(): void {
    if (this.#isBusy || this.#state !== "open") return;
    // The window has changed since the timer was set.
    if (this.#pace.wait() > 1) return this.#schedule();
    this.#pace.drawn();
    this.#isDirty = false;
    const size = { columns: this.columns, rows: this.rows };
    const text = this.#full === undefined ? this.#mainFrame(size) : this.#full.frameText(size);
    if (text !== "") this.#write(BEGIN_FRAME + text + END_FRAME);
  }

  #mainFrame(size: Size): string {
    const maxRows = Math.min(Math.max(6, Math.floor(size.rows / 3)), Math.max(1, size.rows - 1));
    const { lines, cursor } = this.#options.live(size.columns, maxRows);
    const cut = Math.max(0, lines.length - maxRows);
    const rows = lines.slice(cut).map((line) => liveRow(line, size.columns));
    if (rows.length === 0) rows.push("");
    const live: Drawn = {
      rows,
      cursor: {
        row: within(cursor === undefined ? rows.length - 1 : cursor.row - cut, rows.length),
        column: within(cursor?.column ?? 0, size.columns),
      },
    };
    const erased = this.#isResized ? this.#eraseLive() : "";
    const printed = this.#pending;
    this.#pending = [];
    const drawn = frameText(this.#drawn, printed, live, size);
    this.#drawn = live;
    const text = erased + drawn;
    return text === "" || cursor === undefined ? text : text + SHOW_CURSOR;
  }

  /** Erases the live area where the terminal has it now: it may have reflowed its rows. */
  #eraseLive(): string {
    const { columns } = this;
    const isNarrower = columns < this.#drawnColumns;
    const above = isNarrower
      ? rowsAbove(this.#drawn, columns, reflowOf(this.#options.env))
      : this.#drawn.cursor.row;
    this.#drawn = NOTHING_DRAWN;
    this.#drawnColumns = columns;
    this.#isResized = false;
    return `${above > 0 ? `\u001b[${above}A` : ""}\r\u001b[J`;
  }

  /** Returns the text that gives the terminal back, with the printed lines in its scrollback. */
  #leaveText(full = this.#full): string {
    const lines = this.#pending.map((line) => `${line}\r\n`).join("");
    this.#pending = [];
    const left = full?.leaveText() ?? "";
    return left + this.#eraseLive() + lines + RESTORE + this.#modes.leave;
  }

  #write(text: string): void {
    if (text === "" || this.#state === "closed") return;
    const { output } = this.#options;
    const isTaken = output.write(text, this.#onWritten);
    this.#isBusy = !isTaken || (output.writableLength ?? 0) > 0;
  }

  #writePending(): void {
    const lines = this.#pending;
    this.#pending = [];
    if (lines.length > 0) this.#options.output.write(lines.map((line) => `${line}\n`).join(""));
  }

  #release(): void {
    this.#state = "closed";
    this.#stopTimer?.();
    this.#decoder.close();
    const { input, output, signals } = this.#options;
    input.off("data", this.#onData);
    input.off("end", this.#onEnd);
    input.off("error", this.#onEnd);
    input.setRawMode?.(false);
    input.pause();
    output.off("resize", this.#onResize);
    output.off("error", this.#onEnd);
    output.off("drain", this.#onWritten);
    signals?.off("SIGCONT", this.#onContinue);
  }

  #now(): number {
    return this.#clock.monotonic?.() ?? this.#clock.now();
  }
}

function within(place: number, size: number): number {
  return Math.max(0, Math.min(place, size - 1));
}

function ignore(): void {}
