import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { missingTerminal, openShell } from "../pseudo-terminal.ts";

const skip = missingTerminal ?? false;
const file = join(import.meta.dirname, "screen-program.ts");
const program = `${process.execPath} --conditions=@bowline/source ${file}`;

test("leaves raw mode and its modes after Ctrl-C", { skip }, async () => {
  await using shell = openShell(import.meta.dirname);
  shell.type(`${program}\r`);
  const start = await shell.until(/live area/);
  assert.ok(start.includes("\u001b[?2004h") && start.includes("ready"), start);
  shell.type("\u001b[200~one\rtwo\u0003\u001b[201~");
  await shell.until(/pasted 8/);
  shell.type("\u0003");
  const end = await shell.until(/\$ /);
  assert.ok(end.includes("\u001b[?2004l") && end.includes("\u001b[?25h"), end);
  shell.type("stty -a; echo mo''des\r");
  assert.match(await shell.until(/modes/), / icanon/);
});

test("gives the terminal to the shell on Ctrl-Z and draws again on fg", { skip }, async () => {
  await using shell = openShell(import.meta.dirname);
  shell.type(`${program}\r`);
  await shell.until(/live area/);
  shell.type("\u001a");
  const stopped = await shell.until(/Stopped/);
  assert.ok(stopped.includes("\u001b[?2004l"), stopped);
  shell.type("stty -a; echo mo''des\r");
  assert.match(await shell.until(/modes/), / icanon/);
  shell.type("fg\r");
  const back = await shell.until(/live area/);
  assert.ok(back.includes("\u001b[?2004h"), back);
  shell.type("\u0003");
  await shell.until(/\$ /);
});

test("restores the terminal when the program breaks", { skip }, async () => {
  await using shell = openShell(import.meta.dirname);
  shell.type(`${program}\r`);
  await shell.until(/live area/);
  shell.type("x");
  const end = await shell.until(/it broke/);
  assert.ok(end.includes("\u001b[?2004l") && end.includes("\u001b[?25h"), end);
  shell.type("stty -a; echo mo''des\r");
  assert.match(await shell.until(/modes/), / icanon/);
});
