import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { accept, type Wire } from "../acceptors/accept.ts";
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
const part = { type: "output_text", text: "", annotations: [] };
const at = { item_id: "msg_0", content_index: 0 };
const call = (delta: string) => of("function_call_arguments.delta", 0, { item_id: "fc_0", delta });
const begun = itemAdded(0, callItem(""));
const message = [
  itemAdded(0, messageItem()),
  of("content_part.added", 0, { ...at, part }),
  of("output_text.delta", 0, { ...at, delta: "Hello" }),
];
const partDone = (text: string) => of("content_part.done", 0, { ...at, part: { ...part, text } });
const tool = [toolStart(0), inputDelta(0, "{}"), blockStop(0)];
const ended = [messageDelta("tool_use"), messageStop];

const chat: Cases = {
  "ends within an event": body(hello, 'data: {"id":"chatcmpl-1","cho'),
  "ends without a finish reason": body(hello, done),
  "a line that is no field of an event stream": body(
    hello,
    '{"error":{"message":"upstream"}}\n\n',
    chunk({}, "stop"),
    done,
  ),
  "data that is no JSON": body(hello, "data: upstream failed\n\n", chunk({}, "stop"), done),
  "data that is no JSON object": body(hello, "data: null\n\n", chunk({}, "stop"), done),
  "a finish reason that is not known": body(hello, chunk({}, "cancelled"), done),
  "a second finish reason": body(hello, chunk({}, "stop"), chunk({}, "length"), done),
  "a finish reason that promises a call, without one": body(hello, chunk({}, "tool_calls"), done),
  "a fragment of a call without an index": body(
    chunk({ tool_calls: [{ id: "call_0", function: { name: "f", arguments: "{}" } }] }),
  ),
  "a fragment of a call that has not begun": body(chunk(fragment(0, "{}"))),
  "two calls at one index": body(
    chunk(fragment(0, '{"a":', "f")),
    chunk(fragment(0, "{}", "g", "call_1")),
  ),
  "a fragment with another id than its call": body(
    chunk(fragment(0, "", "f")),
    chunk({ tool_calls: [{ index: 0, id: "call_9", function: { arguments: "{}" } }] }),
  ),
  "a fragment with another name than its call": body(
    chunk(fragment(0, "", "f")),
    chunk(fragment(0, "{}", "g")),
  ),
  "a call that begins twice": body(
    chunk(fragment(0, '{"a"', "f")),
    chunk(fragment(0, '{"a"', "f")),
    chunk(fragment(0, ":1}")),
    chunk({}, "tool_calls"),
    done,
  ),
  "a gap between the indices of calls": body(
    chunk(fragment(0, "{}", "f")),
    chunk(fragment(2, "{}", "f")),
    chunk({}, "tool_calls"),
    done,
  ),
  "a gap before the indices of calls": body(
    chunk(fragment(2, "{}", "f")),
    chunk({}, "tool_calls"),
    done,
  ),
  "a call without an id": body(chunk(fragment(0, "{}", "f", "")), chunk({}, "stop"), done),
};

const messages: Cases = {
  "ends without message_stop": body(messageStart, ...tool),
  "an event before message_start": body(...tool, ...ended),
  "a second message_start": body(messageStart, ...tool, messageStart, ...ended),
  "an event under another name": body('event: ping\ndata: {"type":"message_start"}\n\n'),
  "a block whose index is not the next one": body(messageStart, toolStart(1)),
  "a block behind message_delta": body(messageStart, messageDelta("tool_use"), toolStart(0)),
  "an event of a block not open": body(messageStart, ...tool, inputDelta(0, "{}"), ...ended),
  "a block that is no object": body(messageStart, { type: "content_block_start", index: 0 }),
  "a delta of another kind of block": body(messageStart, textStart(0), inputDelta(0, "{}")),
  "a call without an id or a name": body(messageStart, toolStart(0, ""), blockStop(0)),
  "a call with its input twice": body(
    messageStart,
    blockStart(0, { type: "tool_use", id: "toolu_0", name: "f", input: { a: 1 } }),
    inputDelta(0, '{"a":1}'),
    blockStop(0),
  ),
  "a stop reason that is not known": body(messageStart, ...tool, messageDelta("cancelled")),
  "a second stop reason": body(
    messageStart,
    ...tool,
    messageDelta("tool_use"),
    messageDelta("max_tokens"),
  ),
  "message_stop without a stop reason": body(messageStart, ...tool, messageStop),
  "stop reason tool_use without a call": body(
    messageStart,
    textStart(0),
    textDelta(0, "Hello"),
    blockStop(0),
    ...ended,
  ),
};

