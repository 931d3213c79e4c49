/** Schemas adapted to servers: no constraint is added, and no refused keyword remains. */
import fc from "fast-check";
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkJson } from "../../src/json-schema.ts";
import { adaptSchema, isStrictSchema } from "../../src/providers/adapt-schema.ts";
import { mapParts } from "../../src/providers/schema-parts.ts";
import type { JsonSchema } from "../../src/schema.ts";
import { Problems } from "../../src/testing/strict-json.ts";
import { schemas, values } from "../json-schemas.ts";

const roots = fc.tuple(schemas, schemas).map(([schema, x]): JsonSchema => ({
  ...(typeof schema === "boolean" ? { allOf: [schema] } : schema),
  $defs: { x },
}));

/** Every schema inside this one, including itself. */
function parts(schema: JsonSchema): JsonSchema[] {
  const found = [schema];
  mapParts(schema, (part) => found.push(...parts(part)));
  return found;
}

const fits = (schema: JsonSchema, value: unknown): boolean => {
  const result = checkJson(schema, value);
  return result.issues === undefined && Object.is(result.value, value);
};

// Q115
describe("a schema adapted to a server", () => {
  it("is sent as given if the server sets no limits", () => {
    const schema = { $schema: "x", type: "object", properties: {}, patternProperties: {} };
    assert.equal(adaptSchema(schema), schema);
  });

  it("states unsupported constraints in the description", () => {
    const schema = {
      type: "object",
      properties: {
        path: { type: "string", description: "Where.", minLength: 1, pattern: "^/" },
        kind: { const: "file" },
        size: { oneOf: [{ type: "integer" }, { const: null }] },
        pair: {
          type: "array",
          prefixItems: [{ type: "string" }, { type: "number" }],
          items: false,
        },
      },
      patternProperties: { "^x-": { type: "string" } },
      additionalProperties: false,
      $comment: "internal",
    };
    const taken = [
      "type",
      "description",
      "properties",
      "additionalProperties",
      "enum",
      "anyOf",
      "items",
    ];
    assert.deepEqual(adaptSchema(schema, taken), {
      type: "object",
      description: '(patternProperties: {"^x-":{"type":"string"}})',
      properties: {
        path: { type: "string", description: 'Where. (minLength: 1; pattern: "^/")' },
        kind: { type: "string", description: '(const: "file")', enum: ["file"] },
        size: {
          description: '(oneOf: [{"type":"integer"},{"const":null}])',
          anyOf: [
            { type: "integer" },
            { type: "null", description: "(const: null)", enum: [null] },
          ],
        },
        pair: {
          type: "array",
          description: '(prefixItems: [{"type":"string"},{"type":"number"}])',
          items: { anyOf: [{ type: "string" }, { type: "number" }] },
        },
      },
    });
  });

  it("has references inlined, and recursive ones only once", () => {
    const schema = {
      type: "object",
      properties: {
        tree: { $ref: "#/$defs/a~1b", description: "A tree." },
        lost: { $ref: "#/nowhere" },
      },
      $defs: {
        "a/b": {
          type: "object",
          properties: { left: { $ref: "#/$defs/a~1b" }, text: { type: "string" } },
        },
      },
    };
    assert.deepEqual(adaptSchema(schema, ["type", "properties", "description"]), {
      type: "object",
      properties: {
        tree: {
          type: "object",
          description: "A tree.",
          properties: { left: { type: "object" }, text: { type: "string" } },
        },
        lost: {},
      },
    });
    assert.deepEqual(adaptSchema(schema, [...Object.keys(schema), "$ref", "description"]), schema);
  });

  it("drops a reference to an anchor, which it cannot resolve", () => {
    const schema = {
      type: "object",
      properties: { name: { $ref: "#name", description: "Whose." } },
      $defs: { name: { $anchor: "name", type: "string" } },
    };
    assert.deepEqual(adaptSchema(schema, ["type", "properties", "description"]), {
      type: "object",
      properties: { name: { description: "Whose." } },
    });
  });

  it("has only supported keywords, and accepts whatever the schema accepted", (context) => {
    // Leaves out keywords for which a narrower subschema can make the whole schema wider, or the
    // reverse.
    const words =
      "type enum const anyOf allOf $ref items prefixItems minItems maxItems minimum pattern".split(
        " ",
      );
    const always = ["description", "properties", "required", "additionalProperties", "$defs"];
    const counts = { all: 0, fit: 0 };
    fc.assert(
      fc.property(roots, values, fc.subarray(words), (schema, value, some) => {
        const taken = [...always, ...some];
        const adapted = adaptSchema(schema, taken);
        for (const part of parts(adapted))
          for (const word of Object.keys(part)) assert.ok(taken.includes(word), word);
        counts.all += 1;
        if (!fits(schema, value)) return;
        counts.fit += 1;
        assert.ok(fits(adapted, value), JSON.stringify(adapted));
      }),
      { numRuns: 3000, seed: 20261121 },
    );
    context.diagnostic(`${counts.all} adapted, ${counts.fit} with a value that fits`);
    assert.ok(counts.fit > 300);
  });
});

