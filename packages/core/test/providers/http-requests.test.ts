/** Requests as read from the socket, for quirks that no other test covers (Q114 to Q176). */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Agent, agentLoopContinue, defineTool } from "../../src/agent/index.ts";
import type {
  AssistantContent,
  AssistantMessage,
  Message,
  ToolResultMessage,
} from "../../src/llm/message.ts";
import type { Model, StreamFn } from "../../src/llm/model.ts";
import { complete } from "../../src/providers/complete.ts";
import { streamAnthropicMessages } from "../../src/providers/anthropic-messages/index.ts";
import { streamOpenaiCompatible } from "../../src/providers/openai-chat/index.ts";
import { getModel } from "../../src/providers/vendors.ts";
import { finalMessage } from "../../../../test/support/final-message.ts";
import {
  chatText,
  failing,
  loopback,
  streamed,
  type Handler,
  type Loopback,
} from "../../../../test/support/loopback.ts";
import { apis } from "../support.ts";

type Json = Record<string, unknown>;

const user = (content: string): Message => ({ role: "user", content, timestamp: 1 });
const assistant = (api: string, ...content: AssistantContent[]): AssistantMessage => ({
  role: "assistant",
  content,
  api,
  provider: "custom",
  model: "m",
  usage: {},
  stopReason: "stop",
  timestamp: 1,
});
const text = (said: string): AssistantContent => ({ type: "text", text: said });
const call = (id: string): AssistantContent => ({
  type: "toolCall",
  id,
  name: "read",
  arguments: {},
});
const result = (toolCallId: string, said: string): ToolResultMessage => ({
  role: "toolResult",
  toolCallId,
  toolName: "read",
  content: [{ type: "text", text: said }],
  isError: false,
  timestamp: 1,
});
const at = ({ baseUrl }: Loopback, api = "openai-chat", fields: Partial<Model> = {}): Model =>
  getModel("custom", "m", { baseUrl, api, ...fields });
const bodies = ({ requests }: Loopback): Json[] =>
  requests.map(({ body }) => JSON.parse(body) as Json);

/**
 * The request that a server of this wire receives for these messages. The server refuses every
 * request.
 */
async function sent(api: string, messages: Message[]): Promise<Json> {
  await using server = await loopback(failing(400, {}));
  await finalMessage(complete(at(server, api), { messages }, { maxRetries: 0 }));
  return bodies(server)[0] as Json;
}

const read = defineTool({
  name: "read",
  description: "Reads.",
  parameters: { type: "object", properties: {} },
  execute: () => "ok",
});
const textOf = (body: Json): string => JSON.stringify(body.messages ?? body.input ?? body.contents);

