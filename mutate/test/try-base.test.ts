import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { wires } from "../acceptors/accept.ts";
import { generatedAnswers } from "../bases.ts";
import { tryBase } from "../try-base.ts";

describe("a few mutants of generated answers", () => {
  for (const wire of wires)
    it(`of ${wire} are read as its acceptor reads them`, async () => {
      for (const base of await generatedAnswers(wire, 1, 16)) {
        const { findings } = await tryBase(base, 12, "1");
        assert.deepEqual(findings, []);
      }
    });
});
