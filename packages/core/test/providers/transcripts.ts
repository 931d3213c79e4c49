/**
 * Random transcripts for property tests, as crashes, aborts, compactions, other models and hostile
 * servers produce them.
 */
import * as fc from "fast-check";
import type {
  AssistantContent,
  Context,
  ImageContent,
  Message,
  ToolCall,
  UserContent,
} from "../../src/llm/message.ts";
import type { Model, StreamOptions, ToolChoice } from "../../src/llm/model.ts";
import { getModel } from "../../src/providers/vendors.ts";
import type { JsonSchema } from "../../src/schema.ts";

const hostileIds: readonly string[] = [
  "",
  " ",
  "a.b",
  "a:b",
  "a_b",
  "functions.read:0",
  "call_1|fc_ab+/==",
  "é",
  "a b",
  "a\u0000",
  "\ud83d",
  "\udc00x",
  "__proto__",
  "constructor",
  "x".repeat(40),
  "x".repeat(41),
  "x".repeat(64),
  `${"x".repeat(64)}y`,
  "x".repeat(400),
];
/**
 * Few ids, so that they collide: results find calls, calls share ids, and two ids may become equal
 * when they are cleaned.
 */
const ids: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("call_1", "call_2", "call_3") },
  { weight: 4, arbitrary: fc.constantFrom(...hostileIds) },
);

const hostileNames: readonly string[] = [
  "unnamed",
  "",
  "fs/read file",
  "a.b",
  "é",
  "\ud83d",
  "n\u0000",
  "x".repeat(65),
];
const names: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("read", "write") },
  { weight: 2, arbitrary: fc.constantFrom(...hostileNames) },
);

/** Any UTF-16 text, including lone surrogates and NUL. */
const utf16: fc.Arbitrary<string> = fc
  .array(fc.constantFrom(0, 0x61, 0x20, 0x0a, 0xd83d, 0xde00, 0xfeff, 0x2028, 0x1b), {
    maxLength: 6,
  })
  .map((units) => String.fromCharCode(...units));

export const texts: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("Hello.", "世界 🌍", "a ", " b") },
  { weight: 3, arbitrary: utf16 },
  { weight: 2, arbitrary: fc.constantFrom("", " ", "\n", "\u0000", "\u0000 \u0000") },
);

const images: fc.Arbitrary<ImageContent> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.constantFrom("image/png", "image/jpeg").map((mimeType) => image(mimeType)),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(image("image/tiff"), image("image/jpg"), image("image/png", "")),
  },
);

/** Files and images by URL that every wire takes, and some that are replaced by a note. */
const files: fc.Arbitrary<UserContent> = fc.constantFrom<UserContent[]>(
  { type: "file", data: "JVBERi0=", mimeType: "application/pdf", name: "a b.pdf" },
  { type: "file", data: "JVBERi0=", mimeType: "application/pdf" },
  { type: "file", data: "aGVsbG8=", mimeType: "text/plain; charset=utf-8", name: "\ud83d\u0000" },
  { type: "file", data: "e30=", mimeType: "application/json", name: "" },
  { type: "file", data: "IA==", mimeType: "text/csv", name: " " },
  { type: "image", url: "https://example.com/a.png?b=1", mimeType: "image/png" },
);

/** Files that only some wires take. Others refuse the request. */
export const wireFiles: fc.Arbitrary<UserContent> = fc.oneof(
  fc.constantFrom<UserContent[]>(
    { type: "file", data: "AAAA", mimeType: "audio/wav", name: "a.wav" },
    { type: "file", data: "AAAA", mimeType: "audio/mpeg" },
    { type: "file", data: "AAAA", mimeType: "video/mp4" },
    { type: "file", url: "https://example.com/a.pdf", mimeType: "application/pdf", name: "a.pdf" },
    { type: "file", url: "https://example.com/a.csv", mimeType: "text/csv" },
    { type: "file", url: "gs://bucket/a.mp4", mimeType: "video/mp4" },
    { type: "image", url: "http://example.com/a" },
  ),
  files,
);

const texted: fc.Arbitrary<UserContent> = texts.map((text) => ({ type: "text", text }));
const userParts: fc.Arbitrary<UserContent[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: texted },
    { weight: 2, arbitrary: images },
    { weight: 1, arbitrary: files },
  ),
  { maxLength: 3 },
);

const values: fc.Arbitrary<unknown> = fc.oneof(
  texts,
  fc.integer(),
  fc.constant(null),
  fc.array(texts, { maxLength: 2 }),
);
const args: fc.Arbitrary<Record<string, unknown>> = fc.dictionary(
  fc.oneof(fc.constant("path"), utf16),
  values,
  {
    maxKeys: 3,
  },
);

