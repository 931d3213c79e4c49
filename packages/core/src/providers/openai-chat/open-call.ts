/** One tool call while its deltas come: what it is called, and its arguments so far. */
import { GrowingText } from "../../llm/live.ts";
import { parseToolArguments } from "../../llm/tool-arguments.ts";

export interface OpenCall {
  readonly index: number | undefined;
  /** The id the server uses for it, which may be another call's too (Q040); ours is `id`. */
  wireId: string;
  readonly id: string;
  name: string;
  /** Whether its name was said again behind whole arguments, and nothing since. */
  isNamedAgain: boolean;
  thoughtSignature: string;
  /** The part's place in the message, once its name is known. */
  contentIndex: number | undefined;
  /** The arguments, joined. */
  text: string;
  growing: GrowingText;
  /** The last fragment while each one so far began with the one before: a server may send snapshots (Q050). */
  snapshot: string | undefined;
  /** How far the text was searched for the end of its object, and in what state. */
  searched: number;
  depth: number;
  inString: boolean;
  isWhole: boolean;
}

export function createOpenCall(index: number | undefined, wireId: string, id: string): OpenCall {
  return {
    index,
    wireId,
    id,
    name: "",
    isNamedAgain: false,
    thoughtSignature: "",
    contentIndex: undefined,
    text: "",
    growing: new GrowingText(),
    snapshot: "",
    searched: 0,
    depth: 0,
    inString: false,
    isWhole: false,
  };
}

export function appendArguments(call: OpenCall, fragment: string): void {
  if (call.text === "{}" && fragment.startsWith("{")) {
    call.growing = new GrowingText(); // a placeholder object before the real arguments (Q049)
    call.searched = 0;
    call.isWhole = false;
  }
  call.text = call.growing.append(fragment);
  if (call.snapshot !== undefined) call.snapshot = fragment.startsWith(call.snapshot) ? fragment : undefined;
}

/**
 * Whether the arguments so far are a whole object, so that the next fragment with content belongs to another call. Reads each
 * character once, however often it is asked.
 */
export function isComplete(call: OpenCall): boolean {
  for (; call.searched < call.text.length && !call.isWhole; call.searched++) {
    const char = call.text[call.searched] as string;
    if (call.inString) {
      if (char === "\\") call.searched++;
      else call.inString = char !== '"';
    } else if (char === '"') call.inString = true;
    else if ("{[".includes(char)) call.depth++;
    else if ("}]".includes(char)) call.isWhole = --call.depth === 0;
  }
  return call.isWhole;
}

/** The joined text, or the last snapshot when only that is valid. */
export function finalArguments({ text, snapshot }: OpenCall): string {
  return snapshot !== undefined && !isValid(text) && isValid(snapshot) ? snapshot : text;
}

function isValid(text: string): boolean {
  return parseToolArguments(text).error === undefined;
}
