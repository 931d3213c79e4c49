/** Section E: Anthropic Messages, the blocks of an answer (Q148 to Q158, Q167). */
import {
  done,
  fixtures,
  hello,
  oslo,
  osloText,
  rome,
  romeText,
  runsBoth,
  runsOslo,
} from "../fixture.ts";
import {
  blockDelta,
  blockStart,
  blockStop,
  message,
  messageDelta,
  messageStart,
  messageStop,
  named,
} from "../wire.ts";
import { inputDelta, textBlock, toolBlock, toolStart } from "../wire.ts";

const text = (index: number, value: string): Record<string, unknown> =>
  blockDelta(index, { type: "text_delta", text: value });
const noArguments = {
  ...done,
  calls: [{ name: "get_weather", arguments: {} }],
  stopReason: "toolUse",
} as const;
const thinking = (index: number, block: object = {}): Record<string, unknown> =>
  blockStart(index, { type: "thinking", thinking: "", signature: "", ...block });
const thought = (index: number, value: string): Record<string, unknown> =>
  blockDelta(index, { type: "thinking_delta", thinking: value });
const signed = (index: number, signature: string): Record<string, unknown> =>
  blockDelta(index, { type: "signature_delta", signature });

export const blocks = fixtures("anthropic-messages", [
  {
    id: "Q148",
    title: "empty partial_json only",
    body: message("tool_use", toolStart(0), inputDelta(0, ""), blockStop(0)),
    expect: noArguments,
  },
  {
    id: "Q148",
    title: "no delta",
    body: message("tool_use", toolStart(0), blockStop(0)),
    expect: noArguments,
  },
  {
    id: "Q149",
    title: "input in content_block_start",
    body: message("tool_use", toolStart(0, { input: oslo.arguments }), blockStop(0)),
    expect: runsOslo,
  },
  {
    id: "Q149",
    title: "input in content_block_start and in deltas",
    body: message("tool_use", ...toolBlock(0, osloText, { input: oslo.arguments })),
    expect: runsOslo,
  },
  {
    id: "Q149",
    title: "deltas replace the input of content_block_start",
    body: message("tool_use", ...toolBlock(0, osloText, { input: rome.arguments })),
    expect: runsOslo,
  },
  {
    id: "Q149",
    title: "input in content_block_start and an empty delta",
    body: message("tool_use", ...toolBlock(0, "", { input: oslo.arguments })),
    expect: runsOslo,
  },
  {
    id: "Q150",
    title: "a raw newline in a string",
    body: message("tool_use", ...toolBlock(0, '{"city":"Os\nlo"}')),
    expect: { ...done, calls: [{ name: "get_weather", arguments: { city: "Os\nlo" } }] },
  },
  {
    id: "Q150",
    title: "a raw newline, and truncated by the model",
    body: message("tool_use", ...toolBlock(0, '{"city":"Os\nlo')),
    expect: { ...done, refusedCalls: 1 },
  },
  {
    id: "Q150",
    title: "one broken call beside a good one",
    body: message("tool_use", ...toolBlock(0, '{"city":Oslo}'), ...toolBlock(1, romeText)),
    expect: { ...done, calls: [rome], refusedCalls: 1 },
  },
  {
    id: "Q151",
    title: "max_tokens in the middle of a call",
    body: message("max_tokens", toolStart(0), inputDelta(0, '{"city":"Os'), blockStop(0)),
    expect: { ...done, stopReason: "length" },
  },
  {
    id: "Q151",
    title: "max_tokens before the first argument",
    body: message("max_tokens", toolStart(0), blockStop(0)),
    expect: { ...done, stopReason: "length" },
  },
  {
    id: "Q151",
    title: "max_tokens in the second of two calls",
    body: message("max_tokens", ...toolBlock(0, osloText), toolStart(1), inputDelta(1, '{"ci')),
    expect: { ...done, stopReason: "length" },
  },
  {
    id: "Q152",
    title: "indexes with a gap",
    body: message(
      "tool_use",
      ...textBlock(0, "Hel"),
      ...textBlock(1, "lo."),
      ...toolBlock(4, osloText),
    ),
    expect: { ...runsOslo, text: "Hello." },
  },
  {
    id: "Q152",
    title: "text at an index after a gap",
    body: message("end_turn", ...textBlock(3, "Hello.")),
    expect: hello,
  },
  {
    id: "Q152",
    title: "two calls open together",
    body: message(
      "tool_use",
      toolStart(0),
      toolStart(1),
      inputDelta(1, '{"city":'),
      inputDelta(0, '{"city":"Os'),
      inputDelta(1, '"Rome"}'),
      inputDelta(0, 'lo"}'),
      blockStop(1),
      blockStop(0),
    ),
    expect: runsBoth,
  },
  {
    id: "Q152",
    title: "text and a call open together",
    body: message(
      "tool_use",
      blockStart(0, { type: "text", text: "" }),
      toolStart(1),
      text(0, "Hel"),
      inputDelta(1, osloText),
      text(0, "lo."),
      blockStop(1),
      blockStop(0),
    ),
    expect: { ...runsOslo, text: "Hello." },
  },
  {
    id: "Q153",
    title: "text without content_block_start",
    body: message("end_turn", text(0, "Hel"), text(0, "lo."), blockStop(0)),
    expect: hello,
  },
  {
    id: "Q153",
    title: "thinking without content_block_start",
    body: message("end_turn", thought(0, "hm"), blockStop(0), ...textBlock(1, "Hello.")),
    expect: { ...hello, thinking: "hm" },
  },
  {
    id: "Q153",
    title: "text without content_block_stop",
    body: message("end_turn", blockStart(0, { type: "text", text: "" }), text(0, "Hello.")),
    expect: hello,
  },
  {
    id: "Q153",
    title: "a call without content_block_stop",
    body: message("tool_use", toolStart(0), inputDelta(0, osloText)),
    expect: runsOslo,
  },
  {
    id: "Q153",
    title: "neither start nor stop",
    body: message("end_turn", text(0, "Hello.")),
    expect: hello,
  },
  {
    id: "Q153",
    title: "input of a call that never started",
    body: message("tool_use", ...textBlock(0, "Hel"), inputDelta(1, osloText), blockStop(1)),
    expect: { ends: "any" },
    note: "The call has no name and cannot run. The catalogue does not say whether that fails the answer or only the call.",
  },
  {
    id: "Q154",
    title: "text inside content_block_start",
    body: message(
      "end_turn",
      blockStart(0, { type: "text", text: "Hel" }),
      text(0, "lo."),
      blockStop(0),
    ),
    expect: hello,
  },
  {
    id: "Q154",
    title: "text only inside content_block_start",
    body: message("end_turn", blockStart(0, { type: "text", text: "Hello." }), blockStop(0)),
    expect: hello,
  },
  {
    id: "Q154",
    title: "thinking inside content_block_start",
    body: message(
      "end_turn",
      thinking(0, { thinking: "h" }),
      thought(0, "m"),
      blockStop(0),
      ...textBlock(1, "Hello."),
    ),
    expect: { ...hello, thinking: "hm" },
  },
  {
    id: "Q155",
    title: "thinking and its signature",
    body: message(
      "tool_use",
      thinking(0),
      thought(0, "h"),
      thought(0, "m"),
      signed(0, "U2lnbmF0dXJl+/=="),
      blockStop(0),
      ...toolBlock(1, osloText),
    ),
    expect: { ...runsOslo, thinking: "hm", keeps: ['"U2lnbmF0dXJl+/=="'] },
  },
  {
    id: "Q155",
    title: "thinking preserved byte for byte",
    body: message(
      "end_turn",
      thinking(0),
      thought(0, " hm\n\n"),
      signed(0, "S1"),
      blockStop(0),
      ...textBlock(1, "Hello."),
    ),
    expect: { ...hello, thinking: " hm\n\n" },
  },
  {
    id: "Q156",
    title: "a signature in pieces",
    body: message(
      "end_turn",
      thinking(0),
      thought(0, "hm"),
      signed(0, "QUJD"),
      signed(0, "REVG"),
      blockStop(0),
      ...textBlock(1, "Hello."),
    ),
    expect: { ...hello, keeps: ['"QUJDREVG"'] },
  },
  {
    id: "Q156",
    title: "a signature repeated",
    body: message(
      "end_turn",
      thinking(0),
      thought(0, "hm"),
      signed(0, "QUJD"),
      signed(0, "QUJD"),
      blockStop(0),
      ...textBlock(1, "Hello."),
    ),
    expect: { ...hello, keeps: ['"QUJD"'] },
  },
  {
    id: "Q156",
    title: "a signature that grows",
    body: message(
      "end_turn",
      thinking(0),
      thought(0, "hm"),
      signed(0, "QUJD"),
      signed(0, "QUJDREVG"),
      blockStop(0),
      ...textBlock(1, "Hello."),
    ),
    expect: { ...hello, keeps: ['"QUJDREVG"'] },
  },
  {
    id: "Q157",
    title: "redacted thinking",
    body: message(
      "end_turn",
      blockStart(0, { type: "redacted_thinking", data: "c2VjcmV0" }),
      blockStop(0),
      ...textBlock(1, "Hello."),
    ),
    expect: { ...hello, keeps: ["c2VjcmV0"] },
  },
  {
    id: "Q158",
    title: "empty thinking with a signature",
    body: message(
      "end_turn",
      thinking(0),
      signed(0, "c2ln"),
      blockStop(0),
      ...textBlock(1, "Hello."),
    ),
    expect: { ...hello, thinking: "", keeps: ['"c2ln"'] },
  },
  {
    id: "Q167",
    title: "tool_use without id",
    body: message(
      "tool_use",
      ...toolBlock(0, osloText, { id: undefined }),
      ...toolBlock(1, romeText, { id: undefined }),
    ),
    expect: runsBoth,
  },
  {
    id: "Q167",
    title: "tool_use with an empty id",
    body: message("tool_use", ...toolBlock(0, osloText, { id: "" })),
    expect: { ...runsOslo, uniqueIds: true },
  },
  {
    id: "Q177",
    title: "one id for two calls",
    body: message(
      "tool_use",
      ...toolBlock(0, osloText, { id: "x" }),
      ...toolBlock(1, romeText, { id: "x" }),
    ),
    expect: runsBoth,
    note: "The entry is about requests; Q040 says that two calls of one answer need two ids.",
  },
  {
    id: "Q153",
    title: "a block closed twice",
    body: named(
      messageStart(),
      ...textBlock(0, "Hello."),
      blockStop(0),
      messageDelta(),
      messageStop,
    ),
    expect: hello,
  },
]);
