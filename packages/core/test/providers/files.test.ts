/** Images and files on each wire: what is sent in which form, and what is refused. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isBowlineError } from "../../src/errors.ts";
import type { FileContent, ImageContent, Message, UserContent } from "../../src/llm/message.ts";
import type { InputKind } from "../../src/llm/model.ts";
import { anthropicMessages } from "../../src/providers/anthropic-messages/index.ts";
import { googleGenerate } from "../../src/providers/google-generate/index.ts";
import { openaiChat } from "../../src/providers/openai-chat/index.ts";
import { openaiResponses } from "../../src/providers/openai-responses/index.ts";
import type { Protocol } from "../../src/providers/protocol.ts";
import { getModel } from "../../src/providers/vendors.ts";
import { scriptedToolCall } from "../../src/testing/index.ts";

const wires = {
  "openai-chat": { protocol: openaiChat, model: "gpt-5-mini" },
  "openai-responses": { protocol: openaiResponses, model: "gpt-5-mini" },
  "anthropic-messages": { protocol: anthropicMessages, model: "claude" },
  "google-generate": { protocol: googleGenerate, model: "gemini-3-pro" },
} as const satisfies Record<string, { protocol: Protocol; model: string }>;
type Api = keyof typeof wires;
const apis = Object.keys(wires) as Api[];

const data = "aGVsbG8="; // hello
const file = (mimeType: string, name = "f"): FileContent => ({
  type: "file",
  data,
  mimeType,
  name,
});
const linked = (mimeType: string, url = "https://example.com/f"): FileContent => ({
  type: "file",
  url,
  mimeType,
});
const image: ImageContent = { type: "image", url: "https://example.com/a.png" };

function encode(api: Api, part: UserContent, isResult: boolean, input?: InputKind[]): unknown {
  const model = getModel("custom", wires[api].model, {
    baseUrl: "http://127.0.0.1:1",
    api,
    ...(input && { input }),
  });
  const before: Message[] = [
    { role: "user", content: "Hi", timestamp: 0 },
    {
      role: "assistant",
      content: [scriptedToolCall("look", {}, "a")],
      api: "x",
      provider: "x",
      model: "x",
      usage: {},
      stopReason: "toolUse",
      timestamp: 0,
    },
  ];
  const messages: Message[] = isResult
    ? [
        ...before,
        {
          role: "toolResult",
          toolCallId: "a",
          toolName: "look",
          content: [part],
          isError: false,
          timestamp: 0,
        },
      ]
    : [{ role: "user", content: [part], timestamp: 0 }];
  const { body } = wires[api].protocol.encode(model, { messages }, { cacheRetention: "none" });
  const items = (body.messages ?? body.input ?? body.contents) as unknown[];
  return isResult ? JSON.parse(JSON.stringify(items.slice(2))) : items[0];
}

/** The part as it is sent in a user message; the message of the error if it is refused. */
function sent(api: Api, part: UserContent, input?: InputKind[]): unknown {
  try {
    const { content, parts } = encode(api, part, false, input) as Record<string, unknown>;
    const found = parts ?? content;
    return JSON.parse(JSON.stringify(Array.isArray(found) ? found[0] : found));
  } catch (error) {
    assert.ok(isBowlineError(error) && error.code === "invalid_argument", String(error));
    return `error: ${error.message}`;
  }
}

