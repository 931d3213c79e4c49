/**
 * Schemas of every library in a tool: JSON Schema on the wire, arguments checked and repaired on
 * the way in.
 */
import { type } from "arktype";
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Type } from "typebox";
import * as v from "valibot";
import { z } from "zod";
import { z as z3 } from "zod/v3";
import { isBowlineError } from "../src/errors.ts";
import { Agent, defineTool, getModel, type AgentTool } from "../src/index.ts";
import { type JsonSchema, type StandardSchema, toJsonSchema, validate } from "../src/schema.ts";

const numberAndTags: JsonSchema = {
  type: "object",
  properties: {
    n: { type: "number", minimum: 1 },
    tags: { type: "array", items: { type: "string" } },
  },
  required: ["n"],
};

/** The same tool in five schema libraries. */
const forms: Record<string, { parameters: unknown; jsonSchema?: JsonSchema }> = {
  "a TypeBox schema": {
    parameters: Type.Object({
      n: Type.Number({ minimum: 1 }),
      tags: Type.Optional(Type.Array(Type.String())),
    }),
  },
  "a plain JSON Schema": { parameters: numberAndTags },
  "a zod schema": {
    parameters: z.object({ n: z.number().min(1), tags: z.array(z.string()).optional() }),
  },
  "an arktype schema": { parameters: type({ n: "number >= 1", "tags?": "string[]" }) },
  "a valibot schema with its JSON Schema": {
    parameters: v.object({
      n: v.pipe(v.number(), v.minValue(1)),
      tags: v.optional(v.array(v.string())),
    }),
    jsonSchema: numberAndTags,
  },
};

const define = (parameters: unknown, jsonSchema?: JsonSchema): unknown =>
  defineTool({
    name: "a",
    description: "",
    parameters: parameters as object,
    ...(jsonSchema !== undefined && { jsonSchema }),
    execute: () => "",
  }).parameters;

const check = async (schema: unknown, value: unknown): ReturnType<typeof settle> =>
  settle(validate(schema, value, "a"));
const settle = async (
  result: ReturnType<typeof validate>,
): Promise<Awaited<ReturnType<typeof validate>>> => result;

for (const [what, { parameters, jsonSchema }] of Object.entries(forms)) {
  describe(`a tool with ${what}`, () => {
    const schema = define(parameters, jsonSchema);

    // Requirements: P31, X6
    it("provides its JSON Schema, without $schema", () => {
      assert.deepEqual(JSON.parse(JSON.stringify(toJsonSchema(schema, "a"))), numberAndTags);
    });

    // Requirements: P31
    it("accepts arguments that fit", async () => {
      const value = { n: 1, tags: ["x"] };
      assert.deepEqual(await check(schema, value), { value });
    });

    it("repairs arguments that nearly fit", async () => {
      assert.deepEqual(await check(schema, { n: "5", tags: '["x"]' }), {
        value: { n: 5, tags: ["x"] },
      });
      assert.deepEqual(await check(schema, '{"n":1,"tags":null}'), { value: { n: 1 } });
    });

    it("reports all problems of other arguments at once", async () => {
      const { issues = [] } = await check(schema, { n: 0, tags: ["x", null] });
      assert.deepEqual(issues.map(({ path }) => path).toSorted(), ["n", "tags[1]"]);
      for (const { message } of issues) assert.notEqual(message, "");
    });
  });
}

describe("a JSON Schema", () => {
  it("gives its issues with fixed wording", async () => {
    const schema = { ...numberAndTags, additionalProperties: false };
    assert.deepEqual(await check(schema, { tags: "x", more: 1 }), {
      issues: [
        { path: "more", message: "is not expected" },
        { path: "n", message: "is required" },
      ],
    });
    assert.deepEqual(await check(schema, { n: "x" }), {
      issues: [{ path: "n", message: 'expected number, received the string "x"' }],
    });
  });

  it("may be empty, and then accepts an object", async () => {
    assert.deepEqual(toJsonSchema({}, "a"), { type: "object", properties: {} });
    assert.deepEqual(await check({}, { any: 1 }), { value: { any: 1 } });
    assert.notEqual((await check({}, 5)).issues, undefined);
  });

  it("is completed only once", () =>
    assert.equal(toJsonSchema(numberAndTags, "a"), toJsonSchema(numberAndTags, "b")));
});

