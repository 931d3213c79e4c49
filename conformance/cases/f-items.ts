/** Section F: OpenAI Responses, items and their deltas (Q186 to Q199). */
import { fixtures, hello, oslo, osloText, rome, romeText, runsBoth, runsOslo } from "../fixture.ts";
import {
  argumentsDelta,
  argumentsDone,
  callEvents,
  callItem,
  chat,
  chatHello,
  completed,
  created,
  finish,
  itemAdded,
  itemDone,
} from "../wire.ts";
import {
  messageItem,
  named,
  numbered,
  partAdded,
  say,
  textDelta,
  textDone,
  textItem,
} from "../wire.ts";

const opened = itemAdded(0, messageItem("", { content: [], status: "in_progress" }));
const call = callItem(osloText);
const openCall = callItem("", { status: "in_progress" });
const reasoning = {
  id: "rs_1",
  type: "reasoning",
  summary: [{ type: "summary_text", text: "hm" }],
  encrypted_content: "c2VjcmV0",
};
const noIds = { id: undefined, call_id: undefined };
const wrapper = { name: "multi_tool_use.parallel" };
const wrapped = JSON.stringify({
  tool_uses: [oslo, rome].map((use) => ({
    recipient_name: "functions.get_weather",
    parameters: use.arguments,
  })),
});
const refusal = { type: "refusal", refusal: "I cannot." };