const text = '<file name="f">\nhello\n</file>';
const dataUrl = `data:application/pdf;base64,${data}`;
const httpUrl = "https://example.com/f";
const table: readonly (readonly [string, UserContent, Readonly<Record<Api, unknown>>])[] = [
  [
    "a PDF",
    file("application/pdf", "a.pdf"),
    {
      "openai-chat": { type: "file", file: { filename: "a.pdf", file_data: dataUrl } },
      "openai-responses": { type: "input_file", filename: "a.pdf", file_data: dataUrl },
      "anthropic-messages": {
        type: "document",
        source: { type: "base64", media_type: "application/pdf", data },
        title: "a.pdf",
      },
      "google-generate": { inlineData: { mimeType: "application/pdf", data } },
    },
  ],
  [
    "a text",
    file("text/markdown"),
    {
      "openai-chat": text,
      "openai-responses": { type: "input_text", text },
      "anthropic-messages": {
        type: "document",
        source: { type: "text", media_type: "text/plain", data: "hello" },
        title: "f",
      },
      "google-generate": { text },
    },
  ],
  [
    "an MP3",
    file("audio/mpeg"),
    {
      "openai-chat": { type: "input_audio", input_audio: { data, format: "mp3" } },
      "openai-responses": "refused",
      "anthropic-messages": "refused",
      "google-generate": { inlineData: { mimeType: "audio/mpeg", data } },
    },
  ],
  [
    "a WAV",
    file("audio/x-wav"),
    {
      "openai-chat": { type: "input_audio", input_audio: { data, format: "wav" } },
      "openai-responses": "refused",
      "anthropic-messages": "refused",
      "google-generate": "refused",
    },
  ],
  [
    "a video",
    file("video/mp4"),
    {
      "openai-chat": "refused",
      "openai-responses": "refused",
      "anthropic-messages": "refused",
      "google-generate": { inlineData: { mimeType: "video/mp4", data } },
    },
  ],
  [
    "an unknown type",
    file("application/zip"),
    {
      "openai-chat": "refused",
      "openai-responses": "refused",
      "anthropic-messages": "refused",
      "google-generate": "refused",
    },
  ],
  [
    "an image by its url",
    { ...image, mimeType: "image/png" },
    {
      "openai-chat": { type: "image_url", image_url: { url: image.url } },
      "openai-responses": { type: "input_image", image_url: image.url, detail: "auto" },
      "anthropic-messages": { type: "image", source: { type: "url", url: image.url } },
      "google-generate": { fileData: { mimeType: "image/png", fileUri: image.url } },
    },
  ],
  [
    "an image by its url without a type",
    image,
    {
      "openai-chat": { type: "image_url", image_url: { url: image.url } },
      "openai-responses": { type: "input_image", image_url: image.url, detail: "auto" },
      "anthropic-messages": { type: "image", source: { type: "url", url: image.url } },
      "google-generate": "refused",
    },
  ],
  [
    "a PDF by its url",
    linked("application/pdf"),
    {
      "openai-chat": "refused",
      "openai-responses": { type: "input_file", file_url: httpUrl },
      "anthropic-messages": { type: "document", source: { type: "url", url: httpUrl } },
      "google-generate": { fileData: { mimeType: "application/pdf", fileUri: httpUrl } },
    },
  ],
  [
    "a text by its url",
    linked("text/plain"),
    {
      "openai-chat": "refused",
      "openai-responses": { type: "input_file", file_url: httpUrl },
      "anthropic-messages": "refused",
      "google-generate": { fileData: { mimeType: "text/plain", fileUri: httpUrl } },
    },
  ],
  [
    "a video in a bucket",
    linked("video/mp4", "gs://bucket/f"),
    {
      "openai-chat": "refused",
      "openai-responses": "refused",
      "anthropic-messages": "refused",
      "google-generate": { fileData: { mimeType: "video/mp4", fileUri: "gs://bucket/f" } },
    },
  ],
  [
    "an image in a bucket",
    { type: "image", url: "gs://bucket/f", mimeType: "image/png" },
    {
      "openai-chat": "refused",
      "openai-responses": "refused",
      "anthropic-messages": "refused",
      "google-generate": { fileData: { mimeType: "image/png", fileUri: "gs://bucket/f" } },
    },
  ],
];

