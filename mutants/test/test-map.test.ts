import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { testsOf, type MappedTest } from "../test-map.ts";

const test = (file: string, ms: number, edges: readonly number[]): MappedTest => ({
  file,
  outcome: "passed",
  ms,
  executed: { "a.ts": edges },
});

describe("testsOf", () => {
  it("returns the tests that execute the place, alternating cheap ones and those of a rare branch", () => {
    // All but the last execute the condition at 1000. One of them also executes the branch after
    // it.
    const tests = [
      ...Array.from({ length: 9 }, (_, at) => test(`cheap ${at}`, 100 + at, [0, 1020])),
      test("branch", 4000, [0, 1100]),
      test("elsewhere", 1, [0, 900]),
    ];
    const files = testsOf(tests, { file: "a.ts", start: 1000, end: 1010 }).map(({ file }) => file);
    assert.deepEqual(
      files.toSorted(),
      tests
        .map(({ file }) => file)
        .slice(0, -1)
        .toSorted(),
    );
    assert.equal(files[0], "cheap 0");
    assert.ok(files.indexOf("branch") < 5, files.join());
  });
});