describe("a TypeBox schema that refers to itself", () => {
  const node = Type.Cyclic(
    { Node: Type.Object({ value: Type.Number(), next: Type.Optional(Type.Ref("Node")) }) },
    "Node",
  );

  it("is checked and repaired at every level", async () => {
    const schema = define(Type.Object({ list: node }));
    assert.deepEqual(await check(schema, { list: { value: 1, next: { value: "2" } } }), {
      value: { list: { value: 1, next: { value: 2 } } },
    });
    assert.deepEqual(await check(schema, { list: { value: 1, next: {} } }), {
      issues: [{ path: "list.next.value", message: "is required" }],
    });
  });
});

describe("a Standard Schema", () => {
  it("decides last: its output replaces the arguments", async () => {
    const schema = z.object({
      at: z.string().transform((text) => text.length),
      on: z.boolean().default(true),
    });
    assert.deepEqual(await check(schema, { at: "abc" }), { value: { at: 3, on: true } });
    assert.deepEqual(await check(schema, { at: 12 }), { value: { at: 2, on: true } });
  });

  it("gives its own messages when a repair does not help", async () => {
    const even = z.object({ n: z.number().refine((n) => n % 2 === 0, "must be even") });
    assert.deepEqual(await check(even, { n: 1 }), {
      issues: [{ path: "n", message: "must be even" }],
    });
    assert.deepEqual(await check(even, { n: "1" }), {
      issues: [{ path: "n", message: "must be even" }],
    });
    assert.deepEqual(await check(even, { n: "2" }), { value: { n: 2 } });
  });

  it("describes a failed union by its JSON Schema, because its own message is too general", async () => {
    const way = z.union([z.object({ car: z.string() }), z.array(z.string())]);
    const schema = z.object({
      u: z.union([z.boolean(), z.number()]),
      n: z.number(),
      ways: z.array(way),
    });
    assert.deepEqual(await check(schema, { u: "x", n: 1, ways: [{ car: {} }, 5, ["x"]] }), {
      issues: [
        { path: "u", message: 'expected boolean or number, received the string "x"' },
        { path: "ways[0].car", message: "expected string, received an object" },
        { path: "ways[1]", message: "expected one of: object with car, array; received number 5" },
      ],
    });
    const { issues = [] } = await check(schema, { u: "x", n: [], ways: [] });
    assert.deepEqual(
      issues.map(({ path }) => path),
      ["u", "n"],
    );
    const odd = z.object({
      u: z.union([z.number().refine((n) => n % 2 === 1), z.null()]),
      n: z.number(),
    });
    assert.deepEqual(await check(odd, { u: 2, n: 1 }), {
      issues: [{ path: "u", message: "Invalid input" }],
    });
  });

  it("may validate asynchronously", async () => {
    const slow = z.object({ n: z.number().refine(async (n) => n > 1, "is too small") });
    assert.deepEqual(await check(slow, { n: "2" }), { value: { n: 2 } });
    assert.deepEqual(await check(slow, { n: 1 }), {
      issues: [{ path: "n", message: "is too small" }],
    });
  });

  it("may be recursive", async () => {
    const node = z.object({
      value: z.number(),
      get next() {
        return node.optional();
      },
    });
    assert.deepEqual(await check(define(node), { value: 1, next: { value: "2" } }), {
      value: { value: 1, next: { value: 2 } },
    });
  });

  it("validates JSON Schema keywords that are not checked here", async () => {
    const jsonSchema = {
      type: "object",
      properties: { n: { type: "number" } },
      unevaluatedProperties: false,
    };
    const schema = define(v.strictObject({ n: v.number() }), jsonSchema);
    assert.deepEqual(await check(schema, { n: 1 }), { value: { n: 1 } });
    assert.equal((await check(schema, { n: "1" })).issues?.length, 1);
  });

  it("is not repaired without a JSON Schema", async () => {
    const schema = v.object({ n: v.number() });
    assert.deepEqual(
      (await check(schema, { n: "1" })).issues?.map(({ path }) => path),
      ["n"],
    );
  });

  it("may give its path in either form", async () => {
    const schema: StandardSchema = {
      "~standard": {
        version: 1,
        vendor: "own",
        validate: () => ({
          issues: [{ message: "no", path: ["a", { key: 0 }, { key: "b" }] }, { message: "none" }],
        }),
      },
    };
    assert.deepEqual(await check(schema, {}), {
      issues: [
        { path: "a[0].b", message: "no" },
        { path: "", message: "none" },
      ],
    });
  });
});

