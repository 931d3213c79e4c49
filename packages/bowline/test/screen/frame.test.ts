import assert from "node:assert/strict";
import { test } from "node:test";
import type { Live } from "../../src/screen/live.ts";
import { openScreen } from "../../src/screen/screen.ts";
import { TestTerminal } from "./test-terminal.ts";

/** Shows live areas one after the other, and prints lines before the last one. */
async function frames(
  lives: readonly (readonly string[])[],
  printed: readonly string[] = [],
): Promise<TestTerminal> {
  const terminal = new TestTerminal(20, 30);
  await terminal.writeRaw("\r\n".repeat(29));
  let live: Live = { lines: [] };
  const screen = openScreen({
    input: terminal.input,
    output: terminal,
    env: {},
    live: () => live,
    onInput: () => {},
    clock: terminal.clock,
  });
  for (const [i, lines] of lives.entries()) {
    if (i === lives.length - 1) screen.print(printed);
    live = { lines, cursor: { row: 0, column: 0 } };
    terminal.writes.length = 0;
    screen.invalidate();
    await terminal.pass();
  }
  return terminal;
}

/** The rows after the blank ones. */
const seen = (terminal: TestTerminal): string[] => terminal.lines().filter((row) => row !== "");

/** The test's terminal takes three columns for each, we count two. */
const FAMILIES = "👩‍👩‍👧".repeat(10);

test("keeps a row that is wider than expected one row", async () => {
  const terminal = await frames([
    ["a", FAMILIES, "b"],
    ["a", "c", "b"],
  ]);
  assert.deepEqual(seen(terminal), ["a", "c", "b"]);
});

test("writes a printed line again if the live row may have been cut off", async () => {
  const terminal = await frames([[FAMILIES, "> "], ["> "]], [FAMILIES]);
  assert.deepEqual(seen(terminal), [FAMILIES, ">"]);
});

test("does not write a printed line again that was a live row", async () => {
  const terminal = await frames(
    [
      ["a finished row", "tail", "> draft"],
      ["tail", "> draft"],
    ],
    ["a finished row"],
  );
  assert.deepEqual(seen(terminal), ["a finished row", "tail", "> draft"]);
  assert.ok(!terminal.bytes.includes("row") && !terminal.bytes.includes("draft"), terminal.bytes);
});

test("moves the rows below a growing and a shrinking answer", async () => {
  const below = ["--------------------", "> draft", "--------------------"];
  const grown = await frames([
    ["a", ...below, "1 s"],
    ["a", "b", "c", ...below, "2 s"],
  ]);
  assert.deepEqual(seen(grown), ["a", "b", "c", ...below, "2 s"]);
  assert.ok(!grown.bytes.includes("--"), grown.bytes);
  const shrunk = await frames([
    ["a", "b", "c", ...below, "1 s"],
    ["a", ...below, "2 s"],
  ]);
  assert.deepEqual(seen(shrunk), ["a", ...below, "2 s"]);
  assert.ok(!shrunk.bytes.includes("--"), shrunk.bytes);
});

test("makes blank rows at the end real", async () => {
  const terminal = await frames([["> "], ["> ", "", "", "", ""], ["> ", "", "", "", "x"]]);
  assert.deepEqual(terminal.lines().slice(-5), [">", "", "", "", "x"]);
});

test("counts no columns of characters on which terminals disagree", async () => {
  assert.deepEqual(seen(await frames([["👍 a"], ["👍 b"]])), ["👍 b"]);
  const accent = await frames([["cafe"], ["cafe\u0301"]]);
  assert.ok(accent.bytes.includes("cafe\u0301"), accent.bytes);
});

test("continues a coloured row in its colour", async () => {
  const terminal = await frames([["\u001b[31mred\u001b[39m"], ["\u001b[31mred more\u001b[39m"]]);
  assert.ok(terminal.bytes.includes("\u001b[31m more\u001b[39m"), terminal.bytes);
});
