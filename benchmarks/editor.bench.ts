/**
 * Measures one key and its drawing in a long draft, with the completion menu and without. A key must
 * take less than a frame, 16 ms, for typing to feel immediate. The times are CPU times, since other
 * work of the machine would show in the slowest.
 */
import { systemClock } from "@bowline/core";
import { Editor } from "../packages/bowline/src/screen/editor/editor.ts";
import { FileCompletions } from "../packages/bowline/src/screen/editor/file-completions.ts";
import { History } from "../packages/bowline/src/screen/editor/history.ts";
import { key, type Key } from "../packages/bowline/src/screen/keys.ts";
import { median } from "./median.ts";

const ROUNDS = 40;
const LIMIT_MS = 16;

const drafts: Readonly<Record<string, string>> = {
  "10,000 lines": "a line of forty characters, more or less\n".repeat(10_000),
  "10,000 lines of Han": `${"漢字かな交じり文".repeat(3)}\n`.repeat(10_000),
  "one line of 400,000 characters": "word ".repeat(80_000),
  "one line of 20,000 Han": "漢".repeat(20_000),
  "one line of 2,000 joined emoji": "👨‍👩‍👧".repeat(2000),
};
const keys: Readonly<Record<string, readonly (Key | string)[]>> = {
  "at the end": [key("end", { ctrl: true }), "x"],
  "in the middle": [key("up"), "x", key("backspace")],
  "up and down": [key("up"), key("up"), key("down")],
  "kill, yank, undo": [
    key("w", { ctrl: true }),
    key("y", { ctrl: true }),
    key("_", { ctrl: true }),
  ],
};

/** Returns the CPU times of single keys with their drawings, in milliseconds. */
function timesOf(editor: Editor, sequence: readonly (Key | string)[]): number[] {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const next = sequence[round % sequence.length] ?? "x";
    const before = process.cpuUsage();
    editor.input(typeof next === "string" ? { type: "text", text: next } : next);
    editor.draw(80, 12);
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / 1000);
  }
  return times;
}

function report(what: string, times: readonly number[]): void {
  const worst = times.toSorted((a, b) => b - a)[Math.floor(times.length / 100)] ?? 0;
  const verdict = worst < LIMIT_MS ? "" : "  more than a frame";
  console.log(
    `${what.padEnd(52)} median ${median([...times]).toFixed(2)} ms, 99 % ${worst.toFixed(2)} ms${verdict}`,
  );
}

const history = new History({ project: "/", clock: systemClock });
for (const [name, text] of Object.entries(drafts)) {
  for (const [what, sequence] of Object.entries(keys)) {
    const editor = new Editor({ history });
    editor.set(text);
    report(`${name}, ${what}`, timesOf(editor, sequence));
  }
}

const files = new FileCompletions({
  walk: async function* () {
    for (let start = 0; start < 50_000; start += 500)
      yield Array.from({ length: 500 }, (_, index) => `src/folder-${start}/file-${index}.ts`);
  },
  clock: systemClock,
  signal: new AbortController().signal,
});
await new Promise<void>((resolve) => {
  files.open(() => files.find("", 1).isListing || resolve());
});
const editor = new Editor({ history, completions: [files] });
editor.input({ type: "text", text: "@" });
report(
  "@ among 50,000 files",
  timesOf(editor, ["f", "i", "9", key("backspace"), key("backspace"), key("backspace")]),
);
