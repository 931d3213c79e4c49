import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { mutantsOf, type Mutant } from "../sample.ts";
import type { Project } from "../test-map.ts";
import { tryAll } from "../try-all.ts";
import type { Verdict } from "../try-mutant.ts";

const root = mkdtempSync(join(tmpdir(), "mutants-test-"));
const source = `export const isSmall = (value: number): boolean => value < 10;
export function sum(values: readonly number[]): number {
  let total = 0;
  for (let at = 0; at < values.length; at++) total = total + (values[at] ?? 0);
  return total;
}
export const unused = (value: number): number => value * 2;
`;

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

function project(): Project {
  const packages = [{ sources: "packages/a/src", tests: ["packages/a/test", "packages/b/test"] }];
  return { root, cache: join(root, "cache"), packages, sharesProcess: () => true };
}

function test(title: string, body: string): string {
  return `import assert from "node:assert/strict";
import { it } from "node:test";
import { isSmall, sum } from "../src/numbers.ts";
it("${title}", () => { ${body} });
`;
}

async function run(
  isTried: (mutant: Mutant) => boolean = () => true,
): Promise<Map<string, Verdict>> {
  const mutants = mutantsOf(root, "packages/a/src/numbers.ts").filter(isTried);
  const verdicts = await tryAll(project(), mutants, {
    jobs: 1,
    budgetMs: 20_000,
    limitMs: 3000,
    testMs: 1000,
    signal: new AbortController().signal,
  });
  const named = verdicts.map((verdict): [string, Verdict] => {
    const { line, original, replacement } = verdict.mutant;
    return [`${line}: ${original} → ${replacement}`, verdict];
  });
  return new Map(named);
}

describe("tryAll", () => {
  after(() => rmSync(root, { recursive: true }));
  write("package.json", '{ "type": "module" }');
  write("packages/a/src/numbers.ts", source);
  write("packages/a/test/small.test.ts", test("knows small", "assert.ok(isSmall(9));"));
  write("packages/a/test/sum.test.ts", test("adds", "assert.equal(sum([1, 2]), 3);"));

  it("reports which mutants a test kills, which survive, and which hang", async () => {
    const verdicts = await run();
    const survivor = verdicts.get("1: < → <=");
    assert.deepEqual([survivor?.outcome, survivor?.tried], ["survived", 1]);
    const killed = verdicts.get("4: + → -");
    assert.deepEqual([killed?.outcome, killed?.by], ["killed", "adds"]);
    assert.equal(verdicts.get("4: at < values.length → !(at < values.length)")?.outcome, "killed");
    const unused = verdicts.get("7: * → /");
    assert.deepEqual([unused?.outcome, unused?.executing], ["survived", 0]);
    assert.equal(readFileSync(join(root, "packages/a/src/numbers.ts"), "utf8"), source);
  });

  it("rebuilds the map only for test files that changed", async () => {
    const mapOf = (name: string): string => join(root, `cache/packages+a+test+${name}.json`);
    const before = statSync(mapOf("sum.test.ts")).mtimeMs;
    write("packages/a/test/small.test.ts", test("knows ten", "assert.ok(!isSmall(10));"));
    const verdicts = await run(({ line }) => line === 1);
    assert.equal(verdicts.get("1: < → <=")?.by, "knows ten");
    assert.equal(statSync(mapOf("sum.test.ts")).mtimeMs, before);
  });

  it("skips tests that fail without a mutant", async () => {
    write("packages/a/test/sum.test.ts", test("adds", "assert.equal(sum([1, 2]), 4);"));
    const verdicts = await run(({ original }) => original === "+");
    const verdict = verdicts.get("4: + → -");
    assert.deepEqual([verdict?.outcome, verdict?.executing], ["survived", 0]);
  });

  it("reports a hang separately from a failure", async () => {
    const waits = "while (sum([1]) !== 1) await new Promise((go) => setTimeout(go, 10));";
    const waiting = test("waits", waits).replace("() =>", "async () =>");
    write("packages/a/test/sum.test.ts", waiting);
    const verdicts = await run(({ original }) => original === "+");
    const hung = verdicts.get("4: + → -");
    assert.deepEqual([hung?.outcome, hung?.by], ["hung", "packages/a/test/sum.test.ts"]);
  });

  it("tries the other tests of the file when one hangs", async () => {
    const waits = "while (sum([1]) !== 1) await new Promise((go) => setTimeout(go, 10));";
    const waiting = test("waits", waits).replace("() =>", "async () =>");
    const more =
      'it("adds none", () => { assert.equal(sum([]), 0); });\nit("adds two", () => { assert.equal(sum([2]), 2); });\n';
    write("packages/a/test/sum.test.ts", waiting + more);
    const verdicts = await run(({ original }) => original === "+");
    const killed = verdicts.get("4: + → -");
    assert.deepEqual([killed?.outcome, killed?.by], ["killed", "adds two"]);
  });

  it("reports an endless computation separately from a hang", async () => {
    write("packages/a/test/sum.test.ts", test("computes", "while (sum([1]) !== 1);"));
    const verdicts = await run(({ original }) => original === "+");
    const busy = verdicts.get("4: + → -");
    assert.deepEqual([busy?.outcome, busy?.by], ["busy", "packages/a/test/sum.test.ts"]);
  });

  it("tries the other files when one hangs, also those of another folder", async () => {
    const alone = test("adds one", "assert.equal(sum([1]), 1);").replace("../src", "../../a/src");
    write("packages/b/test/more.test.ts", alone);
    const verdicts = await run(({ original }) => original === "+");
    const killed = verdicts.get("4: + → -");
    assert.deepEqual([killed?.outcome, killed?.by], ["killed", "adds one"]);
  });

  it("reports a failed property, whose reduction would compute for long", async () => {
    const property = "fc.property(fc.array(fc.nat()), (list) => check(list, Date.now() + 50))";
    const body = `
  const check = (list, end) => {
    while (Date.now() < end);
    assert.equal(sum(list), list.reduce((a, b) => a + b, 0));
  };
  fc.assert(${property}, { numRuns: 5 });`;
    const fc = import.meta.resolve("fast-check");
    const checked = `import fc from "${fc}";\n${test("adds any", body)}`;
    write("packages/a/test/sum.test.ts", checked);
    const verdicts = await run(({ original }) => original === "+");
    const killed = verdicts.get("4: + → -");
    assert.deepEqual([killed?.outcome, killed?.by], ["killed", "adds any"]);
  });
});
