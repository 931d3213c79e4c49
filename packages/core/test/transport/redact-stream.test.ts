/**
 * Secrets in a streamed text. `npm run secrets` tries a million texts; a failure gives the number
 * of its text.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createRedactor } from "../../src/transport/redact.ts";

const RUNS = Number(process.env.BOWLINE_SECRET_RUNS ?? 10_000);
/**
 * How many texts are tested with the same secrets. Secrets are reused because preparing the search
 * takes most of the time.
 */
const TEXTS = 10;

/** Random numbers that depend only on the seed (mulberry32). */
function createRandom(seed: number): (below: number) => number {
  let state = seed * 0x9e3779b1;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

type Random = ReturnType<typeof createRandom>;

const few = "abks-";
const many = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const beginnings = ["sk-", "gsk_", "xai-", "AIza"];
const words = [
  "the ",
  "tasks ",
  "x",
  "s",
  "g",
  "A",
  "-",
  "\n",
  "\\n",
  "desk-",
  "ask ",
  ", ",
  "é",
  "🧵",
];

const oneOf = <T>(random: Random, all: readonly T[]): T => all[random(all.length)] as T;
const letters = (random: Random, alphabet: string, length: number): string =>
  Array.from({ length }, () => alphabet[random(alphabet.length)]).join("");

/** Each kind has leaked once, or is similar to one that has. */
function secretsFor(random: Random): string[] {
  const secrets: string[] = [];
  for (let left = 1 + random(10); left > 0; left--) {
    const fresh = letters(random, oneOf(random, [few, many]), 8 + random(24));
    const known = secrets.length > 0 ? oneOf(random, secrets) : fresh;
    const kinds = [
      () => fresh,
      () => fresh + oneOf(random, ["s", "x", "g", "A", fresh[0] as string]),
      () => known.slice(-1 - random(known.length - 1)) + fresh, // begins like the end of another
      () => known.slice(0, 8 + random(known.length - 7)), // the beginning of another
      () => known.slice(1 + random(3)) + fresh[0], // part of another, except for its end
      () => oneOf(random, beginnings) + fresh,
      () => fresh + oneOf(random, beginnings).slice(0, 1 + random(4)),
    ];
    secrets.push(oneOf(random, kinds)());
  }
  return secrets.filter(({ length }) => length >= 8);
}

function textWith(random: Random, secrets: readonly string[]): string {
  let text = "";
  for (let left = 1 + random(12); left > 0; left--) {
    const secret = secrets.length > 0 ? oneOf(random, secrets) : "nothing-known";
    const pieces = [
      () => secret,
      () => btoa(secret),
      () => secret.slice(0, 1 + random(secret.length)),
      () => secret.slice(random(secret.length)),
      () => oneOf(random, words),
      () => oneOf(random, words),
      () => oneOf(random, beginnings) + letters(random, many, random(40)),
      () => letters(random, few, random(12)),
    ];
    text += oneOf(random, pieces)();
  }
  return text;
}

const lookOfKeys = /(?:(?<![A-Za-z0-9])|(?<=\\[bfnrt]))(?:sk-|gsk_|xai-|AIza)[\w-]{16,}/g;

/** The expected output, computed naively: overlapping matches give one mark. */
function expected(text: string, secrets: readonly string[]): string {
  const found = [...text.matchAll(lookOfKeys)].map(({ index, 0: { length } }) => [
    index,
    index + length,
  ]);
  for (const form of secrets.flatMap((secret) => [secret, btoa(secret)]))
    for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + 1))
      found.push([at, at + form.length]);
  let shown = "";
  let at = 0;
  for (const [start = 0, end = 0] of found.toSorted(([a = 0], [b = 0]) => a - b)) {
    if (start >= at) shown += `${text.slice(at, start)}[redacted]`;
    at = Math.max(at, end);
  }
  return shown + text.slice(at);
}

function* cut(random: Random, text: string): Generator<string> {
  const most = oneOf(random, [1, 3, 9, 40]);
  for (let at = 0; at < text.length;) {
    const length = 1 + random(most);
    yield text.slice(at, at + length);
    at += length;
  }
}

describe("a stream redactor", () => {
  it(`redacts secrets and emits everything else, for any chunks (${RUNS} texts)`, () => {
    let secrets: readonly string[] = [];
    let redactor = createRedactor(secrets);
    for (let run = 0; run < RUNS; run++) {
      const random = createRandom(run);
      if (run % TEXTS === 0) {
        secrets = random(10) === 0 ? [] : secretsFor(random);
        redactor = createRedactor(secrets);
      }
      const text = textWith(random, secrets);
      const stream = redactor.stream();
      let shown = "";
      for (const piece of cut(random, text)) shown += stream.push(piece);
      shown += stream.end();
      const wanted = expected(text, secrets);
      if (
        shown !== wanted ||
        redactor.text(text) !== wanted ||
        secrets.some((one) => shown.includes(one))
      )
        assert.deepEqual({ run, secrets, text, shown }, { run, secrets, text, shown: wanted });
    }
  });

  it("emits no whole secret that is split over two parts of the text", () => {
    for (let run = 0; run < RUNS / 10; run++) {
      const random = createRandom(-1 - run);
      const secrets = secretsFor(random);
      const text = textWith(random, secrets);
      const stream = createRedactor(secrets).stream();
      let shown = "";
      for (const piece of cut(random, text))
        shown += stream.push(piece) + (random(4) === 0 ? stream.end() : "");
      shown += stream.end();
      for (const secret of secrets)
        assert.ok(!shown.includes(secret), JSON.stringify({ run, secret, text, shown }));
    }
  });

  it("redacts the rest of a secret whose beginning was already emitted", () => {
    const stream = createRedactor(["hunter2-and-more"]).stream();
    assert.equal(stream.push("It is hunter2-"), "It is ");
    assert.equal(stream.end(), "hunter2-");
    assert.equal(stream.push("and-more, I think.") + stream.end(), "[redacted], I think.");
  });

  it("emits harmless text at once, and buffers only a possible secret", () => {
    const stream = createRedactor(["hunter2-and-more"]).stream();
    assert.equal(stream.push("the huntsman has a hunt"), "the huntsman has a ");
    assert.equal(stream.push("er2-and-less s"), "hunter2-and-less ");
    assert.equal(stream.push("k-0123456789abcdef"), "[redacted]");
    assert.equal(stream.push("0123456789"), "");
    assert.equal(stream.push(" after"), " after");
  });

  it("costs the same for the last chunk as for the first", () => {
    const stream = createRedactor(["hunter2-and-more"]).stream();
    let held = 0;
    for (let piece = 0; piece < 100_000; piece++) held += 7 - stream.push("hunter ").length;
    assert.equal(held, 0);
    assert.equal(stream.end(), "");
  });
});
