import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { accept, type Wire } from "../acceptors/accept.ts";
import { decode } from "../decode.ts";
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
  numbered,
  of,
  streamed,
  textDelta,
  textStart,
  toolStart,
} from "./wire-events.ts";

type Cases = Record<string, Uint8Array>;

const hello = chunk({ role: "assistant", content: "Hello" });
const whole = chunk(fragment(0, "{}", "f"));
const part = { type: "output_text", text: "", annotations: [] };
const at = { item_id: "msg_0", content_index: 0 };
const call = (delta: string) => of("function_call_arguments.delta", 0, { item_id: "fc_0", delta });
const begun = itemAdded(0, callItem(""));
const message = [
  itemAdded(0, messageItem()),
  of("content_part.added", 0, { ...at, part }),
  of("output_text.delta", 0, { ...at, delta: "Hello" }),
];
const given = callItem("{}");
const end0 = completed(given);
const whole0 = [itemDone(0, given), end0];
const partDone = (text: string) => of("content_part.done", 0, { ...at, part: { ...part, text } });
const messageOf = (text: string) => [
  itemAdded(0, messageItem()),
  of("output_text.delta", 0, { ...at, delta: text }),
  itemDone(0, messageItem(text)),
];
const tool = [toolStart(0), inputDelta(0, "{}"), blockStop(0)];
const ended = [messageDelta("tool_use"), messageStop];

const chat: Cases = {
  "ends within an event": body(hello, 'data: {"id":"chatcmpl-1","cho'),
  "ends without a finish reason": body(hello),
  "[DONE] without any content": body(chunk({ role: "assistant" }), done),
  "a line that is not a field of an event stream": body(
    whole,
    "processing the request\n\n",
    chunk({}, "tool_calls"),
    done,
  ),
  "data that is not JSON": body(hello, "data: upstream failed\n\n", chunk({}, "stop"), done),
  "data that is not a JSON object": body(whole, "data: 5\n\n", chunk({}, "stop"), done),
  "an unknown finish reason": body(hello, chunk({}, "cancelled"), done),
  "a second finish reason": body(hello, chunk({}, "stop"), chunk({}, "length"), done),
  "a choice that was not requested, without an end": body(
    whole,
    chunk(fragment(1, "{}", "f"), null, 1),
    chunk({}, "tool_calls"),
    done,
  ),
  "a fragment of a call without an index": body(
    chunk({ tool_calls: [{ id: "call_0", function: { name: "f", arguments: "{" } }] }),
  ),
  "a fragment of a call that has not begun": body(
    whole,
    chunk(fragment(1, "{}")),
    chunk({}, "tool_calls"),
    done,
  ),
  "two calls at one index": body(
    chunk(fragment(0, "", "f")),
    chunk(fragment(0, '{"a":1}', "g", "call_1")),
    chunk({}, "tool_calls"),
    done,
  ),
  "a fragment with another name than its call": body(
    chunk(fragment(0, "{", "f")),
    chunk(fragment(0, "}", "g", "call_0")),
    chunk({}, "tool_calls"),
    done,
  ),
  "a call that begins twice": body(
    chunk(fragment(0, '{"a"', "f")),
    chunk(fragment(0, '{"a"', "f")),
    chunk(fragment(0, ":1}")),
    chunk({}, "tool_calls"),
    done,
  ),
};