/** Nested objects. */
function nested(levels: number): JsonSchema {
  let schema: JsonSchema = { type: "object" };
  for (let level = 0; level < levels; level++)
    schema = { type: "object", properties: { a: schema } };
  return schema;
}

describe("a tool cannot be made of", () => {
  const cases: [what: string, parameters: unknown, message: RegExp][] = [
    ["a string", "object", /tool "a" must be a schema, not the string "object"/],
    ["nothing", undefined, /tool "a" must be a schema, not nothing/],
    ["null", null, /must be a schema, not null/],
    ["a list", [], /must be a schema, not an array/],
    ["a function that is not a schema", () => ({}), /must be a schema, not a function/],
    [
      "a string schema",
      Type.String(),
      /must describe an object at the top, with type and properties, not "string"/,
    ],
    ["a string schema, by zod", z.string(), /must describe an object at the top.*, not "string"/],
    [
      "anyOf at the top",
      { anyOf: [numberAndTags] },
      /must describe an object at the top.*, not "anyOf"/,
    ],
    [
      "a union at the top, by zod",
      z.union([z.object({}), z.object({ a: z.string() })]),
      /must describe an object at the top.*, not "anyOf"/,
    ],
    [
      "a reference at the top",
      { $defs: { a: numberAndTags }, $ref: "#/$defs/a" },
      /must describe an object at the top/,
    ],
    ["bare properties", { city: { type: "string" } }, /with type and properties, not "city"\.$/],
    [
      "valibot alone",
      v.object({}),
      /this valibot schema does not provide \(zod 4\.2 does\): pass one as jsonSchema, or use withJsonSchema/,
    ],
    [
      "zod 3",
      z3.object({}),
      /need a JSON Schema, which this zod schema does not provide \(zod 4\.2 does\)/,
    ],
    [
      "a schema without a JSON Schema",
      z.object({ at: z.date() }),
      /cannot be written as JSON Schema: /,
    ],
    [
      "a keyword that is not checked here",
      { ...numberAndTags, unevaluatedProperties: false },
      /^The parameters of tool "a": "unevaluatedProperties" cannot be checked: use a Standard Schema library for it$/,
    ],
    [
      "an invalid schema",
      { ...numberAndTags, properties: { n: { type: "strng" } } },
      /^The parameters of tool "a" are not a valid JSON Schema: properties\.n\.type: expected text that .*string.*, received the string "strng"\.$/,
    ],
    [
      "properties that are a list",
      { type: "object", properties: ["a"] },
      /: properties: expected object, received an array\.$/,
    ],
    [
      "required as a string",
      { ...numberAndTags, required: "n" },
      /: required: expected array, received the string "n"\.$/,
    ],
    [
      "a property that is not a schema",
      { type: "object", properties: { a: "string" } },
      /: properties\.a: expected object or boolean, received the string "string"\.$/,
    ],
    [
      "a nested invalid schema",
      Type.Object({ a: Type.Array(Type.Union([Type.Unsafe({ type: ["null", "int"] })])) }),
      /: properties\.a\.items\.anyOf\[0\]\.type\[1\]: expected text/,
    ],
    [
      "members that are not a list",
      { $defs: { a: { allOf: {} } }, type: "object" },
      /: \$defs\.a\.allOf: expected array, received an object\.$/,
    ],
    [
      "required of draft 3",
      { type: "object", properties: { a: { required: true } } },
      /: properties\.a\.required: expected array/,
    ],
    ["a schema that is nested too deeply", nested(5000), /: \$: is nested too deep/],
    [
      "an enum that is not a list",
      { type: "object", properties: { a: { enum: "a" } } },
      /: properties\.a\.enum: expected array/,
    ],
    [
      "an invalid pattern",
      Type.Object({ a: Type.String({ pattern: "(" }) }),
      /Invalid regular expression/,
    ],
  ];
  for (const [what, parameters, message] of cases) {
    it(what, () => {
      assert.throws(
        () => define(parameters),
        (error) =>
          isBowlineError(error) && error.code === "invalid_argument" && message.test(error.message),
      );
    });
  }
});

