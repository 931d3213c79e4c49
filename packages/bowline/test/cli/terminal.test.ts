/** Attacks on a terminal user by a model or a server, and accidental key presses. */
import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { describe, it } from "node:test";
import type { BeforeToolCallContext } from "@bowline/core";
import { createApprover } from "../../src/cli/approve.ts";
import { ask } from "../../src/cli/ask.ts";
import { styleFor } from "../../src/terminal.ts";
import { chatText, loopback } from "../../../../test/support/loopback.ts";
import { bowline } from "../command.ts";

const hostile = "\u001b]0;title\u0007\u001b[2J\u009b31m\u202e";

/** Characters that a terminal does not simply print. */
const steers = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

/** Returns the text above the question about a call, which is then denied. */
async function asked(
  name: string,
  args: object,
  size: { columns?: number; rows?: number } = {},
): Promise<string> {
  const [input, output] = [new PassThrough(), Object.assign(new PassThrough(), size)];
  let shown = "";
  output.setEncoding("utf8").on("data", (text: string) => {
    shown += text;
    if (text.includes("Allow?")) input.write("n\n");
  });
  const style = styleFor({ write: () => {} }, {});
  const approve = createApprover({
    yes: false,
    style,
    onInterrupt: () => {},
    terminal: { input, output },
  });
  const context = { toolCall: { type: "toolCall", id: "1", name, arguments: {} }, args };
  assert.equal((await approve(context as unknown as BeforeToolCallContext))?.block, true);
  return shown.split("\u001b[1G")[0] ?? "";
}

describe("a question at the terminal", () => {
  it("shows a path on one line, so that no part of it looks like the content", async () => {
    const path = "notes.txt\n  + see /../.git/hooks/pre-commit";
    const shown = await asked("write", { path, content: "hello" });
    assert.equal(
      shown,
      "\nwrite wants to write a file:\n  notes.txt\\n  + see /../.git/hooks/pre-commit\n  + hello\n" +
        "  The path cannot be judged: it is missing, has .. or is outside the working directory." +
        " write(**/bowline.json) (built in) may apply to a part of it.\n",
    );
  });

  it("escapes invisible characters, and keeps lines and tabs", async () => {
    const shown = await asked("bash", {
      command: "a\u200bb\u3164c\ufe0fd\u{e0041}\u2800e\u202e\r\n\tf",
      timeout: 3,
    });
    assert.equal(
      shown,
      '\nbash wants to run:\n  $ a\\u{200b}b\\u{3164}c\\u{fe0f}d\\u{e0041}\\u{2800}e\\u{202e}\\r\n  $ \tf\n  {"timeout":3}\n' +
        '  The command cannot be judged: it has a character that could be read differently: "\\u{200b}b\\u{3164}c\\u{fe0f}d\\u{e0041}\\u{2800}e\\u{202e}\\r\\n\\tf".\n',
    );
  });

  it("states the length of a long call, because its beginning may have scrolled away", async () => {
    const note = /^These are (\d+) lines\. Scroll up to read the first ones\.$/m;
    const command = `rm -rf ~${"\n".repeat(50)}echo done`;
    assert.equal(note.exec(await asked("bash", { command }))?.[1], "51");
    assert.equal(note.exec(await asked("bash", { command: "x ".repeat(2000) }))?.[1], "51");
    assert.doesNotMatch(await asked("bash", { command: "ls\nls" }), note);
  });

  it("measures small terminals and double-width characters", async () => {
    const note = /Scroll up to read the first ones/;
    const command = "ls\n".repeat(11);
    assert.doesNotMatch(await asked("bash", { command }), note);
    assert.match(await asked("bash", { command }, { columns: 40, rows: 10 }), note);
    assert.match(
      await asked("bash", { command: "x".repeat(1000) }, { columns: 40, rows: 24 }),
      note,
    );
    assert.match(await asked("bash", { command: "\u6f22".repeat(1000) }), note);
  });

  it("ignores input typed before the question appeared", async () => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    output.setEncoding("utf8").on("data", (text: string) => {
      if (text.includes("Sure?")) input.write("no\n");
    });
    input.write("y\ny");
    assert.equal(await ask("Sure? ", { input, output }, () => {}), "no");
  });

  it("gets an empty answer when the input ended before the question appeared", async () => {
    const input = new PassThrough();
    input.end("y\n");
    assert.equal(await ask("Sure? ", { input, output: new PassThrough() }, () => {}), "");
  });
});

describe("text from a server", () => {
  it("cannot control the terminal through an error message", async () => {
    await using server = await loopback((response) => response.end(hostile));
    const { code, stderr } = await bowline(["run", "--base-url", server.baseUrl, "hi"]);
    assert.equal(code, 1);
    assert.match(stderr, /^bowline: Could not list the models at .*not valid JSON.*\n$/);
    assert.doesNotMatch(stderr.slice(0, -1), steers);
  });

  it("cannot control the terminal through the event log, which keeps its meaning", async () => {
    await using server = await loopback(chatText(`Hi.${hostile}`));
    const { stdout } = await bowline([
      "run",
      "--base-url",
      server.baseUrl,
      "--model",
      "m",
      "--json",
      "hi",
    ]);
    assert.doesNotMatch(stdout, steers);
    const events = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown);
    assert.ok(JSON.stringify(events).includes(JSON.stringify(`Hi.${hostile}`)));
  });
});
