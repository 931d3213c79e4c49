import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { InputDecoder, type Input } from "../../src/screen/input.ts";
import { key } from "../../src/screen/keys.ts";
import { ManualClock } from "./manual-clock.ts";
import { cpuMs } from "../../../../test/support/cpu-time.ts";
import { sweep } from "../../../../test/support/sweep.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Decodes the chunks as they come, and flushes at the end. */
function decode(...chunks: (string | Uint8Array)[]): Input[] {
  const inputs: Input[] = [];
  const decoder = new InputDecoder((input) => inputs.push(input), { clock: new ManualClock() });
  for (const chunk of chunks) decoder.feed(typeof chunk === "string" ? bytes(chunk) : chunk);
  decoder.flush();
  return inputs;
}

/** Joins neighbouring texts: their cut depends on the reads. */
function joined(inputs: readonly Input[]): Input[] {
  const result: Input[] = [];
  for (const input of inputs) {
    const last = result.at(-1);
    if (input.type === "text" && last?.type === "text")
      result[result.length - 1] = { type: "text", text: last.text + input.text };
    else result.push(input);
  }
  return result;
}

const typed = (text: string): Input => ({ type: "text", text });

const keys: readonly (readonly [string, Input])[] = [
  ["\r", key("enter")],
  ["\n", key("j", { ctrl: true })],
  ["\t", key("tab")],
  ["\u007f", key("backspace")],
  ["\b", key("backspace")],
  ["\u0000", key("space", { ctrl: true })],
  ["\u0003", key("c", { ctrl: true })],
  ["\u001a", key("z", { ctrl: true })],
  ["\u001f", key("_", { ctrl: true })],
  ["\u001b[A", key("up")],
  ["\u001bOA", key("up")],
  ["\u001b[1;5D", key("left", { ctrl: true })],
  ["\u001b[1;3C", key("right", { alt: true })],
  ["\u001b\u001b[D", key("left", { alt: true })],
  ["\u001b\u001bOD", key("left", { alt: true })],
  ["\u001b[H", key("home")],
  ["\u001b[4~", key("end")],
  ["\u001b[3~", key("delete")],
  ["\u001b[5~", key("pageUp")],
  ["\u001b[6;5~", key("pageDown", { ctrl: true })],
  ["\u001b[2~", key("insert")],
  ["\u001bOP", key("f1")],
  ["\u001b[1;2R", key("f3", { shift: true })],
  ["\u001b[[E", key("f5")],
  ["\u001b[15~", key("f5")],
  ["\u001b[24~", key("f12")],
  ["\u001b[Z", key("tab", { shift: true })],
  ["\u001bb", key("b", { alt: true })],
  ["\u001bB", key("b", { alt: true, shift: true })],
  ["\u001b\r", key("enter", { alt: true })],
  ["\u001b\u007f", key("backspace", { alt: true })],
  ["\u001bé", key("é", { alt: true })],
  ["\u001b[13;2u", key("enter", { shift: true })],
  ["\u001b[13;5u", key("enter", { ctrl: true })],
  ["\u001b[27;2;13~", key("enter", { shift: true })],
  ["\u001b[27;5;13~", key("enter", { ctrl: true })],
  ["\u001b[27u", key("escape")],
  ["\u001b[99;5u", key("c", { ctrl: true })],
  ["\u001b[99:67:99;6u", key("c", { ctrl: true, shift: true })],
  ["\u001b[97;2u", typed("A")],
  ["\u001b[50:34;2u", typed('"')],
  ["\u001b[57400u", typed("1")],
  ["\u001b[57414u", key("enter")],
  ["\u001bOM", key("enter")],
  ["\u001bOk", typed("+")],
];

for (const [sequence, input] of keys) {
  test(`decodes ${JSON.stringify(sequence)}`, () => {
    assert.deepEqual(decode(sequence), [input]);
    assert.deepEqual(decode("a", sequence, "b"), [typed("a"), input, typed("b")]);
  });
}

const silent: readonly (readonly [string, string])[] = [
  ["a key's release", "\u001b[97;1:3u"],
  ["Caps Lock in kitty's protocol", "\u001b[57358u"],
  ["a cursor position", "\u001b[12;40R"],
  ["a focus report", "\u001b[I"],
  ["device attributes", "\u001b[?62;22c"],
  ["a background colour", "\u001b]11;rgb:0000/0000/0000\u001b\\"],
  ["a string that BEL ends", "\u001b]11;rgb:0000/0000/0000\u0007"],
  ["a version answer", "\u001bP>|xterm(380)\u001b\\"],
  ["the end of a paste that never began", "\u001b[201~"],
  ["a cursor key that is cut off", "\u001b[1;5"],
];

for (const [name, sequence] of silent) {
  test(`gives no input for ${name}`, () => assert.deepEqual(decode(sequence), []));
}

test("takes two ESC in one read as two keys", () => {
  assert.deepEqual(decode("\u001b\u001b"), [key("escape"), key("escape")]);
  assert.deepEqual(decode("\u001b\u001bx"), [key("escape"), key("x", { alt: true })]);
  assert.deepEqual(decode("\u001b\u001b\u001b"), [key("escape"), key("escape"), key("escape")]);
});

test("gives an ESC alone its meaning after the waiting time", () => {
  const clock = new ManualClock();
  const inputs: Input[] = [];
  const decoder = new InputDecoder((input) => inputs.push(input), { clock, escapeMs: 50 });
  decoder.feed(bytes("\u001b"));
  clock.advance(49);
  assert.deepEqual(inputs, []);
  clock.advance(1);
  assert.deepEqual(inputs, [key("escape")]);
  decoder.feed(bytes("\u001b"));
  decoder.feed(bytes("[A"));
  clock.advance(100);
  assert.deepEqual(inputs, [key("escape"), key("up")]);
});

