/** Runs that a chat did not start: what a page gets of them, and how long they can be answered. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { settle } from "../../../../test/support/manual-clock.ts";
import type { AgentEvent, AgentMessage } from "../../src/index.ts";
import { ChatRuns, type ChatAgent } from "../../src/ui-stream/index.ts";
import { answered, chunksOf } from "./rig.ts";

const user = (content: string): AgentMessage => ({ role: "user", content, timestamp: 0 });
const said = (text: string): AgentMessage => ({
  role: "assistant",
  ...({ api: "a", provider: "p", model: "m", stopReason: "stop" } as const),
  content: [{ type: "text", text }],
  usage: {},
  timestamp: 0,
});

/** A chat whose run goes on elsewhere. It catches up and ends when the test says so. */
function elsewhere({
  messages = [user("Pay")] as AgentMessage[],
  turns = 0,
  catchesUp = true,
} = {}) {
  const [ended, caught] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const listeners = new Set<(event: AgentEvent) => void>();
  const given: string[] = [];
  const session = {
    interrupted: { runId: "left", turns } as { runId: string; turns: number } | undefined,
    resume: () => ended.promise,
    caughtUp: catchesUp ? caught.promise : undefined,
  };
  const never = (): never => assert.fail("the run goes on elsewhere");
  const chat: ChatAgent = {
    agent: {
      state: { messages, isStreaming: false },
      prompt: never,
      continue: never,
      abort: () => {},
      answer: (approvalId) => (given.push(approvalId), true),
      subscribe(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    },
    session,
  };
  let seq = 0;
  const tell = (body: object): void => {
    const event = { runId: "left", seq: seq++, ...body } as AgentEvent;
    for (const listener of listeners) listener(event);
  };
  return {
    open: () => chat,
    listeners,
    given,
    tell,
    catchUp: async () => (caught.resolve(), settle()),
    async end() {
      session.interrupted = undefined;
      tell({ type: "agent_end", reason: "done", messages: [], usage: {} });
      ended.resolve();
      await settle();
    },
  };
}

const call = { toolCallId: "c1", toolName: "pay", args: { to: "Ann" } };
const request = { type: "approval_request", approvalId: "a1", ...call };
/** The answer of a page that was asked by another process. */
const answer = (): unknown =>
  answered(
    [
      { type: "tool-input-available", ...call, input: call.args, dynamic: true },
      { type: "tool-approval-request", approvalId: "a1", toolCallId: "c1" },
    ],
    true,
  );

describe("a run that goes on elsewhere", () => {
  it("is shown from its own first answer, without the answers of earlier runs", async () => {
    const messages = [user("Hi"), said("Earlier."), user("Pay"), said("Now.")];
    const run = elsewhere({ messages, turns: 1 });
    const response = await new ChatRuns().resume("chat", run.open);
    await run.end();
    const chunks = await chunksOf(response);
    const texts = chunks.flatMap((chunk) => (chunk.type === "text-delta" ? [chunk.delta] : []));
    assert.deepEqual(texts, ["Now."]);
  });

  it("gets an answer as soon as it asks, if that is before it has caught up", async () => {
    const run = elsewhere();
    const chats = new ChatRuns();
    const posting = chats.post(answer(), run.open);
    await settle();
    run.tell(request);
    assert.deepEqual(run.given, []);
    await run.catchUp();
    assert.equal((await posting).status, 200);
    assert.deepEqual(run.given, ["a1"]);
  });

  it("refuses an answer to what it has not asked for by the time that it has caught up", async () => {
    const run = elsewhere();
    const posting = new ChatRuns().post(answer(), run.open);
    await run.catchUp();
    assert.equal((await posting).status, 409);
    run.tell(request);
    assert.deepEqual(run.given, []);
  });

  it("refuses answers after its end, and no longer listens to its agent", async () => {
    const run = elsewhere({ catchesUp: false });
    const chats = new ChatRuns();
    await chats.resume("chat", run.open);
    assert.equal(run.listeners.size, 1);
    await run.end();
    assert.equal(run.listeners.size, 0);
    const { status } = await chats.post(answer(), run.open);
    assert.equal(status, 409);
  });
});
