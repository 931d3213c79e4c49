/**
 * Checks, issues and repairs by the schema checker. json-schema-oracle.test.ts compares it with
 * other validators.
 */
/* oxlint-disable unicorn/no-thenable -- "then" is a keyword of JSON Schema */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isBowlineError } from "../src/errors.ts";
import { checkJson } from "../src/json-schema.ts";
import { assertCheckable } from "../src/schema-links.ts";
import type { JsonSchema } from "../src/schema.ts";

/** Whether a value fits without repair: the same object is then returned. */
const fits = (schema: JsonSchema | boolean, value: unknown): boolean => {
  const result = checkJson(schema, value);
  return result.issues === undefined && Object.is(result.value, value);
};

const issues = (schema: JsonSchema | boolean, value: unknown): string[] =>
  (checkJson(schema, value).issues ?? []).map(({ path, message }) => `${path}: ${message}`);

const mended = (schema: JsonSchema | boolean, value: unknown): unknown => {
  const before = JSON.stringify(value);
  const result = checkJson(schema, value);
  assert.equal(JSON.stringify(value), before, "the value given was changed");
  assert.equal(result.issues, undefined, JSON.stringify(result.issues));
  assert.ok(fits(schema, result.value), "the mended value does not fit");
  return result.value;
};

const object = (properties: JsonSchema, required: readonly string[] = []): JsonSchema => ({
  type: "object",
  properties,
  required,
});