for (const api of apis) {
  describe(`over ${api}`, () => {
    // Q121, Q171
    it("empty or blank turns are left out, and each call keeps its result", async () => {
      const body = await sent(api, [
        user("Hi"),
        assistant(api, text("")),
        assistant(api, text(" \n"), call("a")),
        result("a", "found"),
        user("  "),
        user("So?"),
      ]);
      const turns = (body.messages ?? body.input ?? body.contents) as Json[];
      assert.ok(turns.length >= 2 && turns.length <= 4, textOf(body));
      assert.match(textOf(body), /"Hi".*found.*"So\?"/);
      assert.doesNotMatch(textOf(body), /"(?:text|content)":"(?:\s|\\n)*"/);
    });

    // Q131
    it("NUL is never sent, other control characters are", async () => {
      const body = await sent(api, [
        user("a\u0000b\u0007c"),
        assistant(api, text("d\u0000e"), {
          ...call("a"),
          arguments: { "k\u0000": "v\u0000w" },
        } as AssistantContent),
        result("a", "f\u0000g"),
      ]);
      assert.doesNotMatch(textOf(body), /\\u0000|\\\\u0000/);
      for (const kept of ["ab\\u0007c", "de", "vw", "fg"])
        assert.ok(textOf(body).includes(kept), kept);
    });

    // Q130, Q131
    it("tool and output schemas are sent well-formed, like everything else", async () => {
      await using server = await loopback(failing(403, {}));
      const properties = {
        "k\ud83d": {
          type: "string",
          description: "a\ud83d",
          enum: ["\ude00b", "c\u0000", "\\ud83d"],
        },
      };
      const parameters = { type: "object", properties };
      const tools = [{ name: "read", description: "Reads.\ud83d", parameters }];
      const model = at(server, api, { compat: { structuredOutput: "json_schema" } });
      const before = structuredClone(parameters);
      const options = { output: { schema: parameters } };
      await finalMessage(complete(model, { messages: [user("Hi")], tools }, options));
      const [sentText = ""] = server.requests.map(({ body }) => body);
      assert.doesNotMatch(sentText, /[^\\]\\u(?:d[89a-f]|0000)/);
      const mended = JSON.stringify({
        "k\ufffd": { type: "string", description: "a\ufffd", enum: ["\ufffdb", "c", "\\ud83d"] },
      });
      assert.equal(sentText.split(mended).length - 1, 2);
      assert.deepEqual(parameters, before);
    });

    // Q114
    it("a tool whose schema is not an object at its root is refused by name before a request is sent", async () => {
      await using server = await loopback(chatText("Hello"));
      const parameters = {
        anyOf: [
          { type: "object", properties: {} },
          { type: "object", properties: { a: {} } },
        ],
      };
      const tools = [{ name: "odd", description: "Odd.", parameters }];
      const answering = complete(at(server, api), { messages: [user("Hi")], tools });
      const message = await finalMessage(answering);
      assert.deepEqual([message.error?.code, server.requests.length], ["invalid_argument", 0]);
      assert.match(message.errorMessage ?? "", /"odd".*object/);
    });

    // Q126, Q173
    const cut: AssistantMessage = {
      ...assistant(api, { type: "thinking", thinking: "UNSIGNED" }, text("Hel")),
      stopReason: "aborted",
      errorMessage: "The run was aborted.",
    };
    const note = "[The answer above is incomplete. The run was aborted.]";
    it("a cut answer has its text and a note, which is the last message", async () => {
      const body = textOf(await sent(api, [user("Hi"), cut]));
      assert.match(body, /"Hi".*"Hel".*\[The answer above is incomplete\. The run was aborted\.\]/);
      assert.doesNotMatch(body, /UNSIGNED/);
    });

    it("a cut answer has its text, and a note before what the user says next", async () => {
      const body = textOf(await sent(api, [user("Hi"), cut, user("And now?")]));
      const places = ["Hel", note, "And now?"].map((words) => body.indexOf(words));
      assert.ok(
        places.every((index, number) => index > (places[number - 1] ?? 0)),
        body,
      );
    });

    it("a cut answer that another answer follows has its note between them", async () => {
      const body = textOf(
        await sent(api, [user("Hi"), cut, assistant(api, text("All")), user("Ok")]),
      );
      const places = ["Hel", note, "All"].map((words) => body.indexOf(words));
      assert.ok(
        places.every((index, number) => index > (places[number - 1] ?? 0)),
        body,
      );
    });
  });
}

describe("a model that has answered", () => {
  // Q126, Q173
  it("is not asked to continue without a user message, and no request is made", async () => {
    await using server = await loopback(chatText("Hello"));
    const model = at(server);
    const messages = [user("Hi"), assistant("openai-chat", text("Hello"))];
    const agent = new Agent({
      initialState: { model, messages },
      streamFn: streamOpenaiCompatible,
    });
    await assert.rejects(agent.continue(), { code: "invalid_state" });
    const config = { model, convertToLlm: (all: unknown[]) => all as Message[] };
    assert.throws(
      () =>
        agentLoopContinue(
          { systemPrompt: "", messages, tools: [] },
          config,
          undefined,
          streamOpenaiCompatible,
        ),
      {
        code: "invalid_state",
      },
    );
    assert.equal(server.requests.length, 0);
    await agent.prompt("And?");
    const [body] = bodies(server) as { messages: Json[] }[];
    assert.equal(body?.messages.at(-1)?.role, "user");
  });
});

