/** Section A: bodies that are no event stream, or not only one (Q018 to Q024, Q027). */
import { gzipSync } from "node:zlib";
import { fixtures, hello, oslo, osloText, runsOslo } from "../fixture.ts";
import { begin, chat, chatHello, chunk, finish, google, parts, say, sse } from "../wire.ts";

const asJson = { "content-type": "application/json" };
const whole = (message: object, reason = "stop"): string =>
  JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: reason }],
    usage: { prompt_tokens: 10, completion_tokens: 7, total_tokens: 17 },
  });
const wholeCall = whole(
  {
    content: null,
    tool_calls: [
      { id: "a", type: "function", function: { name: "get_weather", arguments: osloText } },
    ],
  },
  "tool_calls",
);
const wholeMessage = (content: object[], reason: string): string =>
  JSON.stringify({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content,
    stop_reason: reason,
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 7 },
  });
const page =
  "<!doctype html>\n<html><head><title>Sign in to the network</title></head><body>Hello</body></html>\n";
const lines = (...payloads: object[]): string =>
  payloads.map((payload) => `${JSON.stringify(payload)}\n`).join("");
const noAnswer = { ends: "error", errorCode: ["unexpected_response"] } as const;
const empty = { ends: "error", errorCode: ["empty_response"], retryable: true } as const;

