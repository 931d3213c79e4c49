import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { accept, type Wire } from "../acceptors/accept.ts";
import {
  blockStop,
  body,
  callItem,
  chunk,
  completed,
  created,
  done,
  fragment,
  functionCall,
  generated,
  inputDelta,
  itemAdded,
  itemDone,
  messageDelta,
  messageItem,
  messageStart,
  messageStop,
  of,
  toolStart,
} from "./wire-events.ts";

/** What real servers send and no documentation allows: the stream, and what it holds all the same. */
type Cases = Record<string, { stream: Uint8Array; holds: string }>;

const whole = chunk(fragment(0, "{}", "f"));
const end = [chunk({}, "tool_calls"), done];
const item = callItem("{}");
const call = [itemAdded(0, callItem("")), itemDone(0, item)];
const part = { type: "output_text", text: "", annotations: [] };
const at = { item_id: "msg_0", content_index: 0 };
const functionF = functionCall({ id: "1", name: "f", args: {} });

const chat: Cases = {
  "chunks of several ids": {
    stream: body({ ...chunk({ content: "a" }), id: "chatcmpl-2" }, chunk({}, "stop"), done),
    holds: "a",
  },
  "a choice that was not asked for": {
    stream: body(chunk({ content: "a" }, null, 0), chunk(fragment(0, "{}", "f"), null, 1), ...end),
    holds: "a f{}",
  },
  "content behind the finish reason": {
    stream: body(whole, chunk({}, "stop"), chunk({ content: "a" }), done),
    holds: "a f{}",
  },
  "ends without [DONE]": { stream: body(whole, chunk({}, "tool_calls")), holds: " f{}" },
  "the last event lacks its empty line": {
    stream: body(chunk({ content: "a" }), chunk({}, "stop")).slice(0, -1),
    holds: "a",
  },
  "calls counted from 1": { stream: body(chunk(fragment(1, "{}", "f")), ...end), holds: " f{}" },
  "two whole calls at one index": {
    stream: body(whole, chunk(fragment(0, "{}", "g", "call_1")), ...end),
    holds: " f{} g{}",
  },
  "two calls of one id": {
    stream: body(whole, chunk(fragment(1, "{}", "g", "call_0")), ...end),
    holds: " f{} g{}",
  },
  "a call named again, without arguments": {
    stream: body(chunk(fragment(0, "", "f")), chunk(fragment(0, "", "f")), ...end),
    holds: " f",
  },
  "a call named in each fragment": {
    stream: body(chunk(fragment(0, "{", "f")), chunk(fragment(0, "}", "f")), ...end),
    holds: " f{}",
  },
  "whole arguments that are sent twice": { stream: body(whole, whole, ...end), holds: " f{}" },
};

const messages: Cases = {
  "a block that was not ended": {
    stream: body(
      messageStart,
      toolStart(0),
      inputDelta(0, "{}"),
      toolStart(1),
      messageDelta("tool_use"),
      messageStop,
    ),
    holds: " f{} f{}",
  },
  "two calls of one id": {
    stream: body(
      messageStart,
      toolStart(0, "a"),
      blockStop(0),
      toolStart(1, "a"),
      blockStop(1),
      messageDelta("tool_use"),
      messageStop,
    ),
    holds: " f{} f{}",
  },
  "ends behind the stop reason, without message_stop": {
    stream: body(messageStart, toolStart(0), blockStop(0), messageDelta("tool_use")),
    holds: " f{}",
  },
};

const responses: Cases = {
  "sequence numbers that do not follow": {
    stream: body(created, { ...call[0], sequence_number: 1 }, call[1] ?? {}, completed(item)),
    holds: " f{}",
  },
  "response.created in another place than the first": {
    stream: body(...call, completed(item)),
    holds: " f{}",
  },
  "responses of several ids": {
    stream: body({ ...created, response: { id: "resp_2" } }, ...call, completed(item)),
    holds: " f{}",
  },
  "ids that are never the same": {
    stream: body(
      created,
      itemAdded(0, callItem("", "a")),
      itemDone(0, callItem("{}", "b")),
      completed(callItem("{}", "c")),
    ),
    holds: " f{}",
  },
  "two calls of one id": {
    stream: body(
      created,
      ...call,
      itemAdded(1, callItem("", "fc_1")),
      itemDone(1, callItem("{}", "fc_1")),
      completed(item, callItem("{}", "fc_1")),
    ),
    holds: " f{} f{}",
  },
  "an output that was left empty": { stream: body(created, ...call, completed()), holds: " f{}" },
  "a part that was not ended": {
    stream: body(
      created,
      itemAdded(0, messageItem()),
      of("content_part.added", 0, { ...at, part }),
      of("output_text.delta", 0, { ...at, delta: "a" }),
      itemDone(0, messageItem("a")),
      completed(messageItem("a")),
    ),
    holds: "a",
  },
  "a message whose text was not streamed": {
    stream: body(
      created,
      itemAdded(0, messageItem()),
      itemDone(0, messageItem("a", "b")),
      completed(messageItem("a", "b")),
    ),
    holds: "ab",
  },
};

const google: Cases = {
  "chunks of several ids": {
    stream: body({ ...generated([{ text: "a" }]), responseId: "2" }, generated([], "STOP")),
    holds: "a",
  },
  "content behind the finish reason": {
    stream: body(generated([], "STOP"), generated([{ text: "a" }])),
    holds: "a",
  },
  "two calls of one id": {
    stream: body(generated([functionF, functionF], "STOP")),
    holds: " f{} f{}",
  },
  "the end of a call that is not open": {
    stream: body(generated([functionF, functionCall({})], "STOP")),
    holds: " f{}",
  },
  "a finish reason that says nothing": {
    stream: body(generated([{ text: "a" }], "OTHER")),
    holds: "a",
  },
  "the last event lacks its empty line": {
    stream: body(generated([{ text: "a" }], "STOP")).slice(0, -2),
    holds: "a",
  },
};

const all: Record<Wire, Cases> = {
  "openai-chat": chat,
  "anthropic-messages": messages,
  "openai-responses": responses,
  "google-generate": google,
};

for (const [wire, cases] of Object.entries(all))
  describe(`the acceptor of ${wire}`, () => {
    for (const [reason, { stream, holds }] of Object.entries(cases))
      it(`doubts, and reads: ${reason}`, () => {
        const verdict = accept(wire as Wire, stream);
        assert.ok(verdict.is === "doubtful", JSON.stringify(verdict));
        assert.equal(verdict.reason, reason);
        const { text, calls, ending } = verdict.held;
        const names = calls.map((one) => ` ${one.name}${one.arguments}`);
        assert.equal(text + names.join(""), holds);
        assert.equal(ending, "complete");
      });
  });
