/** A recorded request matches, or an error tells of the nearest one. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createMatcher } from "../../src/transport/match.ts";
import type { RecordedExchange, RecordedRequest } from "../../src/transport/recording.ts";

const request = (body: unknown, url = "http://h/", method = "POST"): RecordedRequest => ({
  method,
  url,
  headers: {},
  body: JSON.stringify(body),
});

const exchangesOf = (recorded: readonly RecordedRequest[]): RecordedExchange[] =>
  recorded.map((one) => ({ request: one, response: { status: 200, headers: {}, chunks: [] } }));

/** Returns the message for a request that none of the recorded ones matches. */
function miss(asked: RecordedRequest, ...recorded: readonly RecordedRequest[]): string {
  const matcher = createMatcher(exchangesOf(recorded));
  assert.equal(matcher.take(asked), undefined);
  return matcher.miss(asked).message;
}

const texts = (expected: string, received: string): string =>
  miss(request({ a: received }), request({ a: expected }));

describe("a recorded request with redacted secrets", () => {
  const matches = (recorded: string, asked: string): boolean =>
    createMatcher(exchangesOf([request(recorded)])).take(request(asked)) !== undefined;

  it("matches any texts in their place, with the rest in order", () => {
    const recorded = "user [redacted], pass [redacted], pass [redacted]!";
    for (const asked of [
      "user a, pass b, pass c!",
      "user , pass , pass !",
      "user a, pass b!, pass c!!",
      "user a, pass b, pass c, pass d!",
      recorded,
    ])
      assert.equal(matches(recorded, asked), true, asked);
    for (const asked of [
      "user a, pass b!",
      "user a, pass !",
      "user a, word b, pass c!",
      "user a, pass b, pass c",
      "a user a, pass b, pass c!",
      "user a, pass b, pass c! And more",
      "",
    ])
      assert.equal(matches(recorded, asked), false, asked);
  });

  it("counts no character for two parts", () => {
    assert.equal(matches("abc[redacted]cba", "abcba"), false);
    assert.equal(matches("abc[redacted]cba", "abccba"), true);
    assert.equal(matches("a[redacted]bb[redacted]bb[redacted]c", "abbbc"), false);
    assert.equal(matches("a[redacted]bb[redacted]bb[redacted]c", "abbbbc"), true);
    assert.equal(matches("[redacted]bb[redacted]bc", "bbc"), false);
  });

  it("does not hide another one that matches too", () => {
    const recorded = exchangesOf([request("[redacted] b"), request("a [redacted]")]);
    const matcher = createMatcher(recorded);
    const asked = request("a b");
    const taken = [1, 2, 3].map(() => matcher.take(asked));
    assert.deepEqual(taken, [...recorded, undefined]);
  });
});

describe("the nearest recording", () => {
  it("is compared by method first, then by address, then by body", () => {
    const recorded = request(1, "http://h/a");
    for (const [asked, said] of [
      [
        request(1, "http://h/b", "PUT"),
        'method: expected the string "POST", received the string "PUT"',
      ],
      [
        request(2, "http://h/b"),
        'url: expected the string "http://h/a", received the string "http://h/b"',
      ],
      [request(2, "http://h/a"), "body: expected number 1, received number 2"],
    ] as const)
      assert.equal(
        miss(asked, recorded),
        `No recorded answer for ${asked.method} ${asked.url}: the nearest, number 1, differs first at ${said}.`,
      );
  });

  it("is the one with the fewest differences, and the first of equally near ones", () => {
    const far = request({ a: 1, b: 1, c: 1 });
    const near = request({ a: 0, b: 0, c: 1 });
    const nearToo = request({ a: 0, b: 1, c: 0 });
    const asked = request({ a: 0, b: 0, c: 0 });
    assert.match(miss(asked, far, near, nearToo), /number 2, differs first at body\.c: /);
    assert.match(miss(asked, far, nearToo, near), /number 2, differs first at body\.b: /);
  });

  it("shows a text in full if it differs early, else from 12 characters before the difference", () => {
    const same = "0123456789ab";
    assert.match(
      texts(`${same}x`, `${same}y`),
      /the string "0123456789abx", .* "0123456789aby"\.$/,
    );
    assert.match(
      texts(`-${same}x`, `-${same}y`),
      /the string "…0123456789abx", .* "…0123456789aby"/,
    );
  });

  it("shows where one text ends and the other goes on", () => {
    const same = "a text that goes on";
    assert.match(texts(same, `${same} and on`), /"…that goes on", .* "…that goes on and on"\.$/);
    assert.match(texts(`${same} and on`, same), /"…that goes on and on", .* "…that goes on"\.$/);
  });

  it("names the place in a list that is longer or shorter than the recorded one", () => {
    const recorded = request({ list: [1, 2] });
    assert.match(
      miss(request({ list: [1] }), recorded),
      /body\.list\[1\]: expected number 2, received nothing\.$/,
    );
    assert.match(
      miss(request({ list: [1, 2, 3] }), recorded),
      /body\.list\[2\]: expected nothing, received number 3\.$/,
    );
  });
});
