/** The history of a session, in pages and pieces. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createMemoryStore, type AnyEntry, type Store } from "@bowline/core/session";
import type { GatewayError } from "../../src/gateway/protocol/gateway-error.ts";
import { readHistory, readMessage } from "../../src/gateway/sessions/history.ts";
import { createSecretFilter } from "../../src/secrets.ts";

const filter = createSecretFilter(["hunter2-and-more"]);

/**
 * Creates a session of user messages with these texts, `m0` and so on, with other entries between
 * them.
 */
async function sessionOf(texts: readonly string[]): Promise<Store> {
  const store = createMemoryStore();
  const entries = texts.flatMap((content, at): AnyEntry[] => [
    { type: "title", title: "T", id: `t${at}` } as unknown as AnyEntry,
    {
      type: "message",
      id: `m${at}`,
      ...(at % 2 === 1 && { runId: `r${at}` }),
      message: { role: "user", content, timestamp: 1 },
    } as unknown as AnyEntry,
  ]);
  const numbered = entries.map((entry, seq) => ({
    ...entry,
    seq,
    parentId: entries[seq - 1]?.id ?? null,
    timestamp: 1,
  }));
  await (await store.create({ id: "s", createdAt: 1 }, numbered)).close();
  return store;
}

async function page(
  store: Store,
  params: { readonly limit?: number; readonly before?: string } = {},
): Promise<[ids: string[], hasMore: boolean]> {
  const { messages, hasMore } = await readHistory(store, filter, { sessionKey: "s", ...params });
  return [messages.map(({ id }) => id), hasMore];
}

const ids = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, at) => `m${from + at}`);
const texts = (count: number, text = "Hi"): string[] => Array.from({ length: count }, () => text);
const notFound = (message: string) => (error: GatewayError) =>
  error.frame.data?.code === "not_found" && error.message === message;

describe("a page of the history", () => {
  it("has the last 100 messages, or the requested number, and reports whether there are more", async () => {
    for (const [count, limit, expected] of [
      [100, undefined, [ids(0, 100), false]],
      [101, undefined, [ids(1, 101), true]],
      [5, 5, [ids(0, 5), false]],
      [5, 4, [ids(1, 5), true]],
      [5, 1, [ids(4, 5), true]],
      [0, undefined, [[], false]],
    ] as const) {
      const store = await sessionOf(texts(count));
      assert.deepEqual(await page(store, limit === undefined ? {} : { limit }), expected);
    }
  });

  it("ends before a message", async () => {
    const store = await sessionOf(texts(5));
    assert.deepEqual(await page(store, { before: "m3" }), [ids(0, 3), false]);
    assert.deepEqual(await page(store, { before: "m3", limit: 2 }), [ids(1, 3), true]);
    assert.deepEqual(await page(store, { before: "m0" }), [[], false]);
  });

  it("is refused if `before` is not a message, unless the session is empty", async () => {
    const store = await sessionOf(texts(2));
    for (const before of ["none", "t1"])
      await assert.rejects(
        page(store, { before }),
        notFound(`The session has no message "${before}" to page back from.`),
      );
    assert.deepEqual(await page(await sessionOf([]), { before: "none" }), [[], false]);
    assert.deepEqual(await page(createMemoryStore(), { before: "none" }), [[], false]);
  });

  it("has at most 600,000 characters, but at least one message", async () => {
    const message = { role: "user", content: "x".repeat(20_000), timestamp: 1 };
    const fitting = Math.floor(600_000 / JSON.stringify(message).length);
    const store = await sessionOf(texts(fitting + 2, message.content));
    assert.deepEqual(await page(store), [ids(2, fitting + 2), true]);
    // Many texts of one message are not cut, each being short enough.
    const parts = Array.from({ length: 40 }, () => ({ type: "text", text: message.content }));
    const large = await sessionOf(texts(2, parts as unknown as string));
    assert.deepEqual(await page(large), [ids(1, 2), true]);
  });

  it("reports the run of each message, and the original length of truncated ones", async () => {
    const store = await sessionOf(["Hi", "x".repeat(20_001), "x".repeat(20_000)]);
    const { messages } = await readHistory(store, filter, { sessionKey: "s" });
    assert.deepEqual(
      messages.map(({ id, runId, truncated }) => [id, runId, truncated?.length]),
      [
        ["m0", undefined, undefined],
        ["m1", "r1", 20_001],
        ["m2", undefined, undefined],
      ],
    );
  });

  it("rejects with the store's error", async () => {
    const open = (): Promise<never> => Promise.reject(new Error("no disk"));
    await assert.rejects(page({ ...createMemoryStore(), load: open }), /no disk/);
  });
});

describe("a long message", () => {
  it("is sent redacted, in pieces of 400,000 characters that split no character", async () => {
    for (const before of ["", "x"]) {
      const content = `${before}${"🪢".repeat(450_000)} hunter2-and-more`;
      const store = await sessionOf([content]);
      let json = "";
      for (let pieces = 1; ; pieces++) {
        const piece = await readMessage(store, filter, {
          sessionKey: "s",
          id: "m0",
          ...(json !== "" && { offset: json.length }),
        });
        assert.equal(piece.offset, json.length);
        assert.ok(piece.json.isWellFormed());
        assert.ok(piece.json.length <= 400_000);
        json += piece.json;
        if (json.length < piece.length) continue;
        assert.equal(pieces, 3);
        break;
      }
      const { content: read } = JSON.parse(json) as { content: string };
      assert.equal(read, content.replace("hunter2-and-more", "[redacted]"));
    }
  });

  it("is not found by an id that belongs to no message", async () => {
    const store = await sessionOf(texts(1));
    for (const id of ["t0", "none"])
      await assert.rejects(
        readMessage(store, filter, { sessionKey: "s", id }),
        notFound(`The session has no message "${id}".`),
      );
  });
});
