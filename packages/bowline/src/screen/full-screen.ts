/** A view on the alternate screen, which the terminal takes away again with all it showed. */
import type { FullView, Live } from "./live.ts";
import type { Input } from "./keys.ts";
import { ENTER_FULL, LEAVE_FULL, SHOW_CURSOR } from "./modes.ts";
import type { Size } from "./frame.ts";
import { liveRow } from "./safe-row.ts";

export class FullScreen {
  readonly #draw: (columns: number, rows: number) => Live;
  readonly #input: (input: Input) => boolean;
  readonly #end: () => void;
  #shown: readonly string[] | undefined;
  #size: Size = { columns: 0, rows: 0 };

  constructor(
    draw: (columns: number, rows: number) => Live,
    input: (input: Input) => boolean,
    end: () => void,
  ) {
    this.#draw = draw;
    this.#input = input;
    this.#end = end;
  }

  /** Makes the screen of a view; `done` gets its result, undefined if it was ended without one. */
  static of<T>(view: FullView<T>, done: (result: T | undefined) => void): FullScreen {
    return new FullScreen(
      (columns, rows) => view.draw(columns, rows),
      (input) => {
        const answer = view.input(input);
        if (answer !== undefined) done(answer.result);
        return answer !== undefined;
      },
      () => done(undefined),
    );
  }

  /** Returns true if the view has its result. */
  input(input: Input): boolean {
    return this.#input(input);
  }

  /** Ends the view without a result. */
  end(): void {
    this.#end();
  }

  /** Draws everything with the next frame, on an alternate screen that is entered again. */
  forget(): void {
    this.#shown = undefined;
  }

  leaveText(): string {
    const text = this.#shown === undefined ? "" : LEAVE_FULL + SHOW_CURSOR;
    this.#shown = undefined;
    return text;
  }

  /** Returns the bytes of a frame: the rows that changed, and the cursor. */
  frameText(size: Size): string {
    const { lines, cursor } = this.#draw(size.columns, size.rows);
    const rows = lines.slice(0, size.rows).map((line) => liveRow(line, size.columns));
    const isNewSize = size.columns !== this.#size.columns || size.rows !== this.#size.rows;
    let text = this.#shown === undefined ? ENTER_FULL : "";
    if (isNewSize || this.#shown === undefined) text += "\u001b[H\u001b[J";
    const old = isNewSize ? [] : (this.#shown ?? []);
    for (let i = 0; i < Math.max(rows.length, old.length); i += 1) {
      if ((rows[i] ?? "") === (old[i] ?? "")) continue;
      // Without automatic wrapping: a wide row must not scroll the screen.
      text += `\u001b[${i + 1};1H\u001b[K\u001b[?7l${rows[i] ?? ""}\u001b[?7h`;
    }
    this.#shown = rows;
    this.#size = size;
    if (cursor === undefined) return text;
    return `${text}\u001b[${cursor.row + 1};${cursor.column + 1}H${SHOW_CURSOR}`;
  }
}
