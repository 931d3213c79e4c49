/** The keys that may answer a question. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { PAUSE_MS, SafeChoice, type ChoiceResult } from "../../src/chat/safe-choice.ts";
import { key, type Input } from "../../src/screen/keys.ts";

const COUNT = 4;

function text(typed: string): Input {
  return { type: "text", text: typed };
}

/** Types into a question with an empty draft, and returns what is left for the draft. */
function play(
  choice: SafeChoice,
  steps: readonly { input: Input; at: number }[],
): {
  results: ChoiceResult[];
  draft: string;
} {
  let draft = "";
  const results = steps.map(({ input, at }) => {
    const result = choice.input(input, at, COUNT, draft !== "");
    if (result.type === "pass") draft += result.typed + (input.type === "text" ? input.text : "");
    return result;
  });
  return { results, draft };
}

test("a digit or an arrow after the pause, then Enter, chooses", () => {
  for (const input of [text("2"), key("down")]) {
    const choice = new SafeChoice(0, 0);
    const { results } = play(choice, [
      { input, at: PAUSE_MS },
      { input: key("enter"), at: PAUSE_MS + 50 },
    ]);
    assert.equal(results[1]?.type === "chosen" && results[1].index, 1);
  }
});

test("a digit or an arrow that comes together with Enter chooses nothing", () => {
  for (const input of [text("2"), key("down")]) {
    const choice = new SafeChoice(0, 0);
    const { results } = play(choice, [
      { input, at: 1000 },
      { input: key("enter"), at: 1001 },
    ]);
    assert.ok(results.every(({ type }) => type !== "chosen"));
    assert.equal(choice.input(key("enter"), 1100, COUNT, false).type, "chosen");
  }
});

test("Enter alone takes the harmless choice, and only after the pause", () => {
  const choice = new SafeChoice(0, 0);
  const { results } = play(choice, [
    { input: key("enter"), at: PAUSE_MS - 1 },
    { input: key("enter"), at: PAUSE_MS },
  ]);
  assert.equal(results[0]?.type, "used");
  assert.equal(results[1]?.type === "chosen" && results[1].index, 0);
});

test("the pause counts from the last key that was typed before the question", () => {
  const choice = new SafeChoice(0, 300);
  assert.equal(choice.isReady(600), false);
  assert.equal(choice.isReady(700), true);
});

test("a digit that begins prose goes to the draft with the rest", () => {
  const choice = new SafeChoice(0, 0);
  const { draft } = play(choice, [
    { input: text("1"), at: 1000 },
    { input: text(" ok"), at: 1060 },
  ]);
  assert.equal(draft, "1 ok");
  assert.equal(choice.focus, 0);
});

test("a digit is text if something is typed in the draft", () => {
  const choice = new SafeChoice(0, 0);
  const result = choice.input(text("2"), 1000, COUNT, true);
  assert.equal(result.type, "pass");
});

test("no sequence of typed text, pastes and Enter chooses anything but the harmless choice", () => {
  const typed = fc.oneof(
    fc.string({ minLength: 2, maxLength: 6 }).map(text),
    fc.constantFrom("a", "b", "y", "n", " ").map(text),
    fc.constant<Input>({ type: "paste", text: "2\n" }),
    fc.constant<Input>(key("enter")),
    fc.constant<Input>(key("backspace")),
  );
  const steps = fc.array(fc.record({ input: typed, gap: fc.integer({ min: 0, max: 2000 }) }));
  fc.assert(
    fc.property(steps, (given) => {
      const choice = new SafeChoice(0, 0);
      let at = 0;
      const timed = given.map(({ input, gap }) => ({ input, at: (at += gap) }));
      const { results } = play(choice, timed);
      for (const result of results) if (result.type === "chosen") assert.equal(result.index, 0);
    }),
  );
});

test("prose with digits, typed at any speed below the pause, chooses nothing and is not lost", () => {
  const prose = fc.array(
    fc.record({
      char: fc.constantFrom("1", "2", "3", " ", "y", "n"),
      gap: fc.integer({ min: 1, max: 399 }),
    }),
    { maxLength: 40 },
  );
  fc.assert(
    fc.property(prose, (given) => {
      const choice = new SafeChoice(0, 0);
      let at = 0;
      const timed = given.map(({ char, gap }) => ({ input: text(char), at: (at += gap) }));
      const { results, draft } = play(choice, timed);
      assert.ok(results.every(({ type }) => type !== "chosen"));
      const all = given.map(({ char }) => char).join("");
      // The last digit may be held back as a possible choice.
      assert.ok(draft === all || draft === all.slice(0, -1));
    }),
  );
});
