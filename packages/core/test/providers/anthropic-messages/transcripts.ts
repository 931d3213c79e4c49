/** Unusual transcripts that occur in long sessions, for the property test of the encoder. */
import * as fc from "fast-check";
import type {
  AssistantContent,
  AssistantMessage,
  Context,
  Message,
  Tool,
  UserContent,
} from "../../../src/llm/message.ts";
import type { Model, StreamOptions } from "../../../src/llm/model.ts";
import { getModel } from "../../../src/providers/vendors.ts";

const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(value, { nil: undefined });
const texts = fc.constantFrom(
  "",
  " \n",
  "Hi",
  "ends in space \n",
  "half \ud83d",
  "\ude00 the other",
  "😀",
  "a\u0000b",
);
const ids = fc.constantFrom(
  "a",
  "a_2",
  "call_0",
  "",
  "call_1|fc_ab+/==",
  `${"x".repeat(64)}1`,
  `${"x".repeat(64)}2`,
  "é",
);
const names = fc.constantFrom("read", "fs/read file", "", "n".repeat(200));
const serverIds = fc.constantFrom("srv_1", "srv_2");
const origins = fc.constantFrom(
  { api: "anthropic-messages", provider: "anthropic", model: "m" },
  { api: "anthropic-messages", provider: "anthropic", model: "other" },
  { api: "openai-chat", provider: "openai", model: "m" },
);

const image = fc.record({
  type: fc.constant("image" as const),
  data: fc.constantFrom("aGk=", ""),
  mimeType: fc.constantFrom("image/png", "image/JPG", "image/svg+xml"),
});
const userParts: fc.Arbitrary<UserContent[]> = fc.array(
  fc.oneof(
    fc.record({ type: fc.constant("text" as const), text: texts }),
    image,
    fc.constantFrom<UserContent[]>(
      { type: "file", data: "JVBERi0=", mimeType: "application/pdf", name: "a.pdf" },
      { type: "file", data: "aGVsbG8=", mimeType: "text/plain", name: " " },
      { type: "file", data: "IA==", mimeType: "text/plain" },
      { type: "file", url: "https://example.com/a.pdf", mimeType: "application/pdf" },
      { type: "image", url: "https://example.com/a.png" },
    ),
  ),
  { maxLength: 3 },
);

const raw: fc.Arbitrary<unknown> = fc.oneof(
  serverIds.map((id) => ({ type: "server_tool_use", id, name: "web_search", input: {} })),
  serverIds.map((id) => ({ type: "web_search_tool_result", tool_use_id: id, content: [] })),
  fc.constantFrom({ type: "hologram", depth: 3 }, { no: "type" }, null, "text"),
);
const part: fc.Arbitrary<AssistantContent> = fc.oneof(
  fc
    .record({
      text: texts,
      signature: maybe(fc.constantFrom('{"citations":[{"type":"page"}]}', "garbage", "null")),
    })
    .map(({ text, signature }) => ({
      type: "text" as const,
      text,
      ...(signature !== undefined && { textSignature: signature }),
    })),
  fc
    .record({ thinking: texts, signature: maybe(fc.constantFrom("", "S")), redacted: fc.boolean() })
    .map(({ thinking, signature, redacted }) => ({
      type: "thinking" as const,
      thinking,
      ...(signature !== undefined && { thinkingSignature: signature }),
      ...(redacted && { redacted }),
    })),
  fc.record({
    type: fc.constant("toolCall" as const),
    id: ids,
    name: names,
    arguments: fc.dictionary(
      texts,
      fc.oneof(texts, fc.array(fc.dictionary(texts, texts, { maxKeys: 2 }), { maxLength: 2 })),
      { maxKeys: 2 },
    ),
  }),
  fc.record({
    type: fc.constant("opaque" as const),
    protocol: fc.constantFrom("anthropic-messages", "other"),
    raw,
  }),
);

const assistant: fc.Arbitrary<AssistantMessage> = fc
  .record({
    origin: origins,
    content: fc.array(part, { maxLength: 5 }),
    stopReason: fc.constantFrom("stop", "toolUse", "length", "error", "aborted"),
  })
  .map(({ origin, content, stopReason }) => ({
    role: "assistant",
    ...origin,
    content,
    stopReason,
    usage: {},
    timestamp: 1,
  }));

const message: fc.Arbitrary<Message> = fc.oneof(
  fc.oneof(texts, userParts).map((content) => ({ role: "user" as const, content, timestamp: 1 })),
  { weight: 2, arbitrary: assistant },
  fc.record({
    role: fc.constant("toolResult" as const),
    toolCallId: ids,
    toolName: names,
    content: userParts,
    isError: fc.boolean(),
    timestamp: fc.constant(1),
  }),
);

const tool = (name: string): Tool => ({
  name,
  description: "half \ud83d",
  parameters: { type: "object", properties: {} },
});

export const contexts: fc.Arbitrary<Context> = fc
  .record({
    messages: fc.array(message, { maxLength: 10 }),
    systemPrompt: texts,
    tools: maybe(fc.constantFrom<Tool[][]>([], [tool("read"), tool("fs/read file")])),
  })
  .map(({ tools, ...context }) => ({ ...context, ...(tools !== undefined && { tools }) }));

export const options: fc.Arbitrary<StreamOptions> = fc
  .record({
    reasoning: maybe(fc.constantFrom("minimal", "low", "medium", "high", "xhigh", "max")),
    maxTokens: maybe(fc.constantFrom(1, 1024, 1025, 3000, 64_000)),
    temperature: maybe(fc.constant(0.5)),
    thinkingBudgets: maybe(fc.constant({ low: 1, high: 100_000 })),
    toolChoice: maybe(
      fc.constantFrom("auto" as const, "none" as const, "required" as const, {
        name: "fs/read file",
      }),
    ),
    cacheRetention: maybe(fc.constantFrom("none" as const, "short" as const, "long" as const)),
    metadata: maybe(fc.constantFrom({ user_id: "u", other: 1 }, {})),
  })
  .map((record) =>
    Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)),
  );

export const models: fc.Arbitrary<Model> = fc
  .record({
    maxTokens: maybe(fc.constantFrom(1000, 8192, 64_000)),
    reasoning: fc.boolean(),
    images: fc.boolean(),
    adaptive: fc.boolean(),
  })
  .map(({ maxTokens, reasoning, images, adaptive }) =>
    getModel("anthropic", "m", {
      reasoning,
      input: images ? ["text", "image", "pdf"] : ["text"],
      compat: { adaptiveThinking: adaptive },
      ...(maxTokens !== undefined && { maxTokens }),
    }),
  );
