/**
 * Helpers for the conformance cases: entries that are easy to compare, and checks for any test
 * runner.
 */
import { errorText, isBowlineError, type ErrorCode } from "../../errors.ts";
import type { AnyEntry, Entry } from "../../session/entry.ts";
import type { ReadOptions, SessionWriter, Store } from "../../session/store.ts";

export const headerOf = (id: string): { id: string; createdAt: number } => ({ id, createdAt: 1 });

export function entry(seq: number, more: object = {}): AnyEntry {
  const parentId = seq === 0 ? null : `e${seq - 1}`;
  return Object.assign(
    { seq, id: `e${seq}`, parentId, timestamp: seq, type: "x", text: "…" },
    more,
  );
}

export function entries(count: number): AnyEntry[] {
  return Array.from({ length: count }, (_, seq) => entry(seq));
}

export function messageEntry(seq: number, role: "user" | "assistant", content: string): Entry {
  const { id, parentId } = entry(seq);
  return {
    seq,
    id,
    parentId,
    timestamp: seq,
    type: "message",
    message: { role, content, timestamp: 1 } as { role: string },
  };
}

export function titleEntry(seq: number, title: string): Entry {
  const { id, parentId } = entry(seq);
  return { seq, id, parentId, timestamp: seq, type: "title", title };
}

export async function using(
  writer: SessionWriter,
  work?: (writer: SessionWriter) => Promise<unknown>,
): Promise<void> {
  try {
    await work?.(writer);
  } finally {
    await writer.close();
  }
}

export async function readAll(
  store: Store,
  id: string,
  options?: ReadOptions,
): Promise<AnyEntry[]> {
  const all: AnyEntry[] = [];
  for await (const batch of store.read(id, options)) all.push(...batch);
  return all;
}

export async function collect(
  store: Store,
  from: number,
  count: number,
  signal?: AbortSignal,
): Promise<AnyEntry[]> {
  const seen: AnyEntry[] = [];
  for await (const batch of store.follow("s", { from, signal })) {
    seen.push(...batch);
    if (seen.length >= count) break;
  }
  return seen;
}

export async function nextOf<T>(iterable: AsyncIterable<T>): Promise<T | undefined> {
  for await (const first of iterable) return first;
  return undefined;
}

export function soon(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5));
}

/**
 * Resolves with the error if `work` rejects with a `BowlineError` of this code. Rejects otherwise.
 */
export async function fails(code: ErrorCode, work: Promise<unknown>): Promise<Error> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (isBowlineError(error) && error.code === code) return error;
  throw new Error(
    `expected a failure coded ${code}, got ${error === undefined ? "none" : errorText(error)}`,
    {
      cause: error,
    },
  );
}

export function check(condition: boolean, otherwise: string): void {
  if (!condition) throw new Error(otherwise);
}

/** Compares as JSON, because a store only keeps JSON. */
export function same(actual: unknown, expected: unknown, what = "the answer"): void {
  const [got, wanted] = [JSON.stringify(sorted(actual)), JSON.stringify(sorted(expected))];
  if (got === wanted) return;
  const from = Math.max(0, firstDifference(got, wanted) - BEFORE);
  const cut = (text = "undefined"): string =>
    `${from > 0 ? "…" : ""}${text.slice(from, from + SHOWN)}${text.length > from + SHOWN ? "…" : ""}`;
  throw new Error(`${what} is ${cut(got)}, expected ${cut(wanted)}`);
}

/** How much of two unequal values is shown, in characters, and how much of it is equal. */
const SHOWN = 600;
const BEFORE = 200;

/** Returns where two texts that are not equal begin to differ. */
function firstDifference(a = "", b = ""): number {
  let at = 0;
  while (a[at] === b[at]) at++;
  return at;
}

/** Sorts the fields of objects. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.keys(value)
    .toSorted()
    .map((name) => [name, sorted((value as Readonly<Record<string, unknown>>)[name])])
    .filter(([, part]) => part !== undefined);
}

/** A conformance case. `reopen` returns another store on the same sessions. */
export type StoreCase = (store: Store, reopen: () => Promise<Store>) => Promise<void>;
