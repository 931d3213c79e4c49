/** Makes ids and names of tools valid on a wire: letters, digits, `_` and `-`, up to a length. */
// Q118, Q119, Q177
import { BowlineError, callHook } from "../errors.ts";
import type { Tool } from "../llm/message.ts";
import type { Model, StreamOptions, ToolChoice } from "../llm/model.ts";

/** The longest id and name of a wire, in characters. */
export interface NameLimits {
  readonly idLength: number;
  readonly nameLength: number;
}

/**
 * Returns a function that makes the call ids of one request unique, though a transcript may repeat
 * ids in several turns. Call it in transcript order: a longer transcript then keeps the ids of a
 * shorter one, and its cached prefix.
 */
// Q041
export function createWireIds(length: number): (id: string) => string {
  /**
   * The ids in use, each with the last suffix tried for it, so that repeated ids cost constant
   * time.
   */
  const taken = new Map<string, number>();
  return (id) => {
    const base = clean(id, length) || "call";
    let number = taken.get(base) ?? 1;
    let candidate = base;
    while (taken.has(candidate)) {
      const suffix = `_${++number}`;
      candidate = base.slice(0, length - suffix.length) + suffix;
    }
    taken.set(candidate, 1);
    taken.set(base, number);
    return candidate;
  };
}

/**
 * Returns a function that returns the id of each call in one answer: the server's, or a new one if
 * it is missing or already used. New ids are `call_1`, `call_2`, … unless `createId` is given.
 */
// Q038, Q040
export function createCallIds(createId?: () => string): (given?: string) => string {
  const taken = new Set<string>();
  let count = 0;
  const nextId = (): string => {
    const id = `call_${++count}`;
    return taken.has(id) ? nextId() : id;
  };
  return (given = "") => {
    const id = given === "" || taken.has(given) ? (createId ?? nextId)() : given;
    taken.add(id);
    return id;
  };
}

/** Returns whether the id is sent unchanged. */
export function isWireId(id: string, length: number): boolean {
  return id !== "" && clean(id, length) === id;
}

/**
 * Returns a tool's name in a form that the wire accepts. Transcripts hold names that a model
 * invented, and a single invalid name would fail every later request.
 */
export function toWireName(name: string, length: number): string {
  return clean(name, length) || "unnamed";
}

/**
 * Returns the wire names of declared tools, in order. Throws `invalid_argument` if two tools get
 * the same name.
 */
export function toWireNames(tools: readonly Tool[], length: number): string[] {
  const taken = new Map<string, string>();
  return tools.map(({ name }) => {
    const wireName = toWireName(name, length);
    const other = taken.get(wireName);
    if (other !== undefined) {
      const names = JSON.stringify([other, name]);
      throw new BowlineError(
        "invalid_argument",
        `Two tools have the same name on this wire, ${wireName}: ${names}. Rename one of them.`,
      );
    }
    taken.set(wireName, name);
    return wireName;
  });
}

/** Returns the declared tool with this wire name, or the name itself if there is none. */
export function fromWireName(name: string, declared: readonly string[], length: number): string {
  return declared.find((candidate) => toWireName(candidate, length) === name) ?? name;
}

/**
 * Returns the tool choice, or the strongest one that this server accepts. Reports a weakened choice
 * to `onWarning`.
 */
// Q112
export function allowedChoice(
  { toolChoice: choice, onWarning }: StreamOptions,
  model: Model,
  most: "required" | "auto" | undefined = model.compat?.toolChoice,
): ToolChoice | undefined {
  if (
    choice === undefined ||
    choice === "auto" ||
    choice === "none" ||
    most === undefined ||
    choice === most
  )
    return choice;
  const message = `The tool choice ${JSON.stringify(choice)} is sent as "${most}": ${model.id} accepts nothing stronger here.`;
  callHook("onWarning", () => onWarning?.({ code: "tool_choice_weakened", message }, model)).catch(
    () => {},
  );
  return most;
}

function clean(text: string, length: number): string {
  return text.replace(/[^\w-]/g, "_").slice(0, length);
}
