// node --conditions=@bowline/source scripts/day.mjs [--write]: a day's work in the conversation, in a
// real terminal, on a real package with a bug. The model follows a script; the tools, the tests of the
// package and the screens are real. With --write it writes docs/day.md, docs/images/terminal-*.svg
// and the exported session. Needs tmux and a package registry.
import { execFile } from "node:child_process";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { converse } from "../packages/bowline/test/terminal/conversation.ts";
import { missingTmux, openTmux } from "../packages/bowline/test/terminal/tmux.ts";
import { terminalSvg } from "../packages/bowline/test/terminal/svg.ts";
import { answerTo, right, wrong } from "./day-model.mjs";

const PACKAGE = "minimist@1.2.8";
const RUNNER = "tape@5.9.0";
const COLUMNS = 100;
const ROWS = 32;
const docs = join(import.meta.dirname, "../docs");
const isWriting = process.argv.includes("--write");
const run = promisify(execFile);
const page = [];
const screens = [];

if (missingTmux !== undefined) end(`${missingTmux}.`);
await using tmux = await openTmux();
const chat = await morning();
await findTheBug(chat);
await steer(chat);
await interrupt(chat);
const resumed = await crash(chat);
await fork(resumed);
await exportSession(resumed);
await narrow();
if (isWriting) await write();
else for (const { name, text } of screens) console.log(`== ${name}\n${text}\n`);
await resumed[Symbol.asyncDispose]();
await chat[Symbol.asyncDispose]();

async function morning() {
  const begun = await converse(tmux, answerTo, {
    columns: COLUMNS,
    rows: ROWS,
    prepare: preparePackage,
  });
  tell(
    "The start",
    `The package is \`${PACKAGE}\` with its own tests. Its \`isNumber\` has lost the letters of hexadecimal numbers.`,
  );
  await begun.window.type("npm test fails since yesterday. Find out why and mend it");
  await shot(begun, "start", "The conversation with a first message in its draft");
  return begun;
}

async function preparePackage(folder) {
  const npm = (...args) => run("npm", args, { cwd: folder });
  try {
    const { stdout } = await npm("pack", PACKAGE, "--silent");
    await run("tar", ["xzf", stdout.trim(), "--strip-components=1"], { cwd: folder });
    await rm(join(folder, stdout.trim()));
    const manifest = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    const { name, version, license } = manifest;
    const scripts = { test: "tape 'test/*.js'" };
    const own = { name, version, license, main: "index.js", scripts };
    await writeFile(join(folder, "package.json"), JSON.stringify(own, null, 2));
    await npm("install", RUNNER, "--save-dev", "--silent", "--ignore-scripts", "--no-audit");
  } catch (error) {
    end(`The package cannot be installed: ${error.message}`);
  }
  const index = join(folder, "index.js");
  const source = await readFile(index, "utf8");
  if (!source.includes(right)) end(`${PACKAGE} does not have the expected line.`);
  await writeFile(index, source.replace(right, wrong));
  await writeFile(join(folder, ".gitignore"), "node_modules\n");
  await run("git", ["init", "-q"], { cwd: folder });
}

async function findTheBug({ window }) {
  await window.press("Enter");
  tell(
    "A command needs a person",
    "Nothing has run yet. The question shows the exact command, why it is asked, and the rules that could be remembered. The focus is on No.",
  );
  await window.until("arrow or digit");
  await shot({ window }, "approval", "The question whether npm test may run");
  await window.press("3");
  await window.until(/> 3 /);
  await window.press("Enter");
  await window.until("Allow from now on:");
  tell("The rule can be edited before it is saved", "Tab changes for whom it counts.");
  await shot({ window }, "rule", "The rule that would be remembered, with its scope");
  await window.press("Enter");
  tell(
    "The change, before it is made",
    "The model ran the tests, searched and read without questions. The edit is shown as a numbered diff.",
  );
  await window.until(/Allow edit [^]*arrow or digit/);
  await shot({ window }, "diff", "The question whether an edit may be made, with its diff");
  await approve(window);
}

async function steer({ window }) {
  // The rule allowed the tests this time.
  await window.until("All 153 tests pass");
  await window.type("add a test for 0XFF too");
  await window.press("Enter");
  tell(
    "A message during the run",
    "It waits on its own line, with its moment. Alt-Up edits it or takes it back.",
  );
  await window.until("after this step: add a test");
  await shot({ window }, "queue", "A message that waits for the end of the step");
  await window.until(/Allow edit [^]*arrow or digit/);
  await approve(window);
  await window.until("if you want one");
  await window.untilNot("Esc interrupts");
  tell(
    "The answer",
    "Each request has a line with its tokens, its cost if the price is known, and its time.",
  );
  await shot({ window }, "answer", "An answer with a table and a list of tasks");
}

