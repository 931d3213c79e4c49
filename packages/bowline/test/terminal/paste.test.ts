/** Pasting. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { converse } from "./conversation.ts";
import { missingTmux, openTmux, type Tmux } from "./tmux.ts";

describe("a paste", { skip: missingTmux ?? false }, () => {
  let tmux: Tmux;
  before(async () => void (tmux = await openTmux()));
  after(() => tmux[Symbol.asyncDispose]());

  it("of 10,000 lines is folded in draft and transcript, and the request has all of them", async () => {
    const lines = Array.from({ length: 10_000 }, (_, index) => `line ${index + 1} of the log`);
    await using chat = await converse(tmux, () => "Read.");
    await chat.window.type("explain: ");
    await chat.window.paste(lines.join("\n"));
    const folded = await chat.window.until(/\[[^\]]*10,?000 lines[^\]]*\]/);
    assert.ok(!folded.includes("line 5000 of the log"));
    await chat.window.press("Enter");
    await chat.window.until("Read.");
    const history = await chat.window.history();
    assert.ok(!history.includes("line 5000 of the log"));
    assert.ok(history.split("\n").length < 60, history);
    const { body } = await chat.request(0);
    const sent = JSON.stringify((body.messages as unknown[]).at(-1));
    assert.ok(sent.includes(JSON.stringify(lines.join("\n")).slice(1, -1)));
  });

  it("is text: none of its bytes is a key", async () => {
    await using chat = await converse(tmux, () => "Read.");
    await chat.window.paste("a\u0003b\u0004c\u001bd\r\n/exit\n");
    await chat.window.until("/exit");
    await chat.window.type("e");
    await chat.window.press("Enter");
    await chat.window.until("Read.");
    assert.equal(chat.vendor.asked[0]?.last, "a\u0003b\u0004c\u001bd\n\n/exit\ne");
  });
});
