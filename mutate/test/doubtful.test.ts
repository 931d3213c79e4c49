import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { accept, type Wire } from "../acceptors/accept.ts";
import { decode } from "../decode.ts";
import { findProblem } from "../judge.ts";
import {
  blockStart,
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
  textDelta,
  textStart,
  toolStart,
} from "./wire-events.ts";

/** Streams that real servers send but no documentation allows, with the content that is read. */
type Cases = Record<string, { stream: Uint8Array; holds: string }>;

const whole = chunk(fragment(0, "{}", "f"));
const end = [chunk({}, "tool_calls"), done];
const item = callItem("{}");
const call = [itemAdded(0, callItem("")), itemDone(0, item)];
const part = { type: "output_text", text: "", annotations: [] };
const at = { item_id: "msg_0", content_index: 0 };
const begun = of("content_part.added", 0, { ...at, part });
const spoken = (delta: string, text: string, copy = text) => [
  itemAdded(0, messageItem()),
  begun,
  of("output_text.delta", 0, { ...at, delta }),
  of("output_text.done", 0, { ...at, text }),
  itemDone(0, messageItem(copy)),
];
const functionF = functionCall({ id: "1", name: "f", args: {} });

const chat: Cases = {
  "chunks with different ids": {
    stream: body({ ...chunk({ content: "a" }), id: "chatcmpl-2" }, chunk({}, "stop"), done),
    holds: "a",
  },
  "a choice that was not requested": {
    stream: body(chunk({ content: "a" }), chunk(fragment(0, "{}", "f"), "tool_calls", 1), ...end),
    holds: "a f{}",
  },
  "content after the finish reason": {
    stream: body(whole, chunk({}, "stop"), chunk({ content: "a" }), done),
    holds: "a f{}",
  },
  "a line that is not a field of an event stream": {
    stream: body(chunk({ content: "a" }), "processing\n\n", chunk({}, "stop"), done),
    holds: "a",
  },
  "arguments that are sent from the beginning each time": {
    stream: body(chunk(fragment(0, '{"a"', "f")), chunk(fragment(0, '{"a":1}')), ...end),
    holds: ' f{"a":1}',
  },
  "a placeholder before the arguments": {
    stream: body(chunk(fragment(0, "{}", "f")), chunk(fragment(0, '{"a":1}')), ...end),
    holds: ' f{"a":1}',
  },
  "ends without [DONE]": { stream: body(whole, chunk({}, "tool_calls")), holds: " f{}" },
  "[DONE], without a finish reason": { stream: body(whole, done), holds: " f{}" },
  "a finish reason that promises a call, without one": {
    stream: body(chunk({ content: "a" }), ...end),
    holds: "a",
  },
  "the last event lacks its empty line": {
    stream: body(chunk({ content: "a" }), chunk({}, "stop")).slice(0, -1),
    holds: "a",
  },
  "calls counted from another number than 0": {
    stream: body(chunk(fragment(1, "{}", "f")), ...end),
    holds: " f{}",
  },
  "a gap between indices": {
    stream: body(whole, chunk(fragment(2, "{}", "g")), ...end),
    holds: " f{} g{}",
  },
  "two whole calls at one index": {
    stream: body(whole, chunk(fragment(0, "{}", "g", "call_1")), ...end),
    holds: " f{} g{}",
  },
  "two calls with one id": {
    stream: body(whole, chunk(fragment(1, "{}", "g", "call_0")), ...end),
    holds: " f{} g{}",
  },
  "a call without an id": {
    stream: body(chunk(fragment(0, "{}", "f", "")), ...end),
    holds: " f{}",
  },
  "an empty call": {
    stream: body(chunk({ tool_calls: [{ index: 0, function: {} }] }), whole, ...end),
    holds: " f{}",
  },
  "a fragment of a call that has no name yet": {
    stream: body(chunk(fragment(0, "{")), chunk(fragment(0, "}", "f")), ...end),
    holds: " f{}",
  },
  "a fragment with another id than its call": {
    stream: body(
      chunk(fragment(0, "{", "f")),
      chunk({ tool_calls: [{ index: 0, id: "call_9", function: { arguments: "}" } }] }),
      ...end,
    ),
    holds: " f{}",
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

const toolCall = [toolStart(0), inputDelta(0, "{}"), blockStop(0)];
const stopped = [messageDelta("tool_use"), messageStop];
const messages: Cases = {
  "a repeated message_start": {
    stream: body(messageStart, ...toolCall, messageStart, ...stopped),
    holds: " f{}",
  },
  "indices of blocks that are not consecutive": {
    stream: body(messageStart, toolStart(4), blockStop(4), ...stopped),
    holds: " f{}",
  },
  "a block that begins within another": {
    stream: body(messageStart, toolStart(0), toolStart(1), blockStop(1), blockStop(0), ...stopped),
    holds: " f{} f{}",
  },
  "a block without an end": {
    stream: body(messageStart, toolStart(0), inputDelta(0, "{}"), ...stopped),
    holds: " f{}",
  },
  "the end of a block that is not open": {
    stream: body(messageStart, ...toolCall, blockStop(0), blockStop(7), ...stopped),
    holds: " f{}",
  },
  "a text that has not begun": {
    stream: body(
      messageStart,
      textDelta(0, "a"),
      blockStop(0),
      messageDelta("end_turn"),
      messageStop,
    ),
    holds: "a",
  },
  "an empty piece of a text that has not begun": {
    stream: body(messageStart, textDelta(1, ""), ...toolCall, ...stopped),
    holds: " f{}",
  },
  "a delta of another kind in a block of the server's own": {
    stream: body(
      messageStart,
      blockStart(0, { type: "hologram" }),
      textDelta(0, "a"),
      blockStop(0),
      toolStart(1),
      blockStop(1),
      ...stopped,
    ),
    holds: " f{}",
  },
  "a stop reason that is null": {
    stream: body(messageStart, ...toolCall, messageDelta(null), messageStop),
    holds: " f{}",
  },
  "stop reason tool_use without a call": {
    stream: body(messageStart, textStart(0), textDelta(0, "a"), blockStop(0), ...stopped),
    holds: "a",
  },
  "two calls with one id": {
    stream: body(
      messageStart,
      toolStart(0, "a"),
      blockStop(0),
      toolStart(1, "a"),
      blockStop(1),
      ...stopped,
    ),
    holds: " f{} f{}",
  },
  "ends after the stop reason, without message_stop": {
    stream: body(messageStart, toolStart(0), blockStop(0), messageDelta("tool_use")),
    holds: " f{}",
  },
};

const argumentsDone = of("function_call_arguments.done", 0, { item_id: "fc_0", arguments: "{}" });
const responses: Cases = {
  "sequence numbers that are not consecutive": {
    stream: body(created, { ...call[0], sequence_number: 1 }, call[1] ?? {}, completed(item)),
    holds: " f{}",
  },
  "response.created that is not the first event": {
    stream: body(...call, completed(item)),
    holds: " f{}",
  },
  "responses with different ids": {
    stream: body({ ...created, response: { id: "resp_2" } }, ...call, completed(item)),
    holds: " f{}",
  },
  "an item that has not begun": {
    stream: body(created, itemDone(0, item), completed(item)),
    holds: " f{}",
  },
  "an empty piece of an item that has not begun": {
    stream: body(
      created,
      ...call,
      of("output_text.delta", 1, { ...at, delta: "" }),
      completed(item),
    ),
    holds: " f{}",
  },
  "indices of items that are not consecutive": {
    stream: body(created, itemAdded(2, callItem("")), itemDone(2, item), completed(item)),
    holds: " f{}",
  },
  "several items with one index": {
    stream: body(
      created,
      ...call,
      itemAdded(0, callItem("", "fc_1", "call_1")),
      itemDone(0, callItem("{}", "fc_1", "call_1")),
      completed(item, callItem("{}", "fc_1", "call_1")),
    ),
    holds: " f{} f{}",
  },
  "an id that differs from its start": {
    stream: body(
      created,
      itemAdded(0, callItem("", "a")),
      itemDone(0, callItem("{}", "b")),
      completed(callItem("{}", "c")),
    ),
    holds: " f{}",
  },
  "progress of another item": {
    stream: body(
      created,
      ...call,
      of("web_search_call.completed", 0, { item_id: "ws_1" }),
      completed(item),
    ),
    holds: " f{}",
  },
  "an item that is done twice": {
    stream: body(created, ...call, itemDone(0, item), completed(item)),
    holds: " f{}",
  },
  "an item that was not streamed": { stream: body(created, completed(item)), holds: " f{}" },
  "an item that only the output ends": {
    stream: body(created, call[0] ?? {}, argumentsDone, completed(item)),
    holds: " f{}",
  },
  "an unknown status": {
    stream: body(created, ...spoken("a", "a"), {
      type: "response.completed",
      response: { id: "resp_1", status: "paused", output: [messageItem("a")] },
    }),
    holds: "a",
  },
  "arguments whose copy is not their deltas": {
    stream: body(
      created,
      call[0] ?? {},
      of("function_call_arguments.delta", 0, { item_id: "fc_0", delta: "x9" }),
      call[1] ?? {},
      completed(item),
    ),
    holds: " f{}",
  },
  "two calls with one id": {
    stream: body(
      created,
      ...call,
      itemAdded(1, callItem("", "fc_1")),
      itemDone(1, callItem("{}", "fc_1")),
      completed(item, callItem("{}", "fc_1")),
    ),
    holds: " f{} f{}",
  },
  "an empty output": { stream: body(created, ...call, completed()), holds: " f{}" },
  "parts that are not consecutive": {
    stream: body(
      created,
      itemAdded(0, messageItem()),
      of("output_text.delta", 0, { ...at, content_index: 1, delta: "a" }),
      itemDone(0, messageItem("a")),
      completed(messageItem("a")),
    ),
    holds: "a",
  },
  "a text whose end was not streamed": {
    stream: body(created, ...spoken("a", "a", "ab"), completed(messageItem("ab"))),
    holds: "ab",
  },
  "a text with other blanks around it": {
    stream: body(created, ...spoken("a ", "a ", "a"), completed(messageItem("a"))),
    holds: "a ",
  },
  "a message whose copy is empty": {
    stream: body(
      created,
      ...spoken("a", "a").slice(0, -1),
      itemDone(0, messageItem()),
      completed(),
    ),
    holds: "a",
  },
  "a part without an end": {
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
  "chunks with different ids": {
    stream: body({ ...generated([{ text: "a" }]), responseId: "2" }, generated([], "STOP")),
    holds: "a",
  },
  "content after the finish reason": {
    stream: body(generated([], "STOP"), generated([{ text: "a" }])),
    holds: "a",
  },
  "two calls with one id": {
    stream: body(generated([functionF, functionF], "STOP")),
    holds: " f{} f{}",
  },
  "the end of a call that is not open": {
    stream: body(generated([functionF, functionCall({})], "STOP")),
    holds: " f{}",
  },
  "text within the arguments of a call": {
    stream: body(
      generated([functionCall({ name: "f", willContinue: true })]),
      generated([{ text: "a" }]),
      generated([functionCall({})], "STOP"),
    ),
    holds: "a f{}",
  },
  "a finish reason without a meaning": {
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
      it(`marks as doubtful, and still reads: ${reason}`, async () => {
        const verdict = accept(wire as Wire, stream);
        assert.ok(verdict.is === "doubtful", JSON.stringify(verdict));
        assert.equal(verdict.reason, reason);
        const { text, calls, ending } = verdict.held;
        const names = calls.map((one) => ` ${one.name}${one.arguments}`);
        assert.equal(text + names.join(""), holds);
        assert.equal(ending, "complete");
        const decoded = await decode(wire as Wire, new Uint8Array(stream), ["f", "g"]);
        assert.equal(findProblem(verdict, decoded, verdict.held), undefined);
      });
  });
