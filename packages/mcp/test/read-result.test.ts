/** What a model sees of a server's result. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AgentToolResult, JsonSchema } from "@bowline/core";
import type { CallToolResult } from "@modelcontextprotocol/client";
import { readResult } from "../src/tools/read-result.ts";

const png = "iVBORw0KGgo=";
const read = (
  result: Partial<CallToolResult>,
  length = 1_000,
  outputSchema?: JsonSchema,
): AgentToolResult =>
  readResult(
    { content: [], ...result },
    { length, outputSchema, redact: (text) => text.replaceAll("secret", "[redacted]") },
  );
const texts = (result: AgentToolResult): string[] =>
  (result.content ?? []).map((part) => (part.type === "text" ? part.text : part.type));

describe("a result", () => {
  it("has its texts and images", () => {
    const result = read({
      content: [
        { type: "text", text: "a" },
        { type: "image", data: png, mimeType: "image/png" },
      ],
    });
    assert.deepEqual(result, {
      content: [
        { type: "text", text: "a" },
        { type: "image", data: png, mimeType: "image/png" },
      ],
    });
  });

  it("has a note where a model cannot be shown what it holds", () => {
    const result = read({
      content: [
        { type: "image", data: png, mimeType: "image/svg+xml" },
        { type: "image", data: "not base64!", mimeType: "image/png" },
        { type: "audio", data: png, mimeType: "audio/wav" },
        { type: "resource_link", uri: "file:///a", name: "a", mimeType: "text/plain" },
        { type: "resource", resource: { uri: "file:///b", text: "inside" } },
        {
          type: "resource",
          resource: { uri: "file:///c", blob: png, mimeType: "application/pdf" },
        },
        { type: "resource", resource: { uri: "file:///d", blob: png, mimeType: "image/png" } },
      ],
    });
    assert.deepEqual(texts(result), [
      "[image, image/svg+xml, 9 bytes, not shown]",
      "[image, image/png, 8 bytes, not shown]",
      "[audio, audio/wav, 9 bytes, not shown]",
      "[resource file:///a: a, text/plain]",
      "[resource file:///b]\ninside",
      "[resource file:///c, application/pdf, 9 bytes, not shown]",
      "image",
    ]);
  });

  it("has structured content as details, and as text where there is none", () => {
    const structuredContent = { value: 1 };
    assert.deepEqual(read({ structuredContent }), {
      content: [{ type: "text", text: '{"value":1}' }],
      details: structuredContent,
    });
    const both = read({ structuredContent, content: [{ type: "text", text: "one" }] });
    assert.deepEqual(texts(both), ["one"]);
    assert.deepEqual(both.details, structuredContent);
  });

  it("fails where it does not fit its own schema, and keeps what there is", () => {
    const schema = {
      type: "object",
      properties: { value: { type: "number" } },
      required: ["value"],
    };
    const wrong = read({ structuredContent: { value: "x" } }, 1_000, schema);
    assert.ok(wrong.isError);
    assert.match(
      texts(wrong).join("\n"),
      /\{"value":"x"\}\n\[The tool ran, .* value expected number/,
    );
    assert.match(texts(read({}, 1_000, schema)).join(), /it is missing/);
    assert.equal(read({ structuredContent: { value: 1 } }, 1_000, schema).isError, undefined);
    const unknown = { type: "object", unevaluatedProperties: false };
    assert.equal(read({ structuredContent: {} }, 1_000, unknown).isError, undefined);
  });

  it("is failed when the server says so", () => {
    const result = read({ content: [{ type: "text", text: "no" }], isError: true });
    assert.equal(result.isError, true);
  });

  it("is cut as a whole, without secrets", () => {
    const part = { type: "text" as const, text: "secret 67890" };
    const result = texts(read({ content: [part, part, part, part] }, 20));
    assert.deepEqual(result, [
      "[redacted] 67890",
      "[re… [cut: 13 more characters]",
      "[cut: 32 more characters of further parts]",
    ]);
  });
});
