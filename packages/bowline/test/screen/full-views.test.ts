import assert from "node:assert/strict";
import { test } from "node:test";
import { page } from "../../src/screen/pager.ts";
import { pickOne, type PickerOptions } from "../../src/screen/picker.ts";
import type { Screen } from "../../src/screen/live.ts";
import { openScreen } from "../../src/screen/screen.ts";
import { TestTerminal } from "./test-terminal.ts";

function open(columns = 40, rows = 10): { terminal: TestTerminal; screen: Screen } {
  const terminal = new TestTerminal(columns, rows);
  const screen = openScreen({
    input: terminal.input,
    output: terminal,
    env: {},
    live: () => ({ lines: ["> "] }),
    onInput: () => {},
    clock: terminal.clock,
  });
  return { terminal, screen };
}

async function type(terminal: TestTerminal, ...keys: string[]): Promise<string[]> {
  await new Promise((resolve) => setImmediate(resolve));
  for (const key of keys) terminal.input.write(key);
  await new Promise((resolve) => setImmediate(resolve));
  await terminal.pass();
  return terminal.lines();
}

const models: PickerOptions<string> = {
  title: "Choose a model",
  filter: true,
  items: [
    { label: "opus", detail: "large", value: "o" },
    { label: "sonnet", detail: "medium", value: "s" },
    { label: "haiku", detail: "small and fast", value: "h" },
  ],
};

const DOWN = "\u001b[B";

test("takes the item that arrows reach", async () => {
  const { terminal, screen } = open();
  const result = pickOne(screen, models);
  assert.deepEqual(await type(terminal), [
    "Choose a model",
    "Search:",
    "",
    "> opus    large",
    "  sonnet  medium",
    "  haiku   small and fast",
    "",
    "3 of 3 · Enter takes · Esc leaves",
  ]);
  await type(terminal, DOWN, DOWN, DOWN, "\r");
  assert.equal(await result, "h");
});

test("narrows the list by the typed words, and takes nothing from an empty list", async () => {
  const { terminal, screen } = open();
  const result = pickOne(screen, models);
  assert.deepEqual((await type(terminal, "FAST h"))[3], "> haiku  small and fast");
  assert.deepEqual((await type(terminal, "x", "\r"))[3], "  (no match)");
  await type(terminal, "\u007f", "\r");
  assert.equal(await result, "h");
});

test("moves by digits without taking, and leaves with Esc", async () => {
  const { terminal, screen } = open();
  const result = pickOne(screen, { ...models, filter: false });
  assert.deepEqual((await type(terminal, "2"))[3], "> 2. sonnet  medium");
  terminal.input.write("\u001b");
  await type(terminal);
  assert.equal(await result, undefined);
});

test("scrolls a list that is longer than the window", async () => {
  const { terminal, screen } = open(40, 10);
  const items = Array.from({ length: 100 }, (_, i) => ({ label: `item ${i}`, value: i }));
  const result = pickOne(screen, { title: "Choose", filter: true, items });
  const lines = await type(terminal, "\u001b[F");
  assert.ok(lines.includes("> item 99") && lines.length === 10, lines.join("\n"));
  await type(terminal, "\r");
  assert.equal(await result, 99);
});

const text = Array.from({ length: 100 }, (_, i) => `line ${i + 1}`);

test("pages through lines and leaves with q", async () => {
  const { terminal, screen } = open();
  const left = page(screen, "Output", text);
  const first = (lines: readonly string[]): string | undefined => lines[1];
  const lines = await type(terminal);
  assert.deepEqual(lines.slice(0, 3), ["Output", "line 1", "line 2"]);
  assert.ok(lines[9]?.startsWith("lines 1-8 of 100 · q leaves"), lines[9]);
  assert.equal(first(await type(terminal, " ")), "line 9");
  assert.equal(first(await type(terminal, "G")), "line 93");
  assert.equal(first(await type(terminal, "g")), "line 1");
  assert.equal(first(await type(terminal, "j", DOWN, "k")), "line 2");
  assert.equal(first(await type(terminal, "\u001b[6~")), "line 10");
  await type(terminal, "q");
  await left;
  assert.equal(terminal.bufferType, "normal");
});

test("finds text below and above, and tells when there is none", async () => {
  const { terminal, screen } = open();
  const left = page(screen, "Output", text);
  assert.equal((await type(terminal, "/LINE"))[9], "/LINE");
  assert.ok((await type(terminal, "\r"))[9]?.startsWith('"LINE" is not found below'));
  const lines = await type(terminal, "/5", "0\r");
  assert.equal(lines[1], "line 50");
  assert.equal((await type(terminal, "/7\r"))[1], "line 57");
  assert.equal((await type(terminal, "n"))[1], "line 67");
  assert.equal((await type(terminal, "N", "N"))[1], "line 47");
  await type(terminal, "/q", "\u0003", "q");
  await left;
});

test("wraps long lines, and keeps the place when the window changes", async () => {
  const { terminal, screen } = open(40, 6);
  const long = Array.from({ length: 9 }, (_, i) => `${i} ${"word ".repeat(30)}end`);
  const left = page(screen, "Output", long);
  await type(terminal);
  const all = await type(terminal, "/8 word\r");
  assert.ok(all[1]?.startsWith("8 word"), all[1]);
  assert.ok(all.some((row) => row.endsWith("end")));
  await terminal.resize(80, 6);
  assert.ok((await type(terminal))[1]?.match(/^[78] word/));
  await type(terminal, "q");
  await left;
});

test("goes from line to line when a search finds the rows of a wrapped line", async () => {
  const { terminal, screen } = open(40, 6);
  const left = page(
    screen,
    "Output",
    Array.from({ length: 9 }, (_, i) => `${i} ${"word ".repeat(30)}end`),
  );
  assert.ok((await type(terminal, "/word\r", "n"))[1]?.startsWith("1 word"));
  assert.ok((await type(terminal, "n"))[1]?.startsWith("2 word"));
  await type(terminal, "q");
  await left;
});
