/** What a message remembers of its parts: the ids of calls and data, also after a retraction. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AgentEventBody } from "../../src/agent/contract/event.ts";
import type { AssistantMessageEvent } from "../../src/index.ts";
import { MessageFold } from "../../src/ui-stream/message-fold.ts";
import { settingsOf, type UIMessageStreamOptions } from "../../src/ui-stream/options.ts";
import type { UIMessageChunk } from "../../src/ui-stream/index.ts";

interface Rig {
  readonly fold: MessageFold;
  readonly push: (body: AgentEventBody) => UIMessageChunk[];
}

function rigOf(options: UIMessageStreamOptions = {}): Rig {
  const fold = new MessageFold(settingsOf(options));
  let seq = 0;
  const push = (body: AgentEventBody): UIMessageChunk[] =>
    fold.push({ ...body, runId: "r", seq: seq++ });
  fold.message.runId = "r";
  fold.message.openStep();
  return { fold, push };
}

const start = (toolCallId: string): AgentEventBody => ({
  type: "tool_execution_start",
  toolCallId,
  toolName: "look",
  args: {},
});
const progress = (toolCallId: string): AgentEventBody => ({
  type: "tool_execution_update",
  toolCallId,
  toolName: "look",
  args: {},
  partialResult: { content: [] },
});

describe("ShownMessage", () => {
  it("gives a call that was retracted its id again, and finds the new call by it", () => {
    const { fold } = rigOf();
    const step = fold.message.step();
    const call: AssistantMessageEvent = {
      type: "toolcall_start",
      attempt: 1,
      contentIndex: 0,
      id: "c1",
      name: "look",
    };
    const retract: AssistantMessageEvent = {
      type: "message_retract",
      attempt: 1,
      contentIndex: 0,
      error: { code: "overloaded", message: "x", retryable: true },
    };
    const [wrong] = (step.update(call), step.calls);
    step.update(retract);
    assert.equal(fold.message.callOf({ runId: "r", toolCallId: "c1" }), undefined);
    step.update(call);
    const [right] = step.calls;
    assert.notEqual(right, wrong);
    assert.equal(right?.names.id, "c1");
    assert.equal(fold.message.callOf({ runId: "r", toolCallId: "c1" }), right);
  });

  it("replaces data of the same name and id, adds data without id, and not what a reset removed", () => {
    const { fold, push } = rigOf({
      toData: ({ toolCallId }) => [
        { name: "seen", id: "one", data: toolCallId },
        { name: "seen", data: toolCallId },
      ],
    });
    const shown = (): unknown[] =>
      fold.message.replay().flatMap((chunk) => (chunk.type === "data-seen" ? chunk.data : []));
    for (const id of ["c1", "c2"]) {
      push(start(id));
      push(progress(id));
    }
    assert.deepEqual(shown(), ["c2", "c1", "c2"]);
    const message = { role: "assistant", content: [], timestamp: 0 } as never;
    fold.message
      .step()
      .parts.push({ kind: "text", contentIndex: 0, id: "t", text: "x", isOpen: false });
    fold.message.step().complete(message);
    assert.deepEqual(shown(), []);
    push(start("c3"));
    push(progress("c3"));
    assert.deepEqual(shown(), ["c3", "c3"]);
  });

  it("does not replay transient data, which the page does not keep either", () => {
    const { fold, push } = rigOf({
      toData: () => [
        { name: "seen", id: "one", data: 1, isTransient: true },
        { name: "seen", data: 2 },
      ],
    });
    push(start("c1"));
    const data = (chunks: readonly UIMessageChunk[]): unknown[] =>
      chunks.flatMap((chunk) => (chunk.type === "data-seen" ? chunk.data : []));
    assert.deepEqual(data(push(progress("c1"))), [1, 2]);
    assert.deepEqual(data(fold.message.replay()), [2]);
  });

  it("replays the arguments of a call that still streams", () => {
    const { fold } = rigOf();
    const about = { attempt: 1, contentIndex: 0 };
    const step = fold.message.step();
    step.update({ type: "toolcall_start", ...about, id: "c1", name: "look" });
    for (const delta of ['{"at":', '"sea"'])
      step.update({ type: "toolcall_delta", ...about, delta });
    assert.deepEqual(fold.message.replay().slice(2), [
      { type: "tool-input-start", toolCallId: "c1", toolName: "look", dynamic: true },
      { type: "tool-input-delta", toolCallId: "c1", inputTextDelta: '{"at":"sea"' },
    ]);
  });

  it("asks at a pause only for open approvals, and shows no call that still runs", () => {
    const { fold, push } = rigOf();
    const ask = (toolCallId: string): AgentEventBody => ({
      type: "approval_request",
      approvalId: `approve ${toolCallId}`,
      toolCallId,
      toolName: "look",
      args: {},
    });
    for (const id of ["answered", "running", "open"]) push(ask(id));
    for (const id of ["answered", "running"])
      push({ type: "approval_answer", approvalId: `approve ${id}`, decision: "allow" });
    push(progress("running"));
    const ids = (type: UIMessageChunk["type"]): unknown[] =>
      fold.message
        .pause()
        .flatMap((chunk) => (chunk.type === type && "toolCallId" in chunk ? chunk.toolCallId : []));
    assert.deepEqual(ids("tool-input-available"), ["answered", "open"]);
    assert.deepEqual(ids("tool-approval-request"), ["answered", "open"]);
    assert.equal(fold.message.pause()[0]?.type, "reset-step");
  });

  it("does not read all parts for each call and each piece of data", () => {
    const { fold, push } = rigOf({
      toData: () => [
        { name: "seen", data: 1 },
        { name: "x", id: "y", data: 1 },
      ],
    });
    let reads = 0;
    fold.message.step().parts = new Proxy([], {
      get(parts, name, receiver) {
        if (typeof name === "string" && /^\d+$/.test(name)) reads += 1;
        return Reflect.get(parts, name, receiver) as unknown;
      },
    });
    const calls = 200;
    for (let at = 0; at < calls; at++) {
      push(start(`c${at}`));
      push(progress(`c${at}`));
    }
    assert.equal(fold.message.calls().length, calls);
    assert.ok(reads <= 10 * calls, `${reads} reads`);
  });
});
