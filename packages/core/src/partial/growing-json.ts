/** One JSON text that is arriving: its parser and its live value. */
import { toText } from "../json-value.ts";
import type { Increment } from "./increment.ts";
import { JsonParser, type JsonMode, type JsonState } from "./json-parser.ts";
import { LiveValue, type Live, type LiveValueOptions } from "./live-value.ts";

export interface GrowingOptions extends LiveValueOptions {
  readonly mode: JsonMode;
}

export class GrowingJson {
  readonly #options: GrowingOptions;
  #value: LiveValue;
  #parser: JsonParser;

  constructor(options: GrowingOptions) {
    this.#options = options;
    this.#value = new LiveValue(options);
    this.#parser = new JsonParser(this.#value, options.mode);
  }

  get live(): Live {
    return this.#value.live;
  }

  get state(): JsonState {
    return this.#parser.state;
  }

  /** Why the text is not JSON. Undefined unless the state is `broken`. */
  get problem(): string | undefined {
    return this.#parser.problem;
  }

  write(fragment: string): Increment[] {
    this.#parser.write(fragment);
    return this.#value.take();
  }

  end(): Increment[] {
    this.#parser.end();
    return this.#value.take();
  }

  /**
   * Compares the live value with the value that the run read from the whole text. If they differ,
   * replaces the live value and returns the increments from its beginning. A server may send a text
   * that differs from its pieces, and arguments that were encoded twice are decoded twice.
   */
  settle(value: unknown): Increment[] | undefined {
    const whole = new LiveValue({ ...this.#options, onItem: undefined, isSilent: true });
    feed(whole, value);
    if (this.state === "complete" && toText(whole.live.value) === toText(this.live.value))
      return undefined;
    this.#value = new LiveValue(this.#options);
    this.#parser = feed(this.#value, value);
    return this.#value.take();
  }
}

function feed(handler: LiveValue, value: unknown): JsonParser {
  const parser = new JsonParser(handler);
  parser.write(JSON.stringify(value));
  parser.end();
  return parser;
}
