/** Terminals without colours or without cursor movement. */
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { converse } from "./conversation.ts";
import { missingTmux, openTmux, type Tmux } from "./tmux.ts";

/** The pause without typing before keys can answer, and some time for a busy machine. */
const PAUSE_MS = 550;

describe("a conversation", { skip: missingTmux ?? false }, () => {
  let tmux: Tmux;
  before(async () => void (tmux = await openTmux()));
  after(() => tmux[Symbol.asyncDispose]());

  const answer = "# Title\n\n- [x] **done**\n- [ ] open\n\nThe end.\n";

  it("writes no colour with NO_COLOR, and says the same", async () => {
    await using chat = await converse(tmux, () => answer, { env: { NO_COLOR: "1" } });
    await chat.say("report");
    const screen = await chat.window.until("The end.");
    assert.match(screen, /\[x\] done\n.*\[ \] open/);
    const bytes = await chat.window.bytes();
    const colours = bytes.match(/\u001b\[(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])[0-9;]*m/g);
    assert.equal(colours, null);
  });

  const withSetting = async (folder: string): Promise<void> => {
    const data = join(folder, "../data");
    await mkdir(data, { recursive: true });
    await writeFile(join(data, "bowline.json"), JSON.stringify({ screenReader: true }));
  };
  const moving = /\u001b(?!\[[0-9;]*m)/;
  for (const [name, options, forbidden] of [
    [
      "TERM=dumb: no cursor movement, no colour, numbered choices",
      { env: { TERM: "dumb" } },
      /\u001b/,
    ],
    ["--plain: no cursor movement, numbered choices", { args: ["--plain"] }, moving],
    [
      "the setting screenReader: no cursor movement, numbered choices",
      { prepare: withSetting },
      moving,
    ],
  ] as const)
    it(`only appends with ${name}`, async () => {
      await using chat = await converse(
        tmux,
        (_, number) =>
          number === 1
            ? [{ text: "I run it.\n" }, { call: "bash", args: { command: "echo it ran" } }]
            : answer,
        options,
      );
      await chat.say("report");
      await chat.window.until(/Allow/);
      await chat.window.until(/2\W+[Yy]es/);
      await sleep(PAUSE_MS);
      await chat.say("2");
      assert.match(await chat.window.until("The end."), /\[x\] done/);
      assert.doesNotMatch(await chat.window.bytes(), forbidden);
      assert.match(chat.vendor.asked[1]?.last ?? "", /it ran/);
    });
});
