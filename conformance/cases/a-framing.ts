/** Section A: the body as bytes, and server-sent events (Q001 to Q017, Q025, Q026, Q029, Q030). */
import { done, fixtures, hello, osloText, runsOslo, truncated } from "../fixture.ts";
import {
  begin,
  calls,
  chat,
  chatCalls,
  chatHello,
  finish,
  message,
  say,
  sse,
  textBlock,
  toolBlock,
} from "../wire.ts";
import { completed, created, messageItem, numbered, textItem } from "../wire.ts";

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const joined = (first: Uint8Array, second: Uint8Array): Uint8Array =>
  new Uint8Array([...first, ...second]);
const json = JSON.stringify;
const helloEvents = [begin, say("Hel"), say("lo."), finish()].map(
  (event) => `data: ${json(event)}`,
);
const callEvents = chatCalls(
  calls({ index: 0, id: "a", name: "get_weather", arguments: osloText }),
);

export const framing = [
  ...fixtures("openai-chat", [
    {
      id: "Q001",
      title: "CR LF line ends",
      body: chatHello.replaceAll("\n", "\r\n"),
      expect: hello,
    },
    {
      id: "Q001",
      title: "bare CR line ends",
      body: chatHello.replaceAll("\n", "\r"),
      expect: hello,
    },
    {
      id: "Q001",
      title: "mixed line ends",
      body: `${helloEvents[0]}\r\n\r\n${helloEvents[1]}\r\r${helloEvents[2]}\n\n${helloEvents[3]}\r\n\ndata: [DONE]\n\r\n`,
      expect: hello,
    },
    {
      id: "Q002",
      title: "CR LF in a call",
      body: callEvents.replaceAll("\n", "\r\n"),
      expect: runsOslo,
    },
    {
      id: "Q002",
      title: "an event's fields parted by CR LF",
      body: `data: {"choices":[{"index":0,\r\ndata: "delta":{"role":"assistant","content":"Hello."},"finish_reason":"stop"}]}\r\n\r\ndata: [DONE]\r\n\r\n`,
      expect: hello,
    },
    {
      id: "Q003",
      title: "characters of two, three and four bytes",
      body: chat(say("\u00e9\u4f60\u{1f600}"), say("\u{1f9ea}."), finish()),
      expect: { ...done, text: "\u00e9\u4f60\u{1f600}\u{1f9ea}." },
    },
    {
      id: "Q003",
      title: "characters of several bytes in arguments",
      body: chatCalls(
        calls({
          id: "a",
          name: "get_weather",
          arguments: '{"city":"Troms\u00f8 \u4f60\u{1f600}"}',
        }),
      ),
      expect: {
        ...done,
        calls: [{ name: "get_weather", arguments: { city: "Troms\u00f8 \u4f60\u{1f600}" } }],
      },
    },
    {
      id: "Q004",
      title: "a BOM before the first line",
      body: joined(new Uint8Array([0xef, 0xbb, 0xbf]), encode(chatHello)),
      expect: hello,
    },
    {
      id: "Q004",
      title: "U+FEFF inside the text stays",
      body: chat(say("a\ufeffb"), say("\ufeffc"), finish()),
      expect: { ...done, text: "a\ufeffb\ufeffc" },
    },
    {
      id: "Q005",
      title: "U+2028, U+2029, U+0085, VT and FF in JSON strings",
      body: sse(
        begin,
        `{"choices":[{"index":0,"delta":{"content":"a\u2028b\u2029c\u0085d\\u000be\\u000cf"},"finish_reason":null}]}`,
        finish(),
        "[DONE]",
      ),
      expect: { ...done, text: "a\u2028b\u2029c\u0085d\u000be\u000cf" },
    },
    {
      id: "Q006",
      title: "comments as keep-alives",
      body: `: OPENROUTER PROCESSING\n\n:\n\n${sse(begin, say("Hel"))}: keep-alive\n\n${sse(say("lo."))}:ping\n${sse(finish(), "[DONE]")}`,
      expect: hello,
    },
    {
      id: "Q006",
      title: "a comment inside an event",
      body: `${helloEvents[0]}\n: ping\n\n${helloEvents[1]}\n\n: ping\n${helloEvents[2]}\n\n${helloEvents[3]}\n\ndata: [DONE]\n\n`,
      expect: hello,
    },
    {
      id: "Q007",
      title: "a comment re-wrapped as data",
      body: `data: : OPENROUTER PROCESSING\n\n${sse(begin, say("Hel"), ": OPENROUTER PROCESSING", say("lo."), finish(), "[DONE]")}`,
      expect: hello,
    },
    {
      id: "Q007",
      title: "a re-wrapped comment beside a call",
      body: `data: : ping\n\n${callEvents}`,
      expect: runsOslo,
    },
    {
      id: "Q008",
      title: "empty data events",
      body: `data:\n\n${sse(begin, say("Hel"))}data: \n\ndata\n\n${sse(say("lo."), finish())}data:  \n\n${sse("[DONE]")}`,
      expect: hello,
    },
    {
      id: "Q009",
      title: "no space after the colon",
      body: chatHello.replaceAll("data: ", "data:"),
      expect: hello,
    },
    {
      id: "Q010",
      title: "several data lines in one event",
      body: `${sse(begin)}${json(say("Hello."), null, 2)
        .split("\n")
        .map((line) => `data: ${line}\n`)
        .join("")}\n${sse(finish(), "[DONE]")}`,
      expect: hello,
    },
    {
      id: "Q011",
      title: "event, id, retry and unknown fields",
      body: `retry: 10\nid: 1\nfoo: bar\nevent: message\n${sse(begin)}id: 2\nfoo\n${sse(say("Hello."))}event: whatever\nid\n${sse(finish(), "[DONE]")}`,
      expect: hello,
    },
    {
      id: "Q012",
      title: "one newline between events",
      body: `${[...helloEvents, "data: [DONE]"].join("\n")}\n`,
      expect: hello,
    },
    {
      id: "Q012",
      title: "one newline between events, with a call",
      body: callEvents.replaceAll("\n\n", "\n"),
      expect: runsOslo,
    },
    {
      id: "Q013",
      title: "the last event not ended by a blank line",
      body: helloEvents.join("\n\n"),
      expect: hello,
    },
    {
      id: "Q013",
      title: "[DONE] not ended by a blank line",
      body: `${sse(begin, say("Hello."))}data: [DONE]`,
      expect: hello,
    },
    {
      id: "Q013",
      title: "a last event cut in the middle",
      body: `${sse(begin, say("Hello."))}${helloEvents[3]?.slice(0, 60)}`,
      expect: {
        ends: "error",
        text: "Hello.",
        errorCode: ["stream_truncated", "stream_corrupt"],
        retryable: true,
      },
    },
    {
      id: "Q014",
      title: "[DONE] missing",
      body: sse(begin, say("Hello."), finish()),
      expect: hello,
    },
    {
      id: "Q014",
      title: "[DONE] missing after a call",
      body: sse(
        begin,
        calls({ id: "a", name: "get_weather", arguments: osloText }),
        finish("tool_calls"),
      ),
      expect: runsOslo,
    },
    {
      id: "Q014",
      title: "neither [DONE] nor a finish reason",
      body: sse(begin, say("Hel")),
      expect: { ...truncated, text: "Hel" },
    },
    ...["[DONE] ", " [DONE]", "[done]", "[Done]\t"].map((end) => ({
      id: "Q015",
      title: `the end written as ${json(end)}`,
      body: sse(begin, say("Hello."), finish(), end),
      expect: hello,
    })),
    {
      id: "Q015",
      title: "a spaced [DONE] after a call",
      body: sse(
        begin,
        calls({ id: "a", name: "get_weather", arguments: osloText }),
        finish("tool_calls"),
        "[DONE] ",
      ),
      expect: runsOslo,
    },
    {
      id: "Q016",
      title: "text after [DONE]",
      body: sse(begin, say("Hello."), finish(), "[DONE]", say(" More."), finish()),
      expect: hello,
    },
    {
      id: "Q016",
      title: "a call after [DONE]",
      body: sse(
        begin,
        say("Hello."),
        finish(),
        "[DONE]",
        calls({ id: "a", name: "get_weather", arguments: osloText }),
        finish("tool_calls"),
      ),
      expect: hello,
    },
    {
      id: "Q016",
      title: "the socket held open after [DONE]",
      body: chatHello,
      after: "hold",
      expect: hello,
    },
    {
      id: "Q025",
      title: "an exception's text in a data line",
      body: sse(begin, say("Hel"), "error: upstream failed", finish(), "[DONE]"),
      expect: { ends: "error", text: "Hel", errorMessage: /upstream failed/ },
    },
    {
      id: "Q025",
      title: "an exception's text as the only event",
      body: sse("Traceback (most recent call last): KeyError"),
      expect: { ends: "error", errorMessage: /KeyError/ },
    },
    {
      id: "Q026",
      title: "half an event spliced onto another answer",
      body: `${sse(begin, say("Hel"))}data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"contdata: {"id":"chatcmpl-2","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Bye."},"finish_reason":null}]}\n\n${sse(finish(), "[DONE]")}`,
      expect: { ends: "error", text: "Hel", errorCode: ["stream_corrupt"], retryable: true },
    },
    {
      id: "Q026",
      title: "a splice in the middle of a call",
      body: `${sse(begin, calls({ id: "a", name: "get_weather", arguments: '{"ci' }))}data: {"choices":[{"delta":{"tool_cdata: ${json(calls({ id: "b", name: "get_weather", arguments: osloText }))}\n\n${sse(finish("tool_calls"), "[DONE]")}`,
      expect: { ends: "error", errorCode: ["stream_corrupt"], retryable: true },
    },
    {
      id: "Q029",
      title: "one event of two million characters",
      body: chat(say("x".repeat(2_000_000)), finish()),
      expect: { ...done, text: "x".repeat(2_000_000) },
    },
    {
      id: "Q015",
      title: "text that says [DONE]",
      body: chat(say("[DONE]"), say(" is a word."), finish()),
      expect: { ...done, text: "[DONE] is a word." },
    },
    { id: "Q014", title: "a stream cut before any content", body: sse(begin), expect: truncated },
  ]),
  ...fixtures("anthropic-messages", [
    {
      id: "Q013",
      title: "the last event not ended by a blank line",
      body: message("end_turn", ...textBlock(0, "Hello.")).trimEnd(),
      expect: hello,
    },
    {
      id: "Q017",
      title: "[DONE] after message_stop",
      body: `${message("end_turn", ...textBlock(0, "Hello."))}${sse("[DONE]")}`,
      expect: hello,
    },
    {
      id: "Q030",
      title: "no event lines",
      body: message("tool_use", ...toolBlock(0, osloText)).replaceAll(/^event: .*\n/gm, ""),
      expect: runsOslo,
    },
    {
      id: "Q030",
      title: "event: message for all",
      body: message("end_turn", ...textBlock(0, "Hello.")).replaceAll(
        /^event: .*$/gm,
        "event: message",
      ),
      expect: hello,
    },
    {
      id: "Q030",
      title: "the type only in the event line",
      body: message("end_turn", ...textBlock(0, "Hello.")).replaceAll(
        /^data: \{"type":"[a-z_]+",?/gm,
        "data: {",
      ),
      expect: hello,
    },
    {
      id: "Q007",
      title: "a comment re-wrapped as data",
      body: `data: : ping\n\n${message("end_turn", ...textBlock(0, "Hello."))}`,
      expect: hello,
    },
    {
      id: "Q008",
      title: "empty data events",
      body: `data:\n\n${message("end_turn", ...textBlock(0, "Hello."))}data: \n\n`,
      expect: hello,
    },
    {
      id: "Q012",
      title: "one newline between events",
      body: message("end_turn", ...textBlock(0, "Hello.")).replaceAll("\n\n", "\n"),
      expect: hello,
      note: "In the event stream standard this is one event of several lines; the catalogue asks to read each line as an event.",
    },
  ]),
  ...fixtures("openai-responses", [
    {
      id: "Q017",
      title: "[DONE] after response.completed",
      body: `${numbered(created, ...textItem(0, "Hello."), completed([messageItem("Hello.")]))}${sse("[DONE]")}`,
      expect: hello,
    },
    {
      id: "Q008",
      title: "empty data events",
      body: `data:\n\n${numbered(created, ...textItem(0, "Hello."), completed([messageItem("Hello.")]))}`,
      expect: hello,
    },
  ]),
];
