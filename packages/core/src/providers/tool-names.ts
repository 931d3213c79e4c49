/**
 * Ids and names of tools as wires take them: letters, digits, `_` and `-`, and only so many.
 */
// Q118, Q119, Q177
import { BowlineError, callHook } from "../errors.ts";
import type { Tool } from "../llm/message.ts";
import type { Model, StreamOptions, ToolChoice } from "../llm/model.ts";

/** How long a wire lets them be. */
export interface NameLimits {
  readonly idLength: number;
  readonly nameLength: number;
}

/**
 * Ids of one request's calls. Two calls never share one, though a transcript may repeat ids in
 * several turns. Given in the order of the transcript, so that a longer transcript keeps the
 * ids, and the cached prefix, of a shorter one.
 */
// Q041
export function createWireIds(length: number): (id: string) => string {
  /**
   * What is taken, each with the last number that was tried behind it, so that a repeated id costs
   * the same each time.
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
 * Ids of one answer's calls: the server's, or one of ours where it gave none, or that of another
 * call. Ours are `call_1`, `call_2`, … unless `createId` makes others.
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

/** Whether it goes out as it is. */
export function isWireId(id: string, length: number): boolean {
  return id !== "" && clean(id, length) === id;
}

/**
 * A tool's name for the wire. A transcript holds names that a model made up; one bad name would
 * spoil every later request.
 */
export function toWireName(name: string, length: number): string {
  return clean(name, length) || "unnamed";
}

/**
 * The names of declared tools for the wire, in order. Throws `invalid_argument` when two would be
 * one.
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
        `Two tools would be called ${wireName}: ${names}.`,
      );
    }
    taken.set(wireName, name);
    return wireName;
  });
}

/** The declared tool whose wire name this is, or the name as it stands. */
export function fromWireName(name: string, declared: readonly string[], length: number): string {
  return declared.find((candidate) => toWireName(candidate, length) === name) ?? name;
}

/** The choice, or the most that this server takes, which the caller is told. */
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
  const message = `The tool choice ${JSON.stringify(choice)} goes out as "${most}", the most that ${model.id} takes here.`;
  callHook("onWarning", () => onWarning?.({ code: "tool_choice_weakened", message }, model)).catch(
    () => {},
  );
  return most;
}

function clean(text: string, length: number): string {
  return text.replace(/[^\w-]/g, "_").slice(0, length);
}