const responses: Cases = {
  "ends without response.completed": body(...numbered(created, begun)),
  "ends within an event": body(created, begun, 'event: response.output_item.done\ndata: {"ty'),
  "an event under another name": body('event: keepalive\ndata: {"type":"response.created"}\n\n'),
  "an item whose index is not the next one": body(created, itemAdded(1, callItem(""))),
  "an event of an item that has not begun": body(created, call("{}")),
  "an event of an item that is done": body(created, begun, itemDone(0, callItem("{}")), call("{}")),
  "an item that is not done": body(created, begun, completed(callItem(""))),
  "an output of other items than were sent": body(
    created,
    begun,
    itemDone(0, callItem("{}")),
    completed(callItem("{}"), callItem("{}", "fc_1", "call_1")),
  ),
  "a gap in the numbers, and no copies": body(
    { ...created, sequence_number: 0 },
    { ...completed(), sequence_number: 2 },
  ),
  "a status that is not its event's": body(created, {
    type: "response.completed",
    response: { id: "resp_1", status: "cancelled", output: [] },
  }),
  "an id that is not that of its beginning": body(
    created,
    begun,
    call("{}"),
    itemDone(0, callItem("{}", "fc_9")),
    completed(callItem("{}")),
  ),
  "arguments whose copy is not their deltas": body(
    created,
    begun,
    call('{"a":'),
    itemDone(0, callItem('{"a":1}')),
  ),
  "arguments behind their end": body(
    created,
    begun,
    of("function_call_arguments.done", 0, { item_id: "fc_0", arguments: "{}" }),
    call("{}"),
  ),
  "arguments of an item that is no call": body(created, itemAdded(0, messageItem()), call("{}")),
  "an item of another type than it began": body(created, begun, itemDone(0, messageItem())),
  "a call of another id or name": body(
    created,
    begun,
    itemDone(0, callItem("{}", "fc_0", "call_9")),
  ),
  "text of a part that has not begun": body(created, itemAdded(0, messageItem()), message[2] ?? {}),
  "text of another kind of part": body(
    created,
    ...message,
    of("refusal.delta", 0, { ...at, delta: "No" }),
  ),
  "text of a part that is done": body(created, ...message, partDone("Hello"), message[2] ?? {}),
  "the end of a part that has not begun": body(
    created,
    itemAdded(0, messageItem()),
    partDone("Hello"),
  ),
  "a part that ends twice": body(created, ...message, partDone("Hello"), partDone("Hello")),
  "a part of another type than it began": body(
    created,
    ...message,
    of("content_part.done", 0, { ...at, part: { type: "refusal", refusal: "Hello" } }),
  ),
  "a call without an id or a name": body(
    created,
    itemAdded(0, callItem("", "fc_0", "")),
    itemDone(0, callItem("", "fc_0", "")),
  ),
  "a text that is not its deltas": body(
    created,
    ...message,
    of("output_text.done", 0, { ...at, text: "Hello, you" }),
  ),
  "a part whose copy is not its deltas": body(created, ...message, partDone("Hello, you")),
  "a part whose index is not the next one": body(
    created,
    itemAdded(0, messageItem()),
    of("content_part.added", 0, { ...at, content_index: 1, part }),
  ),
  "a part that begins within another": body(
    created,
    ...message,
    of("content_part.added", 0, { ...at, content_index: 1, part }),
  ),
  "a message whose copy is not its deltas": body(
    created,
    ...message,
    itemDone(0, messageItem("Hello, you")),
  ),
};

const open = functionCall({ name: "f", willContinue: true });
const end = generated([functionCall({})], "STOP");
const google: Cases = {
  "ends within an event": body(generated([{ text: "Hello" }]), 'data: {"candidates": [{"con'),
  "ends without a finish reason": body(generated([{ text: "Hello" }])),
  "a finish reason that is not known": body(generated([{ text: "Hello" }], "CANCELLED")),
  "a second finish reason": body(generated([{ text: "a" }], "STOP"), generated([], "SAFETY")),
  "a candidate that was not asked for": body({
    candidates: [{ index: 1, content: { parts: [{ text: "Hello" }] }, finishReason: "STOP" }],
  }),
  "a line that is no field of an event stream": body(
    "upstream connect error\n\n",
    generated([{ text: "Hello" }], "STOP"),
  ),
  "a call without a name": body(generated([functionCall({ name: "", args: {} })], "STOP")),
  "arguments of a call that has not begun": body(generated([streamed("$.a", "x", false)])),
  "a call that begins within another": body(
    generated([open]),
    generated([functionCall({ name: "g", args: {} })], "STOP"),
  ),
  "text within the arguments of a call": body(
    generated([open]),
    generated([{ text: "Hello" }], "STOP"),
  ),
  "ends within the arguments of a call": body(
    generated([open, streamed("$.a", "x", false)]),
    generated([], "STOP"),
  ),
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
  describe(`the acceptor of ${wire}`, () => {
    for (const [reason, stream] of Object.entries(cases))
      it(`refuses: ${reason}`, () => {
        const verdict = accept(wire as Wire, stream);
        assert.ok(verdict.is === "illegal", JSON.stringify(verdict));
        // The title may say more than the reason does.
        assert.ok(reason.startsWith(verdict.reason), verdict.reason);
      });
  });
