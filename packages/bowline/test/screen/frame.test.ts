import assert from "node:assert/strict";
import { test } from "node:test";
import type { Live } from "../../src/screen/live.ts";
import { reflowOf, rowsAbove } from "../../src/screen/frame.ts";
import { openScreen } from "../../src/screen/screen.ts";
import { TestTerminal } from "./test-terminal.ts";

/** Shows live areas one after the other, and prints lines before the last one. */
async function frames(
  lives: readonly (readonly string[])[],
  printed: readonly string[] = [],
  rows = 30,
): Promise<TestTerminal> {
  const terminal = new TestTerminal(30, rows);
  await terminal.writeRaw("\r\n".repeat(rows - 1));
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
const FAMILIES = "👩‍👩‍👧".repeat(15);

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

test("lets no row leave a low window while rows move", async () => {
  const block = "a row that both have, and long";
  const terminal = await frames(
    [
      ["1", block, "2", "3", "4", "5"],
      ["6", "7", "8", "9", "0", block],
    ],
    [],
    7,
  );
  assert.deepEqual(seen(terminal), ["6", "7", "8", "9", "0", block]);
});

test("counts the rows above the cursor after a terminal has reflowed them", () => {
  const drawn = {
    rows: ["a".repeat(30), "> draft of 17 col", "b"],
    cursor: { row: 1, column: 12 },
  };
  assert.equal(rowsAbove(drawn, 10, "all"), 4);
  assert.equal(rowsAbove(drawn, 10, "none"), 1);
  assert.equal(rowsAbove(drawn, 10, "xterm.js"), 3);
  // Ten to twenty columns: a row too many would be a printed line.
  const doubtful = { rows: ["👍".repeat(10), "> "], cursor: { row: 1, column: 0 } };
  assert.equal(rowsAbove(doubtful, 15, "all"), 1);
  const wide = { rows: ["日".repeat(10), "> "], cursor: { row: 1, column: 0 } };
  assert.equal(rowsAbove(wide, 15, "all"), 2);
});

test("knows the terminals that do not reflow, and tmux inside them, which does", () => {
  assert.equal(reflowOf({ TERM: "xterm-256color" }), "all");
  assert.equal(reflowOf({ TERM: "xterm-256color", TERM_PROGRAM: "vscode" }), "xterm.js");
  assert.equal(reflowOf({ TERM: "xterm", XTERM_VERSION: "XTerm(380)" }), "none");
  assert.equal(reflowOf({ TERM: "linux" }), "none");
  assert.equal(reflowOf({ TERM: "tmux-256color", XTERM_VERSION: "XTerm(380)", TMUX: "x" }), "all");
});
