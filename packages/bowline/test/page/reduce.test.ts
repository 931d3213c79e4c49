import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { RunEvent } from "../../src/gateway/client/client.ts";
import type {
  Approval,
  HistoryEntry,
  SessionInfo,
  WaitingMessage,
} from "../../src/gateway/protocol/protocol.ts";
import { currentRun, runsOf } from "../../src/page/state/conversation.ts";
import { runsOfHistory } from "../../src/page/state/history-runs.ts";
import { canRetry } from "../../src/page/state/run-view.ts";
import type { Outgoing } from "../../src/page/state/outgoing.ts";
import type { PageAction, PageState } from "../../src/page/state/page-state.ts";
import { initialState, reduce } from "../../src/page/state/reduce.ts";

const after = (...actions: readonly PageAction[]): PageState =>
  actions.reduce(reduce, initialState("s"));

let seq = 0;
const heard = (event: RunEvent["event"], data: object): PageAction => ({
  type: "run_event",
  frame: {
    event,
    data: { runId: "r", sessionKey: "s", seq: seq++, ...data },
  } as unknown as RunEvent,
});

const message = (id: string, own: Partial<Outgoing> = {}): PageAction => ({
  type: "sending",
  message: { id, sessionKey: "s", mode: "send", text: `text of ${id}`, state: "sending", ...own },
});

const sent = (id: string, status: "started" | "queued" | "steered" | "waiting"): PageAction => ({
  type: "sent",
  id,
  result: { runId: status === "steered" ? "r" : id, sessionKey: "s", status },
});

const usage = { input: 4 };
const entry = (id: string, runId: string, own: object): HistoryEntry =>
  ({ id, runId, message: { timestamp: 1, usage, ...own } }) as unknown as HistoryEntry;

const told = [
  entry("1", "old", { role: "user", content: "Hi" }),
  entry("2", "old", {
    role: "assistant",
    provider: "p",
    model: "m",
    stopReason: "toolUse",
    content: [
      { type: "thinking", thinking: "hm" },
      { type: "text", text: "Looking." },
      { type: "toolCall", id: "c", name: "read", arguments: { path: "a" } },
    ],
  }),
  entry("3", "old", {
    role: "toolResult",
    toolCallId: "c",
    content: [{ type: "text", text: "found" }],
    isError: false,
  }),
  entry("4", "old", {
    role: "assistant",
    provider: "p",
    model: "m",
    stopReason: "stop",
    content: [{ type: "text", text: "Done." }],
  }),
];

const cut = (id: string): HistoryEntry => ({
  ...entry(id, "old", {
    role: "assistant",
    provider: "p",
    model: "m",
    stopReason: "stop",
    content: [{ type: "text", text: "beginning" }],
  }),
  truncated: { length: 30_000 },
});

const history = (
  messages: readonly HistoryEntry[],
  before?: string,
  hasMore = false,
  waiting: readonly WaitingMessage[] = [],
): PageAction => ({
  type: "history",
  sessionKey: "s",
  page: { messages, hasMore, waiting },
  before,
});

const asked = {
  approvalId: "q",
  runId: "r",
  sessionKey: "s",
  toolCallId: "c",
  toolName: "bash",
  summary: "",
  arguments: {},
};

describe("a transcript", () => {
  it("is folded into runs with their blocks, turns and end", () => {
    const [run, ...others] = runsOfHistory(told);
    assert.deepEqual(others, []);
    assert.deepEqual(
      run?.blocks.map((block) => block.type),
      ["user", "thinking", "text", "tool_call", "text"],
    );
    const call = run?.blocks[3];
    assert.deepEqual(call?.type === "tool_call" && [call.state, call.output], ["done", "found"]);
    assert.deepEqual(
      run?.turns.map((one) => one.usage),
      [{ inputTokens: 4 }, { inputTokens: 4 }],
    );
    assert.equal(run?.state, "final");
  });

  it("keeps what a program added apart from what the person wrote, and offers no retry without it", () => {
    const content = [
      { type: "text", text: "Mend it" },
      { type: "text", text: "let a;", shownAs: "the file a.ts", shownFile: "a.ts" },
      { type: "text", text: "Plan.", shownAs: "a note" },
    ];
    const [run] = runsOfHistory([entry("1", "r", { role: "user", content })]);
    assert.deepEqual(run?.blocks, [
      {
        type: "user",
        text: "Mend it",
        added: [
          { label: "the file a.ts", file: "a.ts", text: "let a;" },
          { label: "a note", text: "Plan." },
        ],
      },
    ]);
    assert.equal(run === undefined || canRetry(run), false);
  });

  it("without run ids is split at each user message", () => {
    const loose = told.map(({ id, message: own }) => ({ id, message: own }));
    assert.equal(
      runsOfHistory([...loose, ...loose.map((one) => ({ ...one, id: `${one.id}b` }))]).length,
      2,
    );
  });

  it("gets earlier messages in front, also inside a run, and keeps them after a reload of the history", () => {
    const state = after(
      history(told.slice(2), undefined, true),
      history(told.slice(0, 2), "3"),
      history(told.slice(1), undefined, true),
    );
    assert.deepEqual(runsOf(state.conversation), runsOfHistory(told));
    assert.equal(state.conversation.hasMore, false);
  });

  it("adds earlier messages once, and drops them when they do not connect", () => {
    const loaded = after(
      history(told.slice(2), undefined, true),
      history(told.slice(1, 2), "3", true),
    );
    assert.equal(
      reduce(loaded, history(told.slice(1, 2), "3", true)).conversation,
      loaded.conversation,
    );
    const anew = reduce(
      loaded,
      history([entry("9", "new", { role: "user", content: "Later" })], undefined, true),
    );
    assert.equal(reduce(anew, history(told.slice(0, 1), "2")).conversation, anew.conversation);
  });

  it("is replaced by a followed run, which keeps its place and the usage of its turns", () => {
    const state = after(
      history([...told, entry("5", "r", { role: "user", content: "And?" })]),
      heard("chat.snapshot", {
        runId: "old",
        state: "final",
        blocks: [{ type: "user", text: "Hi" }],
      }),
      heard("chat.user", { text: "And?" }),
      heard("chat.delta", { turn: 0, text: "So" }),
    );
    const runs = runsOf(state.conversation);
    assert.deepEqual(
      runs.map(({ runId, blocks }) => [runId, blocks.length]),
      [
        ["old", 1],
        ["r", 2],
      ],
    );
    assert.equal(runs[0]?.turns.length, 2);
    assert.equal(currentRun(state.conversation)?.runId, "r");
  });

  it("ignores events and answers of another session", () => {
    const state = after(history(told));
    const other = { ...history([]), sessionKey: "other" } as PageAction;
    assert.equal(reduce(state, other).conversation, state.conversation);
    const event = heard("chat.delta", { sessionKey: "other", turn: 0, text: "no" });
    assert.equal(reduce(state, event).conversation, state.conversation);
  });
});

