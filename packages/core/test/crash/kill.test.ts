/**
 * Agents that are killed with SIGKILL at random moments and resumed. `npm run crash` does it 5,000
 * times, with more breakages.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { breakages, breakCopy } from "./broken-copy.ts";
import { killRuns } from "./kill-runs.ts";
import { sweep } from "../../../../test/support/sweep.ts";

const KILLS = sweep({ long: 60, short: 40 });

describe("an agent that is killed at random moments", () => {
  it(`loses nothing that was acknowledged and repeats nothing that was recorded, ${KILLS} times`, async (t) => {
    const report = await killRuns({ kills: KILLS });
    t.diagnostic(JSON.stringify(report));
    assert.deepEqual(report.problems, []);
    assert.equal(report.kills, KILLS);
    assert.ok(report.unknown > 0, "no kill came while a tool ran");
  });

  const broken = "the intent is written after the tool ran";
  it(`is detected as broken if ${broken}`, async () => {
    await using copy = await breakCopy(breakages[broken]);
    const { problems, kills } = await killRuns({ kills: 3 * KILLS, child: copy.child });
    const isFound = problems.some((problem) => breakages[broken].found.test(problem));
    assert.ok(isFound, `${kills} kills found ${problems.join("; ") || "nothing"}`);
  });
});
