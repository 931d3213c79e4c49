import assert from "node:assert/strict";
import { test } from "node:test";
import type { Input } from "../../src/screen/input.ts";
import { key } from "../../src/screen/keys.ts";
import type { FullView, Live, Screen, ScreenOptions } from "../../src/screen/live.ts";
import { openScreen } from "../../src/screen/screen.ts";
import { TestTerminal } from "./test-terminal.ts";

interface Opened {
  readonly terminal: TestTerminal;
  readonly screen: Screen;
  readonly inputs: Input[];
  /** Shows a live area. */
  readonly show: (...lines: string[]) => void;
}

const PLACE = { row: 0, column: 0 };

function open(columns = 80, rows = 24, options: Partial<ScreenOptions> = {}): Opened {
  const terminal = new TestTerminal(columns, rows);
  let live: Live = { lines: ["> "], cursor: { row: 0, column: 2 } };
  const inputs: Input[] = [];
  const screen = openScreen({
    input: terminal.input,
    output: terminal,
    env: { TERM_PROGRAM: "vscode" },
    live: () => live,
    onInput: (input) => inputs.push(input),
    signals: terminal,
    clock: terminal.clock,
    ...options,
  });
  const show = (...lines: string[]): void => {
    live = { lines, cursor: PLACE };
    screen.invalidate();
  };
  return { terminal, screen, inputs, show };
}

for (const columns of [40, 80, 200]) {
  test(`writes finished lines above the live area at ${columns} columns`, async () => {
    const { terminal, screen, show } = open(columns, 12);
    const printed: string[] = [];
    for (let i = 0; i < 60; i += 1) {
      const line = `line ${i} ${"word ".repeat(i)}`.trim();
      printed.push(line);
      screen.print([line]);
      show(`tail ${i}`, "---", `> draft ${i}`);
      if (i % 3 === 0) await terminal.pass();
    }
    await terminal.pass();
    assert.deepEqual(terminal.lines(), [...printed, "tail 59", "---", "> draft 59"]);
  });
}

test("keeps what was on the terminal before", async () => {
  const terminal = new TestTerminal(80, 5);
  await terminal.writeRaw("$ ls\r\na b c\r\n$ bowline\r\n");
  const screen = openScreen({
    input: terminal.input,
    output: terminal,
    env: {},
    live: () => ({ lines: ["> "] }),
    onInput: () => {},
    clock: terminal.clock,
  });
  for (let i = 0; i < 10; i += 1) screen.print([`${i}`]);
  await terminal.pass();
  await screen.close();
  await terminal.pass();
  const printed = Array.from({ length: 10 }, (_, i) => `${i}`);
  assert.deepEqual(terminal.lines(), ["$ ls", "a b c", "$ bowline", ...printed]);
});

