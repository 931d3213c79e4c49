/** One tool call while its deltas come: what it is called, and its arguments so far. */
import { parseToolArguments } from "../../llm/tool-arguments.ts";
import type { SeenCall } from "../call-proof.ts";

export interface OpenCall extends SeenCall {
  /** The index on the wire. */
  readonly place: number | undefined;
  /** The id the server uses for it, which may be another call's too (Q040); ours is `id`. */
  wireId: string;
  readonly id: string;
  /** How many calls began before it. */
  readonly order: number;
  name: string;
  /** Whether another began behind it under its index. */
  isCovered: boolean;
  /** Whether its name was said again behind whole arguments, and nothing since. */
  isNamedAgain: boolean;
  thoughtSignature: string;
  /** Its place in the message, once its name is known. */
  contentIndex: number | undefined;
  /** The arguments as they came, and their length. */
  pieces: string[];
  length: number;
  /** How many pieces came behind its beginning, and how many of them with its id or name again. */
  fragments: number;
  restated: number;
  /**
   * The last fragment while each one so far began with the one before: a server may send snapshots
   * (Q050).
   */
  snapshot: string | undefined;
  /** How many pieces were searched for the end of the object, and in what state. */
  searched: number;
  depth: number;
  inString: boolean;
  isEscaped: boolean;
  isWhole: boolean;
}

/** On this wire no arguments are none (Q048), and the end of the answer closes its calls. */
export function createOpenCall(place: number | undefined, id: string, order: number): OpenCall {
  return {
    place,
    order,
    wireId: "",
    hasArguments: true,
    isClosed: true,
    id,
    name: "",
    isCovered: false,
    isNamedAgain: false,
    thoughtSignature: "",
    contentIndex: undefined,
    pieces: [],
    length: 0,
    fragments: 0,
    restated: 0,
    snapshot: "",
    searched: 0,
    depth: 0,
    inString: false,
    isEscaped: false,
    isWhole: false,
  };
}

/** The arguments so far, joined: not for each delta. */
export function argumentsOf({ pieces }: OpenCall): string {
  return pieces.join("");
}

export function appendArguments(call: OpenCall, fragment: string): void {
  if (call.length === 2 && fragment.startsWith("{") && argumentsOf(call) === "{}") {
    call.length = 0;
    call.pieces = []; // a placeholder object before the real arguments (Q049)
    call.searched = 0;
    call.isWhole = false;
  }
  call.fragments++;
  call.pieces.push(fragment);
  call.length += fragment.length;
  if (call.snapshot !== undefined)
    call.snapshot = fragment.startsWith(call.snapshot) ? fragment : undefined;
}

/**
 * Whether the arguments so far are a whole object, so that the next fragment with content belongs
 * to another call. Reads each character once, however often it is asked.
 */
export function isComplete(call: OpenCall): boolean {
  const { pieces } = call;
  for (; call.searched < pieces.length && !call.isWhole; call.searched++)
    for (const char of pieces[call.searched] as string) {
      if (call.isEscaped) call.isEscaped = false;
      else if (char === "\\") call.isEscaped = call.inString;
      else if (char === '"') call.inString = !call.inString;
      else if (call.inString) continue;
      else if ("{[".includes(char)) call.depth++;
      else if ("}]".includes(char)) call.isWhole ||= --call.depth === 0;
    }
  return call.isWhole;
}

/** The joined text, or the last snapshot when only that is valid. */
export function finalArguments(call: OpenCall): string {
  const { snapshot } = call;
  const text = argumentsOf(call);
  return snapshot !== undefined && !isValid(text) && isValid(snapshot) ? snapshot : text;
}

function isValid(text: string): boolean {
  return parseToolArguments(text).error === undefined;
}

/**
 * Whether some pieces named the call again, and others did not. Servers name a call once or with
 * each piece (Q036).
 */
export function isBegunAgain({ restated, fragments }: OpenCall): boolean {
  return restated > 0 && restated < fragments;
}
