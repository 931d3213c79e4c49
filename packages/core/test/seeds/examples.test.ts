/** Every example that shows what it prints compiles as a user's program, and prints just that. */
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, parse } from "node:path";
import { after, before, describe, it } from "node:test";
import { createPrograms, type Programs } from "./programs.ts";

const folder = join(import.meta.dirname, "../../../../examples");
// The first asks a real wire: readme.test.ts has a server for it. One is `.mts` and so apart from the other TypeScript of the
// repository, which is one program: what it declares by merging would hold for all of it. The twelfth needs bowline too:
// packages/bowline/test/tools/package.test.ts has it.
const files = globSync("*.{ts,mts}", { cwd: folder })
  .filter((file) => !/^(?:01|12)-/.test(file))
  .toSorted();

describe("the examples", { concurrency: 2 }, () => {
  let programs: Programs;
  let errors: ReadonlyMap<string, readonly string[]>;

  before(async () => {
    programs = await createPrograms();
    for (const file of files) await programs.add(parse(file).name, await readFile(join(folder, file), "utf8"));
    errors = await programs.check();
  });
  after(() => programs[Symbol.asyncDispose]());

  for (const file of files) {
    it(`${file} prints what it says at its end`, async () => {
      const { name } = parse(file);
      assert.deepEqual(errors.get(name), undefined);
      const expected = /\/\* Prints:\n(.*)\*\/\n$/s.exec(await readFile(join(folder, file), "utf8"))?.[1];
      const { code, stdout, stderr } = await programs.run(name);
      assert.equal(stdout, expected, stderr);
      assert.equal(code, 0, stderr);
    });
  }
});
