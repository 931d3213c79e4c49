/** `bowline run` at a terminal, with keys and pipes. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { bowline, temporary } from "./command.ts";
import { missingTerminal, openShell } from "./pseudo-terminal.ts";

const skip = missingTerminal ?? false;
const task = '"run \\`echo yes > done\\`"';

describe("the approval question at a terminal", { skip }, () => {
  it("reappears after Ctrl-Z and fg with its call, and takes the answer", async () => {
    await using folder = await temporary();
    await using shell = openShell(folder.path);
    shell.type(`${shell.bowline} run ${task}\n`);
    await shell.until(/Allow\? [^\n]*N\]o: /);
    shell.type("\u001a");
    await shell.until(/Stopped/);
    shell.type("fg\n");
    const again = await shell.until(/Allow\? [^\n]*N\]o: /);
    assert.match(again, /bash wants to run:\s+\$ echo yes > done/);
    shell.type("y");
    await shell.until(/✓ bash/);
    shell.type("echo code=$?\n");
    await shell.until(/code=0/);
    assert.equal(await readFile(join(folder.path, "done"), "utf8"), "yes\n");
  });

  it("is asked on the terminal when a pipe holds part of the task", async () => {
    await using folder = await temporary();
    await using shell = openShell(folder.path);
    shell.type(`echo | ${shell.bowline} run ${task}\n`);
    await shell.until(/Allow\? [^\n]*N\]o: /);
    shell.type("y\r");
    await shell.until(/✓ bash/);
    await shell.until(/continue with/);
    shell.type("echo code=$?\n");
    await shell.until(/code=0/);
    assert.equal(await readFile(join(folder.path, "done"), "utf8"), "yes\n");
  });
});

describe("an open standard input", () => {
  it("is read for no longer than --timeout, and the command says that it waits", async () => {
    const { code, stderr, stdout } = await bowline(["run", "--timeout", "1.5", "hi"], {
      input: "",
      isInputOpen: true,
    });
    assert.deepEqual([code, stdout], [3, ""], stderr);
    assert.match(
      stderr,
      /^bowline: Waiting for the end of standard input.*\nbowline: Standard input did not end within the time of --timeout\.\n$/,
    );
  });
});
