/**
 * Random operations on sessions in both stores, compared with a simple model: appends, forks,
 * rewinds, compactions, reopening.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import {
  createMemoryStore,
  createSession,
  openSession,
  type Session,
  type SessionMessage,
  type Store,
} from "../../src/session/index.ts";
import { createJsonlStore } from "../../src/session/node/index.ts";
import { collect, temporaryFolder, user } from "./support.ts";
import { sweep } from "../../../../test/support/sweep.ts";

/** The model of a session: its entries as a tree, in the order of appending. */
interface Expected {
  readonly entries: {
    id: string;
    parent: number | null;
    text: string;
    firstKept?: number | null;
  }[];
  head: number | null;
}

type Step =
  | { readonly do: "append"; readonly texts: readonly string[] }
  | { readonly do: "compact"; readonly back: number }
  | { readonly do: "rewind"; readonly to: number }
  | { readonly do: "fork"; readonly at: number; readonly stay: boolean }
  | { readonly do: "reopen" };

const steps = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant("append" as const),
        texts: fc.array(fc.string({ unit: "binary", maxLength: 20 }), {
          minLength: 1,
          maxLength: 4,
        }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("compact" as const), back: fc.nat(6) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("rewind" as const), to: fc.nat(30) }) },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant("fork" as const),
        at: fc.nat(30),
        stay: fc.boolean(),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("reopen" as const) }) },
  ),
  { maxLength: 25 },
);

function pathIn({ entries }: Expected, at: number | null): number[] {
  const path: number[] = [];
  for (let index = at; index !== null; index = entries[index]?.parent ?? null) path.unshift(index);
  return path;
}

function contextIn(expected: Expected): string[] {
  const { entries } = expected;
  const path = pathIn(expected, expected.head);
  const compacted = path.findLast((index) => entries[index]?.firstKept !== undefined);
  if (compacted === undefined) return path.map((index) => entries[index]?.text ?? "");
  const { text, firstKept } = entries[compacted] as Expected["entries"][number];
  const begin = firstKept === null ? compacted : (firstKept ?? compacted);
  const kept = path.filter((index) => index >= begin && entries[index]?.firstKept === undefined);
  return [text, ...kept.map((index) => entries[index]?.text ?? "")];
}

const textsOf = (messages: SessionMessage[]): string[] =>
  messages.map((message) => (message as { content: string }).content);

async function compare(session: Session, expected: Expected): Promise<void> {
  const { entries, head } = expected;
  const ids = (indexes: readonly number[]): (string | undefined)[] =>
    indexes.map((index) => entries[index]?.id);
  assert.equal(await session.head(), head === null ? null : entries[head]?.id);
  assert.deepEqual(
    (await collect(session.entries())).map(({ id }) => id),
    entries.map(({ id }) => id),
  );
  assert.deepEqual(
    (await session.path()).map(({ id }) => id),
    ids(pathIn(expected, head)),
  );
  assert.deepEqual(textsOf(await session.contextMessages()), contextIn(expected));
  const said = pathIn(expected, head).filter((index) => entries[index]?.firstKept === undefined);
  assert.deepEqual(
    textsOf(await session.allMessages()),
    said.map((index) => entries[index]?.text),
  );
}

/** Applies a step to both. Returns the pair for the next step. */
async function run(
  store: Store,
  session: Session,
  expected: Expected,
  step: Step,
): Promise<[Session, Expected]> {
  const { entries } = expected;
  switch (step.do) {
    case "append": {
      const added = await Promise.all(step.texts.map((text) => session.append(user(text))));
      for (const [at, { id }] of added.entries()) {
        entries.push({ id, parent: expected.head, text: step.texts[at] ?? "" });
        expected.head = entries.length - 1;
      }
      break;
    }
    case "compact": {
      const path = pathIn(expected, expected.head);
      const firstKept = path[path.length - 1 - step.back] ?? null;
      const firstKeptId = firstKept === null ? null : (entries[firstKept]?.id ?? null);
      const { id } = await session.append({ type: "compaction", summary: "sum", firstKeptId });
      entries.push({ id, parent: expected.head, text: "sum", firstKept });
      expected.head = entries.length - 1;
      break;
    }
    case "rewind": {
      const to = entries.length === 0 || step.to % 7 === 0 ? null : step.to % entries.length;
      await session.rewind(to === null ? null : (entries[to]?.id ?? null));
      expected.head = to;
      break;
    }
    case "fork": {
      if (entries.length === 0) break;
      const at = step.at % entries.length;
      const path = pathIn(expected, at);
      const id = entries[at]?.id;
      const fork = await session.fork(id === undefined ? {} : { at: id });
      const copies = path.map((index, place) => {
        const { firstKept, ...entry } = entries[index] as Expected["entries"][number];
        const kept =
          firstKept === undefined || firstKept === null ? firstKept : path.indexOf(firstKept);
        return {
          ...entry,
          parent: place === 0 ? null : place - 1,
          ...(kept !== undefined && { firstKept: kept }),
        };
      });
      const forked: Expected = { entries: copies, head: copies.length - 1 };
      await compare(fork, forked);
      await (step.stay ? fork : session).close();
      if (!step.stay) return [fork, forked];
      break;
    }
    case "reopen":
      await session.close();
      if (expected.head !== null || entries.length > 0) expected.head = entries.length - 1;
      return [await openSession(store, session.id), expected];
  }
  return [session, expected];
}

async function live(store: Store, life: readonly Step[]): Promise<void> {
  let session = await createSession(store);
  let expected: Expected = { entries: [], head: null };
  for (const step of life) [session, expected] = await run(store, session, expected, step);
  await compare(session, expected);
  await session.close();
}

describe("a session after random operations", () => {
  it("has the tree, path and messages of the reference model, in memory", async () => {
    await fc.assert(
      fc.asyncProperty(steps, (life) => live(createMemoryStore(), life)),
      { numRuns: sweep({ long: 300, short: 75 }) },
    );
  });

  it("has the tree, path and messages of the reference model, in files", async () => {
    await using folder = await temporaryFolder();
    const store = createJsonlStore(folder.path, { sync: "never" });
    await fc.assert(
      fc.asyncProperty(steps, (life) => live(store, life)),
      { numRuns: sweep({ long: 60, short: 20 }) },
    );
  });
});
