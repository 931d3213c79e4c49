import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Held, Verdict } from "../acceptors/verdict.ts";
import type { Decoded, Run } from "../decode.ts";
import { findProblem } from "../judge.ts";

const call = { id: "call_0", name: "f", arguments: '{"a":1}' };
const whole: Held = { text: "Hello", calls: [call], ending: "complete" };
const legal: Verdict = { is: "legal", held: whole };
const illegal: Verdict = { is: "illegal", reason: "ends within an event" };
const run: Run = { id: "call_0", name: "f", arguments: { a: 1 } };

function decoded(runs: Run[], stopReason: Decoded["stopReason"] = "toolUse"): Decoded {
  return { text: "Hello", stopReason, error: undefined, runs };
}

function kindOf(verdict: Verdict, made: Decoded): string | undefined {
  return findProblem(verdict, made, whole)?.kind;
}

describe("the judge", () => {
  it("reports no problem for a legal answer read as sent, or an illegal one that failed", () => {
    assert.equal(kindOf(legal, decoded([run])), undefined);
    assert.equal(kindOf(illegal, decoded([], "error")), undefined);
  });

  it("reports an illegal stream that ended well", () => {
    assert.equal(kindOf(illegal, decoded([run])), "goodEnd");
    assert.equal(kindOf(illegal, decoded([], "stop")), "goodEnd");
    // All calls were refused, so the model is called again.
    assert.equal(kindOf(illegal, decoded([])), undefined);
  });

  it("reports a call that ran twice, with other arguments, or under another name", () => {
    for (const verdict of [legal, illegal]) {
      assert.equal(kindOf(verdict, decoded([run, run])), "wrongRun");
      assert.equal(kindOf(verdict, decoded([{ ...run, arguments: { a: 2 } }])), "wrongRun");
      assert.equal(kindOf(verdict, decoded([{ ...run, name: "g" }])), "wrongRun");
    }
  });

  it("reports a call of a legal answer that did not run", () => {
    assert.equal(kindOf(legal, decoded([], "stop")), "lostCall");
    const twice: Held = { ...whole, calls: [call, { ...call, id: "call_1" }] };
    assert.equal(
      findProblem({ is: "legal", held: twice }, decoded([run]), twice)?.kind,
      "lostCall",
    );
  });

  it("says whether an illegal stream that ended well lost content", () => {
    const textOf = (made: Decoded) => findProblem(illegal, made, whole)?.text;
    assert.equal(textOf(decoded([run])), "ended well (toolUse), with all of the answer");
    assert.equal(textOf(decoded([], "stop")), "ended well (stop), without all of the answer");
  });

  it("reports changed text, and a legal answer that was refused", () => {
    assert.equal(kindOf(legal, { ...decoded([run]), text: "Hel" }), "wrongText");
    assert.equal(kindOf(legal, decoded([], "error")), "refused");
  });

  it("lets a doubtful stream be refused, but not read in part", () => {
    const doubtful: Verdict = { is: "doubtful", reason: "two calls with one id", held: whole };
    assert.equal(kindOf(doubtful, decoded([], "error")), undefined);
    assert.equal(kindOf(doubtful, decoded([], "stop")), "lostCall");
  });

  it("reports a call of a failed answer that ran, and a cut answer that ended well", () => {
    const failed: Verdict = { is: "legal", held: { ...whole, calls: [], ending: "failed" } };
    const cut: Verdict = { is: "legal", held: { ...whole, ending: "cut" } };
    assert.equal(kindOf(failed, decoded([run])), "wrongRun");
    assert.equal(kindOf(failed, decoded([], "error")), undefined);
    assert.equal(kindOf(cut, decoded([], "stop")), "goodEnd");
    assert.equal(kindOf(cut, decoded([run], "length")), undefined);
  });

  it("reports a number that lost digits, and lets the call be refused instead", () => {
    const big: Held = { ...whole, calls: [{ ...call, arguments: '{"a":12345678901234567890}' }] };
    const verdict: Verdict = { is: "legal", held: big };
    const rounded = decoded([{ ...run, arguments: { a: Number("12345678901234567890") } }]);
    assert.equal(findProblem(verdict, rounded, big)?.kind, "rounded");
    assert.equal(findProblem(verdict, decoded([]), big), undefined);
  });

  it("lets a call with invalid JSON run only when the error is a backslash that escapes nothing", () => {
    const of = (args: string): Verdict => ({
      is: "legal",
      held: { ...whole, calls: [{ ...call, arguments: args }] },
    });
    const path = decoded([{ ...run, arguments: { a: "C:\\Temp" } }]);
    assert.equal(findProblem(of('{"a":"C:\\Temp"}'), path, whole), undefined);
    assert.equal(findProblem(of('{"a":1'), decoded([run]), whole)?.kind, "wrongRun");
  });
});