describe("each keyword", () => {
  const tree = { type: "object", properties: { left: { $ref: "#" }, value: { type: "number" } } };
  const keywords: [
    what: string,
    schema: JsonSchema | boolean,
    fitting: unknown[],
    others: unknown[],
  ][] = [
    ["true accepts everything", true, [null, 0, {}], []],
    ["false accepts nothing", false, [], [null, 0, {}]],
    ["no keywords accept everything", {}, [null, 0, {}], []],
    ["type string", { type: "string" }, ["", "a"], [0, null, [], {}]],
    ["type number", { type: "number" }, [0, -1.5, 1e300], ["1", null, true]],
    ["type integer accepts 1.0", { type: "integer" }, [0, 1.0, -3], [1.5, "1"]],
    ["type boolean", { type: "boolean" }, [true, false], [0, "true", null]],
    ["type null", { type: "null" }, [null], [0, "", false, {}]],
    ["type array", { type: "array" }, [[], [1]], [{}, "a"]],
    ["type object", { type: "object" }, [{}, { a: 1 }], [[], null, "a"]],
    ["several types", { type: ["integer", "null"] }, [1, null], [1.5, "a"]],
    [
      "enum",
      { enum: [1, "a", null, { a: [1] }] },
      [1, "a", null, { a: [1] }],
      [2, "b", false, { a: [2] }],
    ],
    [
      "enum ignores the order of names",
      { enum: [{ a: 1, b: 2 }] },
      [{ b: 2, a: 1 }],
      [{ a: 1 }, [1, 2]],
    ],
    ["const", { const: [1, { a: null }] }, [[1, { a: null }]], [[1], [{ a: null }, 1]]],
    ["const null", { const: null }, [null], [0, "", {}]],
    ["const false is not 0", { const: false }, [false], [0, ""]],
    ["minimum and maximum", { minimum: 1, maximum: 3 }, [1, 2.5, 3, "0"], [0.9, 3.1]],
    ["exclusive limits", { exclusiveMinimum: 1, exclusiveMaximum: 3 }, [1.1, 2.9, null], [1, 3, 4]],
    ["multipleOf in decimals", { multipleOf: 0.1 }, [0.3, 0.7, 1.1, -0.3, 0, 1e21], [0.35, 0.05]],
    ["multipleOf a small step", { multipleOf: 0.0001 }, [0.0075, 4.0001], [0.00751]],
    [
      "multipleOf of whole numbers is exact",
      { multipleOf: 2 },
      [9007199254740990],
      [9007199254740991, 1],
    ],
    [
      "lengths count characters, not units",
      { minLength: 2, maxLength: 2 },
      ["ab", "😀é", 1],
      ["a", "😀", "abc"],
    ],
    ["pattern is not anchored", { pattern: "b+" }, ["abc", 1], ["ac"]],
    ["pattern supports Unicode", { pattern: "^\\p{L}$" }, ["é", "字"], ["1"]],
    ["pattern that is invalid in Unicode mode", { pattern: "^\\-$" }, ["-"], ["+"]],
    ["items", { items: { type: "number" } }, [[], [1, 2], "a"], [["1"], [1, null]]],
    ["prefixItems", { prefixItems: [{ type: "number" }] }, [[], [1], [1, "x"]], [["x"]]],
    ["items after prefixItems", { prefixItems: [true], items: false }, [[], ["x"]], [["x", 1]]],
    [
      "items as a list",
      { items: [{ type: "number" }], additionalItems: false },
      [[1], []],
      [["x"], [1, 2]],
    ],
    ["contains", { contains: { const: 1 } }, [[1], [2, 1], "a"], [[], [2]]],
    [
      "minContains and maxContains",
      { contains: { const: 1 }, minContains: 2, maxContains: 3 },
      [[1, 1]],
      [[1]],
    ],
    ["minContains 0", { contains: { const: 1 }, minContains: 0 }, [[], [2]], []],
    ["counts of items", { minItems: 1, maxItems: 2 }, [[1], [1, 2], {}], [[], [1, 2, 3]]],
    [
      "uniqueItems",
      { uniqueItems: true },
      [[1, "1", true], [], "aa"],
      [
        [
          { a: 1, b: 2 },
          { b: 2, a: 1 },
        ],
      ],
    ],
    ["uniqueItems: false", { uniqueItems: false }, [[1, 1]], []],
    [
      "properties",
      { properties: { a: { type: "number" } } },
      [{}, { a: 1 }, { b: "x" }, []],
      [{ a: "x" }],
    ],
    [
      "patternProperties",
      { patternProperties: { "^n": { type: "number" } } },
      [{ n1: 1, x: "" }],
      [{ n1: "x" }],
    ],
    [
      "additionalProperties",
      {
        properties: { a: true },
        patternProperties: { "^b": true },
        additionalProperties: { type: "number" },
      },
      [{ a: "x", b1: "x", c: 1 }],
      [{ c: "x" }],
    ],
    ["propertyNames", { propertyNames: { maxLength: 2 } }, [{ ab: 1 }, {}], [{ abc: 1 }]],
    ["required", { required: ["a"] }, [{ a: null }, []], [{}, { b: 1 }]],
    [
      "counts of fields",
      { minProperties: 1, maxProperties: 2 },
      [{ a: 1 }],
      [{}, { a: 1, b: 2, c: 3 }],
    ],
    [
      "dependentRequired",
      { dependentRequired: { a: ["b"] } },
      [{}, { b: 1 }, { a: 1, b: 1 }],
      [{ a: 1 }],
    ],
    [
      "dependentSchemas",
      { dependentSchemas: { a: { required: ["b"] } } },
      [{}, { a: 1, b: 1 }],
      [{ a: 1 }],
    ],
    [
      "dependencies of both kinds",
      { dependencies: { a: ["b"], c: { required: ["d"] } } },
      [{}],
      [{ a: 1 }, { c: 1 }],
    ],
    ["allOf", { allOf: [{ minimum: 1 }, { maximum: 2 }] }, [1, 2], [0, 3]],
    ["anyOf", { anyOf: [{ type: "string" }, { minimum: 5 }] }, ["a", 5], [4]],
    ["oneOf", { oneOf: [{ minimum: 2 }, { multipleOf: 2 }] }, [3, 0], [4, 1]],
    ["not", { not: { type: "string" } }, [1, null], ["a"]],
    [
      "if, then, else",
      { if: { type: "string" }, then: { minLength: 2 }, else: false },
      ["ab"],
      ["a", 1],
    ],
    ["then and else without if", { then: false, else: false }, [1], []],
    [
      "$ref to the root",
      tree,
      [{ left: { left: {} } }],
      [{ left: { left: { value: "x" } } }, { left: 1 }],
    ],
    [
      "$ref into $defs",
      { $defs: { n: { type: "number" } }, items: { $ref: "#/$defs/n" } },
      [[1]],
      [["x"]],
    ],
    [
      "$ref into definitions",
      { definitions: { n: { type: "number" } }, $ref: "#/definitions/n" },
      [1],
      ["x"],
    ],
    [
      "$ref to a false schema",
      { $defs: { no: false }, items: { $ref: "#/$defs/no" } },
      [[]],
      [[1]],
    ],
    [
      "$ref with escapes",
      { $defs: { "a/b~c%": { type: "null" } }, $ref: "#/$defs/a~1b~0c%25" },
      [null],
      [1],
    ],
    [
      "$ref with siblings",
      { $defs: { n: { type: "number" } }, $ref: "#/$defs/n", minimum: 3 },
      [3],
      [2, "x"],
    ],
    ["$ref to anywhere in the schema", { x: { y: { type: "null" } }, $ref: "#/x/y" }, [null], [1]],
    [
      "$ref to an $anchor",
      { $defs: { n: { $anchor: "num", type: "number" } }, $ref: "#num" },
      [1],
      ["x"],
    ],
    [
      "$ref to an $id",
      {
        $defs: { n: { $id: "Node", properties: { n: { $ref: "Node" } }, type: "object" } },
        $ref: "Node",
      },
      [{ n: {} }],
      [{ n: 1 }],
    ],
    [
      "$ref relative to the schema with the $id",
      {
        $defs: {
          n: { $id: "Node", $defs: { v: { type: "number" } }, items: { $ref: "#/$defs/v" } },
        },
        $ref: "Node",
      },
      [[1]],
      [["x"]],
    ],
    [
      "$ref to an $id of draft 7, which is an anchor",
      {
        definitions: {
          n: { $id: "#n", items: { $ref: "#/definitions/v" } },
          v: { type: "number" },
        },
        $ref: "#n",
      },
      [[1]],
      [["x"]],
    ],
    [
      "format and other annotations are ignored",
      { format: "email", title: "t", default: 1, x: 1 },
      ["no mail", 1],
      [],
    ],
    [
      "$ref in a const is not a reference",
      { const: { $ref: "#/nowhere" } },
      [{ $ref: "#/nowhere" }],
      [{}],
    ],
  ];
  for (const [what, schema, fitting, others] of keywords) {
    it(what, () => {
      for (const value of fitting)
        assert.ok(fits(schema, value), `${JSON.stringify(value)} should fit`);
      for (const value of others)
        assert.ok(!fits(schema, value), `${JSON.stringify(value)} should not fit`);
    });
  }
});