test("joins the bytes of a character that two reads cut", () => {
  const smile = bytes("😀");
  assert.deepEqual(decode(smile.slice(0, 2), smile.slice(2)), [typed("😀")]);
  const alt = bytes("\u001bé");
  assert.deepEqual(decode(alt.slice(0, 2), alt.slice(2)), [key("é", { alt: true })]);
});

test("leaves C1 control characters out of typed text", () => {
  assert.deepEqual(decode("a\u009bb"), [typed("ab")]);
});

test("gives a paste as one input with line feeds", () => {
  assert.deepEqual(decode("\u001b[200~one\rtwo\r\nthree\u001b[201~\r"), [
    { type: "paste", text: "one\ntwo\nthree" },
    key("enter"),
  ]);
});

test("ends a paste at its end marker only", () => {
  const content =
    "\u001b[201\u001b[20\u001b[2\u001b[200~\u001b[201 ~\u0003\u0004\u001b\u001b[A\u0000";
  assert.deepEqual(decode(`\u001b[200~${content}\u001b[201~`), [{ type: "paste", text: content }]);
});

const anyPiece = fc.oneof(
  fc.constantFrom(...keys.map(([sequence]) => sequence), ...silent.slice(0, -1).map((s) => s[1])),
  fc.constantFrom(
    "\u001b",
    "\u001b[",
    "\u001bO",
    "\u001b]",
    "\u001b[200~",
    "\u001b[201~",
    "[",
    "~",
  ),
  fc.string({ unit: "binary", maxLength: 6 }),
);
const stream = fc.array(anyPiece, { maxLength: 20 }).map((all) => bytes(all.join("")));

test("gives the same inputs however the bytes are cut", () => {
  fc.assert(
    fc.property(stream, fc.array(fc.nat(), { maxLength: 30 }), (all, cuts) => {
      const places = cuts.map((cut) => cut % (all.length + 1)).toSorted((a, b) => a - b);
      const chunks = [0, ...places].map((from, i) => all.slice(from, places[i] ?? all.length));
      assert.deepEqual(joined(decode(...chunks)), joined(decode(all)));
      const single = Array.from(all, (byte) => Uint8Array.of(byte));
      assert.deepEqual(joined(decode(...single)), joined(decode(all)));
    }),
    { numRuns: sweep({ long: 2000, short: 500 }) },
  );
});

test("makes no byte of a paste a key, and loses none", () => {
  const content = fc
    .array(anyPiece, { maxLength: 20 })
    .map((all) => all.join("").replaceAll("\u001b[201~", "").replaceAll("\r", "\n"))
    .filter((text) => !`${text}\u001b[201~`.slice(0, -1).includes("\u001b[201~"));
  fc.assert(
    fc.property(content, fc.nat(), (text, cut) => {
      const all = bytes(`\u001b[200~${text}\u001b[201~x`);
      const place = cut % all.length;
      const expected = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes(text));
      assert.deepEqual(decode(all.slice(0, place), all.slice(place)), [
        { type: "paste", text: expected },
        typed("x"),
      ]);
    }),
    { numRuns: sweep({ long: 1000, short: 250 }) },
  );
});

test("decodes a paste of 10,000 lines in less than 100 ms", () => {
  const line = "the quick brown fox jumps over the laz.";
  const text = Array.from({ length: 10_000 }, () => line).join("\n");
  const all = bytes(`\u001b[200~${text.replaceAll("\n", "\r")}\u001b[201~`);
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < all.length; at += 1024) chunks.push(all.slice(at, at + 1024));
  const start = cpuMs();
  const inputs = decode(...chunks);
  const took = cpuMs() - start;
  assert.deepEqual(inputs, [{ type: "paste", text }]);
  assert.ok(took < 100, `${took} ms`);
});

test("bounds a paste and says that its end is missing", () => {
  const inputs: Input[] = [];
  const clock = new ManualClock();
  const decoder = new InputDecoder((input) => inputs.push(input), { clock, maxPaste: 10 });
  decoder.feed(bytes("\u001b[200~0123456"));
  for (let i = 0; i < 1000; i += 1) decoder.feed(bytes("789abc"));
  decoder.feed(bytes("\u001b[201~"));
  assert.deepEqual(inputs, [{ type: "paste", text: "0123456789", isCut: true }]);
});

test("lets Ctrl-C alone end a paste that has been silent for a second", () => {
  const inputs: Input[] = [];
  const clock = new ManualClock();
  const decoder = new InputDecoder((input) => inputs.push(input), { clock });
  decoder.feed(bytes("\u001b[200~abc"));
  clock.advance(999);
  decoder.feed(bytes("\u0003"));
  assert.deepEqual(inputs, []);
  clock.advance(1000);
  decoder.feed(bytes("\u0003"));
  decoder.feed(bytes("d"));
  assert.deepEqual(inputs, [{ type: "paste", text: "abc\u0003", isCut: true }, typed("d")]);
});

test("gives nothing after close, and sets no timer", () => {
  const inputs: Input[] = [];
  const clock = new ManualClock();
  const decoder = new InputDecoder((input) => inputs.push(input), { clock });
  decoder.feed(bytes("\u001b[200~abc"));
  decoder.close();
  decoder.feed(bytes("\u001b[201~x\u001b"));
  clock.advance(100);
  assert.deepEqual(inputs, []);
  assert.equal(clock.timers, 0);
});
