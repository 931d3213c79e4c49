/** A program written for the seed's types compiles with karl's. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  agentLoop,
  type AgentEvent,
  type AgentLoopConfig,
  type ThinkingEvent,
  type ThinkingLoopConfig,
} from "../../src/karl/index.ts";
import { createScriptedModel } from "@bowline/core/testing";

/** All ten event kinds of the seed. The compiler rejects any other. */
function tenKinds(event: AgentEvent): string {
  switch (event.type) {
    case "stream_start":
    case "text_delta":
    case "text_end":
    case "tool_call_start":
    case "tool_call_end":
    case "tool_execution_start":
    case "tool_execution_end":
    case "message_end":
    case "turn_end":
    case "error":
      return event.type;
    default:
      return event satisfies never;
  }
}

function config(): AgentLoopConfig {
  const { streamFn } = createScriptedModel(
    [
      {
        content: [
          { type: "thinking", thinking: "Hm" },
          { type: "text", text: "Hi" },
        ],
      },
    ],
    { deltaLength: 9 },
  );
  return { model: "m", baseUrl: "", apiKey: "", apiFormat: "openai", streamFn };
}

describe("karl's events", () => {
  // Requirements: K14
  it("are of the ten original kinds by default", async () => {
    const kinds: string[] = [];
    for await (const event of agentLoop("", "Go", [], config())) kinds.push(tenKinds(event));
    for await (const event of agentLoop("", "Go", [], { ...config(), thinkingEvents: false }))
      kinds.push(tenKinds(event));
    const ofOne = ["stream_start", "text_delta", "text_end", "message_end", "turn_end"];
    assert.deepEqual(kinds, [...ofOne, ...ofOne]);
  });

  // Requirements: K14, K57, X27
  it("include two more kinds, with a separate type, with thinkingEvents", async () => {
    const thoughts: ThinkingEvent[] = [];
    for await (const event of agentLoop("", "Go", [], { ...config(), thinkingEvents: true })) {
      // @ts-expect-error -- the event may be one of the two more
      const wrong: AgentEvent = event;
      void wrong;
      if (event.type === "thinking_delta" || event.type === "thinking_end") thoughts.push(event);
      else tenKinds(event);
    }
    assert.deepEqual(thoughts, [
      { type: "thinking_delta", delta: "Hm" },
      { type: "thinking_end", text: "Hm" },
    ]);
  });

  // Requirements: K14
  it("may be of all kinds when thinkingEvents is known only at run time", () => {
    const asked: ThinkingLoopConfig = { ...config(), thinkingEvents: Math.random() < 2 };
    const events: AsyncIterable<AgentEvent | ThinkingEvent> = agentLoop("", "Go", [], asked);
    // @ts-expect-error -- the event may be one of the two more
    const wrong: AsyncIterable<AgentEvent> = agentLoop("", "Go", [], asked);
    assert.ok(events !== wrong);
  });
});