describe("an issue gives the place, what was expected and what was received", () => {
  const shape = { $defs: { dot: object({ kind: { const: "dot" } }, ["kind"]) } };
  const circle = object({ kind: { const: "circle" }, radius: { type: "number" } }, [
    "kind",
    "radius",
  ]);
  const square = object({ kind: { const: "square" }, side: { type: "number" } }, ["kind", "side"]);
  const shapes = { ...shape, anyOf: [circle, square, { $ref: "#/$defs/dot" }] };
  const cases: [what: string, schema: JsonSchema | boolean, value: unknown, issues: string[]][] = [
    ["a type", { type: "number" }, "x", [': expected number, received the string "x"']],
    [
      "several types",
      { type: ["number", "null"] },
      {},
      [": expected number or null, received an object"],
    ],
    [
      "a long text",
      { type: "number" },
      "x".repeat(50),
      [`: expected number, received the string "${"x".repeat(40)}…"`],
    ],
    [
      "a path",
      object({ a: object({ b: { items: { type: "number" } } }) }),
      { a: { b: ["x"] } },
      ['a.b[0]: expected number, received the string "x"'],
    ],
    [
      "a null that is needed",
      object({ a: { type: "string" } }, ["a"]),
      { a: null },
      ["a: expected string, received null"],
    ],
    ["a missing property", object({}, ["a"]), {}, ["a: is required"]],
    ["an unexpected property", { additionalProperties: false }, { a: 1 }, ["a: is not expected"]],
    ["an unexpected item", { prefixItems: [true], items: false }, [1, 2], ["[1]: is not expected"]],
    [
      "a property's name",
      { propertyNames: { maxLength: 2 } },
      { abc: 1 },
      ["abc: has a name that does not fit: expected at most 2 characters, received 3"],
    ],
    [
      "an enum",
      { enum: ["a", 1, null] },
      "b",
      [': expected one of: "a", 1, null; received the string "b"'],
    ],
    ["a const", { const: "a" }, 1, [': expected "a", received number 1']],
    ["a number too small", { minimum: 2 }, 1, [": expected at least 2, received 1"]],
    ["a number too large", { exclusiveMaximum: 2 }, 2, [": expected less than 2, received 2"]],
    ["a number at its limit", { exclusiveMinimum: 2 }, 2, [": expected more than 2, received 2"]],
    ["a multiple", { multipleOf: 0.5 }, 0.7, [": expected a multiple of 0.5, received 0.7"]],
    ["a text too short", { minLength: 1 }, "", [": expected at least 1 character, received 0"]],
    [
      "a pattern",
      { pattern: "^a" },
      "b",
      [': expected text that matches ^a, received the string "b"'],
    ],
    ["too many items", { maxItems: 2 }, [1, 2, 3], [": expected at most 2 items, received 3"]],
    [
      "duplicate items",
      { uniqueItems: true },
      [1, 1],
      [": expected items that differ, received an array"],
    ],
    [
      "contains",
      { contains: { type: "number" } },
      ["a"],
      [": expected at least 1 fitting item, received 0"],
    ],
    ["too few fields", { minProperties: 2 }, {}, [": expected at least 2 fields, received 0"]],
    ["a dependency", { dependentRequired: { a: ["b"] } }, { a: 1 }, ["b: is required with a"]],
    [
      "not",
      { not: { enum: ["a"] } },
      "a",
      [': expected anything but "a", received the string "a"'],
    ],
    [
      "everything at once",
      object({ a: { type: "null" }, b: { minimum: 1 } }, ["c"]),
      { a: 1, b: 0 },
      [
        "a: expected null, received number 1",
        "b: expected at least 1, received 0",
        "c: is required",
      ],
    ],
    [
      "the member that the discriminator selects",
      shapes,
      { kind: "circle", radius: [] },
      ["radius: expected number, received an array"],
    ],
    [
      "the member by type",
      { anyOf: [circle, { type: "null" }] },
      { kind: "circle" },
      ["radius: is required"],
    ],
    [
      "the enum of the only object",
      { anyOf: [object({ m: { enum: ["a"] } }), { type: "null" }] },
      { m: "b" },
      ['m: expected one of: "a"; received the string "b"'],
    ],
    [
      "all members",
      shapes,
      { kind: "line" },
      [
        ': expected one of: object with kind "circle", radius, object with kind "square", side, object with kind "dot"; received an object',
      ],
    ],
    [
      "members of several types",
      { anyOf: [{ type: "number" }, { const: "auto" }] },
      "x",
      [': expected one of: number, "auto"; received the string "x"'],
    ],
    [
      "two members that both fit",
      { oneOf: [{ type: "number" }, { type: "integer" }] },
      1,
      [": fits more than one of: number, integer"],
    ],
    [
      "the problems left after repair",
      object({ a: { minimum: 3, type: "number" } }),
      { a: "2" },
      ["a: expected at least 3, received 2"],
    ],
    [
      "the place of each, regardless of failed repairs",
      object({
        rows: {
          items: object({ to: { anyOf: [circle, { type: "string" }] }, n: { not: { const: 0 } } }),
        },
        last: {
          propertyNames: { pattern: "^[a-z]$" },
          contains: true,
          additionalProperties: { maxLength: 1 },
        },
      }),
      {
        rows: [
          { to: "a", n: 1 },
          { to: circle, n: 0 },
          { to: [], n: 2 },
        ],
        last: { b: "bb", B: "B" },
      },
      [
        "rows[1].to.kind: is required",
        "rows[1].to.radius: is required",
        "rows[1].n: expected anything but 0, received number 0",
        'rows[2].to: expected one of: object with kind "circle", radius, string; received an array',
        "last.b: expected at most 1 character, received 2",
        'last.B: has a name that does not fit: expected text that matches ^[a-z]$, received the string "B"',
      ],
    ],
  ];
  for (const [what, schema, value, expected] of cases) {
    it(what, () => assert.deepEqual(issues(schema, value), expected));
  }

  it("up to 50 per value", () => {
    assert.equal(
      issues({ items: { type: "boolean" } }, Array.from({ length: 1000 }).fill(null)).length,
      50,
    );
  });
});

