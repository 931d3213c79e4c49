import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Mutant, sample } from "../sample.ts";
import { applySite, findSites } from "../sites.ts";

/** Returns every change of the source, as `before → after`. */
function changes(source: string): string[] {
  return findSites("a.ts", source).map(
    ({ start, end, replacement }) => `${source.slice(start, end)} → ${replacement}`,
  );
}

describe("findSites", () => {
  it("negates conditions and forces them", () => {
    assert.deepEqual(changes("if (a) b;"), ["a → !(a)", "a → true", "a → false", "b; → ;"]);
    assert.deepEqual(changes("const x = a.b() ? 1 : 2;"), [
      "a.b() → !(a.b())",
      "a.b() → true",
      "a.b() → false",
    ]);
  });

  it("forces the condition of a loop to false only", () => {
    assert.deepEqual(changes("while (a) {}"), ["a → !(a)", "a → false"]);
    assert.deepEqual(changes("for (;;) {}"), []);
    assert.deepEqual(changes("while (true) {}"), []);
  });

  it("replaces an equality by its negation once", () => {
    assert.deepEqual(changes("if (a === b) {}"), [
      "a === b → true",
      "a === b → false",
      "=== → !==",
    ]);
  });

  it("replaces comparisons and arithmetic", () => {
    assert.deepEqual(changes("const x = (a) < b * c - d;"), ["< → <=", "* → /", "- → +"]);
    assert.deepEqual(changes("const x = n += 1;"), ["+= → -="]);
  });

  it("keeps the grouping of a logical expression", () => {
    assert.deepEqual(changes("const x = a || (b && c);"), [
      "a || (b && c) → ((a) && ((b && c)))",
      "b && c → ((b) || (c))",
    ]);
  });

  it("removes statements and bare returns", () => {
    assert.deepEqual(changes("async function f() { g(); await h(); return; }"), [
      "g(); → ;",
      "await h(); → ;",
      "return; → ;",
    ]);
  });

  it("leaves types, strings, directives and super() unchanged", () => {
    const source = `"use strict";
      type T = A extends B ? 1 : 2;
      class C extends D { constructor() { super(); } }
      const text = "a" + b + \`c\`;
      const x = y ?? z;
      const n = m as unknown as typeof q;`;
    assert.deepEqual(changes(source), []);
  });

  it("counts offsets in UTF-16 code units, as JavaScript does", () => {
    const source = 'const face = "😀"; const x = a < b;';
    const [site] = findSites("a.ts", source);
    assert.ok(site);
    assert.equal(applySite(source, site), 'const face = "😀"; const x = a <= b;');
  });

  it("throws on a source that cannot be parsed", () => {
    assert.throws(() => findSites("a.ts", "if ("), /^Error: a\.ts: /);
  });
});

describe("sample", () => {
  const mutant = (file: string, line: number): Mutant => ({
    file,
    line,
    original: "",
    start: line,
    end: line,
    replacement: "",
  });
  const large = Array.from({ length: 100 }, (_, at) => mutant("large/a.ts", at));
  const small = Array.from({ length: 5 }, (_, at) => mutant("small/a.ts", at));

  it("takes the same number from each folder until a folder runs out", () => {
    const chosen = sample([...large, ...small], 8, 1).map(({ file }) => file);
    assert.equal(chosen.filter((file) => file.startsWith("small/")).length, 4);
    assert.equal(sample([...large, ...small], 50, 1).length, 50);
  });

  it("returns the same sample for the same seed, also for a single folder", () => {
    const both = sample([...large, ...small], 20, 1).filter(({ file }) => file === "large/a.ts");
    assert.deepEqual(sample(large, both.length, 1), both);
    assert.notDeepEqual(sample(large, both.length, 2), both);
  });
});
