/** Finds tool calls that a server without a call parser leaves in the text. */
// Q069
import { isRecord, keepDigits, list, parseJson } from "../../json-value.ts";
import { cutTag, type TextFilter } from "./think-tags.ts";

/**
 * `hermes`: `<tool_call>{…}</tool_call>`. `mistral`: `[TOOL_CALLS][{…}]`. `json`: the text is only
 * the JSON of a call, or of a list of calls.
 */
export type TextCallFormat = "hermes" | "mistral" | "json";

interface TextCall {
  readonly name: string;
  /** The arguments, as JSON text. */
  readonly text: string;
}

export interface CallFinder extends TextFilter {
  /**
   * Returns the calls if all held text is calls of declared tools. Returns undefined if it is
   * ordinary text.
   */
  take(): TextCall[] | undefined;
}

/** How much white space may precede bare JSON. */
const MAX_MARGIN = 256;
const openings = { hermes: "<tool_call>", mistral: "[TOOL_CALLS]" };

/**
 * Creates a finder. It holds back text from the first call marker to the end of the answer, and
 * passes other text to `say` at once.
 */
export function createCallFinder(
  format: TextCallFormat,
  isDeclared: (name: string) => boolean,
  say: (text: string) => void,
): CallFinder {
  let held = "";
  let isHolding = false;
  /** Whether other text was written, so that bare JSON no longer counts as a call. */
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
 * Returns the JSON values between the tags. The last closing tag may be missing, since models treat
 * it as the end. Invalid JSON gives undefined.
 */
function unwrapped(text: string): unknown[] {
  return text
    .split(openings.hermes)
    .slice(1)
    .map((part) => parseJson(keepDigits(part.trim().replace(/<\/tool_call>$/, ""))));
}