export const responseItems = fixtures("openai-responses", [
  {
    id: "Q186",
    title: "arguments.done without deltas",
    body: numbered(
      created,
      itemAdded(0, openCall),
      argumentsDone(0, osloText),
      itemDone(0, call),
      completed([call]),
    ),
    expect: runsOslo,
  },
  {
    id: "Q186",
    title: "deltas without arguments.done",
    body: numbered(
      created,
      itemAdded(0, openCall),
      argumentsDelta(0, osloText),
      itemDone(0, call),
      completed([call]),
    ),
    expect: runsOslo,
  },
  {
    id: "Q186",
    title: "deltas without any done",
    body: numbered(created, itemAdded(0, openCall), argumentsDelta(0, osloText), completed([call])),
    expect: runsOslo,
  },
  {
    id: "Q186",
    title: "item.done replaces the deltas",
    body: numbered(
      created,
      itemAdded(0, openCall),
      argumentsDelta(0, "x9f"),
      argumentsDone(0, romeText),
      itemDone(0, call),
      completed([call]),
    ),
    expect: runsOslo,
  },
  {
    id: "Q187",
    title: "item ids change per event, text",
    body: numbered(
      created,
      itemAdded(0, messageItem("", { id: "A", content: [], status: "in_progress" })),
      partAdded(0, "B"),
      textDelta(0, "Hel", "C"),
      textDelta(0, "lo.", "D"),
      textDone(0, "Hello.", "E"),
      itemDone(0, messageItem("Hello.", { id: "F" })),
      completed([messageItem("Hello.", { id: "G" })]),
    ),
    expect: hello,
  },
  {
    id: "Q187",
    title: "item ids change per event, two calls",
    body: numbered(
      created,
      itemAdded(0, { ...openCall, id: "A" }),
      itemAdded(1, { ...openCall, id: "B", call_id: "call_2" }),
      argumentsDelta(1, romeText, "C"),
      argumentsDelta(0, osloText, "D"),
      argumentsDone(1, romeText, "E"),
      argumentsDone(0, osloText, "F"),
      itemDone(0, { ...call, id: "G" }),
      itemDone(1, callItem(romeText, { id: "H", call_id: "call_2" })),
      completed([{ ...call, id: "I" }, callItem(romeText, { id: "J", call_id: "call_2" })]),
    ),
    expect: runsBoth,
  },
  {
    id: "Q188",
    title: "the obfuscation field",
    body: numbered(
      created,
      ...textItem(0, "Hello.").map((event) => ({ ...event, obfuscation: "x7" })),
      completed([messageItem("Hello.")]),
    ),
    expect: hello,
  },
  {
    id: "Q188",
    title: "deltas that are not the arguments",
    body: numbered(
      created,
      itemAdded(0, openCall),
      argumentsDelta(0, "gAAAAB"),
      argumentsDelta(0, "x9=="),
      argumentsDone(0, osloText),
      itemDone(0, call),
      completed([call]),
    ),
    expect: runsOslo,
  },
  {
    id: "Q189",
    title: "content_part.added missing",
    body: numbered(
      created,
      opened,
      textDelta(0, "Hello."),
      textDone(0, "Hello."),
      itemDone(0, messageItem("Hello.")),
      completed([messageItem("Hello.")]),
    ),
    expect: hello,
  },
  {
    id: "Q189",
    title: "item.added missing before text",
    body: numbered(created, textDelta(0, "Hel"), textDelta(0, "lo."), completed([])),
    expect: hello,
  },
  {
    id: "Q189",
    title: "item.added missing before arguments",
    body: numbered(
      created,
      argumentsDelta(0, osloText),
      argumentsDone(0, osloText),
      itemDone(0, call),
      completed([call]),
    ),
    expect: runsOslo,
  },
  {
    id: "Q190",
    title: "unknown events, keepalive and items",
    body: numbered(
      created,
      { type: "response.future.thing", x: 1 },
      { type: "keepalive" },
      itemAdded(0, { id: "h_1", type: "hologram_call" }),
      itemDone(0, { id: "h_1", type: "hologram_call", beam: "kept" }),
      ...textItem(1, "Hello."),
      completed([{ id: "h_1", type: "hologram_call", beam: "kept" }, messageItem("Hello.")]),
    ),
    expect: { ...hello, keeps: ["hologram_call", "kept"] },
  },
  {
    id: "Q191",
    title: "no event line and no sequence number",
    body: named(created, ...callEvents(0, osloText), completed([call])).replaceAll(
      /^event: .*\n/gm,
      "",
    ),
    expect: runsOslo,
  },
  {
    id: "Q192",
    title: "chat chunks on a Responses URL",
    body: chatHello,
    expect: { ends: "error", errorMessage: /chat/i },
  },
  {
    id: "Q192",
    title: "Responses events on a chat URL",
    protocol: "openai-chat",
    body: numbered(created, ...textItem(0, "Hello."), completed([messageItem("Hello.")])),
    expect: { ends: "error", errorMessage: /responses/i },
  },
  {
    id: "Q193",
    title: "call_id is the id of the result",
    body: numbered(created, ...callEvents(0, osloText), completed([call])),
    expect: { ...runsOslo, keeps: ["call_1", "fc_1"] },
  },
  {
    id: "Q194",
    title: "call_id empty",
    body: numbered(
      created,
      ...callEvents(0, osloText, { call_id: "" }),
      ...callEvents(1, romeText, { id: "fc_2", call_id: "" }),
      completed([]),
    ),
    expect: runsBoth,
  },
  {
    id: "Q194",
    title: "neither call_id nor id",
    body: numbered(created, ...callEvents(0, osloText, noIds), completed([{ ...call, ...noIds }])),
    expect: { ...runsOslo, uniqueIds: true },
  },
  {
    id: "Q195",
    title: "reasoning items are kept",
    body: numbered(
      created,
      itemAdded(0, { ...reasoning, summary: [], encrypted_content: null }),
      {
        type: "response.reasoning_summary_part.added",
        item_id: "rs_1",
        output_index: 0,
        summary_index: 0,
        part: { type: "summary_text", text: "" },
      },
      {
        type: "response.reasoning_summary_text.delta",
        item_id: "rs_1",
        output_index: 0,
        summary_index: 0,
        delta: "hm",
      },
      itemDone(0, reasoning),
      ...callEvents(1, osloText),
      completed([reasoning, call]),
    ),
    expect: { ...runsOslo, thinking: "hm", keeps: ["c2VjcmV0"] },
  },
  {
    id: "Q197",
    title: "a reasoning item without a summary is kept",
    body: numbered(
      created,
      itemAdded(0, { ...reasoning, summary: [] }),
      itemDone(0, { ...reasoning, summary: [] }),
      ...textItem(1, "Hello."),
      completed([{ ...reasoning, summary: [] }, messageItem("Hello.")]),
    ),
    expect: { ...hello, keeps: ["c2VjcmV0"] },
  },
  {
    id: "Q198",
    title: "a refusal",
    body: numbered(
      created,
      opened,
      {
        type: "response.content_part.added",
        item_id: "msg_1",
        output_index: 0,
        content_index: 0,
        part: { type: "refusal", refusal: "" },
      },
      {
        type: "response.refusal.delta",
        item_id: "msg_1",
        output_index: 0,
        content_index: 0,
        delta: "I cannot.",
      },
      {
        type: "response.refusal.done",
        item_id: "msg_1",
        output_index: 0,
        content_index: 0,
        refusal: "I cannot.",
      },
      itemDone(0, messageItem("", { content: [refusal] })),
      completed([messageItem("", { content: [refusal] })]),
    ),
    expect: { ends: "error", text: "I cannot.", errorCode: ["refusal", "content_filtered"] },
    note: "Bowline reports a refusal as an error; a client that shows the refusal as the answer is arguably right too.",
  },
  {
    id: "Q199",
    title: "a parallel wrapper call",
    body: numbered(
      created,
      ...callEvents(0, wrapped, wrapper),
      completed([callItem(wrapped, wrapper)]),
    ),
    expect: runsBoth,
  },
  {
    id: "Q192",
    title: "a chat call on a Responses URL",
    body: chat(say("Hello."), finish()),
    expect: { ends: "error" },
  },
]);
