/** Messages of a transcript, converted for clients. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { SessionMessage } from "@bowline/core/session";
import { bytesOf, mediaOf } from "../../src/gateway/protocol/images.ts";
import { shownMessage } from "../../src/gateway/sessions/shown.ts";
import { createSecretFilter } from "../../src/secrets.ts";

const filter = createSecretFilter(["hunter2-and-more"]);

function textShown(content: string, maxText?: number): { text: unknown; cutLength: number } {
  const message = { role: "user", content, timestamp: 1 } as SessionMessage;
  const { message: shown, cutLength } = shownMessage(message, filter, maxText);
  return { text: (shown as { content: unknown }).content, cutLength };
}

describe("a message converted for a client", () => {
  for (const maxText of [10, 20_000])
    for (const more of [-1, 0, 1, 5000, 9999, 10_000, 10_001, 50_000])
      it(`has at most ${maxText} characters of a text (difference: ${more})`, () => {
        const content = "x".repeat(maxText + more);
        const isCut = more > 0;
        const text = isCut
          ? `${"x".repeat(maxText)}\n[${more} more characters]`
          : "x".repeat(maxText + more);
        assert.deepEqual(textShown(content, maxText), {
          text,
          cutLength: isCut ? maxText + more : 0,
        });
      });

  it("has the size of an image or a file instead of its data, and keeps other data", () => {
    const content = [
      { type: "image", mimeType: "image/png", data: "aGk=" },
      { type: "file", mimeType: "text/plain", name: "a", data: "aGkh" },
      { type: "file", mimeType: "text/plain", url: "https://x.test/a" },
      { type: "other", data: "aGk=" },
    ];
    const message = { role: "user", content, timestamp: 1 } as SessionMessage;
    assert.deepEqual((shownMessage(message, filter).message as { content: unknown }).content, [
      { type: "image", mimeType: "image/png", bytes: 2 },
      { type: "file", mimeType: "text/plain", name: "a", bytes: 3 },
      { type: "file", mimeType: "text/plain", url: "https://x.test/a" },
      { type: "other", data: "aGk=" },
    ]);
  });

  it("has texts of any length without a limit", () => {
    const content = "x".repeat(100_000);
    assert.deepEqual(textShown(content), { text: content, cutLength: 0 });
  });

  it("does not end with a part of a secret", () => {
    for (let at = 0; at <= 16; at++) {
      const before = "x".repeat(20 - at);
      for (const tail of ["", "y".repeat(30_000)]) {
        const { text } = textShown(`${before}hunter2-and-more${tail}`, 20);
        assert.ok(!String(text).includes("hun"), String(text).slice(0, 60));
      }
    }
  });

  it("has at most twelve nested levels", () => {
    const nest = (levels: number): unknown => (levels === 0 ? "deep" : { in: nest(levels - 1) });
    const shown = (levels: number): string => {
      const message = { role: "custom", timestamp: 1, ...(nest(levels) as object) };
      return JSON.stringify(shownMessage(message, filter).message);
    };
    assert.match(shown(13), /"deep"/);
    assert.match(shown(14), /\[more\]/);
    assert.doesNotMatch(shown(14), /"deep"/);
  });

  it("has images as type and size, and no signatures", () => {
    const data = Buffer.alloc(100).toString("base64");
    const content = [
      { type: "image", mimeType: "image/png", data },
      { type: "image", data: 7 },
      { type: "text", text: "Look", textSignature: "S" },
      { type: "toolCall", id: "a", name: "f", arguments: {}, argumentsText: "{}" },
    ];
    const message = { role: "assistant", content, timestamp: 1 } as unknown as SessionMessage;
    assert.deepEqual((shownMessage(message, filter).message as { content: unknown }).content, [
      { type: "image", mimeType: "image/png", bytes: 100 },
      { type: "image", data: 7 },
      { type: "text", text: "Look" },
      { type: "toolCall", id: "a", name: "f", arguments: {} },
    ]);
  });

  it("contains the error of an answer, without secrets and folders", () => {
    const error = { code: "storage_failed", message: "x", retryable: false };
    const errorMessage = "Writing /home/ann/s.jsonl with hunter2-and-more failed.";
    const failed = { role: "assistant", content: [], timestamp: 1, error, errorMessage };
    const told = "Writing s.jsonl with [redacted] failed.";
    const shownOf = (message: object): Record<string, unknown> =>
      shownMessage(message as SessionMessage, filter).message as unknown as Record<string, unknown>;
    const shown = shownOf(failed);
    assert.equal(shown["errorMessage"], told);
    assert.equal((shown["error"] as { message: string }).message, told);
    const { error: _, ...without } = failed;
    assert.equal(
      shownOf(without)["errorMessage"],
      errorMessage.replace("hunter2-and-more", "[redacted]"),
    );
  });
});

describe("the images of a message", () => {
  it("are described by type and exact size", () => {
    for (let length = 0; length < 10; length++) {
      const data = Buffer.alloc(length).toString("base64");
      assert.equal(bytesOf(data), length);
      const image = { type: "image" as const, mimeType: "image/png" as const, data };
      assert.deepEqual(mediaOf([{ type: "text", text: "Look" }, image]), {
        images: [{ mimeType: "image/png", bytes: length }],
      });
    }
  });

  it("are those of files too, without a size for a file at an address", () => {
    const file = { type: "file", mimeType: "text/plain" } as const;
    const parts = [
      { ...file, name: "a", data: "aGkh" },
      { ...file, url: "https://x.test/a" },
    ];
    assert.deepEqual(mediaOf(parts), {
      files: [{ mimeType: "text/plain", name: "a", bytes: 3 }, { mimeType: "text/plain" }],
    });
  });

  it("are undefined for a text, and for parts without images", () => {
    for (const content of [undefined, "Look", [], [{ type: "text" as const, text: "Look" }]])
      assert.deepEqual(mediaOf(content), {});
  });
});
