import { describe, it } from "node:test";
import { deepEqual, ok } from "node:assert/strict";
import { colours } from "../../../src/screen/colours.ts";
import { openScreen } from "../../../src/screen/screen.ts";
import { MarkdownStream } from "../../../src/screen/text/markdown-stream.ts";
import { joinSoftRows } from "../../../src/screen/text/soft-rows.ts";
import { TestTerminal } from "../test-terminal.ts";

const env = { TERM: "xterm-kitty" };
const code = 'const greeting = "Hello 你好, this line is longer than the window"; // of the test';

describe("a text on the screen", () => {
  it("is copied from the terminal as it was written, also where code wraps", async () => {
    const terminal = new TestTerminal(30, 12);
    const stream = new MarkdownStream({
      colours: colours(terminal, env),
      columns: () => terminal.columns,
      linkStyle: "osc8",
    });
    const screen = openScreen({
      input: terminal.input,
      output: terminal,
      env,
      live: (_columns, maxRows) => ({ lines: [...stream.tail(maxRows - 1), "> "] }),
      onInput: () => undefined,
      signals: terminal,
      clock: terminal.clock,
    });
    const text = `# Title\n\nA [link](https://x.org/).\n\n\`\`\`ts\n${code}\nshort();\n\`\`\`\n\n- [x] done\n`;
    for (const part of text.match(/[^]{1,5}/g) ?? []) {
      screen.print(joinSoftRows(stream.push(part)));
      screen.invalidate();
      await terminal.pass();
    }
    screen.print(joinSoftRows(stream.end()));
    screen.invalidate();
    await terminal.pass();
    const lines = [
      "# Title",
      "",
      "A link.",
      "",
      "```ts",
      code,
      "short();",
      "```",
      "",
      "- [x] done",
      ">",
    ];
    deepEqual(
      terminal.lines().map((line) => line.trimEnd()),
      lines,
    );
    ok(terminal.bytes.includes("\u001b[7m"));
    await screen.close();
  });
});