describe("a value that does not fit is repaired", () => {
  const cases: [what: string, schema: JsonSchema, value: unknown, mended: unknown][] = [
    ["a text to a number", { type: "number" }, "-5.5e0", -5.5],
    ["a text to an integer", { type: "integer" }, " 5 ", 5],
    ["a text to a boolean", { type: "boolean" }, "false", false],
    ["a text to null", { type: ["number", "null"] }, "null", null],
    ["a number to a text", { type: "string" }, 5, "5"],
    ["a boolean to a text", { type: "string" }, true, "true"],
    ["the JSON text of an object", object({ a: { type: "number" } }), '{"a":"1"}', { a: 1 }],
    [
      "the JSON text of an object with any names",
      { type: "object" },
      '{"toString":1}',
      { toString: 1 },
    ],
    [
      "the JSON text of an array",
      { type: "array", items: { type: "string" } },
      '["a", 1]',
      ["a", "1"],
    ],
    ["a single item", { type: "array", items: { type: "string" } }, "a", ["a"]],
    ["a single object", { type: "array", items: object({}) }, { a: 1 }, [{ a: 1 }]],
    [
      "a null of an optional property",
      object({ a: { type: "string" }, b: true }, ["b"]),
      { a: null, b: null },
      { b: null },
    ],
    [
      "an undefined property",
      object({ a: { type: "string" }, b: { type: "number" } }),
      { a: undefined, b: "1" },
      { b: 1 },
    ],
    [
      "a nested value",
      object({ a: { items: object({ n: { type: "number" } }) } }),
      { a: [{ n: 1 }, { n: "2" }] },
      { a: [{ n: 1 }, { n: 2 }] },
    ],
    [
      "by patternProperties",
      { patternProperties: { "^n": { type: "number" } } },
      { n: "1" },
      { n: 1 },
    ],
    ["by additionalProperties", { additionalProperties: { type: "number" } }, { n: "1" }, { n: 1 }],
    [
      "by prefixItems",
      { prefixItems: [{ type: "number" }, { type: "string" }] },
      ["1", 1],
      [1, "1"],
    ],
    ["by a $ref", { $defs: { n: { type: "number" } }, $ref: "#/$defs/n" }, "1", 1],
    [
      "by each part of allOf",
      { allOf: [object({ a: { type: "number" } }), object({ b: { type: "string" } })] },
      { a: "1", b: 2 },
      { a: 1, b: "2" },
    ],
    [
      "by the first member that fits afterwards",
      { anyOf: [{ type: "boolean" }, { type: "integer" }, { type: "number" }] },
      "1",
      1,
    ],
    [
      "by the member of the discriminator",
      {
        oneOf: [
          object({ k: { const: "a" }, v: { type: "string" } }),
          object({ k: { const: "b" }, v: { type: "number" } }),
        ],
      },
      { k: "b", v: "1" },
      { k: "b", v: 1 },
    ],
    [
      "by then",
      {
        properties: { k: { const: 1 } },
        then: object({ v: { type: "number" } }),
        if: { required: ["k"] },
      },
      { k: 1, v: "1" },
      { k: 1, v: 1 },
    ],
    [
      "by dependentSchemas",
      { dependentSchemas: { a: object({ b: { type: "number" } }) } },
      { a: 1, b: "1" },
      { a: 1, b: 1 },
    ],
    [
      "and unknown properties stay",
      object({ n: { type: "number" } }),
      { n: "1", other: { x: [null] } },
      { n: 1, other: { x: [null] } },
    ],
  ];
  for (const [what, schema, value, expected] of cases) {
    it(what, () => assert.deepEqual(mended(schema, value), expected));
  }
});

