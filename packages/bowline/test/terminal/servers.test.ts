/** MCP servers in a conversation, in a real terminal: real processes and a scripted vendor. */
import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { converse } from "./conversation.ts";
import { missingTmux, openTmux, type Tmux } from "./tmux.ts";
import type { Play } from "./vendor.ts";

const program = join(import.meta.dirname, "../project/mcp-server.mjs");
/** The pause without typing before keys can answer, and some time for a busy machine. */
const PAUSE_MS = 550;

/** Returns a function that writes the user's settings, with one server. */
const settings =
  (plan: object, more: object = {}) =>
  async (folder: string): Promise<void> => {
    const data = join(folder, "../data");
    await mkdir(data, { recursive: true });
    const notes = { command: process.execPath, args: [program, JSON.stringify(plan)] };
    await writeFile(join(data, "bowline.json"), JSON.stringify({ mcpServers: { notes }, ...more }));
  };

/** Calls the server's tool in the first answer, and answers its result. */
const noting: Play = ({ messages, last }) =>
  messages.at(-1)?.role === "tool"
    ? `It said: ${last}`
    : [{ call: "notes__note", args: { text: "moored" } }];

const toolsOf = (body: Record<string, unknown>): string[] =>
  ((body.tools ?? []) as { function: { name: string } }[]).map((tool) => tool.function.name);

describe("a conversation with an MCP server", { skip: missingTmux ?? false }, () => {
  let tmux: Tmux;
  before(async () => void (tmux = await openTmux()));
  after(() => tmux[Symbol.asyncDispose]());

  it("shows where to type before the server is ready, and a message waits for it with a line", async () => {
    const prepare = settings({ waitMs: 4_000, noise: true });
    await using chat = await converse(tmux, noting, { prepare });
    assert.doesNotMatch(await chat.window.screen(), /is connected/);
    await chat.say("note it");
    await chat.window.until(/Waiting for MCP servers, at most 10 s: notes\. Esc takes/);
    assert.equal(chat.vendor.asked.length, 0);
    await chat.window.until(/MCP server "notes" is connected: 2 tools\./);
    await chat.window.until(/Why it asks: No rule allows notes__note, a tool of an MCP server/);
    await sleep(PAUSE_MS);
    await chat.window.type("2");
    // Keys that a busy machine delivers together count as pasted.
    await chat.window.until(/> 2 Yes/);
    await chat.window.press("Enter");
    const screen = await chat.window.until(/It said: Noted: moored/);
    assert.ok(toolsOf(chat.vendor.asked[0]?.body ?? {}).includes("notes__note"));
    assert.doesNotMatch(screen, /NOISE/);
    await chat.say("/mcp");
    await chat.window.until(/notes {2}ready .*bowline\.json\n\s+notes__note\n/);
  });

  it("gives the message back when Esc ends the wait, and sends nothing", async () => {
    await using chat = await converse(tmux, noting, { prepare: settings({ waitMs: 60_000 }) });
    await chat.say("note it");
    await chat.window.until(/Waiting for MCP servers/);
    await chat.window.press("Escape");
    await chat.window.untilNot(/Waiting for MCP servers/);
    await chat.window.until(/^> note it$/m);
    assert.equal(chat.vendor.asked.length, 0);
  });

  it("says that a server failed, and goes on without it", async () => {
    const gone = { mcpServers: { gone: { command: "/nonexistent/server" } } };
    await using chat = await converse(tmux, () => "Without it.", { prepare: settings({}, gone) });
    await chat.window.until(/MCP server "gone" FAILED, its tools are missing/);
    await chat.say("hi");
    await chat.window.until("Without it.");
  });

  for (const [rule, said] of [
    ["*", /Plan mode: propose, do not change/],
    ["notes__note", /It said: Noted: moored/],
  ] as const)
    it(`in plan mode, runs a tool of the server only by a rule that names it: ${rule}`, async () => {
      const prepare = settings({}, { permissions: { allow: [rule] } });
      await using chat = await converse(tmux, noting, { prepare, args: ["--plan"] });
      await chat.say("note it");
      await chat.window.until(said);
    });

  it("ends the server when it is left", async () => {
    const mark = (folder: string): string => join(folder, "mark");
    let place = "";
    await using chat = await converse(tmux, () => "Hello.", {
      prepare: (folder) => settings({ mark: mark((place = folder)) })(folder),
    });
    await chat.window.until(/is connected/);
    const pid = Number(await readFile(mark(place), "utf8"));
    await chat.window.press("C-d");
    for (let tries = 0; ; tries++) {
      try {
        process.kill(pid, 0);
      } catch {
        break;
      }
      assert.ok(tries < 100, "the server still runs");
      await sleep(100);
    }
  });
});
