/**
 * Section P: calls of the other wires that something in the stream contradicts, or that no known
 * end word says are complete. The notes name public reports of servers that answer so.
 */
import { done, fixtures, oslo, osloText, rome, romeText, runsBoth, runsOslo } from "../fixture.ts";
import {
  argumentsDelta,
  argumentsDone,
  blockDelta,
  blockStart,
  blockStop,
  callEvents,
  callItem,
  completed,
  created,
  itemAdded,
  message,
  messageDelta,
  messageItem,
  messageStart,
  messageStop,
  named,
  numbered,
  responseOf,
} from "../wire.ts";
import {
  functionCall,
  google,
  inputDelta,
  parts,
  textBlock,
  textItem,
  toolBlock,
  toolStart,
} from "../wire.ts";

/** The calls must not run, and the error tells the user why. */
const distrusted = { ends: "error", errorCode: ["stream_corrupt"], retryable: true } as const;
const unknownEnd = { ends: "error", errorCode: ["unexpected_response"] } as const;
const broke = { ends: "error", errorMessage: /Provider broke/ } as const;
const call = callItem(osloText);
const openCall = callItem("", { status: "in_progress" });
const second = { id: "fc_2", call_id: "call_2" };
const bare = `${JSON.stringify({ error: { message: "Provider broke", code: 500 } })}\n\n`;