test("draws at most 30 frames a second, each in a synchronized frame", async () => {
  const { terminal, show } = open();
  await terminal.pass();
  terminal.writes.length = 0;
  for (let i = 0; i < 1000; i += 1) {
    show(`tail ${i}`, "> ");
    terminal.clock.advance(1);
    await Promise.resolve();
  }
  assert.ok(
    terminal.writes.length >= 25 && terminal.writes.length <= 31,
    `${terminal.writes.length}`,
  );
  for (const frame of terminal.writes)
    assert.match(frame, /^\u001b\[\?2026h\u001b\[\?25l.*\u001b\[\?25h\u001b\[\?2026l$|^$/s);
});

test("writes only what changed", async () => {
  const { terminal, show } = open();
  show("a long tail of the answer", "status", "> draft");
  await terminal.pass();
  terminal.writes.length = 0;
  show("a long tail of the answer", "status", "> draft");
  await terminal.pass();
  assert.deepEqual(terminal.writes, []);
  show("a long tail of the answer goes on", "status", "> draft");
  await terminal.pass();
  assert.ok(terminal.bytes.includes(" goes on"));
  assert.ok(!terminal.bytes.includes("tail"));
  assert.ok(!terminal.bytes.includes("status"));
});

test("leaves no invisible character of an old row in the new one", async () => {
  const { terminal, show } = open(40, 12);
  for (const mark of ["\u200b", "\u2060", "\u0301"]) {
    show(`e${mark} old`);
    await terminal.pass();
    show("ether");
    await terminal.pass();
    assert.deepEqual(terminal.lines(), ["ether"]);
  }
});

test("writes at most 10 bytes a token at 2,000 tokens a second", async () => {
  const { terminal, screen, show } = open(100, 36);
  await terminal.pass();
  terminal.writes.length = 0;
  const rule = "─".repeat(100);
  const printed: string[] = [];
  let row = "";
  for (let token = 0; token < 4000; token += 1) {
    row += `${["the", "quick", "brown", "fox", "jumps"][token % 5]} `;
    if (row.length > 90) {
      printed.push(row.trimEnd());
      screen.print([row.trimEnd()]);
      row = "";
    }
    show(row, rule, "> draft", rule, `model · ${token} tokens · ${token >> 11} s`);
    if (token % 2 === 0) terminal.clock.advance(1);
    await Promise.resolve();
  }
  await terminal.pass();
  const perToken = terminal.bytes.length / 4000;
  assert.ok(perToken <= 10, `${perToken} bytes`);
  assert.deepEqual(terminal.lines().slice(0, printed.length), printed);
});

test("skips frames while the output is full", async () => {
  const { terminal, screen, show } = open();
  await terminal.pass();
  terminal.isReading = false;
  terminal.writes.length = 0;
  for (let i = 0; i < 100; i += 1) {
    show(`tail ${i}`);
    screen.print([`line ${i}`]);
    await terminal.pass(40);
  }
  assert.equal(terminal.writes.length, 1);
  terminal.isReading = true;
  terminal.drain();
  await terminal.pass();
  assert.equal(terminal.writes.length, 2);
  const printed = Array.from({ length: 100 }, (_, i) => `line ${i}`);
  assert.deepEqual(terminal.lines(), [...printed, "tail 99"]);
});

test("cuts the live area from the top to a third of the window", async () => {
  const { terminal, show } = open(80, 30);
  show(...Array.from({ length: 50 }, (_, i) => `row ${i}`));
  await terminal.pass();
  assert.deepEqual(
    terminal.lines(),
    Array.from({ length: 10 }, (_, i) => `row ${40 + i}`),
  );
});

for (const [from, to] of [
  [200, 80],
  [80, 40],
  [40, 200],
] as const) {
  test(`redraws only the live area from ${from} to ${to} columns in mid-stream`, async () => {
    const { terminal, screen, show } = open(from, 12);
    const printed = Array.from({ length: 40 }, (_, i) => `${i} ${"word ".repeat(i)}`.trim());
    screen.print(printed.slice(0, 20));
    show("tail ".repeat(30), "", "─".repeat(from), "> draft", "─".repeat(from), "status");
    await terminal.pass();
    terminal.writes.length = 0;
    await terminal.resize(to, 12);
    show("tail ".repeat(30), "", "─".repeat(to), "> draft", "─".repeat(to), "status");
    await terminal.pass();
    assert.ok(terminal.bytes.length < 1500, `${terminal.bytes.length} bytes`);
    assert.ok(!terminal.bytes.includes("word"));
    screen.print(printed.slice(20));
    show("> draft", "status");
    await terminal.pass();
    assert.deepEqual(terminal.lines(), [...printed, "> draft", "status"]);
  });
}

test("draws no spaces at the end of a live row: a narrower window would wrap them", async () => {
  const { terminal, show } = open();
  show(`> draft${" ".repeat(73)}`);
  await terminal.pass();
  assert.ok(!terminal.bytes.includes("draft "), terminal.bytes);
});

test("sets the cursor where the live area wants it", async () => {
  const terminal = new TestTerminal(80, 24);
  const live: Live = { lines: ["tail", "> drift", "status"], cursor: { row: 1, column: 4 } };
  openScreen({
    input: terminal.input,
    output: terminal,
    env: {},
    live: () => live,
    onInput: () => {},
    clock: terminal.clock,
  });
  await terminal.pass();
  assert.deepEqual(terminal.cursor(), { row: 1, column: 4 });
});

test("lets no control sequence of a line reach the terminal", async () => {
  const { terminal, screen, show } = open();
  screen.print(["a\u001b[2Jb\u001b[3Jc\u001b[Hd\u0007\u001b[31mred"]);
  show("x\u001b[2Jy\u001b[?1049hz");
  await terminal.pass();
  assert.deepEqual(terminal.lines(), ["a␛[2Jb␛[3Jc␛[Hd␇red", "x␛[2Jy␛[?1049hz"]);
});

test("turns bracketed paste and raw mode on, and off again when it closes", async () => {
  const { terminal, screen } = open();
  await terminal.pass();
  assert.deepEqual(terminal.rawModes, [true]);
  assert.equal(terminal.isBracketed, true);
  screen.print(["last words"]);
  await screen.close();
  await terminal.pass();
  assert.deepEqual(terminal.rawModes, [true, false]);
  assert.equal(terminal.isBracketed, false);
  assert.deepEqual(terminal.lines(), ["last words"]);
  assert.deepEqual(terminal.cursor(), { row: 1, column: 0 });
  assert.equal(terminal.listeners(), 0);
  assert.equal(terminal.clock.timers, 0);
});

test("asks for kitty's keys only where they are known", () => {
  const bytes = (env: Record<string, string>): string => open(80, 24, { env }).terminal.bytes;
  assert.ok(bytes({ TERM: "xterm-kitty" }).includes("\u001b[>1u"));
  assert.ok(bytes({ TMUX: "/tmp/x", TERM: "tmux-256color" }).includes("\u001b[>4;1m"));
  assert.equal(bytes({ TERM: "xterm-256color" }), "\u001b[?2004h");
});

test("returns the text that restores the terminal", async () => {
  const { terminal, screen, show } = open(80, 24, { env: { TERM: "xterm-kitty" } });
  screen.print(["said"]);
  show("tail", "> draft");
  await terminal.pass();
  const text = screen.restore();
  assert.deepEqual(terminal.rawModes, [true, false]);
  await terminal.writeRaw(`${text}Error: it broke\r\n`);
  assert.equal(terminal.isBracketed, false);
  assert.ok(text.includes("\u001b[<u") && text.includes("\u001b[?25h"));
  assert.deepEqual(terminal.lines(), ["said", "Error: it broke"]);
  assert.equal(screen.restore(), "");
});

test("gives the terminal to the shell and takes it back", async () => {
  const { terminal, screen, show } = open();
  screen.print(["said"]);
  show("tail", "> draft");
  await terminal.pass();
  screen.suspend();
  await terminal.pass();
  assert.deepEqual(terminal.kills, ["0 SIGTSTP"]);
  assert.deepEqual(terminal.rawModes, [true, false]);
  assert.equal(terminal.isBracketed, false);
  assert.deepEqual(terminal.lines(), ["said"]);
  screen.print(["said while stopped"]);
  await terminal.writeRaw("[1]+ Stopped\r\n$ fg\r\n");
  terminal.emit("SIGCONT");
  await terminal.pass();
  assert.deepEqual(terminal.rawModes, [true, false, true]);
  assert.equal(terminal.isBracketed, true);
  assert.deepEqual(terminal.lines(), [
    "said",
    "[1]+ Stopped",
    "$ fg",
    "said while stopped",
    "tail",
    "> draft",
  ]);
});

function untilQ(lines: () => string[]): FullView<string> {
  return {
    draw: () => ({ lines: lines() }),
    input: (input) =>
      input.type === "text" && input.text === "q" ? { result: "done" } : undefined,
    plain: { type: "text", lines: [], result: "done" },
  };
}

test("shows a view on the alternate screen and gives the main screen back exactly", async () => {
  const { terminal, screen, inputs, show } = open(80, 10);
  for (let i = 0; i < 30; i += 1) screen.print([`line ${i}`]);
  show("tail", "> draft");
  await terminal.pass();
  const before = terminal.lines();
  const result = screen.full(untilQ(() => ["a view", `${terminal.columns} columns`]));
  await Promise.resolve();
  await terminal.pass();
  assert.equal(terminal.bufferType, "alternate");
  assert.deepEqual(terminal.lines(), ["a view", "80 columns"]);
  await terminal.resize(60, 10);
  screen.print(["printed meanwhile"]);
  await terminal.pass();
  assert.deepEqual(terminal.lines(), ["a view", "60 columns"]);
  terminal.input.write("q");
  terminal.input.write("x\r");
  assert.equal(await result, "done");
  await terminal.pass();
  assert.equal(terminal.bufferType, "normal");
  assert.deepEqual(terminal.lines(), [
    ...before.slice(0, -2),
    "printed meanwhile",
    "tail",
    "> draft",
  ]);
  assert.deepEqual(inputs, [{ type: "text", text: "x" }, key("enter")]);
});

test("shows one view after the other, and ends them without a result when it closes", async () => {
  const { terminal, screen } = open();
  const first = screen.full(untilQ(() => ["first"]));
  const second = screen.full(untilQ(() => ["second"]));
  await Promise.resolve();
  await terminal.pass();
  assert.deepEqual(terminal.lines(), ["first"]);
  terminal.input.write("q");
  assert.equal(await first, "done");
  await new Promise((resolve) => setImmediate(resolve));
  await terminal.pass();
  assert.deepEqual(terminal.lines(), ["second"]);
  await screen.close();
  assert.equal(await second, undefined);
  await terminal.pass();
  assert.equal(terminal.bufferType, "normal");
});

test("tells when the terminal has gone, and writes nothing more", async () => {
  let ends = 0;
  const { terminal, show } = open(80, 24, { onEnd: () => (ends += 1) });
  await terminal.pass();
  terminal.emit("error");
  terminal.emit("error");
  terminal.writes.length = 0;
  show("more");
  await terminal.pass();
  assert.equal(ends, 1);
  assert.deepEqual(terminal.writes, []);
});
