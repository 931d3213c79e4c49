/** A terminal for tests: what a screen writes, and what a person would see of it. */
import { PassThrough } from "node:stream";
import xterm from "@xterm/headless";
import type { ScreenInput, ScreenOutput, ScreenSignals } from "../../src/screen/live.ts";
import { ManualClock } from "./manual-clock.ts";

/** Sequences that erase what a user had, take the mouse, or leave the main screen. */
const FORBIDDEN =
  /\u001b\[[23]J|\u001bc|\u001b\[!p|\u001b\[\?(?:9|1000|1001|1002|1003|1005|1006|1015|47|1047)[hl]/;

export class TestTerminal implements ScreenOutput, ScreenSignals {
  readonly isTTY = true;
  readonly platform = "linux";
  readonly clock = new ManualClock();
  readonly input: ScreenInput & PassThrough = new PassThrough();
  readonly rawModes: boolean[] = [];
  readonly kills: string[] = [];
  /** The texts of all writes. */
  readonly writes: string[] = [];
  /** False while the output is full: writes are buffered and not confirmed. */
  isReading = true;
  writableLength = 0;
  readonly #terminal: xterm.Terminal;
  readonly #listeners = new Map<string, Set<() => void>>();
  #waiting: (() => void)[] = [];

  constructor(columns: number, rows: number, options: { reflowCursorLine?: boolean } = {}) {
    this.#terminal = new xterm.Terminal({
      cols: columns,
      rows,
      scrollback: 100_000,
      allowProposedApi: true,
      ...options,
    });
    this.input.setRawMode = (isRaw) => this.rawModes.push(isRaw);
  }

  get columns(): number {
    return this.#terminal.cols;
  }

  get rows(): number {
    return this.#terminal.rows;
  }

  /** All that was written. */
  get bytes(): string {
    return this.writes.join("");
  }

  write(text: string, written?: () => void): boolean {
    const forbidden = FORBIDDEN.exec(text);
    if (forbidden !== null) throw new Error(`wrote ${JSON.stringify(forbidden[0])}`);
    this.writes.push(text);
    this.#terminal.write(text);
    if (this.isReading) {
      if (written !== undefined) queueMicrotask(written);
      return true;
    }
    this.writableLength += text.length;
    if (written !== undefined) this.#waiting.push(written);
    return false;
  }

  /** Confirms all writes. */
  drain(): void {
    this.writableLength = 0;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const written of waiting) written();
    this.emit("drain");
  }

  on(event: string, listener: () => void): void {
    this.#listeners.set(event, (this.#listeners.get(event) ?? new Set()).add(listener));
  }

  off(event: string, listener: () => void): void {
    this.#listeners.get(event)?.delete(listener);
  }

  emit(event: string): void {
    for (const listener of this.#listeners.get(event) ?? []) listener();
  }

  listeners(): number {
    return [...this.#listeners.values()].reduce((sum, set) => sum + set.size, 0);
  }

  kill(pid: number, signal: string): void {
    this.kills.push(`${pid} ${signal}`);
  }

  /** Lets the frames of the next `ms` milliseconds happen. */
  async pass(ms = 100): Promise<void> {
    this.clock.advance(ms);
    await new Promise<void>((resolve) => this.#terminal.write("", resolve));
  }

  async resize(columns: number, rows: number): Promise<void> {
    await new Promise<void>((resolve) => this.#terminal.write("", resolve));
    this.#terminal.resize(columns, rows);
    this.emit("resize");
  }

  /** The rows of the active buffer, without blank rows at the end. Rows that wrap are joined. */
  lines(): string[] {
    const buffer = this.#terminal.buffer.active;
    const lines: string[] = [];
    for (let y = 0; y < buffer.length; y += 1) {
      const row = buffer.getLine(y);
      const isNext = buffer.getLine(y + 1)?.isWrapped === true;
      // A wide character that did not fit leaves the last column empty.
      const isShort = isNext && row?.getCell(this.columns - 1)?.getChars() === "";
      const text = row?.translateToString(!isNext, 0, this.columns - (isShort ? 1 : 0)) ?? "";
      if (row?.isWrapped === true) lines.push((lines.pop() ?? "") + text);
      else lines.push(text);
    }
    while (lines.at(-1) === "") lines.pop();
    return lines;
  }

  /** True if a line, counted as `lines()` does, begins in the scrollback. */
  isScrolledOff(line: number): boolean {
    const buffer = this.#terminal.buffer.active;
    let begun = 0;
    for (let y = 0; y < buffer.baseY; y += 1) {
      if (buffer.getLine(y)?.isWrapped !== true) begun += 1;
    }
    return begun > line;
  }

  get bufferType(): "normal" | "alternate" {
    return this.#terminal.buffer.active.type;
  }

  /** The cursor's row, counted in the whole buffer, and column. */
  cursor(): { row: number; column: number } {
    const { baseY, cursorY, cursorX } = this.#terminal.buffer.active;
    return { row: baseY + cursorY, column: cursorX };
  }

  get isBracketed(): boolean {
    return this.#terminal.modes.bracketedPasteMode;
  }

  /** Writes as another program does. */
  async writeRaw(text: string): Promise<void> {
    await new Promise<void>((resolve) => this.#terminal.write(text, resolve));
  }
}