describe("over openai-chat", () => {
  // Q122
  it("text alone is a plain string in every role", async () => {
    const body = await sent("openai-chat", [
      {
        role: "user",
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ],
        timestamp: 1,
      },
      assistant("openai-chat", text("c"), text("d"), call("a")),
      result("a", "e"),
      user("f"),
    ]);
    for (const { content } of body.messages as Json[]) assert.equal(typeof content, "string");
  });

  // Q137
  it("headers can depend on the messages, which the stream function receives", async () => {
    await using server = await loopback(
      streamed(
        {
          choices: [
            {
              index: 0,
              delta: {
                tool_calls: [{ index: 0, id: "a", function: { name: "read", arguments: "{}" } }],
              },
              finish_reason: "tool_calls",
            },
          ],
        },
        "[DONE]",
      ),
      chatText("Hello"),
    );
    const streamFn: StreamFn = (model, context, options) => {
      const initiator = context.messages.at(-1)?.role === "user" ? "user" : "agent";
      return streamOpenaiCompatible(model, context, {
        ...options,
        headers: { ...options.headers, "X-Initiator": initiator },
      });
    };
    const agent = new Agent({
      initialState: { model: at(server), tools: [read] },
      streamFn,
      headers: { "Editor-Version": "bowline/1" },
    });
    assert.equal((await agent.prompt("Hi")).reason, "done");
    assert.deepEqual(
      server.requests.map(({ headers }) => [headers["x-initiator"], headers["editor-version"]]),
      [
        ["user", "bowline/1"],
        ["agent", "bowline/1"],
      ],
    );
  });
});

const events =
  (...all: readonly Json[]): Handler =>
  (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(
      all
        .map((event) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`)
        .join(""),
    );
  };
const claude = (...blocks: readonly Json[]): Handler =>
  events(
    { type: "message_start", message: { id: "m1", usage: {} } },
    ...blocks.flatMap((block, index) => [
      { type: "content_block_start", index, content_block: block },
      { type: "content_block_stop", index },
    ]),
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: {} },
    { type: "message_stop" },
  );

describe("over anthropic-messages", () => {
  // Q169
  it("an empty end of turn after tool results and a text is retried", async () => {
    await using server = await loopback(claude(), claude({ type: "text", text: "Hello" }));
    const messages = [
      user("Hi"),
      assistant("anthropic-messages", call("a")),
      result("a", "found"),
      user("So?"),
    ];
    const stream = streamAnthropicMessages(
      at(server, "anthropic-messages"),
      { messages },
      { random: () => 0 },
    );
    const message = await stream.result();
    assert.deepEqual(
      [message.stopReason, message.content, server.requests.length],
      ["stop", [text("Hello")], 2],
    );
    const [first, second] = bodies(server) as { messages: { content: Json[] }[] }[];
    assert.deepEqual(second, first);
    assert.deepEqual(
      first?.messages.at(-1)?.content.map(({ type }) => type),
      ["tool_result", "text"],
    );
  });

  // Q176
  it("an answer of any length is streamed, also for complete()", async () => {
    await using server = await loopback(claude({ type: "text", text: "Hello" }));
    const model = at(server, "anthropic-messages");
    const context = { messages: [user("Hi")] };
    const message = await complete(model, context, { maxTokens: 64_000 }, streamAnthropicMessages);
    assert.equal(message.stopReason, "stop");
    const [body] = bodies(server);
    assert.deepEqual([body?.stream, body?.max_tokens], [true, 64_000]);
  });
});
