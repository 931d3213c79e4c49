/** The frames of a run's attempts, and a run rebuilt from its stored session. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AgentEvent } from "@bowline/core";
import { createMemoryStore, createSession } from "@bowline/core/session";
import {
  createRunFeed,
  createSecretFilter,
  findOpenRun,
  findLastSeq,
  findRunEnd,
  readStoredSession,
  SEQ_PER_ATTEMPT,
  type RunFeed,
  type RunFeedOptions,
  type RunFrame,
} from "bowline/engine";
import * as events from "../../../../test/support/agent-events.ts";
import { ManualClock } from "../../../../test/support/manual-clock.ts";
import { defaultLimits } from "../../src/gateway/protocol/limits.ts";

const secret = "hunter2-and-more";

const delta = (text: string): AgentEvent => events.delta("r", text);
const ended = (text: string): AgentEvent => events.answered("r", text);
const end = events.ended("r");

function feedWith(given: Partial<RunFeedOptions> = {}): {
  readonly feed: RunFeed;
  readonly told: RunFrame[];
  readonly clock: ManualClock;
} {
  const told: RunFrame[] = [];
  const clock = new ManualClock();
  const feed = createRunFeed({
    runId: "r",
    sessionKey: "s",
    attempt: 1,
    isRepeated: false,
    filter: createSecretFilter([secret]),
    limits: defaultLimits,
    clock,
    workingDir: "/work",
    publish: (frame) => void told.push(frame),
    ...given,
  });
  return { feed, told, clock };
}

const dataOf = (told: RunFrame | undefined): Record<string, unknown> =>
  (JSON.parse(told?.frame.json ?? "{}") as { data?: Record<string, unknown> }).data ?? {};
const namesAndSeqs = (told: readonly RunFrame[]): unknown[] =>
  told.map(({ event: name, frame }) => [name, frame.seq]);

describe("the feed of a first attempt", () => {
  it("names a user's message by the id of its client, if it has one", () => {
    for (const messageId of ["key", undefined, 7]) {
      const { feed, told } = feedWith();
      const message = { role: "user", content: "Hi", timestamp: 1, messageId };
      feed.tell(events.event("r", { type: "message_end", message }));
      assert.deepEqual(
        told.map(({ event, frame }) => [event, dataOf({ event, frame })["messageId"]]),
        [["chat.user", messageId === "key" ? "key" : undefined]],
      );
    }
  });

  it("numbers its events from 0 and ends with the run", () => {
    const { feed, told } = feedWith();
    feed.tell(delta("Hel"));
    feed.tell(delta("lo."));
    feed.tell(ended("Hello."));
    feed.tell(end);
    feed.tell(delta("late"));
    assert.deepEqual(namesAndSeqs(told), [
      ["chat.delta", 0],
      ["chat.delta", 1],
      ["chat.turn", 2],
      ["chat.final", 3],
    ]);
    assert.equal(feed.info.state, "final");
    assert.deepEqual(namesAndSeqs(feed.since(1)), [
      ["chat.turn", 2],
      ["chat.final", 3],
    ]);
  });

  it("redacts a secret that spans deltas, and ignores events of nested runs", () => {
    const { feed, told } = feedWith();
    feed.tell({ ...delta("nested"), runId: "other" });
    for (const piece of ["The key is hunt", "er2-and-", "more."]) feed.tell(delta(piece));
    feed.tell(ended(`The key is ${secret}.`));
    const text = told.map((one) => dataOf(one).text as string | undefined).join("");
    assert.match(text, /^The key is /);
    assert.ok(!JSON.stringify(told).includes(secret));
    assert.ok(!text.includes("nested"));
  });

  it("sends notices, and messages that wait for the next step", () => {
    const { feed, told } = feedWith();
    feed.notice({ code: "practice_model", message: "No key." });
    feed.queued({ text: "Also.", kind: "steer", messageId: "also" });
    assert.deepEqual(namesAndSeqs(told), [
      ["chat.notice", 0],
      ["chat.queued", 1],
    ]);
    const { message: notice } = dataOf(told[0]);
    assert.deepEqual([notice, dataOf(told[1]).messageId], ["No key.", "also"]);
  });

  it("sends nothing after the end of the run", () => {
    const { feed, told } = feedWith();
    feed.tell(end);
    feed.tell(delta("Late."));
    feed.notice({ code: "late", message: "Late." });
    feed.queued({ text: "Late.", kind: "steer", messageId: "late" });
    feed.fail({ code: "aborted", message: "Late.", retryable: false });
    assert.deepEqual(namesAndSeqs(told), [["chat.final", 0]]);
    assert.equal(feed.info.state, "final");
  });

  it("sends nothing after it was stopped", () => {
    const { feed, told } = feedWith();
    feed.tell(delta("Hel"));
    feed.stop();
    feed.tell(delta("lo."));
    feed.fail({ code: "aborted", message: "", retryable: false });
    assert.equal(told.length, 1);
    assert.equal(feed.info.state, "running");
  });

  it("shows approvals and their answers without secrets", () => {
    const { feed, told } = feedWith();
    const call = { approvalId: "q", toolCallId: "c", toolName: "bash" };
    feed.tell(
      events.event("r", { type: "approval_request", ...call, args: { command: `echo ${secret}` } }),
    );
    feed.tell(
      events.event("r", { type: "approval_answer", ...call, decision: "deny", by: secret }),
    );
    assert.deepEqual(
      told.map((one) => one.event),
      ["exec.approval_request", "exec.approval_resolved"],
    );
    const { workingDir, pattern } = dataOf(told[0]);
    assert.deepEqual([workingDir, pattern], ["/work", undefined]);
    assert.ok(!JSON.stringify(told).includes(secret));
  });
});

it("a feed shows the rule that a person can add only if it is remembered everywhere", () => {
  const request = { type: "approval_request", approvalId: "q", toolCallId: "c", toolName: "bash" };
  const shown = [true, false, undefined].map((patterns) => {
    const { feed, told } = feedWith(patterns === undefined ? {} : { patterns });
    feed.tell(events.event("r", { ...request, args: { command: "git status" } }));
    return dataOf(told[0]).pattern;
  });
  assert.deepEqual(shown, ["git status", undefined, undefined]);
});

describe("the feed of a later attempt", () => {
  it("repeats recorded steps in silence, and shows them as a snapshot at the first new delta", () => {
    const { feed, told } = feedWith({ attempt: 3, isRepeated: true });
    feed.tell(ended("First."));
    assert.deepEqual(told, []);
    feed.tell(delta("Sec"));
    const first = 3 * SEQ_PER_ATTEMPT;
    assert.deepEqual(namesAndSeqs(told), [
      ["chat.snapshot", first + 1],
      ["chat.delta", first + 2],
    ]);
    const { blocks, state } = dataOf(told[0]);
    assert.equal(state, "running");
    assert.deepEqual(blocks, [{ type: "text", turn: 0, text: "First." }]);
    assert.equal(dataOf(told[1]).turn, 1);
  });

  it("shows its state after a while, such as when it waits for an approval", async () => {
    const { told, clock } = feedWith({ attempt: 2, isRepeated: true });
    await clock.advance(249);
    assert.deepEqual(told, []);
    await clock.advance(1);
    assert.deepEqual(namesAndSeqs(told), [["chat.snapshot", 2 * SEQ_PER_ATTEMPT - 1]]);
  });

  it("repeats the approvals that still wait after its snapshot", async () => {
    const { feed, told, clock } = feedWith({ attempt: 2, isRepeated: true });
    const call = { toolCallId: "c", toolName: "bash", args: { command: "ls" } };
    for (const approvalId of ["one", "two"])
      feed.tell(events.event("r", { type: "approval_request", approvalId, ...call }));
    feed.tell(
      events.event("r", { type: "approval_answer", approvalId: "one", ...call, decision: "allow" }),
    );
    await clock.advance(250);
    assert.deepEqual(
      told.map((one) => [one.event, dataOf(one).approvalId]),
      [
        ["chat.snapshot", undefined],
        ["exec.approval_request", "two"],
      ],
    );
  });

  it("shows a snapshot before an end that nothing preceded", () => {
    const { feed, told } = feedWith({ attempt: 2, isRepeated: true });
    feed.fail({ code: "internal_error", message: "Broken.", retryable: false });
    assert.deepEqual(
      told.map((one) => one.event),
      ["chat.snapshot", "chat.error"],
    );
  });
});

describe("a stored run", () => {
  it("has its content and its end, with numbers that never change", async () => {
    const store = createMemoryStore();
    const session = await createSession(store, { id: "s" });
    await session.append({ type: "run_start", runId: "r" });
    await session.append({
      type: "message",
      runId: "r",
      message: events.answer(`It is ${secret}.`),
    });
    const options = { store, filter: createSecretFilter([secret]), limits: defaultLimits };
    const open = await readStoredSession(options, "s");
    assert.equal(await findOpenRun(store, "s"), "r");
    assert.equal(await findRunEnd(store, "s", "r"), undefined);
    assert.equal(await findLastSeq(store, "s"), 1);
    const before = open.run("r");
    assert.deepEqual(before?.info, { runId: "r", sessionKey: "s", state: "running", seq: -1 });
    assert.deepEqual(namesAndSeqs(before.since(undefined)), [["chat.snapshot", -1]]);
    await session.append({ type: "run_end", runId: "r", reason: "done" });
    const over = await readStoredSession(options, "s");
    assert.equal(await findOpenRun(store, "s"), undefined);
    assert.deepEqual(await findRunEnd(store, "s", "r"), { seq: 2, state: "final" });
    assert.equal(await findRunEnd(store, "missing", "r"), undefined);
    assert.equal(await findLastSeq(store, "missing"), -1);
    const run = over.run("r");
    const frames = run?.since(7) ?? [];
    const last = Number(frames[1]?.frame.seq);
    assert.deepEqual(namesAndSeqs(frames), [
      ["chat.snapshot", last - 1],
      ["chat.final", last],
    ]);
    assert.ok(last > 1000 * SEQ_PER_ATTEMPT && String(last).length <= 15);
    assert.deepEqual(run?.since(last), []);
    assert.ok(!JSON.stringify(frames).includes(secret));
    await session.append({ type: "title", title: "Later" });
    assert.equal((await readStoredSession(options, "s")).run("r")?.info.seq, last);
    assert.equal(over.run("other"), undefined);
  });
});
