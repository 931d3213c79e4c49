import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AgentEvent } from "@bowline/core";
import { TextReport } from "../../src/cli/report.ts";

describe("while the command waits for the model", () => {
  it("a terminal counts the seconds since the task began, across a retry, until text arrives", (t) => {
    t.mock.timers.enable({ apis: ["setInterval", "Date"] });
    let shown = "";
    const write = (text: string): void => void (shown += text);
    const report = new TextReport(
      { isTTY: true, write },
      { isTTY: true, write },
      { NO_COLOR: "1" },
      { server: "host:1", answerMs: 600_000, retryMs: 120_000 },
    );
    const event = (type: AgentEvent["type"], own: object = {}): string => {
      shown = "";
      report.event({ type, ...own } as AgentEvent);
      for (let second = 0; second < 2; second++) t.mock.timers.tick(1000);
      return shown.replaceAll("\r\u001b[2K", "|");
    };
    const waiting = (seconds: number): string =>
      `|… waiting for host:1, ${seconds} s (limit 10 min)`;
    const counted = waiting(1) + waiting(2);
    assert.equal(event("turn_start"), counted);
    assert.equal(
      event("message_end", { message: { role: "user", content: "hi" } }),
      waiting(3) + waiting(4),
    );
    const retrying = (retry: number, ...seconds: number[]): string =>
      seconds.map((s) => `|… No response from host:1. Retrying (${retry}) for ${s} s.`).join("");
    const retry = { error: { code: "connection_failed", message: "", retryable: true } };
    assert.equal(event("request_retry", retry), retrying(1, 0, 1, 2));
    assert.equal(event("request_retry", retry), retrying(2, 2, 3, 4));
    assert.equal(
      event("message_update", { assistantMessageEvent: { type: "text_delta", delta: "So" } }),
      "|… host:1 answered after 2 retries (4 s)\nSo",
    );
    assert.equal(
      event("message_end", { message: { role: "assistant", content: [], stopReason: "stop" } }),
      "\n",
    );
  });
});

it("a server that never answered is not said to have answered when the run is stopped", () => {
  let shown = "";
  const output = { write: (text: string): void => void (shown += text) };
  const awaited = { server: "host:1", answerMs: 600_000, retryMs: 120_000 };
  const report = new TextReport(output, output, { NO_COLOR: "1" }, awaited);
  const event = (type: AgentEvent["type"], own: object): void =>
    report.event({ type, ...own } as AgentEvent);
  const error = { code: "connection_failed", message: "", retryable: true };
  event("request_retry", { error });
  event("message_end", { message: { role: "assistant", content: [], stopReason: "aborted" } });
  assert.equal(shown, "… No response from host:1. Retrying for up to 2 min.\n");
});

describe("a note beside the run", () => {
  it("stands on a line of its own, and the seconds go on below it", (t) => {
    t.mock.timers.enable({ apis: ["setInterval", "Date"] });
    let shown = "";
    const output = { isTTY: true, write: (text: string): void => void (shown += text) };
    const report = new TextReport(
      output,
      output,
      { NO_COLOR: "1" },
      { server: "host:1", answerMs: 600_000, retryMs: 120_000 },
    );
    const event = (type: AgentEvent["type"], own: object = {}): void =>
      report.event({ type, ...own } as AgentEvent);
    event("turn_start");
    for (let second = 0; second < 2; second++) t.mock.timers.tick(1000);
    shown = "";
    report.note("a server failed");
    const waiting = "\r\u001b[2K… waiting for host:1, 2 s (limit 10 min)";
    assert.equal(shown, `\r\u001b[2Ka server failed\n${waiting}`);
    event("message_update", { assistantMessageEvent: { type: "text_delta", delta: "So" } });
    shown = "";
    report.note("a server is back");
    assert.equal(shown, "\na server is back\n");
  });
});

describe("while a tool runs", () => {
  const events = (report: TextReport): void => {
    const name = { toolCallId: "c", toolName: "bash" };
    const event = (type: AgentEvent["type"], own: object): void =>
      report.event({ type, ...name, ...own } as AgentEvent);
    const printed = Array.from({ length: 9 }, (_, index) => `line ${index + 1}`).join("\n");
    event("tool_execution_start", { args: {} });
    event("tool_execution_update", {
      partialResult: { content: [{ type: "text", text: `${printed}\n` }] },
    });
    event("tool_execution_end", { result: { content: [] }, isError: false, durationMs: 7 });
  };
  const awaited = { server: "host:1", answerMs: 1, retryMs: 1 };

  it("that was stopped or left running is yellow and says so, and is no failure", () => {
    for (const [outcome, ended] of [
      ["stopped", "\u001b[33m■\u001b[39m bash \u001b[33mstopped\u001b[39m"],
      ["left_running", "\u001b[33m■\u001b[39m bash \u001b[33mleft running\u001b[39m"],
      ["failed", "\u001b[31m✗\u001b[39m bash"],
    ] as const) {
      let shown = "";
      const output = { isTTY: true, write: (text: string): void => void (shown += text) };
      const result = { content: [{ type: "text", text: "Why." }] };
      const end = { type: "tool_execution_end", toolCallId: "1", toolName: "bash", result };
      const event = { ...end, isError: true, outcome, durationMs: 7 };
      new TextReport(output, output, {}, awaited).event(event as unknown as AgentEvent);
      assert.equal(shown, `${ended} \u001b[2m(7 ms)\u001b[22m: Why.\n`);
    }
  });

  it("a terminal shows the last lines of its output, and clears them when it ends", () => {
    let shown = "";
    const output = { isTTY: true, write: (text: string): void => void (shown += text) };
    events(new TextReport(output, output, { NO_COLOR: "1" }, awaited));
    const rows = "… bash, 0 s\nline 5\nline 6\nline 7\nline 8\nline 9";
    const up = "\u001b[1A\u001b[2K".repeat(5);
    assert.equal(shown, `→ bash\n\r\u001b[2K${rows}\r\u001b[2K${up}✓ bash (7 ms)\n`);
  });

  it("a pipe receives none of its output", () => {
    let shown = "";
    const output = { write: (text: string): void => void (shown += text) };
    events(new TextReport(output, output, {}, awaited));
    assert.equal(shown, "→ bash\n✓ bash (7 ms)\n");
  });
});