const messages: Cases = {
  "ends without message_stop": body(messageStart, ...tool),
  "an event before message_start": body(...tool, ...ended),
  "two messages": body(
    messageStart,
    ...tool,
    { type: "message_start", message: { id: "msg_2", content: [] } },
    ...ended,
  ),
  "a block without an index": body(messageStart, {
    type: "content_block_start",
    content_block: { type: "text", text: "" },
  }),
  "a block that begins twice": body(messageStart, ...tool, toolStart(0, "toolu_1"), ...ended),
  "a block after the stop reason": body(
    messageStart,
    ...tool,
    messageDelta("tool_use"),
    toolStart(1),
    blockStop(1),
    messageStop,
  ),
  "a delta of a block that has ended": body(messageStart, ...tool, inputDelta(0, "{}"), ...ended),
  "a delta of a block that has not begun": body(messageStart, ...tool, inputDelta(1, ""), ...ended),
  "a block that is not an object": body(messageStart, { type: "content_block_start", index: 0 }),
  "a delta of another kind of block": body(
    messageStart,
    textStart(0),
    textDelta(0, "Hello"),
    inputDelta(0, ""),
    blockStop(0),
    messageDelta("end_turn"),
    messageStop,
  ),
  "a call without an id or a name": body(
    messageStart,
    blockStart(0, { type: "tool_use", id: "toolu_0", input: {} }),
    blockStop(0),
    ...ended,
  ),
  "a call with its input twice": body(
    messageStart,
    blockStart(0, { type: "tool_use", id: "toolu_0", name: "f", input: { a: 1 } }),
    inputDelta(0, '{"a":'),
    blockStop(0),
    ...ended,
  ),
  "an unknown stop reason": body(messageStart, ...tool, messageDelta("cancelled")),
  "a second stop reason": body(
    messageStart,
    ...tool,
    messageDelta("tool_use"),
    messageDelta("max_tokens"),
  ),
  "message_stop without message_delta": body(messageStart, ...tool, messageStop),
  "message_stop within a block": body(
    messageStart,
    ...tool,
    textStart(1),
    messageDelta(null),
    messageStop,
  ),
};

const responses: Cases = {
  "ends without response.completed": body(...numbered(created, begun)),
  "ends within an event": body(created, begun, 'event: response.output_item.done\ndata: {"ty'),
  "an item that begins twice": body(created, begun, begun, ...whole0),
  "an event of an item that is done": body(created, begun, itemDone(0, given), call("{}"), end0),
  "an item that is not done": body(created, begun, call("{}"), completed()),
  "the id of another item": body(
    created,
    begun,
    itemAdded(1, callItem("", "fc_1", "call_1")),
    of("function_call_arguments.delta", 1, { item_id: "fc_0", delta: "{}" }),
    itemDone(0, given),
    itemDone(1, callItem("{}", "fc_1", "call_1")),
    completed(given, callItem("{}", "fc_1", "call_1")),
  ),
  "an output of other items than were sent": body(
    created,
    ...messageOf("Hello"),
    completed(messageItem("Hello"), { ...messageItem("Hello, too"), id: "msg_1" }),
  ),
  "an output of other items than were sent, which lacks one": body(
    created,
    begun,
    ...whole0.slice(0, 1),
    completed(messageItem("Hello")),
  ),
  "a gap in the numbers, and no copies": body(
    { ...created, sequence_number: 0 },
    { ...begun, sequence_number: 2 },
    { ...itemDone(0, given), sequence_number: 3 },
    { ...completed(), sequence_number: 4 },
  ),
  "a status that is not its event's": body(created, begun, itemDone(0, given), {
    type: "response.completed",
    response: { id: "resp_1", status: "cancelled", output: [] },
  }),
  "an unknown status": body(created, begun, itemDone(0, given), {
    type: "response.completed",
    response: { id: "resp_1", status: "paused", output: [given] },
  }),
  "arguments after their end": body(
    created,
    begun,
    of("function_call_arguments.done", 0, { item_id: "fc_0", arguments: "{}" }),
    call("{}"),
    ...whole0,
  ),
  "arguments of an item that is not a call": body(
    created,
    itemAdded(0, messageItem()),
    of("function_call_arguments.delta", 0, { item_id: "msg_0", delta: "{}" }),
    itemDone(0, messageItem("Hello")),
    completed(messageItem("Hello")),
  ),
  "arguments that differ between two copies": body(
    created,
    begun,
    itemDone(0, given),
    completed(callItem('{"a":1}')),
  ),
  "an item of another type than it began": body(
    created,
    begun,
    itemDone(0, messageItem("Hello")),
    completed(messageItem("Hello")),
  ),
  "a call with another id or name": body(
    created,
    begun,
    itemDone(0, callItem("{}", "fc_0", "call_9")),
    completed(),
  ),
  "text of another kind of part": body(
    created,
    ...message,
    of("refusal.delta", 0, { ...at, delta: "No" }),
    itemDone(0, messageItem("Hello")),
    completed(messageItem("Hello")),
  ),
  "text of another kind of item": body(
    created,
    begun,
    of("output_text.delta", 0, { item_id: "fc_0", content_index: 0, delta: "Hello" }),
    ...whole0,
  ),
  "text of a part that is done": body(
    created,
    ...message,
    partDone("Hello"),
    of("output_text.delta", 0, { ...at, delta: ", you" }),
    itemDone(0, messageItem("Hello, you")),
    completed(messageItem("Hello, you")),
  ),
  "a call without an id or a name": body(
    created,
    itemAdded(0, { ...callItem(""), name: "" }),
    itemDone(0, { ...callItem(""), name: "" }),
    completed(),
  ),
  "a text that is not its deltas": body(
    created,
    ...message,
    of("output_text.done", 0, { ...at, text: "Help" }),
    itemDone(0, messageItem("Help")),
    completed(messageItem("Help")),
  ),
  "a message whose copy is not its deltas": body(
    created,
    ...message,
    partDone("Hello"),
    of("output_text.delta", 0, { ...at, content_index: 1, delta: "you" }),
    itemDone(0, messageItem("Hello")),
    completed(messageItem("Hello")),
  ),
};

