/** Answers while they stream: Markdown, widths, resizes, a slow connection. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { deferred } from "../../../../test/support/deferred.ts";
import { converse, forever } from "./conversation.ts";
import { missingTmux, openTmux, type Tmux } from "./tmux.ts";

const markdown = `# Findings

The cache **misses** because its key holds the \`timeout\`:

\`\`\`ts
const key = [method, url, timeout].join(" ");
\`\`\`

- [x] read \`cache.ts\`
- [ ] mend \`lock.ts\`

| request | hits |
| ------- | ---: |
| GET     |  9 % |
| HEAD    | 10 % |

1. Remove the timeout.
2. See [the docs](https://example.org/cache).

The end.
`;

describe("an answer", { skip: missingTmux ?? false }, () => {
  let tmux: Tmux;
  before(async () => void (tmux = await openTmux()));
  after(() => tmux[Symbol.asyncDispose]());

  it("is drawn as Markdown while it streams, and its text stays in the scrollback once", async () => {
    await using chat = await converse(tmux, () => [{ text: markdown, rate: 300 }], { rows: 20 });
    await chat.say("what did you find?");
    await chat.window.untilHistory("The end.");
    await chat.idle();
    const history = await chat.window.history();
    for (const text of ["Findings", "const key =", "read `cache.ts`", "The end."])
      assert.equal(history.split(text).length, 2, `${text} is there once`);
    assert.match(history, /\[x\] read `cache\.ts`\n- \[ \] mend `lock\.ts`/);
    assert.doesNotMatch(history, /\*\*/);
    assert.match(history, /GET\W+9 %[^]*HEAD\W+10 %/);
  });

  it("shows the unfinished line at once", async () => {
    await using chat = await converse(tmux, () => [
      { text: "A line that has no" },
      { until: forever },
    ]);
    await chat.say("go on");
    await chat.window.until("A line that has no");
  });

  it("is redrawn after resizes to 40 and to 120 columns without a lost or doubled word", async () => {
    const words = Array.from({ length: 120 }, (_, index) => `word${index + 1}`);
    const gate = deferred();
    const second = deferred();
    const text = (from: number, to: number): string =>
      `${words.slice(from, to).join(" ")}${to % 40 === 0 ? "\n\n" : " "}`;
    await using chat = await converse(tmux, () => [
      { text: text(0, 40) + text(40, 50) },
      { until: gate.promise },
      { text: text(50, 80) + text(80, 90) },
      { until: second.promise },
      { text: `${text(90, 120)}The end.\n` },
    ]);
    await chat.say("many words");
    await chat.window.until("word50");
    await chat.window.resize(40, 36);
    gate.resolve();
    await chat.window.until("word90");
    await chat.window.resize(120, 36);
    second.resolve();
    await chat.window.until("The end.");
    await chat.idle();
    const history = await chat.window.history();
    for (const word of words) {
      const count = history.match(new RegExp(`${word}\\b`, "g"))?.length ?? 0;
      assert.equal(count, 1, `${word} is there ${count} times in\n${history}`);
    }
  });

  it("loses no word at 40 columns, nor does the status row cut one", async () => {
    await using chat = await converse(tmux, () => markdown, { columns: 40 });
    await chat.say("what did you find?");
    await chat.window.untilHistory("The end.");
    await chat.idle();
    const history = await chat.window.history();
    for (const word of ["because", "timeout", "method", "request", "docs", "example.org/cache"])
      assert.ok(history.replaceAll(/\s+/g, "").includes(word), `${word} in\n${history}`);
    for (const line of (await chat.window.screen()).split("\n")) assert.ok(line.length <= 40, line);
  });

  it("comes with a line of its request, each request of a run has one", async () => {
    await using chat = await converse(
      tmux,
      (_, number) =>
        number === 1
          ? [{ text: "I look." }, { call: "bash", args: { command: "echo looked" } }]
          : `Answer ${number}.`,
      { args: ["--yes"] },
    );
    await chat.say("look");
    await chat.window.until("Answer 2.");
    await chat.say("again");
    await chat.window.until("Answer 3.");
    await chat.idle();
    const history = await chat.window.history();
    const lines = history.match(/^.*thinker-1 · .* in · .* out · .*$/gm) ?? [];
    assert.equal(lines.length, chat.vendor.asked.length, history);
    assert.match(history, /cost unknown/);
  });

  it("appears over a terminal that is 150 ms away, as do keys", async () => {
    await using chat = await converse(tmux, () => [{ text: markdown, rate: 500 }], {
      delayMs: 150,
    });
    await chat.window.type("what did you find?", 20);
    await chat.window.until("what did you find?");
    await chat.window.press("Enter");
    await chat.window.until("The end.");
    await chat.window.type("next", 10);
    await chat.window.until("next");
    await chat.idle();
    assert.equal((await chat.window.history()).split("const key =").length, 2);
  });
});