export const otherProof = [
  ...fixtures("anthropic-messages", [
    {
      id: "P20",
      title: "a call started twice",
      body: message("tool_use", toolStart(0), toolStart(0), inputDelta(0, osloText), blockStop(0)),
      expect: distrusted,
      note: "Similar to BerriAI/litellm#33224. A client that runs only the second call may be right, too.",
    },
    {
      id: "P20",
      title: "the input of a call at another index",
      body: message(
        "tool_use",
        ...toolBlock(0, osloText),
        toolStart(1, { name: "get_time" }),
        inputDelta(2, romeText),
        blockStop(1),
      ),
      expect: distrusted,
      note: "QuantumNous/new-api#5482, Wei-Shaw/sub2api#4294.",
    },
    {
      id: "P20",
      title: "the input of a call after its stop",
      body: message("tool_use", toolStart(0), blockStop(0), inputDelta(0, osloText)),
      expect: distrusted,
    },
    {
      id: "P20",
      title: "the input of a call in a block of text",
      body: message(
        "tool_use",
        blockStart(0, { type: "text", text: "" }),
        toolStart(1),
        inputDelta(0, osloText),
        blockStop(0),
        blockStop(1),
      ),
      expect: distrusted,
    },
    {
      id: "P21",
      title: "a call without input and without a stop",
      body: message("tool_use", toolStart(0)),
      expect: distrusted,
    },
    {
      id: "P21",
      title: "stop reason null, and a call without a stop",
      body: message(null, toolStart(0), inputDelta(0, osloText)),
      expect: distrusted,
    },
    {
      id: "P21",
      title: "a call after the stop reason",
      body: named(messageStart(), messageDelta("end_turn"), ...toolBlock(0, osloText), messageStop),
      expect: distrusted,
    },
    {
      id: "P21",
      title: "a stop of a block that was never open",
      body: message("tool_use", ...toolBlock(1, osloText), blockStop(0), blockStop(7)),
      expect: runsOslo,
      note: "QuantumNous/new-api#5482.",
    },
    {
      id: "P22",
      title: "a call given twice",
      body: message(
        "tool_use",
        ...toolBlock(0, osloText, { id: "a" }),
        ...toolBlock(1, osloText, { id: "a" }),
      ),
      expect: distrusted,
      note: "A client that runs the call once may be right, too.",
    },
    {
      id: "P23",
      title: "max_tokens, then end_turn",
      body: named(
        messageStart(),
        ...toolBlock(0, osloText),
        messageDelta("max_tokens"),
        messageDelta("end_turn"),
        messageStop,
      ),
      expect: { ...done, stopReason: "length" },
    },
    {
      id: "P10",
      title: "an error without its wrapper",
      body: named(messageStart(), ...textBlock(0, "Hel"), {
        type: "overloaded_error",
        message: "Provider broke",
      }),
      expect: { ...broke, text: "Hel", errorCode: ["overloaded"], retryable: true },
    },
    {
      id: "P10",
      title: "an error without a type",
      body: `${named(messageStart(), ...toolBlock(0, osloText))}data: {"detail":"Provider broke"}\n\n${named(messageDelta("tool_use"), messageStop)}`,
      expect: broke,
    },
    {
      id: "P11",
      title: "a bare line of JSON that is an error",
      body: `${named(messageStart(), ...toolBlock(0, osloText))}${bare}${named(messageDelta("tool_use"), messageStop)}`,
      expect: broke,
    },
    {
      id: "P12",
      title: "an id of 19 digits in content_block_start",
      body: `${named(messageStart())}data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"get_weather","input":{"city":1234567890123456789}}}\n\n${named(blockStop(0), messageDelta("tool_use"), messageStop)}`,
      expect: {
        ...done,
        calls: [{ name: "get_weather", arguments: { city: "1234567890123456789" } }],
      },
      note: "The tool expects a string. Running the call with a number is also right, if all digits are unchanged.",
    },
    {
      id: "P16",
      title: "thinking without an answer",
      body: message(
        "end_turn",
        blockStart(0, { type: "thinking", thinking: "", signature: "" }),
        blockDelta(0, { type: "thinking_delta", thinking: "hm" }),
        blockStop(0),
      ),
      expect: { ends: "error", errorCode: ["empty_response"], retryable: true, thinking: "hm" },
    },
  ]),
  ...fixtures("openai-responses", [
    {
      id: "P30",
      title: "a call opened and never ended, and an empty output",
      body: numbered(created, itemAdded(0, openCall), completed([])),
      expect: distrusted,
    },
    {
      id: "P30",
      title: "deltas of a call without any end, and an empty output",
      body: numbered(created, itemAdded(0, openCall), argumentsDelta(0, osloText), completed([])),
      expect: distrusted,
      note: "No event says that the arguments are complete. A client that runs them may be right, too.",
    },
    {
      id: "P30",
      title: "a call added twice",
      body: numbered(
        created,
        itemAdded(0, openCall),
        argumentsDelta(0, '{"city":"Os'),
        itemAdded(0, openCall),
        argumentsDelta(0, 'lo"}'),
        completed([call]),
      ),
      expect: distrusted,
    },
    {
      id: "P30",
      title: "arguments after the end of a call",
      body: numbered(
        created,
        itemAdded(0, openCall),
        argumentsDone(0, "{}"),
        argumentsDelta(0, osloText),
        completed([]),
      ),
      expect: distrusted,
    },
    {
      id: "P31",
      title: "a call at two places",
      body: numbered(
        created,
        ...callEvents(0, osloText),
        ...callEvents(1, osloText),
        completed([call]),
      ),
      expect: distrusted,
      note: "A client that runs the call once may be right, too.",
    },
    {
      id: "P32",
      title: "a second call only in completed",
      body: numbered(
        created,
        ...callEvents(0, osloText),
        completed([call, callItem(romeText, second)]),
      ),
      expect: runsBoth,
    },
    {
      id: "P32",
      title: "a call only in completed, after text",
      body: numbered(
        created,
        ...textItem(0, "Hello."),
        completed([messageItem("Hello."), callItem(osloText)]),
      ),
      expect: { ...runsOslo, text: "Hello." },
    },
    {
      id: "P32",
      title: "a call with other arguments in completed",
      body: numbered(created, ...callEvents(0, osloText), completed([callItem(romeText)])),
      expect: distrusted,
    },
    {
      id: "P32",
      title: "a call that is missing in completed",
      body: numbered(
        created,
        ...callEvents(0, osloText),
        ...callEvents(1, romeText, second),
        completed([call]),
      ),
      expect: distrusted,
    },
    {
      id: "P33",
      title: "an unknown status in completed, after a call",
      body: numbered(created, ...callEvents(0, osloText), {
        type: "response.completed",
        response: responseOf("weird", [call]),
      }),
      expect: unknownEnd,
    },
    {
      id: "P33",
      title: "the status requires_action, after a call",
      body: numbered(created, ...callEvents(0, osloText), {
        type: "response.completed",
        response: responseOf("requires_action", [call]),
      }),
      expect: runsOslo,
      note: "justlovemaki/AIClient-2-API#472.",
    },
    {
      id: "P11",
      title: "a bare line of JSON that is an error",
      body: `${numbered(created, ...callEvents(0, osloText))}${bare}${numbered(completed([call]))}`,
      expect: broke,
    },
    {
      id: "P10",
      title: "an error of an unknown type",
      body: numbered(
        created,
        ...callEvents(0, osloText),
        { type: "api_error", message: "Provider broke" },
        completed([call]),
      ),
      expect: broke,
    },
  ]),
  ...fixtures("google-generate", [
    {
      id: "P40",
      title: "an unknown reason after a call",
      body: google(parts([functionCall(oslo.arguments)], "FUTURE_REASON")),
      expect: unknownEnd,
    },
    {
      id: "P40",
      title: "MAX_TOKENS, then STOP",
      body: google(parts([functionCall(oslo.arguments)], "MAX_TOKENS"), parts([], "STOP")),
      expect: { ...done, stopReason: "length" },
    },
    {
      id: "P41",
      title: "a call announced to continue that does not",
      body: google(
        parts([{ functionCall: { name: "get_weather", willContinue: true } }]),
        parts([], "STOP"),
      ),
      expect: distrusted,
    },
    {
      id: "P41",
      title: "a piece of arguments for no call",
      body: google(
        parts([functionCall(rome.arguments)]),
        parts([{ functionCall: { partialArgs: [{ jsonPath: "$.city", stringValue: "Oslo" }] } }]),
        parts([], "STOP"),
      ),
      expect: distrusted,
    },
    {
      id: "P41",
      title: "one call with an id twice",
      body: google(
        parts([{ functionCall: { id: "a", name: "get_weather", args: oslo.arguments } }]),
        parts([{ functionCall: { id: "a", name: "get_weather", args: oslo.arguments } }], "STOP"),
      ),
      expect: distrusted,
      note: "A client that runs the call once may be right, too.",
    },
    {
      id: "P10",
      title: "an error without its wrapper",
      body: google(parts([functionCall(oslo.arguments)]), {
        code: 503,
        message: "Provider broke",
        status: "UNAVAILABLE",
      }),
      expect: { ...broke, retryable: true },
    },
    {
      id: "P11",
      title: "a bare line of JSON that is an error",
      body: `${google(parts([functionCall(oslo.arguments)]))}${bare}${google(parts([], "STOP"))}`,
      expect: broke,
    },
    {
      id: "P12",
      title: "an id of 19 digits",
      body: 'data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"get_weather","args":{"city":1234567890123456789}}}]},"finishReason":"STOP"}]}\n\n',
      expect: {
        ...done,
        calls: [{ name: "get_weather", arguments: { city: "1234567890123456789" } }],
      },
      note: "The tool expects a string. Running the call with a number is also right, if all digits are unchanged.",
    },
  ]),
];
