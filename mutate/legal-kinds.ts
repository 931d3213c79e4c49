/**
 * Lists what a mutation may do to a stream that stays legal: nothing, or a change that the wire
 * cannot detect. The list is closed. A legal mutant of another kind means that its acceptor is too
 * lenient, or that a kind is missing here.
 */
import type { Wire } from "./acceptors/accept.ts";
import type { Held, HeldCall } from "./acceptors/verdict.ts";
import type { Mutation, MutationKind } from "./mutation.ts";

type Change =
  | "text"
  | "arguments"
  | "id"
  | "order of calls"
  | "call lost"
  | "call doubled"
  | "refusal lost";

const fragments = ["lose", "double", "swap"] as const;

/**
 * The mutations by which an answer of each wire can change unnoticed. Responses repeats every text
 * and call at the end, so there are none. In chat a fragment can move to another call or after
 * `[DONE]`. Only the first and the last call can be lost, since the indices count them. In Messages
 * a call can be lost only with all its events. Gemini's parts have neither index nor end. A chunk
 * with the finish reason may be the first one there, followed by a cut.
 */
const unnoticed: {
  readonly [wire in Wire]: { readonly [change in Change]?: readonly MutationKind[] };
} = {
  "openai-chat": {
    text: fragments,
    arguments: [...fragments, "move"],
    id: ["move"],
    "call lost": ["lose", "swap"],
    "refusal lost": ["lose"],
  },
  "anthropic-messages": {
    text: fragments,
    arguments: fragments,
    id: ["move"],
    "call lost": ["lose"],
  },
  "openai-responses": {},
  "google-generate": {
    text: [...fragments, "cut"],
    arguments: fragments,
    id: ["move"],
    "order of calls": ["swap", "double"],
    "call lost": ["lose", "cut"],
    "call doubled": ["double"],
  },
};

/** Mutations of events without content: pings, empty pieces, copies, ids that are not compared. */
const harmless: readonly MutationKind[] = ["lose", "double", "swap", "move"];
/** Whether an event ends the stream, so that anything after it is ignored. Gemini has none. */
const isEndedByEvent: { readonly [wire in Wire]: boolean } = {
  "openai-chat": true,
  "anthropic-messages": true,
  "openai-responses": true,
  "google-generate": false,
};

export interface LegalKind {
  readonly name: string;
  readonly isListed: boolean;
}

/** Returns the kind of a legal mutant. `whole` is the content of the stream before mutation. */
export function kindOf(
  wire: Wire,
  whole: Held,
  held: Held,
  mutations: readonly Mutation[],
): LegalKind {
  const kinds = mutations.map(({ kind }) => kind);
  if (held.ending === "failed") {
    const isListed = whole.ending === "failed" || kinds.includes("error-object");
    return { name: "the server says that it failed", isListed };
  }
  const changes = changesOf(whole, held);
  const isExplained = (change: Change): boolean =>
    kinds.some((kind) => unnoticed[wire][change]?.includes(kind));
  const isHarmless = (kind: MutationKind): boolean =>
    harmless.includes(kind) || kind === "cut" || isEndedByEvent[wire];
  return {
    name: changes.length === 0 ? "the same answer" : `unnoticed: ${changes.join(", ")}`,
    isListed: changes.every(isExplained) && kinds.every(isHarmless),
  };
}

function changesOf(whole: Held, held: Held): Change[] {
  if (whole.ending !== held.ending) return ["refusal lost"];
  const changes = new Set<Change>(whole.text === held.text ? [] : ["text"]);
  const before = whole.calls.map(toKey);
  const after = held.calls.map(toKey);
  const gone = without(before, after);
  const come = without(after, before);
  if (gone.length === 0 && come.length === 0 && before.join() !== after.join())
    changes.add("order of calls");
  for (const call of come) {
    const same = gone.findIndex((one) => withoutId(one) === withoutId(call));
    if (before.includes(call) || gone.length === 0) changes.add("call doubled");
    else changes.add(same === -1 ? "arguments" : "id");
    // A call that is not a duplicate replaces a missing one.
    if (!before.includes(call)) gone.splice(Math.max(same, 0), 1);
  }
  if (gone.length > 0) changes.add("call lost");
  return [...changes];
}

function toKey({ id, name, arguments: args }: HeldCall): string {
  return JSON.stringify([id, name, args]);
}

function withoutId(key: string): string {
  return JSON.stringify((JSON.parse(key) as unknown[]).slice(1));
}

/** Removes each of `others` once from `keys`. */
function without(keys: readonly string[], others: readonly string[]): string[] {
  const left = [...keys];
  for (const other of others) {
    const place = left.indexOf(other);
    if (place !== -1) left.splice(place, 1);
  }
  return left;
}
