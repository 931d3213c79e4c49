/** What people see of the tools that a vendor runs. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AgentEvent, AssistantContent } from "@bowline/core";
import { createRunEvents } from "../../src/gateway/log/run-events.ts";
import { createSecretFilter } from "../../src/secrets.ts";

type Status = "started" | "running" | "completed" | "failed";

/** The notices of a run in which these tools were used and an answer was given. */
function notices(used: readonly [string, Status][], content: AssistantContent[]): unknown[] {
  const told: unknown[] = [];
  const log = {
    append(event: string, data: unknown): void {
      if (event === "chat.notice") told.push(data);
    },
  };
  const options = {
    filter: createSecretFilter(["secret-word"]),
    turn: 0,
    idOf: () => undefined,
    keyVariable: () => undefined,
  };
  const tell = createRunEvents(log as never, options);
  const message = {
    role: "assistant" as const,
    content,
    api: "a",
    provider: "p",
    model: "m",
    usage: {},
    stopReason: "stop" as const,
    timestamp: 0,
  };
  const ofRun = { runId: "r", seq: 0 };
  for (const [toolName, status] of used) {
    const assistantMessageEvent = { type: "provider_tool", id: "1", toolName, status, attempt: 1 };
    tell({ type: "message_update", ...ofRun, message, assistantMessageEvent } as AgentEvent);
  }
  tell({ type: "message_end", ...ofRun, message });
  return told;
}

describe("a vendor's tool", () => {
  it("is told of when it is first used and when it fails", () => {
    const used: [string, Status][] = [
      ["web_search", "started"],
      ["web_search", "running"],
      ["web_search", "completed"],
      ["web_search", "started"],
      ["secret-word", "failed"],
    ];
    assert.deepEqual(notices(used, []), [
      {
        code: "provider_tool",
        message: "The model uses web_search, on the servers of its vendor.",
      },
      { code: "provider_tool", message: "[redacted] failed, on the servers of its vendor." },
    ]);
  });
});

describe("the sources of an answer", () => {
  it("are listed after it, once each", () => {
    const sources: AssistantContent[] = [
      { type: "source", url: "https://a.org", title: "A" },
      { type: "source", name: "report.pdf" },
      { type: "source", url: "https://a.org" },
    ];
    assert.deepEqual(notices([], sources), [
      { code: "sources", message: "Sources: https://a.org, report.pdf" },
    ]);
    const call = { type: "toolCall", id: "1", name: "read", arguments: {} } as const;
    assert.deepEqual(notices([], [{ type: "text", text: "Hi" }, call]), []);
  });
});
