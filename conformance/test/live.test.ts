/** Received content is emitted at once, before the answer is complete. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { StreamDecoder } from "../../packages/core/src/providers/decoder.ts";
import type { Model } from "../../packages/core/src/llm/model.ts";
import { defaultTools, type ProtocolName } from "../fixture.ts";
import { loadWire } from "../ours.ts";
import {
  argumentsDelta,
  begin,
  callItem,
  calls,
  created,
  inputDelta,
  itemAdded,
  messageStart,
  named,
  numbered,
  say,
  sse,
  textBlock,
  textDelta,
  toolStart,
} from "../wire.ts";
import { messageItem, partAdded } from "../wire.ts";

const piece = '{"ci';
const call = { index: 0, id: "call_1", name: "get_weather", arguments: piece };
const opened = itemAdded(0, messageItem("", { content: [], status: "in_progress" }));

/** The first part of an answer with a text, and of one with a call. */
const beginnings: Partial<Record<ProtocolName, { text: string; call: string }>> = {
  "openai-chat": { text: sse(begin, say("Hel")), call: sse(begin, calls(call)) },
  "anthropic-messages": {
    text: named(messageStart(), ...textBlock(0, "Hel").slice(0, 2)),
    call: named(messageStart(), toolStart(0), inputDelta(0, piece)),
  },
  "openai-responses": {
    text: numbered(created, opened, partAdded(0), textDelta(0, "Hel")),
    call: numbered(created, itemAdded(0, callItem("")), argumentsDelta(0, piece)),
  },
};

async function eventsOf(protocol: ProtocolName, body: string): Promise<string[]> {
  const wire = await loadWire(protocol);
  assert.ok(wire);
  const model = { id: "m", name: "m", api: protocol, provider: "p", baseUrl: "", input: ["text"] };
  const decoder = new StreamDecoder(wire.protocol, model as unknown as Model, {
    timestamp: 0,
    toolNames: defaultTools,
  });
  return decoder
    .push(new TextEncoder().encode(body))
    .map((event) => ("delta" in event ? `${event.type} ${event.delta}` : event.type));
}

describe("an incomplete answer", () => {
  for (const [protocol, { text, call: ofCall }] of Object.entries(beginnings)) {
    it(`emits its text at once over ${protocol}`, async () => {
      const events = await eventsOf(protocol as ProtocolName, text);
      assert.deepEqual(events, ["start", "text_start", "text_delta Hel"]);
    });

    it(`emits its call and the arguments at once over ${protocol}`, async () => {
      const events = await eventsOf(protocol as ProtocolName, ofCall);
      assert.deepEqual(events, ["start", "toolcall_start", `toolcall_delta ${piece}`]);
    });
  }
});