describe("an outgoing message", () => {
  it("is listed until its run reports it", () => {
    const waiting = after(message("m"), sent("m", "queued"));
    assert.equal(waiting.outgoing[0]?.state, "waiting");
    assert.deepEqual(reduce(waiting, heard("chat.user", { runId: "m", text: "any" })).outgoing, []);
  });

  it("that steers is listed until the run has taken it, one for one", () => {
    const steered = { mode: "steer", text: "same" } as const;
    const two = after(
      message("a", steered),
      message("b", steered),
      sent("a", "steered"),
      sent("b", "steered"),
    );
    const one = reduce(two, heard("chat.user", { text: "same" }));
    assert.deepEqual(
      one.outgoing.map(({ id }) => id),
      ["b"],
    );
    const snapshot = heard("chat.snapshot", {
      state: "running",
      blocks: [{ type: "user", text: "same" }],
    });
    assert.deepEqual(reduce(one, snapshot).outgoing, []);
  });

  it("that waits without a run is listed until one has taken it", () => {
    const waiting = after(message("a", { mode: "steer", text: "x" }), sent("a", "waiting"));
    assert.deepEqual(
      waiting.outgoing.map(({ mode, state }) => [mode, state]),
      [["steer", "waiting"]],
    );
    const end = heard("chat.user", { messageId: "a", text: "x" });
    assert.deepEqual(reduce(waiting, end).outgoing, []);
  });

  it("that steers is matched by its id, also when the server redacts its text", () => {
    const steering = after(
      message("a", { mode: "steer", text: "the key is sk-1" }),
      sent("a", "steered"),
    );
    assert.equal(
      reduce(steering, heard("chat.user", { messageId: "b", text: "the key is sk-1" })).outgoing
        .length,
      1,
    );
    assert.deepEqual(
      reduce(steering, heard("chat.user", { messageId: "a", text: "the key is [redacted]" }))
        .outgoing,
      [],
    );
  });

  it("that came too late to steer becomes a new run", () => {
    const late = after(message("a", { mode: "steer" }), sent("a", "started"));
    assert.deepEqual([late.outgoing[0]?.mode, late.outgoing[0]?.state], ["send", "taken"]);
  });

  it("that is refused shows the reason, and can be dismissed", () => {
    const refused = after(message("a"), { type: "not_sent", id: "a", problem: "Too much waits." });
    assert.equal(refused.outgoing[0]?.problem, "Too much waits.");
    assert.deepEqual(reduce(refused, { type: "dismissed", id: "a" }).outgoing, []);
  });

  it("is removed with a run that was cancelled before it began", () => {
    const cancelled = after(
      message("a"),
      sent("a", "queued"),
      heard("chat.aborted", { runId: "a", usage: {} }),
    );
    assert.deepEqual(cancelled.outgoing, []);
  });

  describe("from another client", () => {
    const queued = (messageId: string, runId: string, kind: string): PageAction =>
      heard("chat.queued", { messageId, runId, kind, text: `text of ${messageId}`, images: [] });
    const idsOf = ({ conversation }: PageState): string[] =>
      conversation.waiting.map(({ messageId }) => messageId);

    it("waits as an event or the history says, until its run reports something or has taken it", () => {
      const late = { messageId: "b", kind: "send", text: "text of b" } as const;
      const waiting = after(
        history([], undefined, false, [late]),
        queued("a", "a", "send"),
        queued("c", "r", "steer"),
      );
      assert.deepEqual(idsOf(waiting), ["b", "a", "c"]);
      assert.deepEqual(waiting.conversation.waiting[1], {
        messageId: "a",
        kind: "send",
        text: "text of a",
        images: [],
      });
      assert.equal(waiting.conversation.live.size, 0, "what waits is no run yet");
      assert.deepEqual(
        idsOf(reduce(waiting, queued("a", "a", "send"))),
        ["b", "c", "a"],
        "said twice it is one",
      );
      assert.deepEqual(idsOf(reduce(waiting, heard("chat.notice", { runId: "b" }))), ["a", "c"]);
      assert.deepEqual(idsOf(reduce(waiting, heard("chat.aborted", { runId: "a", usage: {} }))), [
        "b",
        "c",
      ]);
      assert.deepEqual(idsOf(reduce(waiting, heard("chat.user", { messageId: "c", text: "x" }))), [
        "b",
        "a",
      ]);
      const block = { type: "user", text: "x", messageId: "c" };
      assert.deepEqual(
        idsOf(reduce(waiting, heard("chat.snapshot", { state: "running", blocks: [block] }))),
        ["b", "a"],
      );
      const picture = heard("chat.snapshot", { runId: "a", state: "queued", blocks: [] });
      assert.equal(reduce(waiting, picture).conversation, waiting.conversation);
      assert.deepEqual(
        idsOf(reduce(waiting, history([], "1"))),
        ["b", "a", "c"],
        "earlier messages say nothing of it",
      );
      assert.deepEqual(idsOf(reduce(waiting, history([]))), []);
    });
  });
});

