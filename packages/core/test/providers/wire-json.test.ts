/**
 * Characters that servers refuse in JSON, lone surrogates and NUL, are never sent (Q130, Q131).
 * Everything else is sent unchanged.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import type { AssistantContent, Context, Message } from "../../src/llm/message.ts";
import type { Model, StreamOptions } from "../../src/llm/model.ts";
import { anthropicMessages } from "../../src/providers/anthropic-messages/index.ts";
import { complete } from "../../src/providers/complete.ts";
import { googleGenerate } from "../../src/providers/google-generate/index.ts";
import { openaiCompatible } from "../../src/providers/openai-chat/index.ts";
import { openaiResponses } from "../../src/providers/openai-responses/index.ts";
import { getModel } from "../../src/providers/vendors.ts";
import { toWireJson } from "../../src/providers/wire-json.ts";
import { finalMessage } from "../../../../test/support/final-message.ts";
import { failing, loopback } from "../../../../test/support/loopback.ts";
import { cpuMs } from "../../../../test/support/cpu-time.ts";
import { sweep } from "../../../../test/support/sweep.ts";

type Json = Record<string, unknown>;

/** Characters that are refused, text that looks like them, and their neighbours. */
const pieces = [
  "\ud83d",
  "\ude00",
  "\u0000",
  "\\",
  "\\ud83d",
  "\\u0000",
  '"',
  "🌍",
  "é",
  "\n",
  "\u001b",
  " ",
  "b",
];
/** Enclosed in letters, so that no two surrogates meet where texts are joined. */
const odd = fc
  .array(fc.constantFrom(...pieces), { maxLength: 7 })
  .map((drawn) => `a${drawn.join("")}z`);
const texts = fc.oneof(
  { weight: 5, arbitrary: odd },
  {
    weight: 2,
    arbitrary: fc.constantFrom("", "\u0000", " \u0000\n", "a \u0000", "a\u0000 \u0000\n\u0000"),
  },
);
/** Without NUL, because other special characters of names become underscores anyway. */
const names = odd.map((text) => text.replaceAll("\u0000", ""));
const keys = fc.oneof(
  odd,
  fc.constantFrom("k", "k\u0000", "k\ud83d", "k\ude00", "1\u0000", "__proto__"),
);
const values: fc.Arbitrary<unknown> = fc.oneof(
  texts,
  fc.integer(),
  fc.array(texts, { maxLength: 2 }),
);
const records: fc.Arbitrary<Json> = fc.dictionary(
  keys,
  fc.oneof(values, fc.dictionary(keys, values, { maxKeys: 2 })),
  {
    maxKeys: 4,
  },
);

/** The same value without refused characters. */
function mended(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed().replaceAll("\u0000", "");
  if (Array.isArray(value)) return value.map(mended);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [mended(key), mended(inner)]),
  );
}

/** Every string of a JSON text, including names. */
function stringsOf(json: string): string[] {
  const found: string[] = [];
  JSON.parse(
    json,
    (key, value: unknown) => void found.push(key, ...(typeof value === "string" ? [value] : [])),
  );
  return found;
}

describe("toWireJson()", () => {
  it("writes well-formed characters, each name once, and keeps text that looks like an escape", () => {
    const value = {
      "a\ud83d": 1,
      b: ["\ude00\ud83d", "\u0000", "🌍", "\\ud83d \\\\u0000", "\\\ud83d\\\u0000"],
      "a\ude00": 2,
    };
    assert.equal(
      toWireJson(value),
      '{"a�":2,"b":["��","","🌍","\\\\ud83d \\\\\\\\u0000","\\\\�\\\\"]}',
    );
    assert.equal(toWireJson(undefined), undefined);
  });

  it("gives the JSON of the repaired value, and leaves a well-formed value unchanged", () => {
    fc.assert(
      fc.property(records, (record) => {
        assert.equal(toWireJson(record), JSON.stringify(mended(record)));
        assert.equal(toWireJson(mended(record)), JSON.stringify(mended(record)));
      }),
      { numRuns: 1000 },
    );
  });

  it("costs the same for each character, whatever surrounds it", () => {
    const from = cpuMs();
    for (const piece of ["\\", "\ud83d", "\u0000", "\\\ud83d", "\\ud83d", " "])
      assert.ok(toWireJson(`${piece.repeat(300_000)}\u0000`).length >= 2);
    assert.ok(cpuMs() - from < 5000);
  });
});

