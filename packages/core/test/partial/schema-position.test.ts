/** Values of which the schema has a list: shown when they are complete and in the list. */
import fc from "fast-check";
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkJson } from "../../src/json-schema.ts";
import type { JsonSchema } from "../../src/json-value.ts";
import { GrowingJson } from "../../src/partial/growing-json.ts";
import { SchemaPosition } from "../../src/partial/schema-position.ts";
import { schemas, values } from "../json-schemas.ts";

/** Everything that is shown of a text, letter by letter, as JSON. */
function shown(schema: JsonSchema, text: string): string[] {
  const json = new GrowingJson({ mode: "text", position: new SchemaPosition(schema) });
  const seen: string[] = [];
  for (const letter of text) {
    json.write(letter);
    const now = JSON.stringify(json.live.value) ?? "";
    if (now !== (seen.at(-1) ?? "")) seen.push(now);
  }
  json.end();
  return seen;
}

const kinds = ["a", "ab", "abc"];
const of = (schema: JsonSchema, value: unknown): unknown[] =>
  shown({ type: "object", properties: { k: schema } }, JSON.stringify({ k: value }))
    .map((text) => (JSON.parse(text) as { k?: unknown }).k)
    .slice(1);

it("references in a circle accept any value", () => {
  const schema = {
    type: "object",
    properties: { k: { $ref: "#/$defs/a" } },
    $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } },
  };
  assert.deepEqual(shown(schema, '{"k":{"x":1}}').at(-1), '{"k":{"x":1}}');
});

describe("a schema that refers to itself in two places", () => {
  it("costs the same at each level of the value", () => {
    let reads = 0;
    const counted = (schema: JsonSchema): JsonSchema =>
      new Proxy(schema, { get: (target, name) => (reads++, target[name as string]) });
    const two = counted({
      type: "object",
      properties: {
        op: { enum: ["add", "mul"] },
        left: { $ref: "#/$defs/e" },
        right: { $ref: "#/$defs/e" },
      },
    });
    const schema = {
      $ref: "#/$defs/e",
      $defs: { e: { anyOf: [two, { ...two, required: ["op"] }, { type: "number" }] } },
    };
    const readsAt = (depth: number): number => {
      let value: unknown = 1;
      for (let at = 0; at < depth; at++) value = { op: "mul", left: value, right: 2 };
      reads = 0;
      const json = new GrowingJson({ mode: "text", position: new SchemaPosition(schema) });
      json.write(JSON.stringify(value));
      assert.deepEqual(json.live.value, value);
      return reads;
    };
    const first = readsAt(4);
    assert.ok(readsAt(8) < 3 * first, `${readsAt(8)} reads, ${first} at half the depth`);
  });
});

