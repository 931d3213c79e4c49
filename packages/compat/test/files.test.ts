/** Files pass through the faces whose messages have parts. */
import assert from "node:assert/strict";
import { it } from "node:test";
import type { FileContent, Message } from "@bowline/core";
import * as codelet from "../src/codelet/message.ts";
import * as gateway from "../src/gateway/messages.ts";

const file: FileContent = { type: "file", data: "AAAA", mimeType: "application/pdf", name: "a" };
const result: Message = {
  role: "toolResult",
  toolCallId: "c",
  toolName: "look",
  content: [{ type: "text", text: "seen" }, file],
  isError: false,
  timestamp: 1,
};
const asked: Message = {
  role: "user",
  content: [{ type: "text", text: "Read" }, file],
  timestamp: 1,
};

it("codelet's messages keep files of users and of results", () => {
  const messages = codelet.fromTranscript([asked, result]);
  const again = messages.flatMap((message) => codelet.toTranscript(message, 1));
  assert.deepEqual(
    again.map(({ content }) => content),
    [asked.content, result.content],
  );
});

it("the gateway providers' messages keep files of users and of results", () => {
  const again = gateway.toTranscript(gateway.fromTranscript([asked, result]), 1);
  assert.deepEqual(
    again.map(({ content }) => content),
    [asked.content, result.content],
  );
});
