/** What a person sees of commands, questions, errors and ends of the process, in a real terminal. */
import { after, before, describe, it } from "node:test";
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { access, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { compileCache } from "../../../../test/support/compile-cache.ts";
import { converse } from "./conversation.ts";
import { missingTmux, openTmux, type Tmux } from "./tmux.ts";
import type { Play } from "./vendor.ts";

const main = join(import.meta.dirname, "../../src/cli/main.ts");

/** Waits until a process has ended. Its parent may not have noticed yet. */
async function ended(pid: string): Promise<void> {
  const state = (): Promise<string> =>
    new Promise((resolve) => {
      execFile("ps", ["-o", "stat=", "-p", pid], (_, stdout) => resolve(stdout.trim()));
    });
  for (let tries = 0; tries < 100; tries++) {
    if (/^(?:Z|$)/.test(await state())) return;
    await sleep(50);
  }
  assert.fail(`Process ${pid} still runs: ${await state()}.`);
}

/** Runs one command in the first answer, and answers its result. */
const running =
  (command: string): Play =>
  ({ messages, last }) =>
    messages.at(-1)?.role === "tool"
      ? `It printed ${last.length} characters.`
      : [{ call: "bash", args: { command } }];

describe("a conversation in a terminal", { skip: missingTmux ?? false }, () => {
  let tmux: Tmux;
  before(async () => void (tmux = await openTmux()));
  after(() => tmux[Symbol.asyncDispose]());

  describe("a command", () => {
    it("shows its last lines while it runs, is folded afterwards, and is unfolded by one key", async () => {
      const command = "seq 1 40; until [ -e go ]; do sleep 0.05; done; echo end";
      await using chat = await converse(tmux, running(command), { args: ["--yes"] });
      await chat.say("run it");
      const live = await chat.window.until(
        / {2}40\n {2}running · [\d.]+ s · \d+ bytes · 35 lines hidden/,
      );
      assert.doesNotMatch(live, /^ {2}35$/m);
      await writeFile(join(chat.folder, "go"), "\n");
      await chat.window.until("It printed");
      const folded = await chat.idle();
      assert.match(folded, /ok · [\d.]+ m?s · 3\d lines hidden, Ctrl-O shows them/);
      await chat.window.press("C-o");
      const whole = await chat.window.until(/^lines 1-/m);
      assert.match(whole, /^1\n2\n3\n/m);
      await chat.window.press("q");
      await chat.window.until("It printed");
    });

    it("with much output names the file that has all of it", async () => {
      await using chat = await converse(tmux, running("seq 1 30000"), { args: ["--yes"] });
      await chat.say("run it");
      await chat.window.until("It printed");
      const shown = await chat.window.history();
      const path = /full output in\s+(\S+\.txt)/.exec(shown)?.[1] ?? shown;
      const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
      assert.equal(lines.length, 30_000);
      assert.equal(lines.at(-1), "30000");
    });

    for (const [end, name] of [
      ["HUP", "its terminal is closed"],
      ["TERM", "the process is told to end"],
    ] as const)
      it(`ends with all that it started when ${name}, and the session says so`, async () => {
        const command = "sleep 97 & echo $! $$ >pids; echo before; wait";
        await using first = await converse(tmux, running(command), { args: ["--yes"] });
        await first.say("run it");
        await first.window.until(/^ {2}before$/m);
        process.kill(await first.window.pid(), `SIG${end}`);
        await first.window.exit();
        const pids = (await readFile(join(first.folder, "pids"), "utf8")).trim().split(" ");
        assert.equal(pids.length, 2);
        for (const pid of pids) await ended(pid);
        await using again = await converse(tmux, running(""), { after: first, args: ["-c"] });
        const shown = await again.window.until("goes on here");
        assert.match(shown, /^ {2}before\n {2}killed after/m);
      });
  });

  describe("a question in a window of 40 columns and 20 rows", () => {
    it("always shows the choice that Enter would take", async () => {
      const edit = { call: "edit", args: { path: "a.txt", oldText: "one", newText: "two" } };
      await using chat = await converse(tmux, (_, number) => (number === 1 ? [edit] : "Later."), {
        columns: 40,
        rows: 20,
        prepare: (folder) => writeFile(join(folder, "a.txt"), "one\n"),
      });
      await chat.say("edit it");
      await chat.window.until(/^> 1 No$/m);
      await sleep(500);
      for (const label of [/^> 2 Yes$/m, /^> 3 Yes, and allow/m, /^> 4 Yes, and allow/m]) {
        await chat.window.press("Down");
        await chat.window.until(label);
      }
      await chat.window.press("Up", "Up", "Up");
      await chat.window.until(/^> 1 No$/m);
      await chat.window.press("Enter");
      await chat.window.until("Later.");
      assert.equal(await readFile(join(chat.folder, "a.txt"), "utf8"), "one\n");
    });
  });

  describe("an error of the server", () => {
    it("is shown in its own words, with the key redacted on the screen and in the session", async () => {
      const key = "sk-test-0123456789abcdef";
      const body = { error: { message: `Incorrect API key provided: ${key}. Pool 7 is closed.` } };
      await using chat = await converse(tmux, () => ({ status: 401, body }), {
        args: ["--api-key-env", "MY_KEY"],
        env: { MY_KEY: key },
      });
      await chat.say("hello");
      const shown = await chat.window.untilHistory(/Pool 7 is closed/);
      assert.match(shown, /HTTP 401/);
      assert.ok(!(await chat.window.bytes()).includes(key));
      assert.equal(chat.vendor.asked[0]?.headers.authorization, `Bearer ${key}`);
    });
  });

  describe("the requests of a conversation", () => {
    it("are exactly those that have a line: no title, no summary, no check", async () => {
      await using chat = await converse(tmux, ({ last }) => `Said ${last.length}.`);
      for (const text of ["one", "/usage", "/context", "/rename a title", "two", "/fork"]) {
        await chat.say(text);
        await sleep(300);
      }
      await chat.window.until("Go on from before which message?");
      await chat.window.press("Enter");
      await chat.window.until("This is a fork");
      await chat.window.press("Enter");
      await chat.window.untilHistory(/This is a fork[^]*Said 3/);
      await chat.idle();
      const shown = (await chat.window.history()).split("This is a fork");
      const lines = (text = ""): number =>
        text.match(/thinker-1 · [\d.k]+ in · \d+ out ·/g)?.length ?? 0;
      // The fork draws the first request once more.
      assert.equal(lines(shown[0]) - 1 + lines(shown[1]), chat.vendor.asked.length);
    });
  });

  describe("a second conversation in the folder", () => {
    it("with --continue says where the first one is open, and how to work on a copy", async () => {
      await using first = await converse(tmux, () => "Answer.");
      await first.say("hello");
      await first.window.until("Answer.");
      await first.idle();
      const second = [process.execPath, "--conditions=@bowline/source", main, "-c"];
      await using window = await tmux.open({
        command: [...second, "--base-url", first.vendor.baseUrl],
        cwd: first.folder,
        env: {
          ...compileCache,
          HOME: first.folder,
          BOWLINE_HOME: first.data,
          BOWLINE_DISCOVERY: "off",
        },
      });
      const shown = await window.until(/sessions fork/);
      assert.match(shown.replaceAll("\n", ""), /is open in process \d+\. Go on there/);
      assert.doesNotMatch(shown, /unexpected/);
      assert.equal(await window.exit(), 1);
      const id = /sessions fork '?([\w-]+)/.exec(shown.replaceAll("\n", ""))?.[1] ?? "";
      await access(join(first.data, "sessions", `${id}.jsonl`));
    });
  });

  describe("Ctrl-C while the conversation starts", () => {
    for (const ms of [150, 350, 600])
      it(`after ${ms} ms gives the shell back as it was`, async () => {
        await using chat = await converse(tmux, () => "Answer.", { isInShell: true });
        await chat.window.press("C-d");
        await chat.window.until(/thinker-1[^]*shell>\s*$/);
        await chat.window.type("echo again; $CHAT");
        await chat.window.press("Enter");
        await sleep(ms);
        for (let press = 0; press < 4; press++) {
          await chat.window.press("C-c");
          await sleep(100);
        }
        await chat.window.until(/^again$[^]*shell>\s*$/m);
        await chat.window.type("echo $((6 * 7)) typed");
        await chat.window.press("Enter");
        await chat.window.until(/^42 typed$/m);
        assert.match(
          await chat.window.screen(),
          /echo \$\(\(6 \* 7\)\) typed/,
          "the terminal echoes",
        );
      });
  });
});
