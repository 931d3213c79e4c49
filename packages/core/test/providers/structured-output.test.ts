/**
 * Answers with a schema, and the schema keywords that servers accept, on the vendors' own wires.
 * For Chat Completions see openai-chat/request.test.ts.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { list } from "../../src/json-value.ts";
import type { Tool } from "../../src/llm/message.ts";
import type { Compat, StreamOptions } from "../../src/llm/model.ts";
import { anthropicMessages } from "../../src/providers/anthropic-messages/index.ts";
import { googleGenerate } from "../../src/providers/google-generate/index.ts";
import { openaiCompatible } from "../../src/providers/openai-chat/index.ts";
import { openaiResponses } from "../../src/providers/openai-responses/index.ts";
import type { Protocol } from "../../src/providers/protocol.ts";
import { getModel } from "../../src/providers/vendors.ts";
import type { JsonSchema } from "../../src/schema.ts";
import { checkMessagesRequest } from "../../src/testing/index.ts";
import { code } from "../../../../test/support/error-code.ts";
import { hello } from "../support.ts";

type Json = Record<string, unknown>;

const wires: readonly Protocol[] = [anthropicMessages, openaiResponses, googleGenerate];
const city = { type: "string", minLength: 1 };
const schema: JsonSchema = { type: "object", properties: { city }, required: ["city"] };
const tools: Tool[] = [{ name: "read", description: "Reads.", parameters: schema }];

function body(
  protocol: Protocol,
  options: StreamOptions,
  compat: Compat = {},
  withTools: Tool[] = [],
): Json {
  const model = getModel("custom", "m", { baseUrl: "http://h/v1", api: protocol.api, compat });
  return protocol.encode(model, { messages: [hello], tools: withTools }, options).body;
}

describe("an answer with a schema", () => {
  it("is requested over Anthropic Messages with the keywords that the server knows, beside an effort", () => {
    const output = {
      schema: {
        ...schema,
        properties: {
          city: { ...city, format: "date" },
          at: { oneOf: [{ type: "object", properties: {} }, { type: "null" }] },
        },
      },
    };
    const options: StreamOptions = { output, reasoning: "low" };
    const asked = body(anthropicMessages, options, { adaptiveThinking: true }, tools);
    assert.deepEqual(checkMessagesRequest(asked), []);
    assert.deepEqual(asked.output_config, {
      effort: "low",
      format: {
        type: "json_schema",
        schema: {
          type: "object",
          properties: {
            city: { type: "string", description: '(minLength: 1; format: "date")' },
            at: {
              anyOf: [
                { type: "object", properties: {}, additionalProperties: false },
                { type: "null" },
              ],
              description: '(oneOf: [{"type":"object","properties":{}},{"type":"null"}])',
            },
          },
          required: ["city"],
          additionalProperties: false,
        },
      },
    });
    assert.deepEqual((asked.tools as Json[])[0]?.input_schema, schema);
  });

  it("is refused for Anthropic if the server would always return an empty object", () => {
    for (const free of [{ additionalProperties: { type: "number" } }, { patternProperties: {} }]) {
      const output = {
        schema: { type: "object", properties: { prices: { type: "object", ...free } } },
      };
      assert.throws(() => body(anthropicMessages, { output }), code("invalid_argument"));
      assert.equal(
        "output_config" in body(anthropicMessages, { output }, { structuredOutput: "none" }),
        false,
      );
    }
  });

  // Q117
  it("is requested over Responses, strictly if the schema qualifies", () => {
    const text = (output: NonNullable<StreamOptions["output"]>): unknown =>
      body(openaiResponses, { output }).text;
    assert.deepEqual(text({ schema, name: "a city" }), {
      format: { type: "json_schema", name: "a_city", schema, strict: false },
    });
    const closed = {
      ...schema,
      properties: { city: { type: "string" } },
      additionalProperties: false,
    };
    assert.deepEqual(text({ schema: closed }), {
      format: { type: "json_schema", name: "answer", schema: closed, strict: true },
    });
    assert.deepEqual(text({ schema: closed, strict: false }), {
      format: { type: "json_schema", name: "answer", schema: closed, strict: false },
    });
  });

  it("is requested over generateContent as a type and a schema", () => {
    assert.deepEqual(
      body(googleGenerate, { output: { schema }, maxTokens: 9 }, {}, tools).generationConfig,
      {
        maxOutputTokens: 9,
        responseMimeType: "application/json",
        responseJsonSchema: schema,
      },
    );
    assert.equal("generationConfig" in body(googleGenerate, {}), false);
  });

  it("is not requested beside tools if the server cannot combine them", () => {
    const parts = ["output_config", "text", "generationConfig"];
    for (const [index, protocol] of wires.entries()) {
      const asked = (
        structuredOutput: NonNullable<Compat["structuredOutput"]>,
        withTools: Tool[],
      ): boolean =>
        (parts[index] as string) in
        body(protocol, { output: { schema } }, { structuredOutput }, withTools);
      assert.deepEqual(
        [asked("no_tools", tools), asked("no_tools", []), asked("none", [])],
        [false, true, false],
      );
    }
  });
});

// Q117
describe("a strict tool", () => {
  const closed = {
    ...schema,
    properties: { city: { type: "string" } },
    additionalProperties: false,
  };
  const strictly = (parameters: JsonSchema, strict?: boolean): Tool[] => [
    { name: "read", description: "Reads.", parameters, strict },
  ];
  const all = [...wires, openaiCompatible];
  const toolOf = (protocol: Protocol, given: Tool[], compat?: Compat): Json => {
    const [sent] = body(protocol, {}, compat, given).tools as Json[];
    const [declared] = list(sent?.functionDeclarations);
    return (declared ?? sent?.function ?? sent) as Json;
  };

  it("is sent to a server that enforces schemas, over each wire that has a field for it", () => {
    const compat = { structuredOutput: "json_schema" } as const;
    const strict = all.map((protocol) => toolOf(protocol, strictly(closed, true), compat).strict);
    assert.deepEqual(strict, [true, true, undefined, true]);
  });

  it("is sent as any other where the server or the schema cannot be strict", () => {
    const compat = { structuredOutput: "json_schema" } as const;
    const open = { ...closed, additionalProperties: true };
    const optional = { ...closed, required: [] };
    const limited = { ...closed, properties: { city } };
    for (const protocol of all) {
      const same = (given: Tool[], other: Tool[], by: Compat = compat): void =>
        assert.deepEqual(toolOf(protocol, given, by), toolOf(protocol, other, by), protocol.api);
      for (const parameters of [open, optional, limited])
        same(strictly(parameters, true), strictly(parameters));
      for (const structuredOutput of ["none", "no_tools"] as const)
        same(strictly(closed, true), strictly(closed), { structuredOutput });
      same(strictly(closed, false), strictly(closed));
    }
    assert.equal("strict" in toolOf(openaiCompatible, strictly(closed, true)), false);
  });

  it("has for Anthropic the keywords that the server knows", () => {
    const parameters = { ...closed, properties: { city: { type: "string", pattern: "^O" } } };
    const sent = toolOf(anthropicMessages, strictly(parameters, true));
    assert.deepEqual(sent.input_schema, {
      ...closed,
      properties: { city: { type: "string", description: '(pattern: "^O")' } },
    });
    const asked = body(anthropicMessages, {}, {}, strictly(parameters, true));
    assert.deepEqual(checkMessagesRequest(asked), []);
    const kept = toolOf(anthropicMessages, strictly(parameters));
    assert.deepEqual(kept.input_schema, parameters);
  });
});

describe("over each wire, a server with special requirements gets", () => {
  const keywords: Compat = { schemaKeywords: ["type", "properties", "description"] };
  const adapted = {
    type: "object",
    description: '(required: ["city"])',
    properties: { city: { type: "string", description: "(minLength: 1)" } },
  };

  // Q115
  it("schemas with its keywords, and unchanged ones without the switch", () => {
    const schemaOf = (asked: Json): unknown => {
      const [tool] = asked.tools as (Json & { functionDeclarations?: Json[] })[];
      return (
        tool?.input_schema ??
        tool?.parameters ??
        tool?.functionDeclarations?.[0]?.parametersJsonSchema
      );
    };
    for (const protocol of wires) {
      assert.deepEqual(schemaOf(body(protocol, {}, {}, tools)), schema, protocol.api);
      assert.deepEqual(schemaOf(body(protocol, {}, keywords, tools)), adapted, protocol.api);
    }
    const output = { schema };
    const { generationConfig } = body(googleGenerate, { output }, keywords);
    assert.deepEqual((generationConfig as Json).responseJsonSchema, adapted);
    assert.deepEqual(
      (body(openaiResponses, { output }, keywords).text as { format: Json }).format.schema,
      adapted,
    );
    assert.deepEqual(
      (body(anthropicMessages, { output }, keywords).output_config as { format: Json }).format
        .schema,
      {
        ...adapted,
        additionalProperties: false,
      },
    );
  });

  it("Gemini's keywords, for Gemini", () => {
    const model = getModel("google", "gemini-3-flash-preview");
    const { tools: sent } = googleGenerate.encode(model, { messages: [hello], tools }, {}).body;
    const [{ functionDeclarations } = { functionDeclarations: [] }] = sent as {
      functionDeclarations: Json[];
    }[];
    assert.deepEqual(functionDeclarations[0]?.parametersJsonSchema, {
      ...schema,
      properties: { city: { type: "string", description: "(minLength: 1)" } },
    });
  });

  // Q112
  it("no stronger tool choice than it accepts", () => {
    const chosen = (protocol: Protocol, toolChoice?: "required" | "auto"): unknown => {
      const compat: Compat = toolChoice === undefined ? {} : { toolChoice };
      const { tool_choice, toolConfig } = body(
        protocol,
        { toolChoice: { name: "read" } },
        compat,
        tools,
      );
      return tool_choice ?? (toolConfig as { functionCallingConfig: Json }).functionCallingConfig;
    };
    assert.deepEqual(
      [chosen(anthropicMessages, "required"), chosen(anthropicMessages, "auto")],
      [{ type: "any" }, { type: "auto" }],
    );
    assert.deepEqual(
      [chosen(openaiResponses, "required"), chosen(openaiResponses, "auto")],
      ["required", "auto"],
    );
    assert.deepEqual(
      [chosen(googleGenerate, "required"), chosen(googleGenerate, "auto")],
      [{ mode: "ANY" }, { mode: "AUTO" }],
    );
    assert.deepEqual(chosen(googleGenerate), { mode: "ANY", allowedFunctionNames: ["read"] });
  });
});

describe("a base URL with a query", () => {
  // Q135
  it("keeps it after the path, followed by the stream's own query", () => {
    const url = (compat: Compat): string => {
      const baseUrl = "http://h/v1/?key=k";
      const model = getModel("custom", "m", { baseUrl, api: "google-generate", compat });
      return googleGenerate.encode(model, { messages: [hello] }, {}).url;
    };
    assert.equal(url({}), "http://h/v1/models/m:streamGenerateContent?key=k&alt=sse");
    assert.equal(url({ noStreaming: true }), "http://h/v1/models/m:generateContent?key=k");
  });
});