describe("a value that fits, or is ambiguous, stays unchanged", () => {
  const strings = { type: "array", items: { type: "string" } };
  const cases: [what: string, schema: JsonSchema, value: unknown][] = [
    ["an empty string for a number", { type: "number" }, ""],
    ["a hexadecimal number", { type: "number" }, "0x10"],
    ["a number with words", { type: "number" }, "5 apples"],
    ["a fraction for an integer", { type: "integer" }, "5.5"],
    ["a number that would lose digits", { type: "integer" }, "9007199254740993"],
    ["an infinite number", { type: "number" }, "1e400"],
    ["1 for a boolean", { type: "boolean" }, 1],
    ["yes for a boolean", { type: "boolean" }, "yes"],
    ["a boolean for a number", { type: "number" }, true],
    ["null for a string", { type: "string" }, null],
    ["an object for a string", { type: "string" }, { a: 1 }],
    ["a broken array for a list", strings, '["a", "b'],
    ["an item of the wrong type for a list", strings, { a: 1 }],
    ["null for a list", { type: "array" }, null],
    ["a required null", object({ a: { type: "string" } }, ["a"]), { a: null }],
    ["an unknown null", { additionalProperties: { type: "string" } }, { a: null }],
    ["a value for a recursive array schema", { type: "array", items: { $ref: "#" } }, 5],
    [
      "a value whose repair breaks another rule",
      { ...object({ a: { type: "number" } }), allOf: [object({ a: { type: "string" } })] },
      { a: "1" },
    ],
  ];
  for (const [what, schema, value] of cases) {
    it(what, () => assert.notEqual(checkJson(schema, value).issues, undefined));
  }

  it("an allowed null", () => {
    const value = { a: null, b: "1" };
    assert.deepEqual(
      mended(object({ a: { type: ["string", "null"] }, b: { type: "number" } }), value),
      {
        a: null,
        b: 1,
      },
    );
  });

  it("an object without its default values", () => {
    assert.deepEqual(mended(object({ a: { default: 1 }, b: { type: "number" } }), { b: "1" }), {
      b: 1,
    });
  });

  it("the object itself, by identity", () => {
    const value = { a: "5", nested: [{}] };
    const result = checkJson(object({ a: { type: ["string", "number"] } }), value);
    assert.ok(result.issues === undefined && result.value === value);
  });
});

