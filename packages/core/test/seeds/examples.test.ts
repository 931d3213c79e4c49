/**
 * Every example with expected output, and every block of the pages about agents, compiles as a
 * user's program and prints that output.
 */
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createPrograms, type Programs } from "../../../../test/support/seeds/programs.ts";

const root = join(import.meta.dirname, "../../../..");
const read = (path: string): Promise<string> => readFile(join(root, path), "utf8");
const sources = new Map<string, string>();

// readme.test.ts has a server for the first example, which uses a real wire. One example is `.mts`,
// to keep its declaration merging out of the repository's other TypeScript, which is one program.
// packages/bowline/test/tools/package.test.ts and gateway/docs.test.ts run the examples that need
// bowline.
for (const file of globSync("*.{ts,mts}", { cwd: join(root, "examples") }).toSorted()) {
  const source = await read(`examples/${file}`);
  if (!file.startsWith("01-") && !source.includes(' from "bowline/'))
    sources.set(`examples/${file}`, source);
}

// packages/bowline/test/programs.test.ts and ui-tests run the programs, which are servers.
const programsOfPages = globSync("examples/programs/*.ts", { cwd: root });
const examples = new Set([...sources.values(), ...(await Promise.all(programsOfPages.map(read)))]);
const pages = [
  "start",
  "agent",
  "runs",
  "structured-output",
  "sub-agents",
  "limits",
  "testing",
  "models",
  "provider-tools",
  "web",
];
for (const page of pages) {
  const blocks = [...(await read(`docs/${page}.md`)).matchAll(/^```ts\n(.*?)^```/gms)];
  for (const [index, [, code = ""]] of blocks.entries())
    if (!examples.has(code)) sources.set(`docs/${page}.md, block ${index + 1}`, code);
}

describe("the examples and the pages about agents", { concurrency: 2 }, () => {
  let programs: Programs;
  let errors: ReadonlyMap<string, readonly string[]>;
  const nameOf = (where: string): string => where.replaceAll(/\W+/g, "-");

  before(async () => {
    programs = await createPrograms();
    for (const [where, source] of sources) await programs.add(nameOf(where), source);
    errors = await programs.check();
  });
  after(() => programs[Symbol.asyncDispose]());

  for (const [where, source] of sources) {
    it(`${where} prints what its comment says`, async () => {
      const name = nameOf(where);
      assert.deepEqual(errors.get(name), undefined);
      const expected = /\/\* Prints:\n(.*)\*\/\n$/s.exec(source)?.[1];
      const { code, stdout, stderr } = await programs.run(name);
      assert.equal(stdout, expected, stderr);
      assert.equal(code, 0, stderr);
    });
  }
});