const facts = fc.record({
  systemPrompt: texts,
  question: texts,
  mimeType: odd,
  answer: texts,
  cited: texts,
  thinking: texts,
  signature: fc.constantFrom(undefined, "c2ln"),
  own: records,
  id: names,
  name: names,
  args: records,
  result: texts,
  last: fc.option(texts, { nil: undefined }),
  description: odd,
  properties: fc.dictionary(
    keys,
    fc.record({ type: fc.constant("string"), description: odd, enum: fc.array(texts) }),
  ),
  sessionId: names,
  extraBody: fc.dictionary(keys, values, { maxKeys: 2 }),
});
type Facts = typeof facts extends fc.Arbitrary<infer T> ? T : never;

/** A conversation with the facts in every place that contains text. */
function contextOf(api: string, said: Facts): Context {
  const origin = { api, provider: "custom", model: "m", usage: {}, timestamp: 1 };
  const { id, name, args, cited, thinking, signature } = said;
  const quoted = { citations: [{ cited_text: cited }], annotations: [{ title: cited }] };
  const content: AssistantContent[] = [
    {
      type: "thinking",
      thinking,
      ...(signature !== undefined && { thinkingSignature: signature }),
    },
    { type: "opaque", protocol: api, raw: { ...said.own, type: "note" } },
    {
      type: "text",
      text: said.answer,
      ...(api !== "google-generate" && { textSignature: JSON.stringify(quoted) }),
    },
    { type: "toolCall", id, name, arguments: args },
  ];
  const text = { type: "text", text: said.result } as const;
  const messages: Message[] = [
    { role: "user", content: "Hi", timestamp: 1 },
    {
      role: "user",
      content: [
        { type: "text", text: said.question },
        { type: "image", data: "aGk=", mimeType: said.mimeType },
      ],
      timestamp: 1,
    },
    { role: "assistant", content, ...origin, stopReason: "toolUse" },
    {
      role: "toolResult",
      toolCallId: id,
      toolName: name,
      content: [text],
      isError: false,
      timestamp: 1,
    },
  ];
  if (said.last !== undefined)
    messages.push({
      role: "assistant",
      content: [{ type: "text", text: said.last }],
      ...origin,
      stopReason: "stop",
    });
  const parameters = { type: "object", properties: said.properties };
  const { systemPrompt, description } = said;
  return { systemPrompt, messages, tools: [{ name, description, parameters }] };
}

function optionsOf({ properties, name, sessionId, extraBody }: Facts): StreamOptions {
  return { output: { schema: { type: "object", properties }, name }, sessionId, extraBody };
}

const compats: fc.Arbitrary<NonNullable<Model["compat"]>> = fc.record(
  {
    schemaKeywords: fc.constant("type properties description".split(" ")),
    replayReasoning: fc.boolean(),
    cacheKeyField: fc.constant("prompt_cache_key"),
    cacheKeyHeader: fc.constant("x-session"),
  },
  { requiredKeys: [] },
);

/** Random conversations for each wire. */
const RUNS = sweep({ long: 150, short: 40 });

describe("a request body", () => {
  for (const protocol of [openaiCompatible, anthropicMessages, openaiResponses, googleGenerate]) {
    const { api } = protocol;

    // Q130, Q131
    it(`over ${api} equals that of the conversation repaired beforehand, byte for byte`, async () => {
      await using server = await loopback(failing(400, {}));
      const sent = async (model: Model, said: Facts): Promise<string> => {
        const options = { ...optionsOf(said), maxRetries: 0 };
        await finalMessage(complete(model, contextOf(api, said), options));
        return server.requests.at(-1)?.body ?? "";
      };
      let changed = 0;
      await fc.assert(
        fc.asyncProperty(facts, compats, async (said, compat) => {
          const fields = {
            baseUrl: server.baseUrl,
            api,
            compat: { structuredOutput: "json_schema", ...compat },
          } as const;
          const model = getModel("custom", "m", {
            ...fields,
            reasoning: true,
            input: ["text", "image"],
          });
          const good = mended(said) as Facts;
          // A server checks signed thinking against its signature, so thinking that would change is
          // left out.
          const isSigned = /[^\s\0]/.test(said.signature ?? "");
          if (api === "anthropic-messages" && isSigned && good.thinking !== said.thinking)
            Object.assign(good, { thinking: "", signature: undefined });
          const body = await sent(model, said);
          assert.deepEqual(
            stringsOf(body).filter((text) => !text.isWellFormed() || text.includes("\u0000")),
            [],
          );
          assert.equal(body, await sent(model, good));
          const plain = protocol.encode(model, contextOf(api, good), optionsOf(good)).body;
          assert.equal(body, JSON.stringify({ ...plain, ...good.extraBody }));
          changed += JSON.stringify(said) === JSON.stringify(mended(said)) ? 0 : 1;
        }),
        { numRuns: RUNS },
      );
      assert.ok(changed > RUNS / 2, `only ${changed} had anything to mend`);
    });
  }
});