describe("a hostile value", () => {
  const named = JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"number"},"constructor":{"type":"string"}}}',
  );
  const deep = (levels: number, leaf: unknown = 1): unknown => {
    let value = leaf;
    for (let level = 0; level < levels; level += 1) value = { a: value };
    return value;
  };
  const tooLarge = [": is nested too deep or too large to be checked"];

  it("is checked only by its own properties", () => {
    assert.deepEqual(issues({ required: ["constructor", "__proto__", "toString"] }, {}), [
      "constructor: is required",
      "__proto__: is required",
      "toString: is required",
    ]);
    assert.ok(fits(named as JsonSchema, {}));
    assert.ok(
      !fits({ additionalProperties: false, properties: {} }, JSON.parse('{"__proto__":1}')),
    );
  });

  it("cannot set a prototype while it is repaired", () => {
    const value = mended(
      named as JsonSchema,
      JSON.parse('{"__proto__":"5","constructor":1}'),
    ) as object;
    assert.equal(Object.getPrototypeOf(value), Object.prototype);
    assert.deepEqual(Object.entries(value), [
      ["__proto__", 5],
      ["constructor", "1"],
    ]);
  });

  it("may be nested up to a limit", () => {
    const nested = { type: ["object", "number"], properties: { a: { $ref: "#" } } };
    assert.ok(fits(nested, deep(400)));
    for (const levels of [600, 5000, 100_000])
      assert.deepEqual(issues(nested, deep(levels)), tooLarge);
  });

  it("is not compared beyond the depth of the stack", () => {
    const value = deep(100_000);
    assert.deepEqual(issues({ uniqueItems: true }, [value, value]), tooLarge);
    assert.deepEqual(issues({ const: 1 }, value), tooLarge);
    assert.equal(issues({ type: "array" }, "[".repeat(100_000)).length, 1);
  });

  it("is checked against a recursive union in bounded time", () => {
    const node = (more: JsonSchema): JsonSchema => object({ a: { $ref: "#" }, ...more }, ["a"]);
    const union = { oneOf: [node({}), node({ b: { type: "string" } }), { type: "number" }] };
    assert.match(issues(union, deep(50)).join(), /^: expected one of: [^]+; received an object$/);
  });

  it("may need a million steps in all members of a union together", () => {
    const numbers = (more: JsonSchema): JsonSchema => ({
      anyOf: [
        { type: "array", items: { type: "number" }, maxItems: 1 },
        { type: "array", items: { type: "number" }, ...more },
      ],
    });
    const zeros = (length: number): number[] => Array.from({ length }, () => 0);
    assert.ok(fits(numbers({}), zeros(100_000)));
    assert.deepEqual(issues(numbers({}), zeros(250_000)), tooLarge);
  });

  it("does not loop on a $ref that leads back to itself", () => {
    assert.deepEqual(issues({ $ref: "#" }, 1), tooLarge);
    assert.deepEqual(issues({ anyOf: [{ $ref: "#" }, { $ref: "#" }] }, 1), tooLarge);
  });

  it("may be long", () => {
    const rows = Array.from({ length: 20_000 }, (_, id) => ({ id, name: `row ${id}` }));
    const row = object({ id: { type: "integer" }, name: { type: "string" } }, ["id", "name"]);
    assert.ok(fits({ type: "array", items: row }, rows));
  });
});