const calls: fc.Arbitrary<ToolCall> = fc
  .record({
    id: ids,
    name: names,
    args,
    broken: fc.option(fc.constantFrom('{"a":', "[]", "null", "{}{}"), { nil: undefined, freq: 5 }),
    signature: fc.option(fc.constantFrom("c2ln", "s"), { nil: undefined, freq: 3 }),
  })
  .map(({ id, name, args: parsed, broken, signature }) => ({
    type: "toolCall",
    id,
    name,
    arguments: broken === undefined ? parsed : {},
    argumentsText: broken ?? JSON.stringify(parsed),
    ...(broken !== undefined && { argumentsError: "The arguments are not valid JSON." }),
    ...(signature !== undefined && { thoughtSignature: signature }),
  }));

const thinking: fc.Arbitrary<AssistantContent> = fc
  .record({
    text: texts,
    signature: fc.constantFrom(undefined, "c2ln"),
    redacted: fc.boolean(),
    field: fc.constantFrom(
      undefined,
      "reasoning_content",
      "reasoning",
      "reasoning_text",
      "thinking",
    ),
  })
  .map(({ text, signature, redacted, field }) => ({
    type: "thinking",
    thinking: redacted ? "" : text,
    ...(redacted
      ? { redacted, thinkingSignature: "ZW5j" }
      : signature !== undefined && { thinkingSignature: signature }),
    ...(field !== undefined && { field }),
  }));

/** Parts that only the Messages wire produces. */
const opaque: fc.Arbitrary<AssistantContent> = fc.constantFrom("s1", "s2").map((id) => ({
  type: "opaque",
  protocol: "anthropic-messages",
  raw: { type: "server_tool_use", id: `srvtoolu_${id}`, name: "web_search", input: {} },
}));

const assistantParts: fc.Arbitrary<AssistantContent[]> = fc.array(
  fc.oneof<fc.WeightedArbitrary<AssistantContent>[]>(
    { weight: 3, arbitrary: texts.map((text) => ({ type: "text", text })) },
    { weight: 4, arbitrary: calls },
    { weight: 2, arbitrary: thinking },
    { weight: 1, arbitrary: opaque },
  ),
  { maxLength: 4 },
);

/** Messages that end with a non-empty user message, so that a run can begin or continue. */
export function transcripts(own: Model): fc.Arbitrary<Message[]> {
  const origins = fc.constantFrom(
    { api: own.api, provider: own.provider, model: own.id },
    { api: own.api, provider: own.provider, model: "other" },
    { api: "anthropic-messages", provider: "elsewhere", model: "other" },
  );
  const assistant = fc.record({
    content: assistantParts,
    origin: origins,
    stopReason: fc.constantFrom(
      "stop",
      "toolUse",
      "toolUse",
      "toolUse",
      "length",
      "error",
      "aborted" as const,
    ),
  });
  const message: fc.Arbitrary<Message[]> = fc.oneof(
    {
      weight: 3,
      arbitrary: fc
        .oneof(texts, userParts)
        .map((content): Message[] => [{ role: "user", content, timestamp: 0 }]),
    },
    {
      weight: 5,
      arbitrary: fc
        .tuple(
          assistant,
          fc.double({ min: 0, max: 1, noNaN: true }),
          fc.array(userParts, { minLength: 4, maxLength: 4 }),
        )
        .map(([{ content, origin, stopReason }, answered, results]): Message[] => {
          // A turn with all of its calls answered, or, after a crash, only some of them.
          const open = content.filter((part) => part.type === "toolCall");
          const parts = content.filter(
            (part) => part.type !== "opaque" || part.protocol === origin.api,
          );
          const kept = open.slice(0, Math.ceil(open.length * answered * 2));
          return [
            {
              role: "assistant",
              content: parts,
              ...origin,
              usage: {},
              stopReason: stopReason as "stop",
              timestamp: 0,
            },
            ...kept.map((call, index): Message => result(call.id, call.name, results[index] ?? [])),
          ];
        }),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(ids, userParts)
        .map(([id, content]): Message[] => [result(id, "read", content)]),
    },
  );
  return fc
    .array(message, { maxLength: 7 })
    .map((groups) => [...groups.flat(), { role: "user", content: "Go on.", timestamp: 0 }]);
}

function result(toolCallId: string, toolName: string, content: UserContent[]): Message {
  return {
    role: "toolResult",
    toolCallId,
    toolName,
    content,
    isError: toolCallId.length % 2 === 0,
    timestamp: 0,
  };
}

