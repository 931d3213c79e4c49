import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Size } from "../../src/screen/frame.ts";
import type { Live } from "../../src/screen/live.ts";
import { openScreen } from "../../src/screen/screen.ts";
import { textWidth } from "../../src/screen/width.ts";
import { TestTerminal } from "./test-terminal.ts";

type Step =
  | { readonly do: "print"; readonly lines: readonly string[] }
  | { readonly do: "live"; readonly lines: readonly string[]; readonly place: number }
  | { readonly do: "promote"; readonly count: number }
  | { readonly do: "resize"; readonly columns: number; readonly rows: number }
  | { readonly do: "pass" };

const latin = fc.stringMatching(/^[a-z]{1,12}$/);
/** Characters of the same width everywhere. */
const sure = fc.oneof(
  { weight: 5, arbitrary: latin },
  fc.constantFrom("日本語", "é", "…", "│", "한국"),
);
/** Terminals disagree on the width of these. */
const word = fc.oneof(
  { weight: 5, arbitrary: sure },
  fc.constantFrom("e\u0301", "👍", "👩‍👩‍👧", "🇩🇪", "1️⃣", "❤️", "e\u200b"),
);
const paint = fc.constantFrom("", "\u001b[31m", "\u001b[1;4m", "\u001b[38;5;9m");
const lineOf = (words: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(paint, fc.array(words, { minLength: 1, maxLength: 30 }))
    .map(([style, all]) => `${style}${all.join(" ")}${style === "" ? "" : "\u001b[0m"}`);
const columns = fc.integer({ min: 20, max: 200 });
/** A lower window cannot hold the live area of a higher one. */
const size = { columns, rows: fc.integer({ min: 12, max: 40 }) };
const anySize = { columns, rows: fc.integer({ min: 3, max: 40 }) };

const stepOf = (liveWords: fc.Arbitrary<string>): fc.Arbitrary<Step> =>
  fc.oneof(
    fc.record({
      do: fc.constant("print" as const),
      lines: fc.array(lineOf(word), { maxLength: 4 }),
    }),
    fc.record({
      do: fc.constant("live" as const),
      lines: fc.array(fc.oneof(lineOf(liveWords), fc.constant("")), { maxLength: 9 }),
      place: fc.nat(),
    }),
    fc.record({ do: fc.constant("promote" as const), count: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ do: fc.constant("pass" as const) }),
  );
const resize: fc.Arbitrary<Step> = fc.record({ do: fc.constant("resize" as const), ...size });

interface Seen {
  readonly terminal: TestTerminal;
  readonly printed: string[];
  readonly live: Live;
  /** Every live row so far. */
  readonly liveRows: ReadonlySet<string>;
  /** True if a resize wrapped the live rows into more than the window holds. */
  readonly hasSpilled: boolean;
}

async function perform(
  terminal: TestTerminal,
  steps: readonly Step[],
  env: Record<string, string>,
): Promise<Seen> {
  let live: Live = { lines: ["> "] };
  const printed: string[] = [];
  const liveRows = new Set<string>();
  let hasSpilled = false;
  /** The number of printed lines above the live area on the terminal. */
  let above = 0;
  const pass = async (): Promise<void> => {
    screen.invalidate();
    for (const row of live.lines) liveRows.add(row);
    await terminal.pass();
    above = printed.length;
  };
  const screen = openScreen({
    input: terminal.input,
    output: terminal,
    env,
    live: () => live,
    onInput: () => {},
    clock: terminal.clock,
  });
  const print = (lines: readonly string[]): void => {
    printed.push(...lines);
    screen.print(lines);
  };
  for (const one of steps) {
    if (one.do === "print") print(one.lines);
    else if (one.do === "live") live = liveOf(one.lines, one.place);
    else if (one.do === "promote") {
      print(live.lines.slice(0, one.count));
      live = { lines: [...live.lines.slice(one.count), "> draft"] };
    } else if (one.do === "resize") {
      await terminal.resize(one.columns, one.rows);
      hasSpilled ||= terminal.isScrolledOff(above);
    }
    screen.invalidate();
    if (one.do === "pass" || one.do === "resize") await pass();
  }
  live = { lines: ["the last", "live area"] };
  await pass();
  return { terminal, printed, live, liveRows, hasSpilled };
}

function liveOf(lines: readonly string[], place: number): Live {
  if (lines.length === 0) return { lines };
  const row = place % lines.length;
  const column = Math.min(textWidth(lines[row] ?? ""), place % 200);
  return { lines, cursor: { row, column } };
}

/** Text as xterm shows it: trailing spaces are not compared. */
const shown = (text: string): string => text.replace(/\u001b\[[\d;]*m/g, "").trimEnd();

const trimmed = (lines: readonly string[]): string[] => lines.map((text) => text.trimEnd());

/** Fails if a wanted line is missing. Returns the lines that are not wanted. */
function othersIn(lines: readonly string[], wanted: readonly string[]): string[] {
  let found = 0;
  const others: string[] = [];
  for (const text of lines) {
    if (text === wanted[found]) found += 1;
    else others.push(text);
  }
  assert.equal(found, wanted.length, `lost ${wanted[found]}`);
  return others;
}

const runs = { numRuns: Number(process.env.BOWLINE_SCREEN_RUNS ?? 60) };

test("keeps every printed line once and in order below random frames", async () => {
  const steps = fc.array(stepOf(word), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(fc.record(anySize), steps, async (window, all) => {
      const terminal = new TestTerminal(window.columns, window.rows);
      const { printed, live } = await perform(terminal, all, { TERM_PROGRAM: "vscode" });
      assert.deepEqual(trimmed(terminal.lines()), [...printed.map(shown), ...live.lines]);
    }),
    runs,
  );
});

const wide = "word ".repeat(18).trim();
/** Seven rows of 89 columns, which 20 columns wrap into 35 rows. */
const spilling: [Size, Step[]] = [
  { columns: 100, rows: 24 },
  [
    { do: "print", lines: ["a line"] },
    { do: "live", lines: ["", ...Array.from({ length: 7 }, () => wide)], place: 7 },
    { do: "pass" },
    { do: "resize", columns: 20, rows: 12 },
    { do: "print", lines: ["another line"] },
  ],
];

test("neither loses nor copies a line when the window changes at random", async () => {
  const steps = fc.array(fc.oneof({ weight: 5, arbitrary: stepOf(sure) }, resize), {
    maxLength: 40,
  });
  await fc.assert(
    fc.asyncProperty(fc.record(size), steps, async (window, all) => {
      const terminal = new TestTerminal(window.columns, window.rows);
      const seen = await perform(terminal, all, { TERM_PROGRAM: "vscode" });
      const lines = trimmed(terminal.lines());
      const wanted = [...seen.printed.map(shown), ...seen.live.lines];
      if (!seen.hasSpilled) return assert.deepEqual(lines, wanted);
      // No program can erase what a terminal has pushed into its scrollback.
      const liveRows = [...seen.liveRows].map(shown);
      for (const text of othersIn(lines, wanted))
        assert.ok(
          liveRows.some((row) => row.includes(text)),
          `${text} is no live row`,
        );
    }),
    { ...runs, examples: [spilling] },
  );
});

test("loses no line when the window changes and the width of live rows is uncertain", async () => {
  const steps = fc.array(fc.oneof({ weight: 5, arbitrary: stepOf(word) }, resize), {
    maxLength: 40,
  });
  await fc.assert(
    fc.asyncProperty(fc.record(size), steps, async (window, all) => {
      const terminal = new TestTerminal(window.columns, window.rows);
      const { printed, live } = await perform(terminal, all, { TERM_PROGRAM: "vscode" });
      othersIn(trimmed(terminal.lines()), [...printed.map(shown), ...live.lines]);
    }),
    runs,
  );
});
