/** The gateway's events as chunks of a page with `useChat`, also where a snapshot replaces what was told. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toUIMessageStream } from "@bowline/core/ui-stream";
import type { RunEvent } from "../../src/gateway/client/client.ts";
import type { Block } from "../../src/gateway/protocol/protocol.ts";
import { AgentEvents } from "../../src/use-chat/agent-events.ts";

const ids = { runId: "r", sessionKey: "s", seq: 0 };
const event = (name: string, data: object): RunEvent =>
  ({ event: name, data: { ...ids, ...data } }) as unknown as RunEvent;
const delta = (turn: number, text: string) => event("chat.delta", { turn, text });
const thinking = (turn: number, text: string) => event("chat.thinking", { turn, text });
const turn = (number: number) => event("chat.turn", { turn: number });
const snapshot = (...blocks: readonly Block[]) =>
  event("chat.snapshot", { state: "running", blocks });
const text = (number: number, said: string): Block => ({ type: "text", turn: number, text: said });
const call = (state: "running" | "done" | "failed", output: string): Block => ({
  type: "tool_call",
  toolCallId: "c",
  name: "look",
  arguments: { at: 1 },
  state,
  output,
});
const called = event("chat.tool_call", { toolCallId: "c", name: "look", arguments: { at: 1 } });
const result = (output: string, isError = false) =>
  event("chat.tool_result", { toolCallId: "c", name: "look", output, isError, durationMs: 1 });
const asked = event("exec.approval_request", {
  approvalId: "a",
  toolCallId: "c",
  toolName: "look",
  summary: "",
  arguments: { at: 1 },
});
const final = event("chat.final", {
  usage: { inputTokens: 5, cacheReadTokens: 2 },
  stopReason: "stop",
});
const user = (said: string) => event("chat.user", { text: said });

/** Returns the chunks that a page gets, each as a line. */
async function shown(events: readonly RunEvent[]): Promise<string[]> {
  const told = new AgentEvents("r");
  async function* run() {
    for (const one of events) yield* told.take(one);
  }
  const lines: string[] = [];
  const options = { reasoning: true, approvals: "wait", toErrorText: () => "failed" } as const;
  for await (const chunk of toUIMessageStream(run(), options)) {
    const { type, ...about } = chunk as { type: string } & Record<string, string | boolean>;
    const label = chunk.type === "data-added" ? (chunk.data as { label: string }).label : undefined;
    const what =
      label ?? about.delta ?? about.output ?? about.approvalId ?? about.finishReason ?? "";
    lines.push(
      [type, about.preliminary === true ? "so far" : "", String(what)].filter(Boolean).join(" "),
    );
  }
  return lines;
}

const answer = [
  "start",
  "start-step",
  "reasoning-start",
  "reasoning-delta Hm.",
  "reasoning-end",
  "text-start",
  "text-delta Let me ",
  "text-delta look.",
  "text-end",
  "tool-input-available",
];

describe("the events of a gateway", () => {
  const begun = [
    user("Q"),
    thinking(0, "Hm."),
    delta(0, "Let me "),
    delta(0, "look."),
    turn(0),
    called,
  ];

  it("become the chunks of each step, with calls, approvals, steering and the end", async () => {
    assert.deepEqual(
      await shown([
        ...begun,
        asked,
        asked,
        event("exec.approval_resolved", { approvalId: "a", decision: "allow" }),
        event("tool.progress", { toolCallId: "c", name: "look", text: "half" }),
        result("all"),
        user("And this?"),
        delta(1, "Yes."),
        turn(1),
        final,
      ]),
      [
        ...answer,
        "tool-approval-request a",
        "tool-approval-response a",
        "tool-output-available so far half",
        "tool-output-available all",
        "finish-step",
        "steering-message",
        "start-step",
        "text-start",
        "text-delta Yes.",
        "text-end",
        "finish-step",
        "finish stop",
      ],
    );
  });

  it("end as denied, aborted or with an error", async () => {
    const denied = event("exec.approval_resolved", { approvalId: "a", decision: "deny" });
    const lines = await shown([
      ...begun,
      asked,
      denied,
      result("no", true),
      event("chat.aborted", { usage: {} }),
    ]);
    assert.deepEqual(lines.slice(answer.length), [
      "tool-approval-request a",
      "tool-approval-response a",
      "tool-output-denied",
      "finish-step",
      "abort",
      "finish interrupted",
    ]);
    const failure = { code: "timeout", message: "late", retryable: true };
    const failed = await shown([
      ...begun,
      result("no", true),
      event("chat.error", { error: failure }),
    ]);
    assert.deepEqual(failed.slice(answer.length), [
      "tool-output-error",
      "finish-step",
      "message-metadata",
      "error",
      "finish error",
    ]);
  });

  it("have what a program added to a message as its label, beside what the person wrote", async () => {
    const added = [{ label: "the file a.ts", file: "a.ts" }, { label: "a note" }];
    const steered = event("chat.user", { text: "And this", added });
    const noted = event("chat.user", { text: "", added: added.slice(1) });
    const told = await shown([user("Q"), delta(0, "One"), turn(0), steered, noted, final]);
    assert.deepEqual(told.slice(-6), [
      "finish-step",
      "steering-message",
      "data-added the file a.ts",
      "data-added a note",
      "data-added a note",
      "finish stop",
    ]);
  });

  it("begin with a snapshot, and go on after one that has the same and more", async () => {
    const block: Block = { type: "thinking", turn: 0, text: "Hm." };
    const first = snapshot(
      { type: "user", text: "Q" },
      block,
      text(0, "Let me look."),
      call("running", "ha"),
    );
    const later = snapshot(
      { type: "user", text: "Q" },
      block,
      text(0, "Let me look."),
      call("done", "all"),
      text(1, "Yes"),
    );
    assert.deepEqual(await shown([first, later, later, delta(1, "."), final]), [
      ...answer
        .filter((line) => line !== "text-delta Let me ")
        .map((line) => (line === "text-delta look." ? "text-delta Let me look." : line)),
      "tool-output-available so far ha",
      "tool-output-available all",
      "finish-step",
      "start-step",
      "text-start",
      "text-delta Yes",
      "text-delta .",
      "finish-step",
      "finish stop",
    ]);
  });

  it("take back the text of an answer that was lost with its worker, and of no other", async () => {
    const prompt: Block = { type: "user", text: "Q" };
    const lost = [user("Q"), delta(0, "One tw"), snapshot(prompt), delta(0, "Two."), final];
    assert.deepEqual(await shown(lost), [
      "start",
      "start-step",
      "text-start",
      "text-delta One tw",
      "reset-step",
      "text-start",
      "text-delta Two.",
      "finish-step",
      "finish stop",
    ]);
    const longer = [user("Q"), delta(0, "One tw"), snapshot(prompt, text(0, "One two")), final];
    assert.deepEqual((await shown(longer)).slice(2, -2), [
      "text-start",
      "text-delta One tw",
      "text-delta o",
    ]);
    const other = [...begun, result("all"), delta(1, "x"), snapshot(prompt, text(0, "Other."))];
    await assert.rejects(shown(other), { code: "stream_truncated" });
  });
});
