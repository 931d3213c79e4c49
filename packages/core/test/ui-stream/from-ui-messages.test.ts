/** What is read of a post of `useChat`, and what is refused. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { isBowlineError } from "../../src/index.ts";
import { fromUIMessages, type FromUIMessagesOptions } from "../../src/ui-stream/index.ts";

const now = (): number => 7;
const png = { type: "file", mediaType: "image/png", url: "data:image/png;base64,iVBORw0K" };

function body(parts: unknown, more: object = {}): object {
  return { id: "chat", trigger: "submit-message", messages: [{ role: "user", parts }], ...more };
}

function assertRefused(given: unknown, why: RegExp, options?: FromUIMessagesOptions): void {
  assert.throws(() => fromUIMessages(given, options), { code: "invalid_argument", message: why });
}

describe("fromUIMessages()", () => {
  it("reads a text, and a text with images in their order", () => {
    const text = { type: "text", text: "Hi" };
    assert.deepEqual(fromUIMessages(body([text]), { now }), {
      kind: "message",
      chatId: "chat",
      message: { role: "user", content: "Hi", timestamp: 7 },
    });
    const both = fromUIMessages(body([png, text]), { now });
    assert.deepEqual(both.kind === "message" && both.message.content, [
      { type: "image", data: "iVBORw0K", mimeType: "image/png" },
      { type: "text", text: "Hi" },
    ]);
  });

  it("reads a file of a type that is allowed, with its name", () => {
    const pdf = { type: "file", mediaType: "application/pdf", filename: "a.pdf" };
    const url = "data:application/pdf;base64,JVBERi0=";
    const both = fromUIMessages(body([{ ...pdf, url }]), { mediaTypes: ["application/pdf"], now });
    assert.deepEqual(both.kind === "message" && both.message.content, [
      { type: "file", data: "JVBERi0=", mimeType: "application/pdf", name: "a.pdf" },
    ]);
  });

  it("reads the last message of a page that posts no other", () => {
    const message = { role: "user", parts: [{ type: "text", text: "Hi" }] };
    assert.equal(fromUIMessages({ id: "chat", message }).kind, "message");
  });

  it("reads a wish for another answer", () => {
    assert.deepEqual(fromUIMessages({ id: "chat", trigger: "regenerate-message", messages: [] }), {
      kind: "regenerate",
      chatId: "chat",
    });
  });

  it("reads answers to approvals, and nothing else of an answer", () => {
    const parts = [
      { type: "text", text: "forged" },
      { type: "dynamic-tool", state: "output-available", output: "forged" },
      {
        type: "tool-pay",
        state: "approval-responded",
        input: { to: "Ann" },
        approval: { id: "a1", approved: false, reason: "no" },
      },
    ];
    assert.deepEqual(fromUIMessages({ id: "chat", messages: [{ role: "assistant", parts }] }), {
      kind: "approvals",
      chatId: "chat",
      answers: [{ approvalId: "a1", isApproved: false, reason: "no", input: { to: "Ann" } }],
    });
  });

  it("refuses inputs of approvals that are nested too deep or too long, also together", () => {
    const answers = (...inputs: unknown[]): object => {
      const parts = inputs.map((input, at) => ({
        type: "dynamic-tool",
        state: "approval-responded",
        input,
        approval: { id: `a${at}`, approved: true },
      }));
      return { id: "chat", messages: [{ role: "assistant", parts }] };
    };
    const nested = (depth: number): unknown => {
      let value: unknown = 1;
      for (let at = 0; at < depth; at++) value = at % 2 === 0 ? { a: value } : [value];
      return value;
    };
    assert.equal(fromUIMessages(answers(nested(100))).kind, "approvals");
    assertRefused(answers(nested(101)), /100 deep/);
    assertRefused(answers(nested(20_000)), /100 deep/);
    const half = "x".repeat(500_000);
    assert.equal(fromUIMessages(answers({ half })).kind, "approvals");
    assertRefused(answers({ half }, [half]), /1000000 characters/);
    assertRefused(answers({ [half]: half }), /1000000 characters/);
    assertRefused(answers(Array.from({ length: 1_000_001 }, () => 1)), /1000000 characters/);
  });

  it("refuses bodies of other shapes", () => {
    assertRefused(undefined, /must be an object/);
    assertRefused(body([{ type: "text", text: "x" }], { id: "" }), /chat's id/);
    assertRefused(body([{ type: "text", text: "x" }], { id: "x".repeat(201) }), /chat's id/);
    assertRefused(body([{ type: "text", text: "x" }], { trigger: "other" }), /"trigger"/);
    assertRefused(body([{ type: "text", text: "x" }], { messageId: "m1" }), /cannot be edited/);
    assertRefused(body([{ type: "text", text: "x" }], { messages: [] }), /with parts/);
    assertRefused({ id: "chat", messages: [{ role: "system", parts: [] }] }, /of the user/);
    assertRefused(body([{ type: "text", text: " \n" }]), /empty/);
    assertRefused(body([]), /empty/);
    assertRefused(body([{ type: "data-x", data: 1 }]), /cannot be sent/);
    assertRefused(body(["text"]), /cannot be sent/);
  });

  it("refuses approvals without an id or an answer, and too many", () => {
    const part = (approval: unknown): object => ({
      type: "dynamic-tool",
      state: "approval-responded",
      approval,
    });
    const answer = (...parts: object[]): object => ({
      id: "chat",
      messages: [{ role: "assistant", parts }],
    });
    assertRefused(answer(), /without a new approval/);
    assertRefused(answer(part({ id: 5, approved: true })), /approval's id/);
    assertRefused(answer(part({ id: "a", approved: "yes" })), /true or false/);
    const many = Array.from({ length: 101 }, (_, index) =>
      part({ id: `${index}`, approved: true }),
    );
    assertRefused(answer(...many), /At most 100/);
  });

  it("refuses files that are not data URLs of an allowed type and size", () => {
    const file = (change: object): object => body([{ ...png, ...change }]);
    assertRefused(file({ url: "https://intranet.example/secret.png" }), /data: URL/);
    assertRefused(file({ mediaType: "image/gif" }), /data: URL/);
    assertRefused(file({ mediaType: "text/html" }), /must be one of/);
    assertRefused(file({ url: "data:image/png;base64,a b" }), /invalid/);
    assertRefused(file({}), /at most 3 bytes/, { maxFileBytes: 3 });
    assertRefused(body([png, png]), /at most 1 files/, { maxFiles: 1 });
    assertRefused(body([{ type: "text", text: "abc" }]), /at most 2 characters/, {
      maxTextLength: 2,
    });
  });

  it("returns a checked result or refuses, whatever is posted", () => {
    const anything = fc.anything({ withNullPrototype: true });
    const message = fc.record({
      role: fc.constantFrom("user", "assistant", "system"),
      parts: fc.array(fc.oneof(anything, fc.record({ type: fc.constant("text"), text: anything }))),
    });
    const posted = fc.oneof(
      anything,
      fc.record({ id: fc.oneof(fc.string(), anything), messages: fc.array(message) }),
    );
    fc.assert(
      fc.property(posted, (given) => {
        try {
          const { kind, chatId } = fromUIMessages(given);
          assert.ok(["message", "approvals", "regenerate"].includes(kind));
          assert.equal(typeof chatId, "string");
        } catch (error) {
          assert.ok(isBowlineError(error) && error.code === "invalid_argument");
        }
      }),
    );
  });
});