describe("a tool may be made of", () => {
  const cases: [what: string, parameters: unknown][] = [
    [
      "keywords as the names of properties",
      {
        type: "object",
        properties: {
          type: { type: "string" },
          required: { type: "boolean" },
          enum: {},
          properties: { properties: { items: true } },
        },
        required: ["type"],
      },
    ],
    [
      "values and annotations that look like a schema",
      {
        type: "object",
        default: { type: "dog" },
        example: { required: "a" },
        enum: [{ type: "dog" }],
        "x-note": { type: "dog" },
        errorMessage: { required: "is needed", type: "is no object" },
      },
    ],
    [
      "undefined fields",
      {
        type: "object",
        properties: { a: { type: undefined, enum: undefined }, b: undefined },
        required: undefined,
      },
    ],
    ["nested objects", nested(300)],
    [
      "items as a list",
      { type: "object", properties: { a: { items: [{ type: "string" }, false] } } },
    ],
    [
      "a recursive schema",
      {
        type: "object",
        properties: { a: { $ref: "#" }, b: { $ref: "#/$defs/b" } },
        $defs: { b: { items: { $ref: "#/$defs/b" } } },
      },
    ],
  ];
  for (const [what, parameters] of cases)
    it(what, () => assert.equal(define(parameters), parameters));
});

describe("a plain tool with an invalid schema", () => {
  it("ends the run when the default stream function first receives it", async () => {
    const parameters = { type: "object", properties: { city: { type: "strng" } } };
    const tools: AgentTool[] = [{ name: "t", description: "", parameters, execute: () => ({}) }];
    const fetch = async (): Promise<Response> => assert.fail("it was sent");
    const agent = new Agent({ initialState: { model: getModel("openai", "m"), tools }, fetch });
    for (let times = 0; times < 2; times++) {
      const { reason, error } = await agent.prompt("Hi");
      assert.deepEqual([reason, error?.code], ["error", "invalid_argument"]);
      assert.match(
        error?.message ?? "",
        /tool "t" are not a valid JSON Schema: properties\.city\.type: /,
      );
    }
  });
});

describe("a tool is refused", () => {
  const whole = { name: "a", description: "", parameters: numberAndTags, execute: () => "" };
  const cases: [what: string, definition: object, message: RegExp][] = [
    [
      "without a name",
      { ...whole, name: undefined },
      /name must be 1 to 64 characters of .*, not undefined\.$/,
    ],
    [
      "whose name is not a string",
      { ...whole, name: 5 },
      /name must be 1 to 64 characters of .*, not 5\.$/,
    ],
    [
      "without execute",
      { ...whole, execute: undefined },
      /tool "a" has no execute\. Pass the function that runs it\.$/,
    ],
    ["whose execute is not a function", { ...whole, execute: "ls" }, /tool "a" has no execute/],
  ];
  for (const [what, definition, message] of cases) {
    it(what, () => {
      assert.throws(
        () => defineTool(definition as typeof whole),
        (error) =>
          isBowlineError(error) && error.code === "invalid_argument" && message.test(error.message),
      );
    });
  }
});
