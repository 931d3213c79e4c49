import assert from "node:assert/strict";
import { test } from "node:test";
import type { Input } from "../../src/screen/input.ts";
import { key } from "../../src/screen/keys.ts";
import type { Screen, ScreenOptions } from "../../src/screen/live.ts";
import { page } from "../../src/screen/pager.ts";
import { pickOne } from "../../src/screen/picker.ts";
import { openScreen } from "../../src/screen/screen.ts";
import { TestTerminal } from "./test-terminal.ts";

interface Opened {
  readonly terminal: TestTerminal;
  readonly screen: Screen;
  readonly inputs: Input[];
}

function open(options: Partial<ScreenOptions> = {}): Opened {
  const terminal = new TestTerminal(80, 24);
  const inputs: Input[] = [];
  const screen = openScreen({
    input: terminal.input,
    output: terminal,
    env: { TERM: "dumb" },
    live: () => ({ lines: ["a live area"] }),
    onInput: (input) => inputs.push(input),
    signals: terminal,
    clock: terminal.clock,
    ...options,
  });
  return { terminal, screen, inputs };
}

async function type(terminal: TestTerminal, text: string): Promise<void> {
  terminal.input.write(text);
  await new Promise((resolve) => setImmediate(resolve));
  await terminal.pass(40);
}

test("is plain on a dumb terminal, by the setting, and for an output that is no terminal", () => {
  const output = Object.assign(new TestTerminal(80, 24), { isTTY: false });
  assert.equal(open().screen.isPlain, true);
  assert.equal(open({ env: {} }).screen.isPlain, false);
  assert.equal(open({ env: {}, output }).screen.isPlain, true);
  const { terminal } = open();
  const options = { input: terminal.input, output: terminal, env: {} };
  const screen = openScreen({ ...options, live: () => ({ lines: [] }), onInput: () => {} }, true);
  assert.equal(screen.isPlain, true);
});

test("appends lines and changes of state, and writes no control character", async () => {
  let state = "";
  const { terminal, screen } = open({ state: () => state });
  screen.print(["one", "two\nthree", "\u001b[2Jfour"]);
  state = "waiting for the model";
  screen.invalidate();
  screen.invalidate();
  await terminal.pass(400);
  state = "running bash";
  screen.invalidate();
  state = "waiting for the model";
  await terminal.pass(400);
  screen.print(["five"]);
  assert.equal(terminal.bytes, "one\ntwo\nthree\n␛[2Jfour\nwaiting for the model\nfive\n");
  assert.deepEqual(terminal.rawModes, []);
});

test("takes a typed line as text and Enter, and lines that come together as one paste", async () => {
  const { terminal, inputs } = open();
  await type(terminal, "hello\n");
  await type(terminal, "\n");
  await type(terminal, "one\ntwo\n");
  assert.deepEqual(inputs, [
    { type: "text", text: "hello" },
    key("enter"),
    key("enter"),
    { type: "paste", text: "one\ntwo" },
    key("enter"),
  ]);
});

test("takes Ctrl-C as a key, and the end of the input as the end", async () => {
  let ends = 0;
  const { terminal, inputs } = open({ onEnd: () => (ends += 1) });
  terminal.emit("SIGINT");
  terminal.input.end("last");
  await new Promise((resolve) => setImmediate(resolve));
  await terminal.pass();
  assert.deepEqual(inputs, [
    key("c", { ctrl: true }),
    { type: "text", text: "last" },
    key("enter"),
  ]);
  assert.equal(ends, 1);
  assert.equal(terminal.listeners(), 0);
});

test("asks for a number instead of showing a picker", async () => {
  const { terminal, screen, inputs } = open();
  const items = [
    { label: "opus", detail: "large", value: "o" },
    { label: "haiku", value: "h" },
  ];
  const result = pickOne(screen, { title: "Choose a model", items, filter: true });
  await new Promise((resolve) => setImmediate(resolve));
  await type(terminal, "three\n");
  await type(terminal, "2\n");
  assert.equal(await result, "h");
  assert.deepEqual(inputs, []);
  assert.equal(
    terminal.bytes,
    "Choose a model\n1. opus - large\n2. haiku\n" +
      'Type a number and Enter. Enter alone takes none.\n"three" is no number from 1 to 2.\n',
  );
});

test("answers no question with a line that came before it", async () => {
  const { terminal, screen, inputs } = open();
  const items = [{ label: "opus", value: "o" }];
  terminal.input.write("1\n");
  await new Promise((resolve) => setImmediate(resolve)); // the line has come, and may be a paste
  let result: unknown = "open";
  const asked = pickOne(screen, { title: "Choose", items, filter: false });
  void asked.then((value) => (result = value));
  await type(terminal, "");
  assert.equal(result, "open");
  assert.deepEqual(
    inputs.map((input) => input.type),
    ["text", "key"],
  );
  await type(terminal, "1\n");
  assert.equal(await asked, "o");
});

test("takes nothing when a question is left by Ctrl-C or by closing", async () => {
  const { terminal, screen, inputs } = open();
  const items = [{ label: "opus", value: "o" }];
  const first = pickOne(screen, { title: "Choose", items, filter: false });
  await new Promise((resolve) => setImmediate(resolve));
  terminal.emit("SIGINT");
  assert.equal(await first, undefined);
  const second = pickOne(screen, { title: "Choose", items, filter: false });
  await new Promise((resolve) => setImmediate(resolve));
  await screen.close();
  assert.equal(await second, undefined);
  assert.deepEqual(inputs, []);
});

test("prints what a pager would show", async () => {
  const { terminal, screen } = open();
  await page(screen, "Output", ["one", "two"]);
  assert.equal(terminal.bytes, "Output\none\ntwo\n");
});
