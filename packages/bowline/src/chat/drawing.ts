/** Draws a conversation's blocks and its live area. The view is loaded after the first frame. */
import type { Live, Screen } from "../screen/screen.ts";
import type { Block } from "./block.ts";
import { drawLive, type LiveParts } from "./draw-live.ts";
import type { View } from "./view.ts";

export class Drawing {
  readonly #screen: () => Screen | undefined;
  #view: View | undefined;
  /** Blocks that wait for the view. */
  #undrawn: readonly Block[] = [];

  constructor(screen: () => Screen | undefined) {
    this.#screen = screen;
  }

  /** True while an answer streams. */
  get isAnswering(): boolean {
    return this.#view?.isAnswering === true;
  }

  /** Draws blocks from now on, and those that came before. */
  use(view: View): void {
    this.#view = view;
    this.draw(this.#undrawn);
    this.#undrawn = [];
  }

  draw(blocks: readonly Block[]): void {
    const view = this.#view;
    if (view === undefined) {
      this.#undrawn = [...this.#undrawn, ...blocks];
      return;
    }
    const lines = blocks.flatMap((block) => view.lines(block));
    if (lines.length > 0) this.#screen()?.print(lines);
  }

  live(parts: Omit<LiveParts, "view">, columns: number, maxRows: number): Live {
    return drawLive({ ...parts, view: this.#view }, columns, maxRows);
  }
}
