/** Section E: Anthropic Messages, new features and endings (Q147, Q160 to Q166). */
import { done, fixtures, hello, osloText, runsOslo } from "../fixture.ts";
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

const tool = toolBlock(0, osloText);
const serverTool = blockStart(0, {
  type: "server_tool_use",
  id: "srvtoolu_1",
  name: "web_search",
  input: {},
});
const searchResult = {
  type: "web_search_tool_result",
  tool_use_id: "srvtoolu_1",
  content: [
    {
      type: "web_search_result",
      url: "https://example.com",
      title: "A page",
      encrypted_content: "c2VjcmV0",
    },
  ],
};

export const messageEndings = fixtures("anthropic-messages", [
  {
    id: "Q147",
    title: "several message_delta, the reason last",
    body: named(
      messageStart(),
      ...textBlock(0, "Hello."),
      messageDelta(null, { output_tokens: 3 }),
      messageDelta("max_tokens"),
      messageStop,
    ),
    expect: { ...done, text: "Hello.", stopReason: "length" },
  },
  {
    id: "Q147",
    title: "several message_delta, the reason first",
    body: named(messageStart(), ...tool, messageDelta("tool_use"), messageDelta(null), messageStop),
    expect: runsOslo,
  },
  {
    id: "Q160",
    title: "unknown events, blocks and deltas",
    body: named(
      messageStart(),
      { type: "future_event", x: 1 },
      blockStart(0, { type: "hologram", beam: "kept" }),
      blockDelta(0, { type: "photon_delta", photons: 3 }),
      blockStop(0),
      ...textBlock(1, "Hello."),
      messageDelta(),
      messageStop,
    ),
    expect: { ...hello, keeps: ["hologram", "kept"] },
  },
  {
    id: "Q160",
    title: "an unknown delta in a text block",
    body: named(
      messageStart(),
      blockStart(0, { type: "text", text: "" }),
      blockDelta(0, { type: "photon_delta" }),
      blockDelta(0, { type: "text_delta", text: "Hello." }),
      blockStop(0),
      messageDelta(),
      messageStop,
    ),
    expect: hello,
  },
  {
    id: "Q161",
    title: "a tool of the server is never run",
    body: message(
      "end_turn",
      serverTool,
      inputDelta(0, '{"query":"Oslo"}'),
      blockStop(0),
      blockStart(1, searchResult),
      blockStop(1),
      ...textBlock(2, "Hello."),
    ),
    expect: { ...hello, keeps: ["srvtoolu_1", "c2VjcmV0", '"query"'] },
    tools: ["web_search"],
  },
  {
    id: "Q161",
    title: "a server's tool that failed",
    body: message(
      "end_turn",
      serverTool,
      blockStop(0),
      blockStart(1, {
        ...searchResult,
        content: { type: "web_search_tool_result_error", error_code: "unavailable" },
      }),
      blockStop(1),
      ...textBlock(2, "Hello."),
    ),
    expect: { ...hello, keeps: ["unavailable"] },
    tools: ["web_search"],
  },
  {
    id: "Q161",
    title: "a server's tool beside one of ours",
    body: message(
      "tool_use",
      serverTool,
      blockStop(0),
      blockStart(1, searchResult),
      blockStop(1),
      ...toolBlock(2, osloText),
    ),
    expect: { ...runsOslo, keeps: ["srvtoolu_1"] },
  },
  {
    id: "Q162",
    title: "pause_turn",
    body: message(
      "pause_turn",
      ...textBlock(0, "Hello."),
      blockStart(1, {
        type: "server_tool_use",
        id: "srvtoolu_1",
        name: "web_search",
        input: { query: "Oslo" },
      }),
      blockStop(1),
    ),
    expect: { ...done, text: "Hello.", rawStopReason: "pause_turn", keeps: ["srvtoolu_1"] },
  },
  {
    id: "Q163",
    title: "a refusal",
    body: message("refusal", ...textBlock(0, "Hel")),
    expect: { ends: "error", text: "Hel", errorCode: ["refusal"] },
    note: "The catalogue asks for a distinct outcome; a client that succeeds with the reason refusal provides one too.",
  },
  {
    id: "Q163",
    title: "a refusal after a call",
    body: message("refusal", ...tool),
    expect: { ends: "error", errorCode: ["refusal"] },
  },
  {
    id: "Q164",
    title: "model_context_window_exceeded",
    body: message("model_context_window_exceeded", ...textBlock(0, "Hel")),
    expect: {
      ...done,
      text: "Hel",
      stopReason: "length",
      rawStopReason: "model_context_window_exceeded",
    },
  },
  {
    id: "Q164",
    title: "model_context_window_exceeded in a call",
    body: message("model_context_window_exceeded", toolStart(0), inputDelta(0, '{"ci')),
    expect: { ...done, stopReason: "length" },
  },
  {
    id: "Q165",
    title: "an unknown stop reason",
    body: message("weird", ...textBlock(0, "Hello.")),
    expect: { ...hello, rawStopReason: "weird" },
  },
  {
    id: "Q165",
    title: "an unknown stop reason after a call",
    body: message("weird", ...tool),
    expect: { ends: "error", errorCode: ["unexpected_response"], rawStopReason: "weird" },
  },
  {
    id: "Q165",
    title: "stop reason null, but message_stop",
    body: message(null, ...textBlock(0, "Hello.")),
    expect: hello,
  },
  {
    id: "Q165",
    title: "stop reason null, but message_stop, after a call",
    body: message(null, ...tool),
    expect: runsOslo,
  },
  {
    id: "Q166",
    title: "end_turn although a call was sent",
    body: message("end_turn", ...tool),
    expect: runsOslo,
  },
  {
    id: "Q092",
    title: "end_turn without any content",
    body: message("end_turn"),
    expect: { ends: "error", errorCode: ["empty_response"] },
    note: "Claude sometimes ends like this after tool results; the catalogue asks to distinguish it from success.",
  },
]);