export const bodies = [
  ...fixtures("openai-chat", [
    {
      id: "Q018",
      title: "a plain JSON answer",
      body: whole({ content: "Hello." }),
      headers: asJson,
      expect: { ...hello, usage: { input: 10, output: 7 } },
    },
    {
      id: "Q018",
      title: "a plain JSON answer, pretty-printed",
      body: JSON.stringify(JSON.parse(whole({ content: "Hello." })), null, 2),
      headers: asJson,
      expect: hello,
    },
    {
      id: "Q018",
      title: "a plain JSON answer labelled as a stream",
      body: whole({ content: "Hello." }),
      expect: hello,
    },
    {
      id: "Q018",
      title: "a plain JSON answer with a call",
      body: wholeCall,
      headers: asJson,
      expect: runsOslo,
    },
    {
      id: "Q018",
      title: "a plain JSON answer cut by length in a call",
      body: wholeCall.replace('\\"Oslo\\"}', '\\"Os').replace('"tool_calls"}', '"length"}'),
      headers: asJson,
      expect: { ends: "done", stopReason: "length" },
    },
    {
      id: "Q018",
      title: "a plain JSON answer cut in the middle",
      body: whole({ content: "Hello." }).slice(0, 120),
      headers: asJson,
      expect: {
        ends: "error",
        errorCode: ["unexpected_response", "stream_truncated", "stream_corrupt"],
      },
    },
    {
      id: "Q019",
      title: "an error text with status 200",
      body: '{"error":"Unexpected endpoint or method. (POST /chat/completions)"}',
      headers: asJson,
      expect: {
        ends: "error",
        errorCode: ["not_found"],
        errorMessage: /Unexpected endpoint or method.*\/v1/,
        retryable: false,
      },
    },
    {
      id: "Q019",
      title: "an error object with status 200",
      body: '{"error":{"message":"Provider returned error","code":502}}',
      headers: asJson,
      expect: { ends: "error", errorMessage: /Provider returned error/, retryable: true },
    },
    {
      id: "Q019",
      title: "an error array with status 200",
      body: '[{"error":{"code":429,"message":"Slow down.","status":"RESOURCE_EXHAUSTED"}}]',
      headers: asJson,
      expect: { ends: "error", errorMessage: /Slow down/ },
    },
    {
      id: "Q020",
      title: "a stream labelled application/json",
      body: chatHello,
      headers: asJson,
      expect: hello,
    },
    {
      id: "Q020",
      title: "a stream labelled text/plain",
      body: chatHello,
      headers: { "content-type": "text/plain" },
      expect: hello,
    },
    {
      id: "Q020",
      title: "a stream without a content type",
      body: chatHello,
      headers: {},
      expect: hello,
    },
    {
      id: "Q021",
      title: "a doubled prefix",
      body: chatHello.replaceAll("data: ", "data: data: "),
      expect: hello,
    },
    {
      id: "Q021",
      title: "a doubled prefix without spaces",
      body: chatHello.replaceAll("data: ", "data:data:"),
      expect: hello,
    },
    {
      id: "Q022",
      title: "a page instead of an answer",
      body: page,
      headers: { "content-type": "text/html" },
      expect: {
        ...noAnswer,
        errorMessage: /HTTP 2.*Sign in to the network.*127\.0\.0\.1/,
        retryable: false,
      },
    },
    {
      id: "Q022",
      title: "a page after blank lines, labelled as a stream",
      body: `\n\n ${page}`,
      expect: { ...noAnswer, errorMessage: /Sign in to the network/ },
    },
    {
      id: "Q022",
      title: "a page with the title of a 502 error",
      body: page.replace("Sign in to the network", "502 Bad Gateway"),
      headers: { "content-type": "text/html" },
      expect: { ends: "error", errorMessage: /502 Bad Gateway/, retryable: true },
    },
    { id: "Q023", title: "an empty body", body: "", expect: empty },
    { id: "Q023", title: "comments only", body: ": ping\n\n: ping\n\n", expect: empty },
    { id: "Q023", title: "only [DONE]", body: sse("[DONE]"), expect: empty },
    { id: "Q023", title: "blank lines only", body: "\n\n\n", expect: empty },
    {
      id: "Q024",
      title: "JSON lines instead of events",
      body: lines(begin, say("Hel"), say("lo."), finish()),
      headers: { "content-type": "application/x-ndjson" },
      expect: hello,
    },
    {
      id: "Q024",
      title: "JSON lines with a call",
      body: lines(
        begin,
        chunk({
          tool_calls: [
            {
              index: 0,
              id: "a",
              type: "function",
              function: { name: "get_weather", arguments: osloText },
            },
          ],
        }),
        finish("tool_calls"),
      ),
      expect: runsOslo,
    },
    {
      id: "Q024",
      title: "JSON lines cut before the end",
      body: lines(begin, say("Hel")),
      expect: { ends: "error", text: "Hel" },
    },
    {
      id: "Q027",
      title: "a gzip body that says so",
      body: gzipSync(chatHello),
      headers: { "content-type": "text/event-stream", "content-encoding": "gzip" },
      expect: hello,
    },
    {
      id: "Q027",
      title: "a gzip body that does not say so",
      body: gzipSync(chatHello),
      expect: { ends: "error", errorMessage: /gzip|compress/i },
    },
    {
      id: "Q018",
      title: "a plain JSON answer without content",
      body: '{"id":"x","object":"chat.completion","choices":[]}',
      headers: asJson,
      expect: { ends: "error" },
    },
    {
      id: "Q028",
      title: "everything at once",
      body: chat(...Array.from({ length: 200 }, (_, n) => say(`${n} `)), finish()),
      expect: { ends: "done", text: Array.from({ length: 200 }, (_, n) => `${n} `).join("") },
    },
  ]),
  ...fixtures("anthropic-messages", [
    {
      id: "Q018",
      title: "a plain JSON answer",
      body: wholeMessage([{ type: "text", text: "Hello." }], "end_turn"),
      headers: asJson,
      expect: { ...hello, usage: { input: 10, output: 7 } },
    },
    {
      id: "Q018",
      title: "a plain JSON answer with a call",
      body: wholeMessage(
        [{ type: "tool_use", id: "toolu_1", name: "get_weather", input: oslo.arguments }],
        "tool_use",
      ),
      headers: asJson,
      expect: runsOslo,
    },
    {
      id: "Q019",
      title: "an error object with status 200",
      body: '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
      headers: asJson,
      expect: { ends: "error", errorCode: ["overloaded"], retryable: true },
    },
    {
      id: "Q022",
      title: "a page instead of an answer",
      body: page,
      headers: { "content-type": "text/html" },
      expect: noAnswer,
    },
    { id: "Q023", title: "an empty body", body: "", expect: empty },
  ]),
  ...fixtures("openai-responses", [
    {
      id: "Q018",
      title: "a plain JSON answer",
      body: JSON.stringify({
        id: "resp_1",
        object: "response",
        created_at: 1,
        model: "m",
        status: "completed",
        output: [
          {
            id: "msg_1",
            type: "message",
            role: "assistant",
            status: "completed",
            content: [{ type: "output_text", text: "Hello.", annotations: [] }],
          },
        ],
      }),
      headers: asJson,
      expect: hello,
    },
    {
      id: "Q022",
      title: "a page instead of an answer",
      body: page,
      headers: { "content-type": "text/html" },
      expect: noAnswer,
    },
    { id: "Q023", title: "an empty body", body: "", expect: empty },
  ]),
  ...fixtures("google-generate", [
    {
      id: "Q018",
      title: "a plain JSON answer",
      body: JSON.stringify(parts([{ text: "Hello." }], "STOP")),
      headers: asJson,
      expect: hello,
    },
    {
      id: "Q021",
      title: "a doubled prefix",
      body: google(parts([{ text: "Hello." }], "STOP")).replaceAll("data: ", "data: data: "),
      expect: hello,
    },
    {
      id: "Q022",
      title: "a page instead of an answer",
      body: page,
      headers: { "content-type": "text/html" },
      expect: noAnswer,
    },
    { id: "Q023", title: "an empty body", body: "", expect: empty },
  ]),
];
