/**
 * The checker agrees with another validator on random schemas, and with the official JSON Schema
 * Test Suite. The suite is on npm only up to draft 6. To run it, check
 * https://github.com/json-schema-org/JSON-Schema-Test-Suite out and name the folder:
 * JSON_SCHEMA_TEST_SUITE=<folder> npm test -- oracle
 */
import { Validator } from "@cfworker/json-schema";
import fc from "fast-check";
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { isBowlineError } from "../src/errors.ts";
import { checkJson } from "../src/json-schema.ts";
import type { JsonSchema } from "../src/schema.ts";
import { mangle, plainValues, schemaOf, schemas, values } from "./json-schemas.ts";
import { sweep } from "../../../test/support/sweep.ts";

const roots = fc.tuple(schemas, schemas).map(([schema, x]): JsonSchema => ({
  ...(typeof schema === "boolean" ? { allOf: [schema] } : schema),
  $defs: { x },
}));

/** Strict validation: a value that fits is not repaired, so the same object is returned. */
const fits = (schema: JsonSchema | boolean, value: unknown): boolean => {
  const result = checkJson(schema, value);
  return result.issues === undefined && Object.is(result.value, value);
};

const oracle = (schema: JsonSchema, value: unknown): boolean =>
  new Validator(structuredClone(schema), "2020-12").validate(value).valid;

describe("on random schemas and values", () => {
  it("accepts the same values as another validator", (context) => {
    const counts = { fit: 0, all: 0 };
    fc.assert(
      fc.property(roots, values, (schema, value) => {
        const expected = oracle(schema, value);
        counts.all += 1;
        if (expected) counts.fit += 1;
        assert.equal(fits(schema, value), expected);
      }),
      { numRuns: sweep({ long: 3000, short: 750 }) },
    );
    context.diagnostic(`${counts.all} compared, ${counts.fit} of them fit`);
  });

  it("repairs a value so that the other validator accepts it, or gives issues, and never changes its input", (context) => {
    let count = 0;
    fc.assert(
      fc.property(roots, values, (schema, value) => {
        const before = structuredClone(value);
        const result = checkJson(schema, value);
        assert.deepEqual(value, before);
        if (result.issues !== undefined) assert.ok(result.issues.length > 0);
        else if (result.value !== value) {
          count += 1;
          assert.ok(fits(schema, result.value) && oracle(schema, result.value));
        }
      }),
      { numRuns: sweep({ long: 3000, short: 750 }) },
    );
    context.diagnostic(`${count} mended`);
  });

  it("restores a value whose parts were written as strings", () => {
    fc.assert(
      fc.property(plainValues, fc.integer({ min: 1, max: 4 }), (value, step) => {
        const result = checkJson(schemaOf(value), mangle(value, step));
        assert.deepEqual(result, { value });
      }),
      { numRuns: sweep({ long: 500, short: 150 }) },
    );
  });

  it("never throws, for any JSON", () => {
    fc.assert(fc.property(roots, fc.jsonValue(), (schema, value) => void checkJson(schema, value)));
  });
});

/** Tests of features that are refused instead of checked: whole files first, then groups. */
const refusedFiles: Readonly<Record<string, string>> = {
  "dynamicRef.json": "$dynamicRef, and $ref by relative address",
  "refRemote.json": "$ref to other documents",
  "unevaluatedItems.json": "the keyword",
  "unevaluatedProperties.json": "the keyword",
};
const refusedGroups: Readonly<Record<string, readonly string[]>> = {
  // $ref by an address that must be resolved against another
  "anchor.json": [
    "Location-independent identifier with absolute URI",
    "Location-independent identifier with base URI change in subschema",
    "same $anchor with different base uri",
  ],
  "ref.json": [
    "Recursive references between schemas",
    "relative refs with absolute uris and defs",
    "$id must be resolved against nearest parent, not just immediate parent",
    "order of evaluation: $id and $ref on nested schema",
    "URN base URI with URN and JSON pointer ref",
    "URN base URI with URN and anchor ref",
    "ref with absolute-path-reference",
    "remote ref, containing refs itself", // the metaschema
    "ref creates new scope when adjacent to keywords", // unevaluatedProperties
  ],
  "defs.json": ["validate definition against metaschema"],
  "not.json": ["collect annotations inside a 'not', even if collection is disabled"], // unevaluatedProperties
};
/** Tests with different results here: metaschemas are not read, so they cannot disable keywords. */
const skipped: Readonly<Record<string, readonly string[]>> = {
  "vocabulary.json": ["schema that uses custom metaschema with with no validation vocabulary"],
};

interface Group {
  readonly description: string;
  readonly schema: JsonSchema | boolean;
  readonly tests: readonly {
    readonly description: string;
    readonly data: unknown;
    readonly valid: boolean;
  }[];
}

const suite = process.env.JSON_SCHEMA_TEST_SUITE;
const folder = join(suite ?? "", "tests/draft2020-12");
const skip = suite === undefined ? "JSON_SCHEMA_TEST_SUITE names no folder" : false;

describe("on the official suite for draft 2020-12", { skip }, () => {
  const files =
    suite === undefined ? [] : readdirSync(folder).filter((file) => file.endsWith(".json"));
  for (const file of files) {
    it(file, (context) => {
      const groups = JSON.parse(readFileSync(join(folder, file), "utf8")) as Group[];
      let passed = 0;
      const refused: string[] = [];
      for (const { description, schema, tests } of groups) {
        if (skipped[file]?.includes(description)) continue;
        for (const test of tests) {
          try {
            assert.equal(
              fits(schema, test.data),
              test.valid,
              `${description}: ${test.description}`,
            );
            passed += 1;
          } catch (error) {
            if (!isBowlineError(error)) throw error;
            if (!refused.includes(description)) refused.push(description);
          }
        }
      }
      const all = groups.map(({ description }) => description);
      assert.deepEqual(
        refused.toSorted(),
        (file in refusedFiles ? all : (refusedGroups[file] ?? [])).toSorted(),
      );
      context.diagnostic(
        `${file}: ${passed} passed, ${refused.length} of ${groups.length} schemas refused`,
      );
    });
  }
});
