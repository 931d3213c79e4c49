/** Google's own tools on Gemini: what an answer holds, and how it goes back. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { end, parts, read, sse, text } from "../google-generate/events.ts";
import { progress, resent, resentAsText, resentTo, types, wires } from "./replayed.ts";

const grounding = {
  webSearchQueries: ["q", "r"],
  groundingChunks: [
    { web: { uri: "https://a.org/1", title: "a.org" } },
    { web: { uri: "https://b.org/2", title: "b.org" } },
    { retrievedContext: { title: "report.pdf", text: "Words" } },
  ],
  groundingSupports: [
    { segment: { startIndex: 10, endIndex: 14, text: "Two." }, groundingChunkIndices: [1, 0] },
    { segment: { endIndex: 9, text: "It is so." }, groundingChunkIndices: [0] },
  ],
};

describe("a grounded answer of Gemini", () => {
  const { events, message } = read(
    sse(...text("It is so. ", "Two."), end("STOP", { groundingMetadata: grounding })),
  );

  it("gives its sources in the order of the text", () => {
    const about = { type: "source", textIndex: 0 };
    assert.deepEqual(message.content.slice(1), [
      { ...about, url: "https://a.org/1", title: "a.org", supportedText: "It is so." },
      { ...about, url: "https://b.org/2", title: "b.org", supportedText: "Two." },
      { ...about, url: "https://a.org/1", title: "a.org", supportedText: "Two." },
      { ...about, title: "report.pdf", citedText: "Words" },
    ]);
  });

  it("reports and counts the searches", () => {
    assert.deepEqual(progress(events), [
      "google_search_1 google_search started",
      "google_search_1 google_search completed",
    ]);
    assert.deepEqual(message.usage.providerTools, { google_search: 2 });
  });

  it("goes back to its model without the sources, and as text with them to another", () => {
    assert.deepEqual(resent(message), [{ text: "It is so. Two." }]);
    const said =
      "It is so. Two.\n\nSources:\n- a.org: https://a.org/1\n- b.org: https://b.org/2\n- report.pdf";
    for (const sent of resentAsText(message)) assert.equal(sent, said);
  });

  it("may support no text, name a source that it lacks, or have no text at all", () => {
    const { message: answered } = read(
      sse(
        end("STOP", {
          groundingMetadata: {
            groundingChunks: [{ web: { uri: "https://a.org" } }, {}],
            groundingSupports: [{ segment: {}, groundingChunkIndices: [0, 1, 7] }],
          },
        }),
      ),
    );
    assert.deepEqual(answered.content, [{ type: "source", url: "https://a.org" }]);
  });

  it("has each page and recitation once, and none that was a source already or has no address", () => {
    const page = (retrievedUrl?: string): object => ({
      ...(retrievedUrl !== undefined && { retrievedUrl }),
      urlRetrievalStatus: "URL_RETRIEVAL_STATUS_SUCCESS",
    });
    const { message: answered } = read(
      sse(
        ...text("Yes."),
        end("STOP", {
          groundingMetadata: { groundingChunks: [{ web: { uri: "https://a.org" } }] },
          urlContextMetadata: {
            urlMetadata: ["https://a.org", "https://b.org", "https://b.org", undefined].map(page),
          },
          citationMetadata: {
            citations: [{ uri: "https://b.org" }, { title: "A book" }, { uri: "https://c.org" }],
          },
        }),
      ),
    );
    assert.deepEqual(
      answered.content.slice(1).map((part) => (part.type === "source" ? part.url : part.type)),
      ["https://a.org", "https://b.org", "https://c.org"],
    );
  });

  it("may have only the pages that it read, and recitations", () => {
    const { message: answered, events: told } = read(
      sse(
        ...text("Yes."),
        end("STOP", {
          urlContextMetadata: {
            urlMetadata: [
              { retrievedUrl: "https://a.org", urlRetrievalStatus: "URL_RETRIEVAL_STATUS_SUCCESS" },
              { retrievedUrl: "https://b.org", urlRetrievalStatus: "URL_RETRIEVAL_STATUS_ERROR" },
            ],
          },
          citationMetadata: { citationSources: [{ uri: "https://c.org", startIndex: 0 }] },
        }),
      ),
    );
    assert.deepEqual(answered.content.slice(1), [
      { type: "source", url: "https://a.org", textIndex: 0 },
      { type: "source", url: "https://c.org", textIndex: 0 },
    ]);
    assert.deepEqual(progress(told), [
      "url_context_1 url_context started",
      "url_context_1 url_context completed",
    ]);
  });
});

describe("code that Gemini runs", () => {
  const raws = [
    { executableCode: { language: "PYTHON", code: "1/0" }, thoughtSignature: "S" },
    { codeExecutionResult: { outcome: "OUTCOME_FAILED", output: "ZeroDivisionError" } },
    { executableCode: { id: "x1", language: "PYTHON", code: "1" } },
    { codeExecutionResult: { id: "x1", outcome: "OUTCOME_OK", output: "1" } },
  ];
  const { events, message } = read(sse(parts(...raws), ...text("One."), end()));

  it("reports its progress", () => {
    assert.deepEqual(progress(events), [
      "code_execution_1 code_execution started",
      "code_execution_1 code_execution failed",
      "x1 code_execution started",
      "x1 code_execution completed",
    ]);
  });

  it("goes back as it came, and to no other model", () => {
    assert.equal(JSON.stringify(resent(message)), JSON.stringify([...raws, { text: "One." }]));
    for (const sent of resentAsText(message)) assert.equal(sent, "One.");
  });
});

describe("tools that Gemini names itself", () => {
  it("are reported by their type", () => {
    const { events } = read(
      sse(
        parts({ toolCall: { id: "t1", toolType: "GOOGLE_SEARCH_WEB", args: {} } }),
        parts({ toolResponse: { id: "t1", toolType: "GOOGLE_SEARCH_WEB", response: {} } }),
        ...text("Yes."),
        end("STOP", { groundingMetadata: grounding }),
      ),
    );
    assert.deepEqual(progress(events), [
      "t1 google_search_web started",
      "t1 google_search_web completed",
    ]);
  });
});

describe("an image or sound of Gemini", () => {
  const raws = [
    { inlineData: { mimeType: "image/png", data: "aW1hZ2U=" }, thoughtSignature: "S" },
    { inline_data: { mime_type: "audio/L16;rate=24000", data: "c291bmQ=" } },
  ];
  const { message } = read(sse(...text("See."), parts(...raws), end()));

  it("is a part of its own, held once", () => {
    assert.deepEqual(types(message.content), ["text", "opaque", "image", "opaque", "file"]);
    assert.deepEqual(message.content[2], {
      type: "image",
      data: "aW1hZ2U=",
      mimeType: "image/png",
    });
    assert.deepEqual(message.content[4], {
      type: "file",
      data: "c291bmQ=",
      mimeType: "audio/L16;rate=24000",
    });
    assert.equal(JSON.stringify(message).split("aW1hZ2U=").length, 2);
  });

  it("goes back as it came", () => {
    assert.equal(JSON.stringify(resent(message)), JSON.stringify([{ text: "See." }, ...raws]));
  });

  it("is shown to another model by the user, as far as it can be", () => {
    for (const protocol of wires) {
      const sent = JSON.stringify(resentTo(protocol, message, false));
      assert.equal(sent.split("aW1hZ2U=").length, 2);
      assert.match(sent, /the (?:file|audio)[^"]* was left out/);
    }
  });

  it("of a thought stays opaque", () => {
    const draft = { thought: true, inlineData: { mimeType: "image/png", data: "YQ==" } };
    const { message: answered } = read(sse(parts(draft), ...text("Done."), end()));
    assert.deepEqual(types(answered.content), ["opaque", "text"]);
    assert.deepEqual(resent(answered), [draft, { text: "Done." }]);
  });
});
