/**
 * Changes to a stream's events. Each has a text form, so that the id of a mutant tells how to
 * recreate it: `lose:3`, `swap:2:9`, `move:4:index=1`.
 */
import type { Wire } from "./acceptors/accept.ts";
import { find, targets } from "./targets.ts";

export type Mutation =
  | { readonly kind: "lose"; readonly at: number }
  /** Inserts a copy of the event before the one at `to`. */
  | { readonly kind: "double"; readonly at: number; readonly to: number }
  | { readonly kind: "swap"; readonly at: number; readonly to: number }
  /** Replaces an index or an id. `end` does the same to a finish reason. */
  | {
      readonly kind: "move" | "end";
      readonly at: number;
      readonly path: string;
      readonly value: string;
    }
  /** Inserts a copy after the event that has another finish reason and no content. */
  | {
      readonly kind: "end-after";
      readonly at: number;
      readonly path: string;
      readonly value: string;
    }
  /** Ends the body `bytes` into the event. */
  | { readonly kind: "cut"; readonly at: number; readonly bytes: number }
  /** Inserts an error before the event: the wire's own, a line of JSON, or a line of text. */
  | { readonly kind: "error-object" | "error-json" | "error-text"; readonly at: number };

export type MutationKind = Mutation["kind"];

const errorLines = {
  "error-json": '{"error":{"message":"upstream connect error","code":502}}\n',
  "error-text": "upstream connect error or disconnect/reset before headers\n\n",
};

export function formatMutation(mutation: Mutation): string {
  const { kind, at } = mutation;
  switch (kind) {
    case "double":
    case "swap":
      return `${kind}:${at}:${mutation.to}`;
    case "move":
    case "end":
    case "end-after":
      return `${kind}:${at}:${mutation.path}=${encodeURIComponent(mutation.value)}`;
    case "cut":
      return `${kind}:${at}:${mutation.bytes}`;
    case "lose":
    case "error-object":
    case "error-json":
    case "error-text":
      return `${kind}:${at}`;
  }
}

/** Throws for a text that is not a mutation. */
export function parseMutation(text: string): Mutation {
  const [, kind = "", place = "", rest = ""] = /^([\w-]+):(\d+)(?::(.*))?$/.exec(text) ?? [];
  const at = Number(place);
  switch (kind) {
    case "double":
    case "swap":
      return { kind, at, to: Number(rest) };
    case "move":
    case "end":
    case "end-after": {
      const [path = "", value = ""] = rest.split("=");
      return { kind, at, path, value: decodeURIComponent(value) };
    }
    case "cut":
      return { kind, at, bytes: Number(rest) };
    case "lose":
    case "error-object":
    case "error-json":
    case "error-text":
      return { kind, at };
    default:
      throw new Error(`No such mutation: ${text}`);
  }
}

/** Returns the events after the mutation. */
export function applyMutation(
  wire: Wire,
  events: readonly Uint8Array[],
  mutation: Mutation,
): Uint8Array[] {
  const { kind, at } = mutation;
  const event = events[at] ?? new Uint8Array();
  switch (kind) {
    case "lose":
      return events.toSpliced(at, 1);
    case "double":
      return events.toSpliced(mutation.to, 0, event);
    case "swap":
      return events.with(at, events[mutation.to] ?? event).with(mutation.to, event);
    case "move":
    case "end":
      return events.with(at, respell(event, mutation.path, mutation.value));
    case "end-after":
      return events.toSpliced(at + 1, 0, endCopy(wire, event, mutation.path, mutation.value));
    case "cut":
      return [...events.slice(0, at), event.subarray(0, mutation.bytes)];
    case "error-object":
      return events.toSpliced(at, 0, Buffer.from(targets[wire].error));
    case "error-json":
    case "error-text":
      return events.toSpliced(at, 0, Buffer.from(errorLines[kind]));
  }
}

/** Returns the text of an event's data. If the data has several lines, returns the first. */
export function dataOf(event: Uint8Array): string {
  return locateData(Buffer.from(event).toString())?.data ?? "";
}

function locateData(text: string): { data: string; start: number } | undefined {
  const match = /^data: ?(.*)$/m.exec(text.replaceAll("\r", "\n"));
  if (match?.[1] === undefined) return undefined;
  return { data: match[1], start: match.index + match[0].length - match[1].length };
}

/** Replaces a value in the event's text. For a `type`, changes the event's name too. */
function respell(event: Uint8Array, path: string, value: string): Uint8Array {
  const text = Buffer.from(event).toString();
  const located = locateData(text);
  if (located === undefined) return event;
  if (path === "") return Buffer.from(text.replace(located.data, value)); // [DONE]
  const [place] = find(located.data, [path]);
  if (place === undefined) return event;
  const { start, end } = place.node;
  const head = text.slice(0, located.start + start);
  const named = path === "type" ? head.replace(/^event:.*$/m, `event: ${JSON.parse(value)}`) : head;
  return Buffer.from(named + value + text.slice(located.start + end));
}

function endCopy(wire: Wire, event: Uint8Array, path: string, value: string): Uint8Array {
  let copy = respell(event, path, value);
  for (const content of targets[wire].content)
    for (const place of find(dataOf(copy), [content])) copy = respell(copy, place.path, "{}");
  return copy;
}
