/** Blocks and the state, as lines. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Block } from "../../src/chat/block.ts";
import { activityLines } from "../../src/chat/live-view.ts";
import { queueLines } from "../../src/chat/queue-lines.ts";
import { initialState, type ChatState } from "../../src/chat/state.ts";
import { statusParts } from "../../src/chat/status.ts";
import { View } from "../../src/chat/view.ts";
import { colours } from "../../src/screen/colours.ts";
import { fitParts } from "../../src/screen/status-row.ts";
import { textWidth } from "../../src/screen/width.ts";

const plain = colours({ isTTY: false, write: () => true }, {});

function drawn(block: Block, columns = 80): string {
  const view = new View({ colours: plain, columns: () => columns, linkStyle: "text" });
  return view.lines(block).join("\n");
}

test("says the vendor's own words, status and request id", () => {
  const error = {
    code: "server_error" as const,
    message: "fake failure 500",
    retryable: true,
    status: 500,
    requestId: "req_9",
  };
  assert.equal(
    drawn({ type: "retry", attempt: 2, delayMs: 3000, error }),
    "retry 2 in 3.0 s: fake failure 500 (HTTP 500, request id req_9)",
  );
});

test("names a status once, and ends a sentence once", () => {
  const error = {
    code: "server_error" as const,
    message: "The server answered HTTP 500: fake failure.",
    retryable: true,
    status: 500,
  };
  assert.equal(
    drawn({ type: "ended", reason: "error", error }, 100),
    "failed: The server answered HTTP 500: fake failure; a message or /continue goes on\n",
  );
  assert.equal(
    drawn({ type: "retry", attempt: 1, delayMs: 12, error }),
    "retry 1 at once: The server answered HTTP 500: fake failure",
  );
});

test("keeps the indents and the columns of typed programs and of the shell's output", () => {
  const text = "def f(x):\n    if x:\n\treturn  1   # one";
  assert.equal(
    drawn({ type: "user", text, media: 0 }),
    "> def f(x):\n      if x:\n      return  1   # one\n",
  );
  assert.equal(
    drawn({ type: "user", text: "    four words that wrap", media: 0 }, 20),
    ">     four words\n      that wrap\n",
  );
  const output = "-rw-r--r-- 1 root       4 a.txt\n-rw-r--r-- 1 root 5000000 big.txt\n";
  const shell = drawn({
    type: "shell",
    command: "ls -l",
    output,
    end: "exit code 0",
    isHidden: false,
  });
  assert.match(shell, /^ {2}-rw-r--r-- 1 root {7}4 a\.txt$/m);
});

test("counts no hidden line beside a diff", () => {
  const diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-aaa\n+bbb\n";
  const lines = drawn({
    type: "tool",
    name: "edit",
    args: { path: "a.txt" },
    outcome: "finished",
    isError: false,
    ms: 8,
    text: "Replaced the text in a.txt.",
    details: { diff, path: "a.txt" },
  });
  assert.match(lines, /1 \+ bbb/);
  assert.doesNotMatch(lines, /hidden/);
});

test("makes control characters of a model, a file or a tool visible", () => {
  const hostile = "a\u001b[2Jb\u0007";
  const blocks: Block[] = [
    { type: "user", text: hostile, media: 0 },
    { type: "notice", level: "info", text: hostile },
    { type: "shell", command: hostile, output: hostile, end: hostile, isHidden: false },
    { type: "answered", toolName: hostile, decision: "deny", by: hostile, reason: hostile },
    {
      type: "asked",
      toolName: hostile,
      args: { command: hostile },
      reason: hostile,
      parts: [],
      rules: [],
    },
    {
      type: "tool",
      name: hostile,
      args: { path: hostile },
      outcome: "failed",
      isError: true,
      ms: 1,
      text: hostile,
    },
    { type: "request", model: hostile, usage: {}, ms: 1, within: hostile },
    { type: "model", model: hostile, why: hostile },
  ];
  for (const block of blocks) assert.doesNotMatch(drawn(block), /[\u001b\u0007]/, block.type);
});

test("names an unknown cost and unknown tokens as unknown", () => {
  const text = drawn({ type: "request", model: "p/m", usage: {}, ms: 1200 });
  assert.equal(text, "p/m · tokens unknown · cost unknown · 1.2 s");
  const known = { input: 1500, output: 10, cacheRead: 300, cost: { total: 0.0123 } };
  assert.equal(
    drawn({ type: "request", model: "p/m", usage: known, ms: 60_500 }),
    "p/m · 1.5k in (+ 300 cached) · 10 out · $0.0123 · 1 min 1 s",
  );
});

test("shows a compaction before and after", () => {
  assert.equal(
    drawn({ type: "compaction", before: 90_000, after: 4200, outcome: "summarized" }),
    "compaction: 90.0k → 4.2k tokens, summarized; the session keeps the old messages",
  );
});

test("says in words what became of a call", () => {
  const call = { type: "tool", name: "bash", args: { command: "ls" }, text: "", ms: 2500 } as const;
  const end = (outcome: Extract<Block, { type: "tool" }>["outcome"], isError = true): string =>
    drawn({ ...call, outcome, isError });
  assert.match(end("stopped"), /killed after 2\.5 s/);
  assert.match(end("not_started"), /not started/);
  assert.match(end("left_running"), /still running/);
  assert.match(end("finished", false), /ok · 2\.5 s/);
  assert.match(end("unknown"), /unknown/);
});

const busy: ChatState = {
  ...initialState(),
  phase: "working",
  model: "openai/gpt-5-with-a-long-name",
  contextTokens: 5000,
  contextWindow: 10_000,
  cost: 0.5,
  isPlan: true,
  sandbox: "auto",
  startedAt: 0,
  queue: [{ id: 1, moment: "steering", text: "do\nthis" }],
};

test("the status row drops the least important part first, and cuts no word", () => {
  const row = (columns: number): string => fitParts(statusParts(busy, 61_000), columns);
  assert.equal(
    row(120),
    "plan · openai/gpt-5-with-a-long-name · context 50% · $0.5000 · queue 1 · 1 min 1 s · sandbox auto",
  );
  assert.equal(row(40), "plan · gpt-5-with-a-long-name · ctx 50%");
  assert.equal(row(50), "plan · gpt-5-with-a-long-name · ctx 50% · $0.5000");
  for (let columns = 1; columns < 130; columns++) assert.ok(textWidth(row(columns)) <= columns);
});

test("queued messages have one line each, with their number and their moment", () => {
  assert.deepEqual(queueLines(busy, 80, true, plain), [
    "1. after this step: do this",
    "Alt-Up edits or removes one · /queue lists them",
  ]);
  assert.deepEqual(queueLines(busy, 23, false, plain), ["1. after this step: do"]);
});

test("the message that is edited is named, with the draft that waits and the keys, at any width", () => {
  const queue = Array.from({ length: 9 }, (_, index) => ({
    id: index + 1,
    moment: "followUp" as const,
    text: `message ${index + 1}`,
    ...(index === 3 && { isEdited: true as const }),
  }));
  const state = { ...busy, queue, aside: "my draft" };
  assert.deepEqual(queueLines(state, 100, true, plain), [
    "2. after the turn: message 2",
    "3. after the turn: message 3",
    "4. (in the draft, after the turn)",
    "5. after the turn: message 5",
    "6. after the turn: message 6",
    "4 more wait; /queue lists all",
    "your draft waits: my draft",
    "Enter puts it back · Ctrl-X removes it · Alt-Up, Alt-Down: the next · Alt-Enter: after this step",
  ]);
  assert.equal(queueLines(state, 40, true, plain).at(-1), "Enter puts it back · Ctrl-X removes it");
  assert.deepEqual(queueLines(state, 60, false, plain), [
    "9 wait: 4. (in the draft, after the turn)",
  ]);
  assert.match(
    queueLines({ ...state, phase: "idle" }, 80, true, plain).at(-1) ?? "",
    /^Enter sends it/,
  );
  for (let columns = 1; columns < 120; columns++)
    for (const line of queueLines(state, columns, true, plain))
      assert.ok(textWidth(line) <= columns);
});

test("a running call shows its last five lines, its seconds and its bytes", () => {
  const tail = Array.from({ length: 8 }, (_, index) => `line ${index + 1}`).join("\n");
  const call = {
    id: "c",
    name: "bash",
    args: { command: "make" },
    startedAt: 1000,
    tail,
    bytes: 2048,
  };
  const lines = activityLines({ ...busy, calls: [call] }, 80, 4000, plain);
  assert.deepEqual(
    lines.slice(-6, -1),
    [4, 5, 6, 7, 8].map((number) => `  line ${number}`),
  );
  assert.match(lines.at(-1) ?? "", /running · 3\.0 s · 2\.0 kB/);
});

test("separates answers, calls and requests by single blank lines", () => {
  const view = new View({
    colours: plain,
    columns: () => 80,
    linkStyle: "text",
    unfold: "Ctrl-O shows them",
  });
  const call: Block = {
    type: "tool",
    name: "bash",
    args: { command: "seq 7" },
    outcome: "finished",
    isError: false,
    ms: 20,
    text: "1\n2\n3\n4\n5\n6\n7\n",
  };
  const request: Block = { type: "request", model: "p/m", usage: {}, ms: 100 };
  const blocks: Block[] = [
    { type: "user", text: "go", media: 0 },
    request,
    call,
    { type: "text", delta: "Done." },
    { type: "text_end" },
    request,
    { type: "ended", reason: "aborted" },
    { type: "user", text: "more", media: 0 },
  ];
  const lines = blocks.flatMap((block) => view.lines(block));
  const asked = "p/m · tokens unknown · cost unknown · 0.1 s";
  assert.equal(
    lines.join("\n"),
    `> go\n\n${asked}\n\nbash seq 7\n  3\n  4\n  5\n  6\n  7\n` +
      "  ok · 20 ms · 2 lines hidden, Ctrl-O shows them\n\n" +
      `Done.\n\n${asked}\ninterrupted; a message or /continue goes on\n\n> more\n`,
  );
});