function image(mimeType: string, data = "iVBORw0KGgo="): ImageContent {
  return { type: "image", data, mimeType };
}

const path = { type: "string", minLength: 1, description: "Where." };
const closed = {
  type: "object",
  properties: { path },
  required: ["path"],
  additionalProperties: false,
};
/** Object schemas, as schema libraries write them. */
export const objectSchemas: fc.Arbitrary<JsonSchema> = fc.constantFrom<JsonSchema[]>(
  { type: "object", properties: { path } },
  { ...closed, properties: { path: { type: "string" } } },
  { ...closed, properties: { path: { anyOf: [{ const: "/" }, { type: "null" }] } } },
  {
    ...closed,
    properties: { path: { oneOf: [{ const: "/" }, { type: "string", format: "uri" }] } },
  },
  {
    type: "object",
    properties: {
      tree: { $ref: "#/$defs/tree" },
      pair: { type: "array", prefixItems: [path], items: false },
    },
    $defs: {
      tree: { type: "object", properties: { left: { $ref: "#/$defs/tree" } }, required: ["left"] },
    },
  },
);

export const contexts = (model: Model): fc.Arbitrary<Context> =>
  fc
    .record({
      systemPrompt: fc.option(texts, { nil: undefined }),
      messages: transcripts(model),
      // Including names that only other protocols allow.
      tools: fc.subarray(["read", "write", "fs.read/all", "x".repeat(70)]),
      description: texts,
      schema: objectSchemas,
    })
    .map(({ systemPrompt, messages, tools, description, schema }) => ({
      ...(systemPrompt !== undefined && { systemPrompt }),
      messages,
      tools: tools.map((name) => ({ name, description, parameters: schema })),
    }));

/** Models of one wire: with and without images, thinking and each compat switch. */
export const models = (provider: string, id: string): fc.Arbitrary<Model> =>
  fc
    .record({
      input: fc.constantFrom<Model["input"][]>(
        ["text"],
        ["text", "image"],
        ["text", "image", "pdf", "audio", "video"],
      ),
      reasoning: fc.boolean(),
      maxTokens: fc.constantFrom(undefined, 1000, 4096, 64_000),
      compat: fc.record(
        {
          systemRole: fc.constantFrom("system", "developer", "user"),
          maxTokensField: fc.constantFrom("max_tokens", "max_completion_tokens"),
          streamUsage: fc.boolean(),
          thinkingFormat: fc.constantFrom(
            ...([
              "reasoning_effort",
              "reasoning",
              "thinking",
              "enable_thinking",
              "chat_template_kwargs",
              "none",
            ] as const),
          ),
          replayReasoning: fc.boolean(),
          plainEfforts: fc.boolean(),
          noTemperature: fc.constantFrom<(boolean | "thinking")[]>(true, false, "thinking"),
          adaptiveThinking: fc.boolean(),
          structuredOutput: fc.constantFrom("json_schema", "no_tools", "none"),
          schemaKeywords: fc.constant(
            "type properties required additionalProperties enum anyOf items description".split(" "),
          ),
          noStreaming: fc.boolean(),
          cacheKeyField: fc.constantFrom("prompt_cache_key", "session_id"),
          cacheKeyHeader: fc.constant("x-session"),
          toolChoice: fc.constantFrom("required", "auto"),
          toolsForHistory: fc.boolean(),
          callIdDigits: fc.constant(9),
          assistantAfterTool: fc.boolean(),
          mergeUsers: fc.boolean(),
        },
        { requiredKeys: [] },
      ),
    })
    .map(({ maxTokens, ...rest }) =>
      getModel(provider, id, { ...rest, ...(maxTokens !== undefined && { maxTokens }) }),
    );

export const options: fc.Arbitrary<StreamOptions> = fc.record(
  {
    temperature: fc.constantFrom(0, 0.5, 1),
    maxTokens: fc.constantFrom(1, 1000, 4096, 100_000),
    reasoning: fc.constantFrom("minimal", "low", "medium", "high", "xhigh", "max"),
    toolChoice: fc.constantFrom<ToolChoice[]>("auto", "none", "required", { name: "read" }),
    output: fc.record(
      { schema: objectSchemas, name: fc.constantFrom("city", "a name/that\ud83d is".repeat(9)) },
      { requiredKeys: ["schema"] },
    ),
    cacheRetention: fc.constantFrom("none", "short", "long"),
    sessionId: fc.constantFrom("session-1", "", `a session \ud83d ${"x".repeat(80)}`),
  },
  { requiredKeys: [] },
);
