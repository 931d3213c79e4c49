/** One tool call while its deltas come: what it is called, and its arguments so far. */
import { parseToolArguments } from "../../llm/tool-arguments.ts";

export interface OpenCall {
  readonly index: number | undefined;
  /** The id the server uses for it, which may be another call's too (Q040); ours is `id`. */
  wireId: string | undefined;
  readonly id: string;
  name: string;
  thoughtSignature: string | undefined;
  /** The part's place in the message, once its name is known. */
  contentIndex: number | undefined;
  /** The arguments, joined. */
  text: string;
  fragments: number;
  /** The last fragment while each one so far began with the one before: a server may send snapshots (Q050). */
  snapshot: string | undefined;
  /** How far the text was searched for the end of its object, and in what state. */
  readonly scan: { at: number; depth: number; inString: boolean; isComplete: boolean };
}

export function createOpenCall(index: number | undefined, wireId: string | undefined, id: string): OpenCall {
  return {
    index,
    wireId,
    id,
    name: "",
    thoughtSignature: undefined,
    contentIndex: undefined,
    text: "",
    fragments: 0,
    snapshot: "",
    scan: { at: 0, depth: 0, inString: false, isComplete: false },
  };
}

export function appendArguments(call: OpenCall, fragment: string): void {
  if (call.text === "{}" && fragment.startsWith("{")) {
    call.text = ""; // a placeholder object before the real arguments (Q049)
    Object.assign(call.scan, { at: 0, isComplete: false });
  }
  call.text += fragment;
  call.fragments++;
  if (call.snapshot !== undefined) call.snapshot = fragment.startsWith(call.snapshot) ? fragment : undefined;
}

/**
 * Whether the arguments so far are a whole object, so that the next fragment with content belongs to another call. Reads each
 * character once, however often it is asked.
 */
export function isComplete({ text, scan }: OpenCall): boolean {
  for (; scan.at < text.length && !scan.isComplete; scan.at++) {
    const char = text[scan.at] as string;
    if (scan.inString) {
      if (char === "\\") scan.at++;
      else scan.inString = char !== '"';
    } else if (char === '"') scan.inString = true;
    else if ("{[".includes(char)) scan.depth++;
    else if ("}]".includes(char)) scan.isComplete = --scan.depth === 0;
  }
  return scan.isComplete;
}

/** The joined text, or the last snapshot when only that is valid. */
export function finalArguments({ text, snapshot, fragments }: OpenCall): string {
  if (fragments < 2 || snapshot === undefined || isValid(text)) return text;
  return isValid(snapshot) ? snapshot : text;
}

function isValid(text: string): boolean {
  return parseToolArguments(text).error === undefined;
}
