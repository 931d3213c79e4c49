/** What gateways tell each other. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toNews, toNewsPayload, type News } from "../src/wire/news.ts";

const message = { messageId: "m", kind: "send", text: "hello" } as const;
const all: readonly News[] = [
  { kind: "session", change: { sessionKey: "s", change: "updated", model: "a/b", agentId: "c" } },
  { kind: "queued", sessionKey: "s", runId: "m", message },
  { kind: "over", sessionKey: "s", runId: "m" },
];

const encoded = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

describe("news", () => {
  it("are the same after the bus", () => {
    for (const news of all) assert.deepEqual(toNews(toNewsPayload(news)), news);
  });

  it("are ignored if they are not exactly of one kind", () => {
    const wrong: unknown[] = [
      null,
      [],
      ["n1"],
      ["n2", all[0]],
      ["n1", all[0], 1],
      ["n1", { ...all[0], kind: "else" }],
      ["n1", { kind: "session", change: { sessionKey: "s", change: "exploded" } }],
      ["n1", { kind: "session", change: { sessionKey: 1, change: "updated" } }],
      ["n1", { kind: "session", change: { sessionKey: "s", change: "updated", model: 1 } }],
      ["n1", { kind: "queued", sessionKey: "s", runId: "m" }],
      ["n1", { kind: "queued", sessionKey: "s", runId: "m", message: { ...message, kind: "x" } }],
      ["n1", { kind: "queued", sessionKey: "s", runId: "m", message: { ...message, images: 1 } }],
      ["n1", { kind: "queued", sessionKey: "s", runId: "m", message: { ...message, added: 1 } }],
      ["n1", { kind: "over", sessionKey: "s" }],
    ];
    for (const value of wrong)
      assert.equal(toNews(encoded(value)), undefined, JSON.stringify(value));
    assert.equal(toNews(new TextEncoder().encode("no JSON")), undefined);
    assert.equal(toNews(new Uint8Array([0xff])), undefined);
  });
});
