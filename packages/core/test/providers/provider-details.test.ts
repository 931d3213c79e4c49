/** Errors in streams, parts of requests, and streams that contradict themselves. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Message } from "../../src/llm/message.ts";
import { StreamDecoder } from "../../src/providers/decoder.ts";
import { streamByProtocol } from "../../src/providers/by-protocol.ts";
import { googleGenerate } from "../../src/providers/google-generate/index.ts";
import { openaiChat } from "../../src/providers/openai-chat/index.ts";
import { createTaggedReader } from "../../src/providers/openai-chat/tagged-reader.ts";
import type { Protocol } from "../../src/providers/protocol.ts";
import { ProxyDecoder } from "../../src/providers/proxy/decoder.ts";
import { getModel } from "../../src/providers/vendors.ts";
import { errorOfEnvelope } from "../../src/transport/http-error.ts";
import { hello } from "../support.ts";
import { decode } from "./decode.ts";
import * as messages from "./anthropic-messages/events.ts";
import * as responses from "./openai-responses/events.ts";

describe("an error envelope", () => {
  it("of LM Studio, which answers any path, suggests checking the base URL", () => {
    const error = errorOfEnvelope({ error: "Unexpected endpoint or method. (POST /x)" });
    assert.equal(error.code, "not_found");
    assert.match(error.message, /is the \/v1 of the base URL missing/);
  });

  it("of another server gives no such advice", () => {
    const error = errorOfEnvelope({ error: { message: "Something broke." } });
    assert.equal(error.code, "server_error");
    assert.doesNotMatch(error.message, /v1/);
    assert.match(error.message, /Something broke\./);
  });
});

describe("a tool's result for Gemini", () => {
  const answer: Message = {
    role: "assistant",
    content: [{ type: "toolCall", id: "1", name: "read", arguments: {} }],
    api: "a",
    provider: "p",
    model: "m",
    usage: {},
    stopReason: "toolUse",
    timestamp: 1,
  };
  function outputOf(content: Extract<Message, { role: "toolResult" }>["content"]): unknown {
    const result: Message = {
      role: "toolResult",
      toolCallId: "1",
      toolName: "read",
      content,
      isError: false,
      timestamp: 1,
    };
    const model = getModel("google", "gemini-2.5-pro", {
      api: googleGenerate.api,
      input: ["text", "image"],
    });
    const { body } = googleGenerate.encode(model, { messages: [hello, answer, result] }, {});
    const found = /"output":"([^"]*)"/.exec(JSON.stringify(body));
    return found?.[1];
  }

  it("mentions its image, or that there is no output, if it has no text", () => {
    assert.equal(outputOf([{ type: "text", text: "1" }]), "1");
    assert.equal(outputOf([]), "(no output)");
    const image = { type: "image", data: "aGk=", mimeType: "image/png" } as const;
    assert.equal(outputOf([image]), "(see the image)");
    assert.equal(outputOf([{ type: "text", text: "1" }, image]), "1");
  });
});

describe("an end word of a Messages answer", () => {
  it("that is empty ends no block", () => {
    const { content, stopReason } = messages.answer(
      messages.begin(),
      messages.start(0, { type: "text", text: "" }),
      messages.delta(0, { type: "text_delta", text: "Hel" }),
      messages.end("null"),
      messages.delta(0, { type: "text_delta", text: "lo" }),
      messages.stop(0),
      ...messages.call(1, "toolu_1", "{}"),
      messages.end("tool_use"),
      messages.over,
    );
    assert.deepEqual(content[0], { type: "text", text: "Hello" });
    assert.equal(stopReason, "toolUse");
  });
});

describe("a message whose content is not a list of parts", () => {
  async function refused(content: unknown): Promise<string> {
    const message = { role: "user", content, timestamp: 1 } as unknown as Message;
    const model = getModel("openai", "m");
    try {
      await streamByProtocol(model, { messages: [message] }, {});
    } catch (error) {
      return (error as Error).message;
    }
    return "";
  }

  it("is refused with its place, and only the known details", async () => {
    assert.match(await refused({ text: "Hi" }), /messages\[0\] \(user\).*parts, such as .*\]\.$/);
    assert.match(await refused([{ type: "file" }]), /such as .*\]\. \S/);
  });
});

describe("a call of the chat wire with two names", () => {
  it("under one id and index is corrupt", () => {
    const piece = (name: string, args: string): object => ({
      choices: [
        {
          index: 0,
          delta: { tool_calls: [{ index: 0, id: "a", function: { name, arguments: args } }] },
        },
      ],
    });
    const end = { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] };
    const body = [piece("f", "{}"), piece("g", '{"x":1}'), end].map(
      (chunk) => `data: ${JSON.stringify(chunk)}\n\n`,
    );
    const bytes = new TextEncoder().encode(`${body.join("")}data: [DONE]\n\n`);
    const { error } = decode(openaiChat, [bytes], ["f", "g"]).message;
    assert.equal(error?.code, "stream_corrupt");
  });
});

describe("an item of a Responses answer that is opened twice", () => {
  it("prevents the calls of the answer from running", () => {
    const item = { type: "function_call", id: "fc_1", call_id: "a", name: "f", arguments: "" };
    const whole = { ...item, arguments: "{}" };
    const once = [
      responses.created(),
      responses.added(0, item),
      responses.done(0, whole),
      responses.completed(),
    ];
    assert.equal(responses.answer(...once).stopReason, "toolUse");
    const twice = [...once.slice(0, 2), responses.added(0, item), ...once.slice(2)];
    assert.equal(responses.answer(...twice).error?.code, "stream_corrupt");
  });
});

describe("a plain answer of a server that writes calls as JSON text", () => {
  it("is emitted as it arrives", () => {
    const protocol: Protocol = {
      ...openaiChat,
      createReader: (writer, facts) => createTaggedReader({ textCalls: "json" }, writer, facts),
    };
    const model = getModel("openai", "m");
    const decoder = new StreamDecoder(protocol, model, { timestamp: 1, toolNames: ["f"] });
    const say = (content: string): unknown[] => {
      const chunk = { choices: [{ index: 0, delta: { content }, finish_reason: null }] };
      const bytes = new TextEncoder().encode(`data: ${JSON.stringify(chunk)}\n\n`);
      return decoder
        .push(bytes)
        .flatMap((event) => (event.type === "text_delta" ? [event.delta] : []));
    };
    assert.deepEqual(say("Hel"), ["Hel"]);
    assert.deepEqual(say("lo"), ["lo"]);
  });
});

describe("a text block of a Messages answer that is opened twice", () => {
  it("prevents the calls of the answer from running", () => {
    const open = messages.start(0, { type: "text", text: "" });
    const rest = [
      messages.delta(0, { type: "text_delta", text: "Hi" }),
      messages.stop(0),
      ...messages.call(1, "toolu_1", "{}"),
      messages.end("tool_use"),
      messages.over,
    ];
    assert.equal(messages.answer(messages.begin(), open, ...rest).stopReason, "toolUse");
    const twice = messages.answer(messages.begin(), open, open, ...rest);
    assert.equal(twice.error?.code, "stream_corrupt");
  });
});

describe("reasoning of a Responses answer without text or signature", () => {
  it("is not part of the message", () => {
    const item = { type: "reasoning", id: "", summary: [] };
    const { content } = responses.answer(
      responses.created(),
      responses.added(0, item),
      responses.done(0, item),
      responses.piece(1, "Hello"),
      responses.completed(),
    );
    assert.deepEqual(
      content.map(({ type }) => type),
      ["text"],
    );
  });
});

describe("an error behind a proxy", () => {
  it("is emitted after the ends of the open parts", () => {
    const decoder = new ProxyDecoder(getModel("openai", "m"), { timestamp: 1 });
    const events = [
      { type: "start", attempt: 1 },
      { type: "text_start", attempt: 1, contentIndex: 0 },
      { type: "text_delta", attempt: 1, contentIndex: 0, delta: "Hel" },
      { type: "error", attempt: 1, reason: "error", error: { code: "timeout", message: "Late." } },
    ];
    const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
    const told = decoder.push(new TextEncoder().encode(text)).map(({ type }) => type);
    assert.deepEqual(told, ["start", "text_start", "text_delta", "text_end", "error"]);
  });
});
