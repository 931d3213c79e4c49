/** Random operations on the store have the results that they have on the store in memory. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { isBowlineError } from "@bowline/core";
import {
  createMemoryStore,
  type AnyEntry,
  type SessionWriter,
  type Store,
} from "@bowline/core/session";
import { entry, readAll, skip, startRig } from "./support.ts";
import { sweep } from "../../../test/support/sweep.ts";

const rig = await startRig();
const RUNS = sweep({ long: 8, short: 3, variable: "BOWLINE_POSTGRES_RUNS" });

type Operation =
  | {
      readonly op: "create";
      readonly id: string;
      readonly contents: readonly object[];
      readonly metadata?: object | undefined;
    }
  | { readonly op: "open" | "close" | "delete" | "load" | "holder"; readonly id: string }
  | {
      readonly op: "append";
      readonly id: string;
      readonly contents: readonly object[];
      readonly skew: number;
    }
  | {
      readonly op: "read";
      readonly id: string;
      readonly from?: number | undefined;
      readonly reverse: boolean;
    }
  | { readonly op: "list"; readonly search?: string | undefined; readonly limit: number };

const id = fc.constantFrom("a", "b", "A\\b\0");
const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("Éven ÉVEN", "\0", "\uD800x", "\\u0000", "%_'\"$1", "x".repeat(40_000)),
);
const large = fc
  .integer({ min: 0, max: 255 })
  .map((byte) => Buffer.alloc(20_000, byte).toString("base64"));
const content = fc.oneof(
  text.map((title) => ({ type: "title", title })),
  text.map((said) => ({ type: "message", message: { role: "user", content: said, timestamp: 1 } })),
  fc.tuple(text, large).map(([said, data]) => ({
    type: "message",
    message: {
      role: "user",
      content: [
        { type: "text", text: said },
        { type: "file", data, mimeType: "a/b" },
      ],
      timestamp: 1,
    },
  })),
  fc.constantFrom("p", "q").map((model) => ({ type: "model_change", provider: model, model })),
  fc
    .constantFrom("x", "y")
    .map((agent) => ({ type: "model_change", provider: "p", model: "m", agent })),
  fc.jsonValue().map((value) => ({ type: "of a newer version", value })),
  // A large list, and a deep one.
  fc
    .integer({ min: 0, max: 3 })
    .map((value) => ({ type: "y", value: Array.from({ length: 9000 }, () => value) })),
  fc.constant({
    type: "y",
    value: JSON.parse(`${"[".repeat(2000)}${"]".repeat(2000)}`) as unknown,
    more: "y".repeat(20_000),
  }),
);
const contents = fc.array(content, { maxLength: 3 });
const from = fc.option(fc.integer({ min: 0, max: 8 }), { nil: undefined });
const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      op: fc.constant("create" as const),
      id,
      contents,
      metadata: fc.constantFrom(undefined, { user: "\0" }),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      op: fc.constant("append" as const),
      id,
      contents,
      skew: fc.constantFrom(0, 0, 0, 0, 1, -1),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      op: fc.constantFrom(
        "open" as const,
        "close" as const,
        "delete" as const,
        "load" as const,
        "holder" as const,
      ),
      id,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ op: fc.constant("read" as const), id, from, reverse: fc.boolean() }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      op: fc.constant("list" as const),
      search: fc.constantFrom(undefined, "", "éven", "\0", "x"),
      limit: fc.integer({ min: 1, max: 4 }),
    }),
  },
);

/** Applies operations to a store, and keeps the writers that are open. */
class Applied {
  readonly #store: Store;
  readonly #writers = new Map<string, SessionWriter>();
  #count = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Resolves with the result as JSON, or with the code of the error. */
  async apply(one: Operation): Promise<string> {
    try {
      return JSON.stringify(await this.#perform(one)) ?? "nothing";
    } catch (error) {
      if (isBowlineError(error)) return error.code;
      throw error;
    }
  }

  async end(): Promise<void> {
    for (const writer of this.#writers.values()) await writer.close();
  }

  async #perform(one: Operation): Promise<unknown> {
    const store = this.#store;
    switch (one.op) {
      case "create": {
        const header = {
          id: one.id,
          createdAt: ++this.#count,
          ...(one.metadata && { metadata: { ...one.metadata } }),
        };
        return this.#keep(await store.create(header, this.#entries(0, one.contents)));
      }
      case "open":
        return this.#keep(await store.open(one.id));
      case "close":
        await this.#writers.get(one.id)?.close();
        return undefined;
      case "append": {
        const writer = this.#writers.get(one.id);
        if (writer === undefined) return undefined;
        await writer.append(this.#entries(writer.nextSeq + one.skew, one.contents));
        // After opening, its files may be references.
        return [writer.last?.id, writer.nextSeq];
      }
      case "delete":
        return store.delete(one.id);
      case "load":
        return store.load(one.id);
      case "holder":
        return (await store.holder(one.id))?.isThisProcess;
      case "read":
        return readAll(store, one.id, { from: one.from, reverse: one.reverse });
      case "list":
        return this.#list(one.search, one.limit);
    }
  }

  #keep(writer: SessionWriter): unknown {
    this.#writers.set(writer.header.id, writer);
    return [writer.header, writer.nextSeq];
  }

  #entries(seq: number, all: readonly object[]): AnyEntry[] {
    return all.map((more, index) =>
      entry(seq + index, {
        id: `${++this.#count}`,
        parentId: null,
        timestamp: this.#count % 7,
        ...more,
      }),
    );
  }

  async #list(search: string | undefined, limit: number): Promise<unknown> {
    const first = await this.#store.list({ search, limit });
    const second =
      first.cursor === undefined
        ? undefined
        : await this.#store.list({ search, limit, cursor: first.cursor });
    const sorted = (value: object = {}): unknown =>
      Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
    return [first, second].map((page) =>
      page?.sessions.map(({ model, ...session }) => [sorted(session), sorted(model)]),
    );
  }
}

describe("random operations", { skip }, () => {
  it("have the same results as on the store in memory", async () => {
    let schemas = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(operation, { minLength: 10, maxLength: 25 }),
        async (operations) => {
          const store = rig.open({ schema: `r${++schemas}` });
          const [own, expected] = [new Applied(store), new Applied(createMemoryStore())];
          for (const [index, one] of operations.entries())
            assert.equal(
              await own.apply(one),
              await expected.apply(one),
              `operation ${index}: ${one.op}`,
            );
          await own.end();
          await store.close();
        },
      ),
      { numRuns: RUNS },
    );
  });
});
