import assert from "node:assert/strict";
import { test } from "node:test";
import type { Live } from "../../src/screen/live.ts";
import { openScreen } from "../../src/screen/screen.ts";
import { TestTerminal } from "./test-terminal.ts";

interface Opened {
  readonly terminal: TestTerminal;
  /** Shows one more row of an answer. */
  readonly stream: () => void;
}

async function open(env: Record<string, string> = {}): Promise<Opened> {
  const terminal = new TestTerminal(120, 36);
  let typed = "";
  let row = 0;
  const live = (): Live => ({ lines: [`row ${row}`, `> ${typed}`] });
  const screen = openScreen({
    input: terminal.input,
    output: terminal,
    env,
    live,
    onInput: (input) => {
      if (input.type === "text") typed += input.text;
      screen.invalidate();
    },
    clock: terminal.clock,
  });
  await terminal.pass();
  terminal.writes.length = 0;
  const stream = (): void => {
    row += 1;
    screen.invalidate();
  };
  return { terminal, stream };
}

test("shows a key within 10 ms, whether a frame was just drawn or is due later", async () => {
  const { terminal, stream } = await open();
  for (const [at, letter] of [...Array(33).keys()].map(
    (ms) => [ms, "абвг"[ms % 4] ?? ""] as const,
  )) {
    stream();
    await terminal.pass(34); // the frame is drawn in it
    stream();
    await terminal.pass(at);
    terminal.writes.length = 0;
    terminal.input.write(letter);
    await new Promise(setImmediate);
    await terminal.pass(10);
    assert.ok(terminal.bytes.includes(letter), `not shown ${at} ms after a frame`);
  }
});

test("draws at most 30 frames a second besides those for keys", async () => {
  const { terminal, stream } = await open();
  for (let ms = 0; ms < 1000; ms += 1) {
    stream();
    if (ms === 500) {
      terminal.input.write("x");
      await new Promise(setImmediate);
    }
    await terminal.pass(1);
  }
  const frames = terminal.writes.filter((text) => text !== "").length;
  assert.ok(frames >= 25 && frames <= 32, `${frames} frames`);
});

for (const [name, env, holdMs] of [
  ["a terminal", {}, 100],
  ["tmux, which reports some resizes 250 ms late", { TMUX: "/tmp/tmux-0/default" }, 300],
  ["tmux on another machine", { TERM: "tmux-256color" }, 300],
] as const)
  test(`draws nothing for ${holdMs} ms after each resize of ${name}`, async () => {
    const { terminal, stream } = await open(env);
    for (let count = 0; count < 5; count += 1) {
      await terminal.resize(80 + count, 36);
      for (let ms = 0; ms < holdMs - 1; ms += 1) {
        stream();
        await terminal.pass(1);
      }
      assert.equal(terminal.bytes, "", `after resize ${count + 1}`);
    }
    await terminal.pass(1);
    assert.match(terminal.bytes, /row/);
  });

test("draws now and then while a window never stops changing", async () => {
  const { terminal, stream } = await open();
  for (let count = 0; count < 130; count += 1) {
    await terminal.resize(80 + (count % 9), 36);
    stream();
    await terminal.pass(50);
  }
  const frames = terminal.writes.filter((text) => text !== "").length;
  assert.equal(frames, 1, "6.5 s have one interval of 5 s");
});

test("erases the live rows again after a window was narrow and is as wide as before", async () => {
  const { terminal, stream } = await open();
  await terminal.resize(60, 36);
  await terminal.resize(120, 36);
  stream();
  await terminal.pass(100);
  assert.ok(terminal.bytes.includes("\u001b[J"), JSON.stringify(terminal.bytes));
  assert.deepEqual(terminal.lines(), ["row 1", ">"]);
});
