import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AgentEvent } from "@bowline/core";
import { TextReport } from "../../src/cli/report.ts";

describe("while the model is waited for", () => {
  it("a terminal counts the seconds, from the task on, over a retry, until there is something to read", (t) => {
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