describe("a schema that cannot be checked is refused on first use", () => {
  const cases: [what: string, schema: JsonSchema, message: RegExp][] = [
    [
      "unevaluatedProperties",
      object({ a: { unevaluatedProperties: false } }),
      /"unevaluatedProperties".*Standard Schema/,
    ],
    [
      "unevaluatedItems",
      { allOf: [{ unevaluatedItems: false }] },
      /"unevaluatedItems".*Standard Schema/,
    ],
    ["$dynamicRef", { $defs: { a: { $dynamicRef: "#x" } } }, /"\$dynamicRef".*Standard Schema/],
    ["$recursiveRef", { items: { $recursiveRef: "#" } }, /"\$recursiveRef".*Standard Schema/],
    [
      "a remote $ref",
      { items: { $ref: "https://example.com/a.json" } },
      /"\$ref" to https:.*Standard Schema/,
    ],
    [
      "a $ref to nothing",
      { items: { $ref: "#/$defs/a" } },
      /"\$ref" to #\/\$defs\/a cannot be resolved/,
    ],
    [
      "a $ref to a property of Object.prototype",
      { items: { $ref: "#/constructor" } },
      /cannot be resolved/,
    ],
    ["a $ref to anything but a schema", { $ref: "#/title", title: "t" }, /cannot be resolved/],
    ["a $ref that is not a string", { $ref: 5 }, /cannot be resolved/],
    ["a $ref with a broken escape", { $ref: "#/%" }, /URI malformed/],
    [
      "an $anchor of another resource",
      { $defs: { a: { $id: "other", $anchor: "x" } }, $ref: "#x" },
      /cannot be resolved/,
    ],
    ["an invalid pattern", { items: { pattern: "(" } }, /Invalid regular expression/],
    [
      "an invalid property pattern",
      { patternProperties: { "[": true } },
      /Invalid regular expression/,
    ],
  ];
  for (const [what, schema, message] of cases) {
    it(what, () => {
      const refusal = (error: unknown): boolean =>
        isBowlineError(error) && error.code === "invalid_argument" && message.test(error.message);
      assert.throws(
        () => assertCheckable(schema, 'tool "a"'),
        (error) =>
          refusal(error) && (error as Error).message.startsWith('The parameters of tool "a": '),
      );
      assert.throws(() => checkJson(schema, 1), refusal);
    });
  }

  it("but not for the same words as names or values", () => {
    const words = {
      unevaluatedProperties: true,
      $ref: { type: "number" },
      pattern: { const: { pattern: "(" } },
    };
    assertCheckable(
      { properties: words, enum: [{ $ref: "#/nowhere" }], examples: [{ $dynamicRef: "#" }] },
      "a tool",
    );
  });
});
