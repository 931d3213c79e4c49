/** What compatible servers add to Chat Completions: sources, images and audio. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openaiChat, openaiCompatible } from "../../../src/providers/openai-chat/index.ts";
import { decodeEveryWay, type Decoded } from "../decode.ts";
import { resentAsText, resentTo, types } from "./replayed.ts";

const read = (...chunks: object[]): Decoded =>
  decodeEveryWay(
    openaiCompatible,
    [...chunks.map((chunk) => JSON.stringify(chunk)), "[DONE]"]
      .map((data) => `data: ${data}\n\n`)
      .join(""),
  );
const piece = (delta: object, more: object = {}): object => ({
  choices: [{ index: 0, delta }],
  ...more,
});
const end = { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
const png = "data:image/png;base64,aW1hZ2U=";
const image = { type: "image_url", image_url: { url: png } };

describe("an answer of a compatible server", () => {
  it("has the sources of its annotations, once each", () => {
    const cite = (url: string, title: string): object => ({
      type: "url_citation",
      url_citation: { url, title, start_index: 0, end_index: 1 },
    });
    const { message } = read(
      piece({ content: "It is so." }),
      piece({ annotations: [cite("https://a.org", "A"), cite("https://b.org", "B")] }),
      piece({ annotations: [cite("https://a.org", "A")] }),
      end,
      { choices: [], usage: { prompt_tokens: 1, server_tool_use: { web_search_requests: 1 } } },
    );
    assert.deepEqual(message.content.slice(1), [
      { type: "source", url: "https://a.org", title: "A", textIndex: 0 },
      { type: "source", url: "https://b.org", title: "B", textIndex: 0 },
    ]);
    assert.deepEqual(message.usage, { input: 1, providerTools: { web_search: 1 } });
    for (const text of resentAsText(message))
      assert.equal(text, "It is so.\n\nSources:\n- A: https://a.org\n- B: https://b.org");
  });

  it("has the sources that its chunks repeat, with their titles", () => {
    const found = {
      citations: ["https://a.org", "https://b.org"],
      search_results: [{ title: "A", url: "https://a.org" }],
      usage: { num_search_queries: 2 },
    };
    const { message } = read(
      piece({ content: "It " }, found),
      piece({ content: "is." }, found),
      end,
    );
    assert.deepEqual(message.content.slice(1), [
      { type: "source", url: "https://a.org", title: "A", textIndex: 0 },
      { type: "source", url: "https://b.org", textIndex: 0 },
    ]);
    assert.deepEqual(message.usage.providerTools, { web_search: 2 });
  });

  it("has its images between the texts, which the user shows to the model", () => {
    const { message } = read(
      piece({ content: "Here: " }),
      piece({ images: [image] }),
      piece({ images: [image, { type: "image_url", image_url: { url: "https://a.org/1.png" } }] }),
      piece({ content: [{ type: "text", text: "Done." }] }),
      end,
    );
    assert.deepEqual(types(message.content), ["text", "image", "image", "text"]);
    assert.deepEqual(message.content[1], {
      type: "image",
      data: "aW1hZ2U=",
      mimeType: "image/png",
    });
    assert.deepEqual(message.content[2], { type: "image", url: "https://a.org/1.png" });
    const [, assistant, user] = resentTo(openaiChat, message, true);
    assert.deepEqual(assistant, { role: "assistant", content: "Here: Done." });
    assert.match(JSON.stringify(user), /Images and files of the answer above:.*aW1hZ2U=/);
  });

  it("has images that stand among the parts of its content", () => {
    const { message } = read(
      piece({ content: [{ type: "text", text: "Here: " }, image] }),
      piece({ content: [image, { type: "text", text: "Done." }] }),
      end,
    );
    assert.deepEqual(message.content, [
      { type: "text", text: "Here: " },
      { type: "image", data: "aW1hZ2U=", mimeType: "image/png" },
      { type: "text", text: "Done." },
    ]);
  });

  it("may be an image alone", () => {
    const { message } = read({
      choices: [{ index: 0, message: { content: null, images: [image] }, finish_reason: "stop" }],
    });
    assert.deepEqual(types(message.content), ["image"]);
    assert.equal(message.stopReason, "stop");
  });

  it("has its audio as a file, and its transcript as text", () => {
    const { message } = read(
      piece({ audio: { id: "audio_1", transcript: "Ahoy" } }),
      piece({ audio: { data: btoa("RIFF1") } }),
      piece({ audio: { data: btoa("23"), transcript: "!" } }),
      piece({ audio: { expires_at: 1 } }),
      end,
    );
    assert.deepEqual(message.content, [
      { type: "text", text: "Ahoy!" },
      { type: "file", data: btoa("RIFF123"), mimeType: "audio/wav" },
    ]);
    const [, assistant] = resentTo(openaiChat, message, true);
    assert.deepEqual(assistant, { role: "assistant", content: "Ahoy!" });
  });

  it("drops audio that is not base64, and images without an address", () => {
    const { message } = read(
      piece({ content: "Yes.", audio: { data: "=" } }),
      piece({ audio: { data: "%%" }, images: [{ image_url: { url: "javascript:1" } }, null] }),
      end,
    );
    assert.deepEqual(types(message.content), ["text"]);
  });
});