describe("an approval question", () => {
  it("is open until it is answered, and the call keeps the decision", () => {
    const open = after(
      heard("chat.tool_call", { toolCallId: "c", name: "bash", arguments: {} }),
      heard("exec.approval_request", asked),
    );
    assert.equal(open.approvals.length, 1);
    assert.deepEqual(Object.keys(open.approvals[0] as Approval).includes("seq"), false);
    const answered = reduce(
      open,
      heard("exec.approval_resolved", { approvalId: "q", decision: "deny", by: "page" }),
    );
    assert.deepEqual(answered.approvals, []);
    assert.deepEqual(
      runsOf(answered.conversation)[0]?.answers,
      new Map([["c", { decision: "deny", by: "page" }]]),
    );
  });

  it("is removed with its run", () => {
    const open = after(heard("exec.approval_request", asked));
    assert.deepEqual(reduce(open, heard("chat.aborted", { usage: {} })).approvals, []);
  });

  it("from the list of pending approvals is recognised when it is answered", () => {
    const open = after(
      { type: "approvals", approvals: [asked] },
      heard("exec.approval_resolved", { approvalId: "q", decision: "allow" }),
    );
    assert.deepEqual(
      runsOf(open.conversation)[0]?.answers,
      new Map([["c", { decision: "allow" }]]),
    );
  });
});

describe("the list of sessions", () => {
  const page = (search: string): PageAction => ({ type: "sessions", search, sessions: [] });
  const listed = (sessionKey: string, cursor?: string, from?: string): PageAction => ({
    type: "sessions",
    search: "",
    sessions: [{ sessionKey } as SessionInfo],
    cursor,
    after: from,
  });

  it("ignores the answer to a search that is no longer wanted", () => {
    const state = after({ type: "search", search: "new" });
    assert.equal(reduce(state, page("old")), state);
    assert.equal(reduce(state, page("new")).sessions.isLoaded, true);
  });

  it("adds each further page once, however often it was requested", () => {
    const state = after(listed("a", "1"), listed("b", "2", "1"));
    assert.deepEqual(
      state.sessions.items.map(({ sessionKey }) => sessionKey),
      ["a", "b"],
    );
    assert.equal(reduce(state, listed("b", "2", "1")), state);
  });
});

describe("a message that the history truncates", () => {
  const text = (state: PageState): unknown =>
    runsOf(state.conversation).flatMap(({ blocks }) =>
      blocks.map((block) => block.type === "text" && block.text),
    );
  const { message: beginning } = cut("1");
  const whole = {
    ...beginning,
    content: [{ type: "text", text: "all of it" }],
  } as typeof beginning;
  const loaded: PageAction = { type: "message", sessionKey: "s", id: "1", message: whole };

  it("is shown whole once it is loaded, also after a reload of the history", () => {
    const before = after(history([cut("1")]));
    assert.deepEqual(text(before), ["beginning"]);
    const then = reduce(before, loaded);
    assert.deepEqual(text(then), ["all of it"]);
    assert.deepEqual(text(reduce(then, history([cut("1")]))), ["all of it"]);
    assert.equal(then.conversation.entries[0]?.truncated, undefined);
  });

  it("changes nothing in another session, or when it is no longer shown", () => {
    const state = after(history([cut("2")]));
    assert.equal(reduce(state, { ...loaded, sessionKey: "other" }), state);
    assert.deepEqual(text(reduce(state, loaded)), ["beginning"]);
  });
});
