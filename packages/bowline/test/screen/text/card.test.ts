import { describe, it } from "node:test";
import { deepEqual, equal, ok } from "node:assert/strict";
import { approvalLines } from "../../../src/screen/text/approval.ts";
import { cardLines, type CardState, type ToolCard } from "../../../src/screen/text/card.ts";
import { diffLines } from "../../../src/screen/text/diff-lines.ts";
import { textWidth } from "../../../src/screen/width.ts";
import { plain, styled } from "./styles.ts";

const numbers = Array.from({ length: 40 }, (_, index) => `line ${index + 1}\n`).join("");

function card(state: CardState, more: Partial<ToolCard> = {}): ToolCard {
  return { tool: "bash", args: { command: "npm test" }, state, ...more };
}

const draw = (one: ToolCard, columns = 60): string[] => cardLines(one, columns, plain);

describe("cardLines", () => {
  it("says the state of a call in words", () => {
    const states: [CardState, string][] = [
      [{ type: "waiting" }, "waiting for approval"],
      [{ type: "running", ms: 65_000, bytes: 34_567 }, "running · 1 min 5 s · 35 kB"],
      [{ type: "ok", ms: 1234 }, "ok · 1.2 s"],
      [{ type: "failed", ms: 50, reason: "exit code 1" }, "failed · 50 ms · exit code 1"],
      [{ type: "killed", ms: 5000, signal: "SIGTERM" }, "killed after 5.0 s (SIGTERM)"],
      [{ type: "killed", ms: 5000, exitCode: 143 }, "killed after 5.0 s (exit 143)"],
      [{ type: "not-started" }, "not started"],
      [{ type: "denied", reason: "rule bash(rm *)" }, "denied · rule bash(rm *)"],
      [{ type: "unknown" }, "unknown · the program ended before the call did"],
    ];
    for (const [state, words] of states)
      deepEqual(draw(card(state)), ["bash npm test", `  ${words}`]);
  });

  it("shows the last five lines while a command runs, cut to the row", () => {
    const text = `${numbers}${"x".repeat(100)}\n`;
    deepEqual(draw(card({ type: "running", ms: 900, bytes: 400 }, { output: { text } }), 20), [
      "bash npm test",
      "  line 37",
      "  line 38",
      "  line 39",
      "  line 40",
      `  ${"x".repeat(17)}…`,
      "  running · 0.9 s ·",
      "  400 bytes · 36",
      "  lines hidden",
    ]);
  });

  it("folds the output at the end and names the file with all of it", () => {
    const output = { text: numbers, lines: 4000, path: "/tmp/out.txt" };
    equal(
      draw(card({ type: "ok", ms: 1200 }, { output }), 100).at(-1),
      "  ok · 1.2 s · 3995 lines hidden, full output in /tmp/out.txt",
    );
    equal(draw(card({ type: "ok", ms: 1200 }, { output, isUnfolded: true })).length, 42 + 1);
    const read: ToolCard = {
      tool: "read",
      args: { path: "a.ts" },
      state: { type: "ok", ms: 3 },
      output: { text: numbers },
    };
    deepEqual(draw(read), ["read a.ts", "  ok · 3 ms · 40 lines hidden"]);
  });

  it("shows output as a terminal would leave it, without its escapes", () => {
    const text =
      "\u001b[31mred\u001b[0m\r\n10%\r50%\r100%\na\tb  c\n\u001b[2J\u001b]0;t\u0007x\u0008\n";
    deepEqual(draw(card({ type: "ok", ms: 1 }, { output: { text } })).slice(1, -1), [
      "  red",
      "  100%",
      "  a    b  c",
      "  x␈",
    ]);
  });

  it("names the argument that matters, and the others as JSON", () => {
    const title = (tool: string, args: unknown): string | undefined =>
      draw({ tool, args, state: { type: "waiting" } })[0];
    equal(title("grep", { pattern: "a b", path: "src" }), 'grep a b {"path":"src"}');
    equal(title("write", { path: "a", content: "long" }), "write a");
    equal(title("x", { n: 1 }), 'x {"n":1}');
    equal(title("x", [1]), "x [1]");
    equal(title("x", null), "x");
    equal(title("x\u001b[2J", { command: "a\nb\u202e" }), String.raw`x\x1b[2J a\nb\u{202e}`);
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    equal(title("x", cycle), "x (arguments that cannot be shown)");
  });

  it("indents the calls of a sub-agent, with their diffs", () => {
    const nested = card(
      { type: "ok", ms: 5 },
      {
        tool: "edit",
        args: { path: "a" },
        details: (columns) => diffLines("x\n", "y\n", "a", columns, plain),
      },
    );
    const agent: ToolCard = {
      tool: "agent",
      args: { task: "look" },
      state: { type: "running", ms: 1000, bytes: 0 },
      cards: [nested],
    };
    deepEqual(draw(agent), [
      "agent look",
      "  edit a",
      "    Change of a (+1 -1)",
      "    1 - x",
      "    1 + y",
      "    ok · 5 ms",
      "  running · 1.0 s · 0 bytes",
    ]);
  });

  it("stays within 20 columns", () => {
    const deep = [1, 2, 3, 4, 5, 6, 7].reduce<ToolCard>(
      (inner) =>
        card(
          { type: "failed", ms: 1, reason: "a long reason of words" },
          { output: { text: numbers }, cards: [inner] },
        ),
      card({ type: "ok", ms: 1 }, { output: { text: "世界".repeat(40) } }),
    );
    for (const row of cardLines(deep, 20, styled)) ok(textWidth(row) <= 20, row);
  });
});

describe("approvalLines", () => {
  it("shows exactly what will run, why it asks and what would be remembered", () => {
    const rows = approvalLines(
      {
        tool: "bash",
        args: { command: "git  log -1\nrm x\u200b", timeout: 5 },
        reason: "no rule allows rm",
        parts: ["git log -1", "rm x"],
        rules: [{ rule: "bash(rm *)", also: "rm of any file" }],
      },
      60,
      plain,
    );
    deepEqual(rows, [
      "bash asks to run:",
      "  $ git  log -1",
      String.raw`  $ rm x\u{200b}`,
      '    {"timeout":5}',
      "Why it asks: no rule allows rm",
      "Parts: git log -1 | rm x",
      "Would be remembered: bash(rm *)",
      "  also allows: rm of any file",
    ]);
  });

  it("shows a change as a diff, or its texts", () => {
    const args = { path: "a", oldText: "x", newText: "y" };
    const view = { tool: "edit", args, reason: "edit asks" };
    deepEqual(approvalLines(view, 60, plain).slice(1, -1), ["    a", "  - x", "  + y"]);
    const details = (columns: number): string[] => diffLines("x\n", "y\n", "a", columns, plain);
    deepEqual(approvalLines({ ...view, details }, 60, plain).slice(1, -1), [
      "Change of a (+1 -1)",
      "1 - x",
      "1 + y",
    ]);
  });

  it("leaves nothing out of a long command", () => {
    const command = "echo 0123456789 ".repeat(300).trim();
    const rows = approvalLines({ tool: "bash", args: { command }, reason: "r" }, 40, plain);
    const shown = rows
      .slice(1, -1)
      .map((row) => row.replace(/^ {2}\$ | {4}↪ /, ""))
      .join("");
    equal(shown, command);
  });
});
