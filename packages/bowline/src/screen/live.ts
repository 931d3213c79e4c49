/** The interface of a screen: finished lines above, a small live area below. */
import type { Clock } from "@bowline/core";
import type { Input } from "./keys.ts";

export interface Live {
  readonly lines: readonly string[];
  /** Where the cursor stands. Hidden if absent. */
  readonly cursor?: { readonly row: number; readonly column: number };
}

export interface Screen {
  readonly columns: number;
  readonly rows: number;
  /** True if lines are only appended: for screen readers and dumb terminals. */
  readonly isPlain: boolean;
  /**
   * Writes finished lines above the live area, once. They belong to the terminal's scrollback from
   * then on.
   */
  print(lines: readonly string[]): void;
  /** Asks for a frame: the live area is drawn again, at most 30 times a second. */
  invalidate(): void;
  /**
   * Shows a pager or picker on the alternate screen, one at a time. Resolves with its result, or
   * with undefined if the screen is closed first.
   */
  full<T>(view: FullView<T>): Promise<T | undefined>;
  /** Gives the terminal to the shell until the process is continued (Ctrl-Z). */
  suspend(): void;
  bell(): void;
  /** Erases the live area, restores the terminal's modes and stops reading. */
  close(): Promise<void>;
  /**
   * Turns raw mode off and returns the text that restores the terminal, for the exit handler of a
   * process, which writes it and cannot wait. Returns "" after `close`.
   */
  restore(): string;
}

export interface FullView<T> {
  draw(columns: number, rows: number): Live;
  input(input: Input): { readonly result: T } | undefined;
  /** The same view as words, for a screen that only appends lines. */
  readonly plain: PlainView<T>;
}

export type PlainView<T> =
  | { readonly type: "text"; readonly lines: readonly string[]; readonly result: T }
  | {
      readonly type: "question";
      readonly lines: readonly string[];
      /** Returns the result of a typed line, or the reason why it is none. */
      answer(line: string): { readonly result: T } | { readonly problem: string };
    };

export interface ScreenOptions {
  readonly input: ScreenInput;
  readonly output: ScreenOutput;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Returns the live area. Rows above the last `maxRows` are cut off. */
  readonly live: (columns: number, maxRows: number) => Live;
  readonly onInput: (input: Input) => void;
  readonly onResize?: () => void;
  /** Called when the terminal has gone: its input ended or its output failed. */
  readonly onEnd?: () => void;
  /**
   * Returns the state in words, such as "waiting for the model". A plain screen prints it when it
   * changes; "" prints nothing.
   */
  readonly state?: () => string;
  /** The process, for Ctrl-Z and, on a plain screen, Ctrl-C. */
  readonly signals?: ScreenSignals;
  readonly clock?: Clock;
}

/** What a screen needs of `process.stdin`. */
export interface ScreenInput extends NodeJS.ReadableStream {
  setRawMode?(isRaw: boolean): unknown;
}

/** What a screen needs of `process.stdout`. */
export interface ScreenOutput {
  readonly columns?: number;
  readonly rows?: number;
  readonly isTTY?: boolean;
  readonly writableLength?: number;
  /** Returns false if the text is buffered; calls `written` when it has left. */
  write(text: string, written?: () => void): boolean;
  on(event: "resize" | "drain" | "error", listener: () => void): unknown;
  off(event: "resize" | "drain" | "error", listener: () => void): unknown;
}

/** What a screen needs of `process`. */
export interface ScreenSignals {
  readonly platform: string;
  on(signal: "SIGCONT" | "SIGINT", listener: () => void): unknown;
  off(signal: "SIGCONT" | "SIGINT", listener: () => void): unknown;
  kill(pid: number, signal: "SIGTSTP"): unknown;
}
