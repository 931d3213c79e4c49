/** Tool calls that a server without a parser of its own leaves in the text. */
// Q069
import { isRecord, keepDigits, list, parseJson } from "../../json-value.ts";
import { cutTag, type TextFilter } from "./think-tags.ts";

/**
 * `hermes`: `<tool_call>{…}</tool_call>`. `mistral`: `[TOOL_CALLS][{…}]`. `json`: nothing but the
 * JSON of a call, or a list of them.
 */
export type TextCallFormat = "hermes" | "mistral" | "json";

interface TextCall {
  readonly name: string;
  /** The JSON of its arguments. */
  readonly text: string;
}

export interface CallFinder extends TextFilter {
  /**
   * The calls, when all that was held back is calls of declared tools; undefined when it is text
   * after all.
   */
  take(): TextCall[] | undefined;
}

/** White space that may stand before bare JSON. */
const MAX_MARGIN = 256;
const openings = { hermes: "<tool_call>", mistral: "[TOOL_CALLS]" };

/**
 * Text from the opening of a call on is held back to the end of the answer; `say` gets the rest as
 * it comes.
 */
export function createCallFinder(
  format: TextCallFormat,
  isDeclared: (name: string) => boolean,
  say: (text: string) => void,
): CallFinder {
  let held = "";
  let isHolding = false;
  /** Whether a text that began otherwise was said: then it is no bare JSON any more. */
  let isText = false;
  return {
    add(piece) {
      held += piece;
      if (isHolding) return;
      if (format === "json") {
        if (!isText && held.length < MAX_MARGIN && held.trim() === "") return;
        isHolding = !isText && /^\s*[{[]/.test(held);
        if (!isHolding) release(held.length);
        return;
      }
      const at = held.indexOf(openings[format]);
      isHolding = at !== -1;
      release(isHolding ? at : held.length - cutTag(held, openings[format]));
    },
    take() {
      const calls = isHolding ? values().map(toCall) : [];
      if (calls.length === 0 || !calls.every((call) => call !== undefined)) return undefined;
      held = "";
      return calls;
    },
    flush: () => release(held.length),
  };

  function release(length: number): void {
    const text = held.slice(0, length);
    held = held.slice(length);
    if (text === "") return;
    isText = true;
    say(text);
  }

  function values(): readonly unknown[] {
    if (format === "hermes") return unwrapped(held);
    const json = format === "mistral" ? held.slice(openings.mistral.length) : held;
    const value = parseJson(keepDigits(json));
    return Array.isArray(value) ? list(value) : [value];
  }

  function toCall(value: unknown): TextCall | undefined {
    if (!isRecord(value)) return undefined;
    const { name, arguments: args = value.parameters ?? {} } = value;
    const text = isRecord(args) ? JSON.stringify(args) : args;
    return typeof name === "string" && isDeclared(name) && typeof text === "string"
      ? { name, text }
      : undefined;
  }
}

/**
 * What stands between the tags; the last may lack its closing one, which models take for the end.
 * Something else is no value.
 */
function unwrapped(text: string): unknown[] {
  return text
    .split(openings.hermes)
    .slice(1)
    .map((part) => parseJson(keepDigits(part.trim().replace(/<\/tool_call>$/, ""))));
}
