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
    );
    const event = (type: AgentEvent["type"], own: object = {}): string => {
      shown = "";
      report.event({ type, ...own } as AgentEvent);
      for (let second = 0; second < 2; second++) t.mock.timers.tick(1000);
      return shown.replaceAll("\r\u001b[2K", "|");
    };
    const counted = "|… waiting for the model, 1 s|… waiting for the model, 2 s";
    assert.equal(event("turn_start"), counted);
    assert.match(
      event("message_end", { message: { role: "user", content: "hi" } }),
      /model, 3 s.*model, 4 s$/,
    );
    const retry = { error: { message: "It is busy" }, delayMs: 500 };
    assert.equal(event("request_retry", retry), `|… It is busy; asking again in 0.5 s\n${counted}`);
    assert.equal(
      event("message_update", { assistantMessageEvent: { type: "text_delta", delta: "So" } }),
      "|So",
    );
    assert.equal(
      event("message_end", { message: { role: "assistant", content: [], stopReason: "stop" } }),
      "\n",
    );
  });
});