describe("a value of which the schema has a list", () => {
  it("is shown when it is complete and in the list, in any form of the list", () => {
    const forms: JsonSchema[] = [
      { enum: kinds },
      { type: "string", enum: kinds },
      { anyOf: kinds.map((value) => ({ const: value })) },
      { oneOf: [{ enum: kinds }, { type: "null" }] },
      { allOf: [{ type: "string" }, { enum: kinds }] },
      { type: ["string", "null"], enum: kinds },
      { allOf: [{ type: "string" }], enum: kinds },
      { anyOf: [{ type: "string" }], enum: kinds },
      { $ref: "#/$defs/any", enum: kinds },
    ];
    for (const schema of forms) {
      assert.deepEqual(of(schema, "ab"), ["ab"], JSON.stringify(schema));
      assert.deepEqual(of(schema, "b"), [], JSON.stringify(schema));
      assert.deepEqual(of(schema, 5), [], JSON.stringify(schema));
      assert.deepEqual(of(schema, ["ab"]), [], JSON.stringify(schema));
    }
    assert.deepEqual(of({ enum: [1, 12] }, 12), [12]);
    assert.deepEqual(of({ enum: [1, 12] }, 2), []);
    assert.deepEqual(of({ const: "" }, ""), [""]);
  });

  it("is shown when it is complete if another member of a union takes it", () => {
    const free = { anyOf: [{ enum: kinds }, { type: "string" }] };
    assert.deepEqual(of(free, "xyz"), ["xyz"]);
    const or = { anyOf: [{ const: "none" }, { type: "object", properties: {} }] };
    assert.deepEqual(of(or, { x: 1 }), [{}, { x: 1 }]);
    assert.deepEqual(of(or, []), []);
    assert.deepEqual(of({ anyOf: [{ const: null }, { type: "string" }] }, "ab"), ["a", "ab"]);
  });

  it("grows letter by letter if another member of a union says nothing about its name", () => {
    const union = { anyOf: [{ properties: { k: { enum: kinds } } }, { type: "object" }] };
    assert.deepEqual(shown(union, '{"k":"xyz"}'), ["{}", '{"k":"x"}', '{"k":"xy"}', '{"k":"xyz"}']);
  });

  it("is shown as any other value if more than 64 members of a union have different lists", () => {
    for (const [count, expected] of [
      [64, "{}"],
      [65, '{"k":"xyz"}'],
    ] as const) {
      const anyOf = Array.from({ length: count }, (_, at) => ({
        properties: { k: { const: `${at}` } },
      }));
      assert.equal(shown({ anyOf }, '{"k":"xyz"}').at(-1), expected);
    }
  });

  it("is found by references, in items, and in other properties", () => {
    const schema = {
      type: "object",
      properties: {
        list: { type: "array", items: { $ref: "#/$defs/kind" } },
        pair: { type: "array", prefixItems: [{ type: "string" }, { $ref: "#/$defs/kind" }] },
        inner: { $ref: "#" },
      },
      additionalProperties: { $ref: "#/$defs/kind" },
      $defs: { kind: { enum: kinds } },
    };
    const text = JSON.stringify({
      list: ["abc", "a"],
      pair: ["no", "ab"],
      inner: { other: "ab", wrong: "x" },
    });
    const seen = shown(schema, text);
    assert.deepEqual(JSON.parse(seen.at(-1) ?? ""), {
      list: ["abc", "a"],
      pair: ["no", "ab"],
      inner: { other: "ab" },
    });
    assert.ok(!seen.some((one) => /"(?:list":\["a"|other":"a")/.test(one)));
    assert.ok(seen.some((one) => one.includes('"pair":["n"')));
  });

  it("is found in the members of a union that may describe the object", () => {
    const member = (name: string, more: JsonSchema): JsonSchema => ({
      type: "object",
      properties: { type: { const: name }, ...more },
    });
    const text: JsonSchema = { type: "string" };
    const union = [
      member("dot", { k: { enum: kinds } }),
      member("line", { k: text }),
      { type: "null" },
    ];
    for (const schema of [{ anyOf: union }, { oneOf: union }, { allOf: [{ anyOf: union }] }]) {
      const seen = of(schema, { type: "line", k: "abcd" });
      assert.deepEqual(seen.slice(1), [{ type: "line" }, { type: "line", k: "abcd" }]);
      assert.deepEqual(of(schema, { type: "dotted" }), [{}]);
    }
    const both = { allOf: [member("dot", {}), { properties: { other: text } }] };
    assert.deepEqual(of(both, { type: "x", other: "y" }).at(-1), { other: "y" });
    const closed = { ...member("line", {}), additionalProperties: false };
    const either = { anyOf: [member("dot", { k: { enum: kinds } }), closed] };
    assert.deepEqual(of(either, { k: "abcd" }), [{}]);
  });

  it("is shown as any other value if its name may match a pattern", () => {
    for (const additionalProperties of [{ enum: kinds }, false]) {
      const patternProperties = { "^x": { type: "string" } };
      const schema = { type: "object", patternProperties, additionalProperties };
      assert.deepEqual(of(schema, { x1: "zz" }).at(-1), { x1: "zz" });
    }
  });

  it("ends an array before the first item that is not in the list", () => {
    const schema = { type: "array", items: { enum: kinds } };
    assert.equal(shown(schema, '["a","b","ab"]').at(-1), '["a"]');
    const nested = { type: "array", items: schema };
    assert.equal(shown(nested, '[["a"],["b",["ab"]],["abc"]]').at(-1), '[["a"],[],["abc"]]');
  });

  it("is hidden from no value that fits, for random schemas", (context) => {
    const counts = { fit: 0, closed: 0 };
    fc.assert(
      fc.property(schemas, schemas, values, (part, x, value) => {
        const schema = { properties: { part }, $defs: { x } };
        const document = { part: value };
        const checked = checkJson(schema, document);
        if (checked.issues !== undefined || checked.value !== document) return;
        const text = JSON.stringify(document);
        const last = shown(schema, text).at(-1) ?? "";
        counts.fit++;
        if (text.includes('"')) counts.closed++;
        assert.deepEqual(JSON.parse(last), JSON.parse(text), JSON.stringify(schema));
      }),
      { numRuns: 5000, seed: 20261127 },
    );
    context.diagnostic(`${counts.fit} values fit`);
    assert.ok(counts.fit > 500);
  });

  it("is never shown in part, for random documents", () => {
    const allowed = new Set<unknown>([undefined, ...kinds, null, 7]);
    const schema = {
      type: "object",
      properties: {
        kind: { anyOf: [{ enum: kinds }, { const: 7 }, { type: "null" }] },
        rows: {
          type: "array",
          items: { type: "object", properties: { kind: { enum: kinds } } },
        },
      },
    };
    const kind = fc.oneof(fc.constantFrom(...kinds, "abcd", "", 7, 8, null), fc.string());
    fc.assert(
      fc.property(
        fc.record({ kind, rows: fc.array(fc.record({ kind, text: fc.string() })) }),
        (document) => {
          for (const text of shown(schema, JSON.stringify(document))) {
            const live = JSON.parse(text) as Partial<typeof document>;
            assert.ok(allowed.has(live.kind), text);
            for (const row of live.rows ?? [])
              assert.ok(row.kind === undefined || kinds.includes(row.kind as string), text);
          }
        },
      ),
      { numRuns: 500, seed: 20261128 },
    );
  });
});