async function interrupt({ window, say }) {
  await say("count the assertions of every test file");
  await window.until("arrow or digit");
  await approve(window);
  await window.until(/default_bool\.js \d/);
  tell("A running command", "Its last lines are live, with the time and the size so far.");
  await shot({ window }, "running", "The live output of a running command");
  await window.press("Escape");
  await window.until(/^interrupted/m);
  tell(
    "Interrupted",
    "Esc, once. The card says what became of the command, and its output so far goes to the model.",
  );
  await shot({ window }, "interrupted", "An interrupted command");
}

async function crash(before) {
  await before.say("write the changelog entry instead");
  await before.window.until("covered them");
  process.kill(await before.window.pid(), "SIGKILL");
  await before.window.exit();
  const again = await converse(tmux, answerTo, {
    after: before,
    args: ["--continue"],
    columns: COLUMNS,
    rows: ROWS,
  });
  await again.window.until("goes on here");
  await again.window.until("both cases. Before");
  tell(
    "Killed, and resumed",
    "`kill -9` in the middle of a sentence, then `bowline --continue`. The streamed text is there.",
  );
  await shot(again, "resumed", "The conversation after kill -9 and --continue");
  await again.say("go on");
  await again.window.until("That is all of it.");
  await again.window.untilNot("Esc interrupts");
  return again;
}

async function fork({ window, say }) {
  await say("/fork");
  await window.until("Go on from before which message?");
  tell("A fork", "The old conversation stays as it is.");
  await shot({ window }, "fork", "The choice of the message to go on from");
  await window.press("Down", "Enter");
  await window.until("This is a fork");
  await window.press("C-c");
  await say("does @README.md say anything about this?");
  await window.until("nothing to correct");
  await window.untilNot("Esc interrupts");
  await say("/usage");
  await window.until("Usage of this session");
}

async function exportSession({ window, say, folder }) {
  await say("/export day.md");
  await window.until("The session is in");
  tell(
    "The end",
    "`@README.md` attached the file, with its size. `/usage` counts all requests of the session, and `/export` writes it to a file.",
  );
  await shot({ window }, "usage", "The usage of the session, and its export");
  const text = await readFile(join(folder, "day.md"), "utf8");
  if (!text.includes("0x[0-9a-f]")) throw new Error("The export lacks the edit.");
  await rename(join(folder, "day.md"), join(folder, "..", "day.md"));
  const { stdout } = await run("npm", ["test"], { cwd: folder });
  if (!/^# ok$/m.test(stdout)) throw new Error(`The tests of the package fail:\n${stdout}`);
}

async function narrow() {
  const busy = {
    status: 529,
    body: { error: { message: "Overloaded: the pool of this region is full" } },
    headers: { "retry-after": "20", "x-request-id": "req_7Qd2" },
  };
  await using small = await converse(tmux, () => busy, { columns: 40, rows: 20 });
  await small.say("hello");
  await small.window.until("Esc gives up");
  tell(
    "Forty columns, and a busy server",
    "The server's own words, its status and its request id.",
  );
  await shot(small, "narrow", "A retry on a terminal of 40 columns", 40);
}

async function approve(window) {
  await window.press("Down");
  await window.until(/> 2 Yes/);
  await window.press("Enter");
}

function tell(title, text) {
  page.push(`## ${title}`, text);
}

async function shot({ window }, name, label, columns = COLUMNS) {
  await sleep(150); // A frame may still be on its way.
  const [styled, cursor, text] = [
    await window.styled(),
    await window.cursor(),
    await window.screen(),
  ];
  screens.push({ name, text, svg: terminalSvg(styled, { columns, label, cursor }) });
  page.push(`![${label}](images/terminal-${name}.svg)`);
}

async function write() {
  for (const { name, svg } of screens)
    await writeFile(join(docs, "images", `terminal-${name}.svg`), svg);
  const intro = [
    "# A day's work",
    `Made by \`scripts/day.mjs\`, which works through this day in a real terminal. The tools, the package, its tests and the
screens are real; the model is a script on a loopback server, so that the day can be repeated.`,
  ];
  await writeFile(join(docs, "day.md"), `${[...intro, ...page].join("\n\n")}\n`);
}

function end(why) {
  console.error(`day: skipped: ${why}`);
  process.exit(0);
}