const open = functionCall({ name: "f", willContinue: true });
const end = generated([functionCall({})], "STOP");
const google: Cases = {
  "ends within an event": body(generated([{ text: "Hello" }]), 'data: {"candidates": [{"con'),
  "ends without a finish reason": body(generated([{ text: "Hello" }])),
  "a finish reason that is withdrawn": body(
    generated([{ text: "Hello" }], "STOP"),
    generated([], "FINISH_REASON_UNSPECIFIED"),
  ),
  "an unknown finish reason": body(generated([{ text: "Hello" }], "CANCELLED")),
  "a second finish reason": body(generated([{ text: "a" }], "STOP"), generated([], "SAFETY")),
  "a candidate that was not requested, without an end": body(
    generated([{ text: "Hello" }], "STOP"),
    {
      candidates: [{ index: 1, content: { parts: [{ text: "you" }] } }],
    },
  ),
  "a line that is not a field of an event stream": body(
    "processing the request\n\n",
    generated([functionCall({ name: "f", args: {} })], "STOP"),
  ),
  "a call without a name": body(generated([functionCall({ name: "", args: {} })], "STOP")),
  "arguments of a call that has not begun": body(generated([streamed("$.a", "x", false)])),
  "an argument left open": body(generated([open, streamed("$.a", "x", true)]), end),
  "an argument left open for another": body(
    generated([open, streamed("$.a", "x", true), streamed("$.b", "x", false)]),
  ),
  "an argument twice": body(
    generated([open, streamed("$.a", "x", false), streamed("$.a", "x", false)]),
  ),
  "an argument without a path": body(generated([open, streamed("x.a", "x", false)])),
  "an argument without a path below the root": body(generated([open, streamed("$", "x", false)])),
  "an argument without a value": body(
    generated([open, functionCall({ partialArgs: [{ jsonPath: "$.a" }] })]),
  ),
  "a path through a value": body(
    generated([open, streamed("$.a", "x", false), streamed("$.a.b", "x", false)]),
  ),
  "a list and an object at one path": body(
    generated([open, streamed("$.a[0]", "x", false), streamed("$.a.b", "x", false)]),
  ),
  "a gap in a list": body(generated([open, streamed("$.a[1]", "x", false)]), end),
};

const all: Record<Wire, Cases> = {
  "openai-chat": chat,
  "anthropic-messages": messages,
  "openai-responses": responses,
  "google-generate": google,
};

for (const [wire, cases] of Object.entries(all))
  describe(`the acceptor of ${wire} refuses`, () => {
    for (const [reason, stream] of Object.entries(cases))
      it(reason, async () => {
        const verdict = accept(wire as Wire, stream);
        assert.ok(verdict.is === "illegal", JSON.stringify(verdict));
        // The title may be longer than the reason.
        assert.ok(reason.startsWith(verdict.reason), verdict.reason);
        const { stopReason, runs } = await decode(wire as Wire, new Uint8Array(stream), ["f", "g"]);
        assert.ok(stopReason !== "stop" && runs.length === 0, "this library takes it");
      });
  });
