/** Interrupting a run in each of its states. */
import assert from "node:assert/strict";
import { access } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { converse, forever, type Conversation } from "./conversation.ts";
import { missingTmux, openTmux, type Tmux } from "./tmux.ts";
import type { Reply } from "./vendor.ts";

describe("Esc", { skip: missingTmux ?? false }, () => {
  let tmux: Tmux;
  before(async () => void (tmux = await openTmux()));
  after(() => tmux[Symbol.asyncDispose]());

  /** The first answer is scripted, all later ones are short. */
  const once = (reply: Reply) => (_: unknown, number: number) =>
    number === 1 ? reply : `Answer ${number}.`;

  /** Sends another message, and returns the messages of its request. */
  async function next(chat: Conversation): Promise<Conversation["vendor"]["asked"][number]> {
    const count = chat.vendor.asked.length;
    await chat.say("and now?");
    return chat.request(count);
  }

  it("stops the wait for the first byte, and the message stays in the conversation", async () => {
    await using chat = await converse(tmux, once([{ until: forever }]));
    await chat.say("what is a bowline?");
    const { ended } = await chat.request(0);
    await chat.window.until("Esc interrupts");
    await chat.window.press("Escape");
    await chat.window.until(/^interrupted/m);
    assert.equal(await ended, "gone");
    const { messages } = await next(chat);
    const texts = messages.filter(({ role }) => role === "user").map(({ text }) => text);
    assert.match(texts.join("\n"), /what is a bowline\?[^]*and now\?/);
    await chat.window.until("Answer 2.");
  });

  it("keeps a half answer on the screen, and the next request has it", async () => {
    const half = "A bowline is a knot.\n\nIt makes a fixed lo";
    await using chat = await converse(tmux, once([{ text: half }, { until: forever }]));
    await chat.say("what is a bowline?");
    await chat.window.until("fixed lo");
    await chat.window.press("Escape");
    const screen = await chat.window.until(/^interrupted/m);
    assert.match(screen, /A bowline is a knot\.[^]*It makes a fixed lo[^]*interrupted/);
    const { messages } = await next(chat);
    assert.match(messages.at(-2)?.text ?? messages.map(({ text }) => text).join(), /fixed lo/);
    assert.ok(messages.some(({ role, text }) => role === "assistant" && text.includes(half)));
  });

  it("ends thinking", async () => {
    await using chat = await converse(
      tmux,
      once([{ thinking: "A knot, or a bow line?" }, { until: forever }]),
    );
    await chat.say("what is a bowline?");
    await chat.window.until(/thinking · 6 words[^]*a bow line\?/);
    await chat.window.press("Escape");
    await chat.window.until(/^interrupted/m);
    await next(chat);
    await chat.window.until("Answer 2.");
  });

  it("kills a running command, and screen and model get its output and what became of it", async () => {
    const command = "touch ran; for i in 1 2 3; do echo line $i; done; sleep 600";
    await using chat = await converse(tmux, once([{ call: "bash", args: { command } }]), {
      args: ["--yes"],
    });
    await chat.say("run it");
    await chat.window.until("line 3");
    await chat.window.press("Escape");
    const screen = await chat.window.until(/^interrupted/m);
    assert.match(screen, /line 3/);
    assert.match(screen, /(?:killed|stopped|aborted|interrupted) after \d/);
    assert.doesNotMatch(screen, /reject/);
    const { messages } = await next(chat);
    const result = messages.find(({ role }) => role === "tool")?.text ?? "";
    assert.match(result, /line 1\nline 2\nline 3/);
    assert.match(result, /(?:killed|stopped|aborted|interrupted)/i);
    assert.doesNotMatch(result, /reject|not executed|never ran/i);
    await access(join(chat.folder, "ran"));
  });

  it("says of each call whether it finished, was stopped or never started", async () => {
    await using chat = await converse(
      tmux,
      once([
        { call: "bash", args: { command: "echo first is done" } },
        { call: "bash", args: { command: "echo second runs; sleep 600" } },
        { call: "bash", args: { command: "touch third" } },
      ]),
      { args: ["--yes"] },
    );
    await chat.say("run all");
    await chat.window.until("second runs");
    await chat.window.press("Escape");
    await chat.window.until(/^interrupted/m);
    const { messages } = await next(chat);
    const results = messages.filter(({ role }) => role === "tool").map(({ text }) => text);
    assert.equal(results.length, 3);
    assert.match(results[0] ?? "", /^first is done/);
    assert.match(results[1] ?? "", /second runs/);
    // The third may have run at the same time. What is said of it must be true.
    const hasRun = await access(join(chat.folder, "third")).then(
      () => true,
      () => false,
    );
    if (!hasRun) assert.match(results[2] ?? "", /not (?:started|run)|never/i);
  });

  it("ends an open question without running the call", async () => {
    await using chat = await converse(
      tmux,
      once([{ call: "bash", args: { command: "touch ran" } }]),
    );
    await chat.say("run it");
    await chat.window.until("Allow bash:");
    await chat.window.press("Escape");
    const screen = await chat.window.until(/^interrupted/m);
    assert.match(screen, /not started|not answered/);
    const { messages } = await next(chat);
    assert.match(
      messages.find(({ role }) => role === "tool")?.text ?? "",
      /the run ended before an answer/,
    );
    await assert.rejects(access(join(chat.folder, "ran")));
  });

  it("ends the wait before a retry", async () => {
    const busy = {
      status: 503,
      body: { error: { message: "the pool of workers is empty" } },
      headers: { "retry-after": "30", "x-request-id": "req_77" },
    };
    await using chat = await converse(tmux, once(busy));
    await chat.say("hello");
    const waiting = await chat.window.until("Esc gives up");
    assert.match(waiting, /the\s+pool\s+of\s+workers\s+is\s+empty/);
    assert.match(waiting, /HTTP 503/);
    assert.match(waiting, /req_77/);
    await chat.window.press("Escape");
    await chat.window.until(/^interrupted/m);
    await next(chat);
    await chat.window.until("Answer 2.");
  });

  it("ends a compaction, and the conversation stays as it was", async () => {
    await using chat = await converse(tmux, ({ last }) =>
      /^which|^what|^why|now\?/.test(last)
        ? `A knot. ${"It holds. ".repeat(8000)}`
        : [{ until: forever }],
    );
    for (const text of ["which knot?", "what knot?", "why that knot?"]) {
      const count = chat.vendor.asked.length;
      await chat.say(text);
      await chat.request(count);
      await chat.window.until(/holds\.\n[^]*context/);
      await chat.idle();
    }
    const count = chat.vendor.asked.length;
    await chat.say("/compact");
    // The end of the last run may still be on its way to the session; the command is then the draft.
    while (/needs a pause/.test(await chat.window.until(/needs a pause|^compacting/m))) {
      await chat.window.press("Escape", "Enter");
      await sleep(200);
    }
    await chat.request(count);
    await chat.window.until(/^compacting/m);
    await chat.window.press("Escape");
    await chat.idle();
    const { messages } = await next(chat);
    assert.ok(messages.some(({ text }) => text.includes("which knot?")));
  });
});

