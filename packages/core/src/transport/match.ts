/**
 * Finds the recorded exchange for a request: same method, URL and body, with object keys in any
 * order. Each exchange is used once, in order. A redacted secret matches any text, so a recording
 * can be played back without the secret.
 */
import { BowlineError } from "../errors.ts";
import { describe, isRecord, joinPath, toText } from "../json-value.ts";
import { MARK } from "./redact.ts";
import type { RecordedBytes, RecordedExchange, RecordedRequest } from "./recording.ts";

/** The parts of a request that are compared. */
export interface RequestFacts {
  readonly method: string;
  readonly url: string;
  /** The parsed JSON, or the text if it is not JSON. */
  readonly body?: unknown;
}

/**
 * Removes what differs from run to run. Applied to recorded and new requests alike, for the
 * comparison only.
 */
export type Normalize = (request: RequestFacts) => RequestFacts;

export interface Matcher {
  /** Returns the next unused exchange that matches the request, or undefined. */
  take(request: RecordedRequest): RecordedExchange | undefined;
  /** Returns an error that names the nearest recorded request and the first difference. */
  miss(request: RecordedRequest): BowlineError;
}

export function createMatcher(
  exchanges: readonly RecordedExchange[],
  normalize: Normalize = (request) => request,
): Matcher {
  const factsOf = ({ method, url, body }: RecordedRequest): RequestFacts =>
    normalize({ method, url, ...(body !== undefined && { body: parsed(body) }) });
  const left = new Map<string, RecordedExchange[]>();
  for (const exchange of exchanges) {
    const key = toText(factsOf(exchange.request));
    const equal = left.get(key);
    if (!equal) left.set(key, [exchange]);
    else equal.push(exchange);
  }
  return {
    take(request) {
      const asked = toText(factsOf(request));
      const equal = left.get(asked)?.shift();
      if (equal) return equal;
      for (const [key, fitting] of left)
        if (fitting.length > 0 && fits(key, asked)) return fitting.shift();
      return undefined;
    },
    miss(request) {
      const received = factsOf(request);
      const recorded = exchanges.map((exchange) => factsOf(exchange.request));
      const message = `No recorded answer for ${request.method} ${request.url}: ${nearest(recorded, received)}.`;
      return new BowlineError("invalid_state", message.replace(/\s+/g, " "));
    },
  };
}

function parsed(body: RecordedBytes): unknown {
  if (typeof body !== "string") return body;
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return body;
  }
}

interface Difference {
  readonly path: string;
  readonly expected: unknown;
  readonly received: unknown;
}

function nearest(recorded: readonly RequestFacts[], received: RequestFacts): string {
  let best: { readonly index: number; readonly differences: Difference[] } | undefined;
  for (const [index, facts] of recorded.entries()) {
    const differences = differencesOf(facts, received, "");
    if (!best || differences.length < best.differences.length) best = { index, differences };
  }
  if (!best) return "nothing is recorded";
  const [first] = best.differences;
  if (first === undefined)
    return `all recordings of this request were already used (such as number ${best.index + 1})`;
  const [expected, got] = shown(first);
  return `the nearest, number ${best.index + 1}, differs first at ${first.path}: expected ${expected}, received ${got}`;
}

/** Returns every value that differs, with object keys in order. */
function differencesOf(expected: unknown, received: unknown, path: string): Difference[] {
  if (Array.isArray(expected) && Array.isArray(received)) {
    return indexesOf(expected, received).flatMap((index) =>
      differencesOf(expected[index], received[index], joinPath(path, index)),
    );
  }
  if (isRecord(expected) && isRecord(received)) {
    const names = path === "" ? ["method", "url", "body"] : namesOf(expected, received);
    return names.flatMap((name) =>
      differencesOf(expected[name], received[name], joinPath(path, name)),
    );
  }
  return fits(toText(expected) ?? "", toText(received) ?? "") ? [] : [{ path, expected, received }];
}

/** Returns whether `asked` equals `recorded`, where each redaction mark matches any text. */
function fits(recorded: string, asked: string): boolean {
  const [first = "", ...others] = recorded.split(MARK);
  const last = others.pop();
  if (last === undefined) return recorded === asked;
  if (!asked.startsWith(first)) return false;
  let at = first.length;
  for (const piece of others) {
    const found = asked.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return asked.length - last.length >= at && asked.endsWith(last);
}

/** Returns the indexes of the longer one. */
function indexesOf(...items: readonly { readonly length: number }[]): number[] {
  return Array.from({ length: Math.max(...items.map(({ length }) => length)) }, (_, at) => at);
}

function namesOf(...records: readonly object[]): string[] {
  return [...new Set(records.flatMap((record) => Object.keys(record)))].toSorted();
}

const BEFORE = 12;

/** Shortens long texts to start shortly before the first difference. */
function shown({ expected, received }: Difference): [string, string] {
  if (typeof expected !== "string" || typeof received !== "string")
    return [describe(expected), describe(received)];
  const same = indexesOf(expected, received).findIndex((at) => expected[at] !== received[at]);
  const from = Math.max(0, same - BEFORE);
  const cut = (text: string): string => describe(from === 0 ? text : `…${text.slice(from)}`);
  return [cut(expected), cut(received)];
}