for (const api of apis)
  describe(`a request of ${api}`, () => {
    for (const [what, part, wanted] of table) {
      const expected = wanted[api];
      it(`${expected === "refused" ? "refuses" : "holds"} ${what}`, () => {
        const found = sent(api, part);
        if (expected !== "refused") return assert.deepEqual(found, expected);
        assert.match(String(found), new RegExp(`^error: ${api} cannot send (?:the file|an image)`));
        if (part.type === "file") assert.match(String(found), new RegExp(part.mimeType));
        // In a tool result the same part is refused, too.
        assert.throws(() => encode(api, part, true), /cannot send/);
      });
    }

    it("replaces a kind that is not in the model's input by a note", () => {
      const note = JSON.stringify(sent(api, file("video/mp4", "v.mp4"), ["text", "pdf"]));
      assert.match(
        note,
        /the file v\.mp4 \(video\/mp4\) was left out: the model reads text, pdf only/,
      );
    });

    it("refuses a text file that is not UTF-8 in base64", () => {
      for (const wrong of ["/w==", "not base64"])
        assert.match(
          String(sent(api, { ...file("text/plain", "a.txt"), data: wrong } as FileContent)),
          /^error: The file a\.txt is not UTF-8 in base64/,
        );
    });

    it("refuses a file without data, with a wrong url or with both", () => {
      for (const wrong of [
        { type: "file", mimeType: "application/pdf" },
        { type: "file", data },
        { type: "file", mimeType: "application/pdf", url: "file:///etc/passwd" },
        { type: "file", mimeType: "application/pdf", url: "javascript:alert(1)" },
        { type: "image", url: "ftp://example.com/a.png" },
        { type: "image", url: "https://" },
        { type: "image", data, mimeType: "image/png", url: "https://example.com/a.png" },
        { type: "file", data, mimeType: "application/pdf", name: 5 },
      ])
        assert.match(String(sent(api, wrong as UserContent)), /^error: The \w+ part must have/);
    });

    it("cleans MIME types and data: prefixes", () => {
      const plain = sent(api, file("application/pdf"));
      const part = { ...file("Application/PDF; x=1"), data: `data:;base64,${data}` } as FileContent;
      assert.deepEqual(sent(api, part), plain);
      const picture = { ...file("image/jpg"), data: "aGk=" } as FileContent;
      const same: ImageContent = { type: "image", data: "aGk=", mimeType: "image/jpeg" };
      assert.deepEqual(sent(api, picture), sent(api, same));
    });
  });

describe("a file in a tool result", () => {
  const pdf = file("application/pdf", "a.pdf");
  const isIn = (value: unknown): boolean => JSON.stringify(value).includes(data);

  it("follows the results in a user message on openai-chat", () => {
    const [tool, user] = encode("openai-chat", pdf, true) as Record<string, unknown>[];
    assert.equal(tool?.content, "(see the file below)");
    assert.deepEqual(user?.content, [
      { type: "text", text: "Files of the tool results above:" },
      { type: "file", file: { filename: "a.pdf", file_data: dataUrl } },
    ]);
  });

  it("is inside the result on openai-responses and anthropic-messages", () => {
    const [output] = encode("openai-responses", pdf, true) as Record<string, unknown>[];
    assert.deepEqual(output?.output, [
      { type: "input_file", filename: "a.pdf", file_data: dataUrl },
    ]);
    const [turn] = encode("anthropic-messages", pdf, true) as { content: { type: string }[] }[];
    assert.equal(turn?.content[0]?.type, "tool_result");
    assert.ok(isIn(turn?.content[0]));
  });

  it("is inside the result on Gemini 3 if it is a PDF, and after it otherwise", () => {
    for (const [part, at] of [
      [pdf, 0],
      [file("video/mp4"), 1],
    ] as const) {
      const [turn] = encode("google-generate", part, true) as { parts: unknown[] }[];
      assert.deepEqual(
        turn?.parts.map((one) => isIn(one)),
        at === 0 ? [true] : [false, true],
      );
    }
  });

  it("that is text stays in the result on every wire", () => {
    for (const api of apis) {
      const items = encode(api, file("application/json"), true) as unknown[];
      assert.equal(items.length, 1);
      assert.match(JSON.stringify(items), /hello/);
    }
  });
});