describe("Ctrl-C", { skip: missingTmux ?? false }, () => {
  let tmux: Tmux;
  before(async () => void (tmux = await openTmux()));
  after(() => tmux[Symbol.asyncDispose]());

  it("interrupts a run and neither leaves nor clears the draft", async () => {
    await using chat = await converse(tmux, () => [{ text: "Slow" }, { until: forever }]);
    await chat.say("go");
    await chat.window.until("Slow");
    await chat.window.type("my draft");
    await chat.window.until("my draft");
    await chat.window.press("C-c");
    const screen = await chat.window.until(/^interrupted/m);
    assert.match(screen, /my draft/);
  });

  it("clears a draft, which Up brings back", async () => {
    await using chat = await converse(tmux, () => "Yes.");
    await chat.window.type("a draft worth keeping");
    await chat.window.until("a draft worth keeping");
    await chat.window.press("C-c");
    await chat.window.untilNot("a draft worth keeping");
    await chat.window.press("Up");
    await chat.window.until("a draft worth keeping");
  });

  it("leaves when pressed twice on an empty draft, and gives the terminal back", async () => {
    await using chat = await converse(tmux, () => "Yes.");
    await chat.window.press("C-c");
    await chat.window.until(/[Aa]gain/);
    await chat.window.press("C-c");
    assert.equal(await chat.window.exit(), 0);
    const bytes = await chat.window.bytes();
    assert.ok(bytes.lastIndexOf("\u001b[?2004l") > bytes.lastIndexOf("\u001b[?2004h"));
    assert.ok(bytes.lastIndexOf("\u001b[?25l") <= bytes.lastIndexOf("\u001b[?25h"));
  });

  it("takes a message back with its run's interruption, and sends none", async () => {
    await using chat = await converse(tmux, () => [{ text: "Slow" }, { until: forever }]);
    await chat.say("go");
    await chat.window.until("Slow");
    await chat.say("also this");
    await chat.window.until(/after this step: also this/);
    await chat.window.press("C-c");
    await chat.window.until(/^interrupted/m);
    await chat.window.until("also this");
    await chat.window.untilNot("after this step");
    assert.equal(chat.vendor.asked.length, 1);
  });
});
