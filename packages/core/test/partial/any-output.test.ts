/** The schema of an output that is not an object. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { anyOutput } from "../../src/partial/index.ts";

describe("a schema of any output", () => {
  it("is described to the model once, as a property of an object with the definitions beside it", () => {
    const list = (ref: string): object => ({ type: "array", items: { $ref: ref } });
    const text = { type: "string" };
    const none = { type: "null" };
    const root = { $ref: "#/$defs/value" };
    const cases: [inner: object, value: object, definitions: object][] = [
      [text, text, {}],
      [{ ...text, $schema: "https://json-schema.org/draft/2020-12/schema" }, text, {}],
      [list("#"), root, { $defs: { value: list("#/$defs/value") } }],
      [
        { ...list("#"), $defs: { value: none } },
        { $ref: "#/$defs/value_" },
        { $defs: { value: none, value_: list("#/$defs/value_") } },
      ],
      [{ ...list("#/$defs/a"), $defs: { a: text } }, list("#/$defs/a"), { $defs: { a: text } }],
      [
        { ...list("#/definitions/a"), definitions: { a: text } },
        list("#/definitions/a"),
        { definitions: { a: text } },
      ],
    ];
    for (const [inner, value, definitions] of cases) {
      const output = anyOutput(inner);
      assert.equal(output.inner, inner);
      assert.deepEqual(output["~standard"].jsonSchema.input({ target: "draft-2020-12" }), {
        type: "object",
        properties: { value },
        required: ["value"],
        additionalProperties: false,
        ...definitions,
      });
    }
  });

  it("refuses what is not a schema, with the reason", () => {
    const silent = {
      "~standard": { version: 1, vendor: "x", validate: (value: unknown) => ({ value }) },
    };
    const cases = [
      [5, /must be a JSON Schema, or a Standard Schema that provides one/],
      [silent, /must be a JSON Schema, or a Standard Schema that provides one/],
      [z.date(), /cannot be written as JSON Schema: Date cannot/],
      [{ type: "strng" }, /strng/],
    ] as const;
    for (const [schema, message] of cases)
      assert.throws(() => anyOutput(schema), { code: "invalid_argument", message });
  });
});
