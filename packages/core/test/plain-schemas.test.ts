/** Plain JSON Schemas as programs write them: edited later, in older dialects, as trees. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isBowlineError } from "../src/errors.ts";
import { defineTool } from "../src/index.ts";
import { checkJson } from "../src/json-schema.ts";
import { toJsonSchema, validate } from "../src/schema.ts";
import { cpuMs } from "../../../test/support/cpu-time.ts";

const check = async (
  schema: object,
  value: unknown,
): Promise<Awaited<ReturnType<typeof validate>>> => validate(schema, value, "a");

describe("a schema that is edited after its first use", () => {
  it("is checked in its current form, including top-level keywords and new patterns", async () => {
    const schema = {
      type: "object",
      properties: { a: { type: "string", pattern: "^x" } } as Record<string, object>,
      required: [] as string[],
    };
    defineTool({ name: "a", description: "", parameters: schema, execute: () => "" });
    assert.deepEqual((await check(schema, { a: "y" })).issues?.length, 1);
    schema.properties.a = { type: "string", pattern: "^y" };
    assert.equal((await check(schema, { a: "y" })).issues, undefined);
    Object.assign(schema, { required: ["b"], additionalProperties: false });
    assert.deepEqual(
      (await check(schema, { a: "y" })).issues?.map(({ path }) => path),
      ["b"],
    );
    assert.deepEqual(toJsonSchema(schema, "a").required, ["b"]);
  });
});

describe("keywords of older schemas", () => {
  it("are translated for the wire and for the check", async () => {
    const schema = {
      type: "object",
      properties: {
        low: { type: "number", minimum: 0, exclusiveMinimum: true },
        high: { type: "number", maximum: 10, exclusiveMaximum: true },
        plain: { type: "number", maximum: 10, exclusiveMaximum: false },
        name: { type: "string", nullable: true },
        kind: { type: "string", enum: ["a"], nullable: true },
        at: { $ref: "#/$defs/at", nullable: true },
        nullable: { type: "boolean", nullable: false, default: { nullable: true } },
      },
      required: ["low", "high", "plain", "name", "kind", "at", "nullable"],
      $defs: { at: { type: "integer" } },
    };
    const { properties } = toJsonSchema(schema, "a");
    assert.deepEqual(properties, {
      low: { type: "number", exclusiveMinimum: 0 },
      high: { type: "number", exclusiveMaximum: 10 },
      plain: { type: "number", maximum: 10 },
      name: { type: ["string", "null"] },
      kind: { anyOf: [{ type: "string", enum: ["a"] }, { type: "null" }] },
      at: { anyOf: [{ $ref: "#/$defs/at" }, { type: "null" }] },
      nullable: { type: "boolean", default: { nullable: true } },
    });
    const fitting = {
      low: 1,
      high: 9,
      plain: 10,
      name: null,
      kind: null,
      at: null,
      nullable: true,
    };
    assert.equal((await check(schema, fitting)).issues, undefined);
    const wrong = { ...fitting, low: 0, high: 10, plain: 11, name: 5n, at: "x" };
    assert.deepEqual(
      (await check(schema, wrong)).issues?.map(({ path }) => path),
      ["low", "high", "plain", "at"],
    );
  });

  it("are refused by a check without translation", () => {
    for (const part of [
      { maximum: 3, exclusiveMaximum: true },
      { type: "string", nullable: true },
    ])
      assert.throws(
        () => checkJson({ type: "object", properties: { a: part } }, { a: 1 }),
        (error) => isBowlineError(error) && /cannot be checked/.test(error.message),
      );
  });
});

it("unions without a discriminator are checked in linear time", async () => {
  const node = (...names: string[]): object => ({
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, { $ref: "#/$defs/tree" }])),
  });
  const schema = {
    type: "object",
    properties: { tree: { $ref: "#/$defs/tree" } },
    $defs: {
      tree: {
        anyOf: [
          { ...node("left", "right"), required: ["left"] },
          { ...node("right", "left", "more"), required: ["right"] },
          { ...node("left", "right", "most"), required: ["right", "left"] },
          { type: "object", properties: { leaf: { type: "number" } }, required: ["leaf"] },
        ],
      },
    },
  };
  const grow = (depth: number, leaf: unknown): object =>
    depth === 0 ? { leaf } : { left: grow(depth - 1, leaf), right: grow(depth - 1, leaf) };
  const from = cpuMs();
  assert.equal((await check(schema, { tree: grow(9, 1) })).issues, undefined);
  assert.deepEqual(await check(schema, { tree: grow(9, "1") }), {
    value: { tree: grow(9, 1) },
  });
  const { issues = [] } = await check(schema, { tree: grow(9, "x") });
  assert.match(issues[0]?.message ?? "", /^expected one of/);
  assert.ok(cpuMs() - from < 5000);
});