// Q117
describe("OpenAI's strict mode", () => {
  const object = (properties: JsonSchema, more: JsonSchema = {}): JsonSchema => ({
    type: "object",
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
    ...more,
  });

  it("accepts closed objects whose properties are all required", () => {
    const format = { type: "string", format: "date", pattern: "^2" };
    const list = { type: "array", items: { $ref: "#/$defs/x" }, minItems: 1 };
    const choice = {
      anyOf: [object({ kind: { const: "a" } }), { type: "null" }],
      description: "One.",
    };
    const schema = object({ default: format, list, choice }, { $defs: { x: object({}) } });
    assert.equal(isStrictSchema(schema), true);
  });

  it("accepts nothing else", () => {
    const text = { type: "string" };
    const refused: JsonSchema[] = [
      object({ a: text }, { required: [] }),
      object({ a: text }, { additionalProperties: true }),
      object({ a: text }, { additionalProperties: undefined }),
      object({ a: { type: "object" } }),
      object({ a: { ...text, minLength: 1 } }),
      object({ a: { ...text, default: "x" } }),
      object({ a: { ...text, format: "uri" } }),
      object({ a: { ...text, pattern: "^(?!x)" } }),
      object({ a: { type: "array" } }),
      object({ a: { oneOf: [text] } }),
      object({ a: { $ref: "#/$defs/x", description: "x" } }, { $defs: { x: text } }),
      object(
        { a: { $ref: "#/$defs/x" } },
        { $defs: { x: { type: "object", properties: { b: text } } } },
      ),
      object({ a: { anyOf: [{ type: ["object", "null"], properties: { b: text } }] } }),
    ];
    for (const schema of refused)
      assert.equal(isStrictSchema(schema), false, JSON.stringify(schema));
  });

  it("is never requested for a schema that a strict server would refuse", (context) => {
    const close = (schema: JsonSchema): JsonSchema => {
      const names = Object.keys(schema.properties ?? {});
      return {
        ...mapParts(schema, close),
        ...("properties" in schema && {
          type: "object",
          required: names,
          additionalProperties: false,
        }),
      };
    };
    let strict = 0;
    fc.assert(
      fc.property(roots, (schema) => {
        const closed = {
          ...close(schema),
          type: "object",
          properties: {},
          required: [],
          additionalProperties: false,
        };
        if (!isStrictSchema(closed)) return;
        strict += 1;
        const problems = new Problems();
        problems.outputSchema("schema", closed, true);
        const ofRoot = /is refused at the root/;
        assert.deepEqual(
          problems.list.filter((problem) => !ofRoot.test(problem)),
          [],
        );
      }),
      { numRuns: 3000, seed: 20261121 },
    );
    context.diagnostic(`${strict} of 3000 are strict`);
    assert.ok(strict > 30);
  });
});
