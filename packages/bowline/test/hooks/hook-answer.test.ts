/** What a hook's exit code and output mean. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readAnswer, type HookAnswer } from "../../src/hooks/hook-answer.ts";
import type { HookEvent } from "../../src/settings/keys.ts";

const end = { exitCode: 0, signal: null, stdout: "", stderr: "" };

function answer(event: HookEvent, given: object): HookAnswer {
  return readAnswer(event, { ...end, stdout: JSON.stringify(given) });
}

const decision = (permissionDecision: string): HookAnswer =>
  answer("PreToolUse", {
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      permissionDecision,
      permissionDecisionReason: "Because.",
    },
  });

describe("the exit code of a hook", () => {
  it("refuses with 2, with standard error as the reason", () => {
    for (const event of ["PreToolUse", "UserPromptSubmit", "Stop", "PostToolUse"] as const) {
      assert.deepEqual(readAnswer(event, { ...end, exitCode: 2, stderr: "No.\n" }), {
        block: "No.",
      });
      assert.match(readAnswer(event, { ...end, exitCode: 2 }).block ?? "", /gave no reason/);
    }
    assert.match(readAnswer("SessionStart", { ...end, exitCode: 2 }).failure ?? "", /exit code 2/);
  });

  it("fails with any other, and says that nothing was blocked", () => {
    const one = readAnswer("PreToolUse", { ...end, exitCode: 1, stderr: "oops" });
    assert.equal(one.block, undefined);
    assert.match(
      one.failure ?? "",
      /exit code 1\. The call was NOT blocked: only exit code 2 blocks\. It said: oops/,
    );
    const killed = readAnswer("Stop", { ...end, exitCode: null, signal: "SIGSEGV" });
    assert.match(killed.failure ?? "", /SIGSEGV ended it\. The end was NOT blocked/);
  });
});

describe("the output of a hook that ends with 0", () => {
  it("refuses a call, or has a person asked, and never allows one", () => {
    assert.deepEqual(decision("deny"), { block: "Because." });
    assert.deepEqual(decision("ask"), { ask: "Because." });
    assert.deepEqual(decision("allow"), {});
    assert.deepEqual(answer("PreToolUse", { decision: "approve" }), {});
    assert.deepEqual(answer("PreToolUse", { decision: "block", reason: "R" }), { block: "R" });
    assert.deepEqual(answer("PreToolUse", { continue: false, stopReason: "S" }), { block: "S" });
    assert.deepEqual(answer("Stop", { continue: false, decision: "block" }), {});
  });

  it("counts as a refusal where it is not understood, since it may have been one", () => {
    for (const stdout of [
      '{"decision":"deny"}',
      '{"decison":"block"}',
      '{"hookSpecificOutput":{"permissionDecision":"denied"}}',
      '{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{}}}',
      '{"hookSpecificOutput":{"hookEventName":"PostToolUse"}}',
      '{"hookSpecificOutput":"deny"}',
      '{"continue":"no"}',
      "{ no json",
    ]) {
      const { block, failure } = readAnswer("PreToolUse", { ...end, stdout });
      assert.match(block ?? "", /not understood/, stdout);
      assert.match(failure ?? "", /counts as a refusal/, stdout);
    }
    assert.match(
      answer("PreToolUse", { decison: "block" }).failure ?? "",
      /Did you mean "decision"/,
    );
    const after = answer("PostToolUse", { continue: false });
    assert.equal(after.block, undefined);
    assert.match(after.failure ?? "", /no effect at PostToolUse/);
  });

  it("is text for the model at a message and at the start, and nothing elsewhere", () => {
    const plain = { ...end, stdout: " The branch is main.\n" };
    assert.deepEqual(readAnswer("UserPromptSubmit", plain), { context: "The branch is main." });
    assert.deepEqual(readAnswer("SessionStart", plain), { context: "The branch is main." });
    assert.deepEqual(readAnswer("PreToolUse", plain), {});
    const specific = {
      hookSpecificOutput: { additionalContext: "Formatted." },
      systemMessage: "Hi",
    };
    assert.deepEqual(answer("PostToolUse", specific), { context: "Formatted.", message: "Hi" });
  });
});
