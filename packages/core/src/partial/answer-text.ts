/**
 * Finds the JSON object in the text of an answer that is still arriving. The run accepts the object
 * alone, or in a code block. Any other text is not the output.
 */
import { GrowingJson, type GrowingOptions } from "./growing-json.ts";
import type { Increment } from "./increment.ts";

/** The longest first line of a code block that is read: the fence, `json` and spaces. */
const MAX_FENCE = 80;
const fence = /^```(?:json)?[^\S\n]*\n$/;

export class AnswerText {
  readonly json: GrowingJson;
  /** Where the text is. `none`: it is not an object. */
  #place: "before" | "fence" | "object" | "none" = "before";
  #line = "";

  constructor(options: Omit<GrowingOptions, "mode">) {
    this.json = new GrowingJson({ ...options, mode: "answer" });
  }

  /** Whether an object has begun. */
  get isObject(): boolean {
    return this.#place === "object";
  }

  /** Ignores all further text. */
  stop(): void {
    this.#place = "none";
  }

  write(fragment: string): Increment[] {
    let at = 0;
    while (at < fragment.length && this.#isBefore(fragment.charAt(at))) at++;
    return this.#place === "object" ? this.json.write(fragment.slice(at)) : [];
  }

  end(): Increment[] {
    return this.#place === "object" ? this.json.end() : [];
  }

  /** Returns whether a character stands before the object. */
  #isBefore(mark: string): boolean {
    switch (this.#place) {
      case "object":
        return false;
      case "none":
        return true;
      case "fence":
        this.#line += mark;
        if (mark === "\n") this.#place = fence.test(this.#line) ? "before" : "none";
        else if (this.#line.length > MAX_FENCE) this.#place = "none";
        return true;
      case "before":
        if (/\s/.test(mark)) return true;
        if (mark === "`" && this.#line === "") {
          this.#place = "fence";
          this.#line = mark;
          return true;
        }
        this.#place = mark === "{" ? "object" : "none";
        return this.#place === "none";
    }
  }
}
