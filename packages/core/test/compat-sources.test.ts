/**
 * The shapes of other libraries are thin: few lines that run, and nothing of the package that its
 * users could not import.
 */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { importsOf } from "../../../scripts/import-graph.ts";

const root = join(import.meta.dirname, "../src");
const read = (file: string): string => readFileSync(join(root, file), "utf8");
const files = globSync("compat/**/*.ts", { cwd: root });

const { exports } = JSON.parse(read("../package.json")) as {
  exports: Record<string, string | { "@bowline/source": string }>;
};
const entries = Object.entries(exports).flatMap(([name, target]) =>
  typeof target === "string" || name.startsWith("./compat/")
    ? []
    : [target["@bowline/source"].replace("./src/", "")],
);
/**
 * What a user can import, as `file#name`: of an entry, and of the file that the entry has it from.
 */
const publicNames = new Set(entries.flatMap((entry) => exportedNames(entry, read(entry))));

describe("the shapes", () => {
  it("run in under 200 lines each, and what they share does, too [K5]", () => {
    const folders = { karl: 0, codelet: 0, gai: 0, ".": 0 };
    for (const file of files) {
      // karl's runner is a thing beside the loop (seed 000, K6), with files of its own in the seed,
      // too.
      if (file === "compat/karl/run-task.ts") continue;
      folders[(file.split("/").at(-2) ?? "").replace("compat", ".") as keyof typeof folders] +=
        linesThatRun(read(file));
    }
    for (const [folder, lines] of Object.entries(folders))
      assert.ok(lines > 50 && lines < 200, `${folder}: ${lines}`);
  });

  it("import only names that the package's entries export [K5, G1]", () => {
    assert.ok(
      publicNames.has("agent/index.ts#agentLoopContinue") &&
        publicNames.has("llm/message.ts#Message"),
    );
    assert.deepEqual(
      files.flatMap((file) => notPublic(file, read(file)).map((name) => `${file}: ${name}`)),
      [],
    );
  });
});

describe("the rules for the shapes", () => {
  it("count every line of a statement but imports, lists of exports and types", () => {
    const code = `/** A file. */
import {
  a,
} from "./a.ts";
export type { B } from "./b.ts";
export { a };

interface C {
  b: B;
}
export type D =
  | "d";

/**
 * A function.
 */
export function e(
  f: C,
): D {
  // what it gives
  return f.b; // a line

}
`;
    assert.equal(linesThatRun(code), 5);
  });

  it("refuse a name that is exported by no entry, or by another file, a package and every form that hides names", () => {
    const code = `import { isRecord, type JsonSchema } from "../../json-value.ts";
import type { Message, NotThere } from "../../llm/message.ts";
import * as usage from "../../llm/usage.ts";
import { AgentEvent, own } from "./own.ts";
import clock, { systemClock } from "../../clock.ts";
import "../../errors.ts";
import { z } from "zod";
export * from "../../schema.ts";
export { emptyMessage } from "../../llm/event.ts";
usage.addUsage; usage.noSuchThing;`;
    assert.deepEqual(notPublic("compat/gai/file.ts", code), [
      "../../clock.ts",
      "../../errors.ts",
      "zod",
      "../../schema.ts",
      "json-value.ts#isRecord",
      "json-value.ts#JsonSchema",
      "llm/message.ts#NotThere",
      "llm/usage.ts#noSuchThing",
      "llm/event.ts#emptyMessage",
    ]);
  });
});

/**
 * Lines that are left when comments, blank lines, imports, lists of exports and types are taken
 * out.
 */
function linesThatRun(code: string): number {
  const withoutComments = code.replaceAll(/^\s*(?:\/\*[^]*?\*\/|\/\/.*)\n/gm, "");
  return withoutComments
    .split(/\n(?=\w)/) // a statement begins at the margin
    .filter((statement) => !/^(?:export )?(?:import |interface |type |[{*])/.test(statement))
    .flatMap((statement) => statement.split("\n"))
    .filter((line) => line.trim() !== "").length;
}

/**
 * What a file outside its own folder imports that no user could: modules that are not read name by
 * name, and names.
 */
function notPublic(file: string, code: string): string[] {
  const lists = listsOf(code).filter(({ from }) => from.startsWith("."));
  const unread = importsOf(code).filter(
    (specifier) => !lists.some(({ from }) => from === specifier),
  );
  const names = lists.flatMap(({ from, names: given }) =>
    given.map((name) => `${join(file, "..", from)}#${name}`),
  );
  return [
    ...unread,
    ...names.filter((name) => !name.startsWith("compat/") && !publicNames.has(name)),
  ];
}

/**
 * Names in an entry's lists of exports, under the file they come from, too, and of what it declares
 * and exports.
 */
function exportedNames(entry: string, code: string): string[] {
  const lists = listsOf(code);
  const declared = [
    ...code.matchAll(/^export (?:function|class|const|interface|type) (\w+)/gm),
  ].map(([, name]) => name);
  const own = [...code.matchAll(/^export \{([^}]*)\};/gm)].flatMap(([, names = ""]) =>
    namesIn(names),
  );
  const origins = lists
    .flatMap(({ from, names, isExport }) =>
      names.filter((name) => isExport || own.includes(name)).map((name) => ({ from, name })),
    )
    .map(({ from, name }) => `${join(entry, "..", from)}#${name}`);
  const here = [
    ...declared,
    ...own,
    ...lists.flatMap(({ names, isExport }) => (isExport ? names : [])),
  ];
  return [...origins, ...here.map((name) => `${entry}#${name}`)];
}

interface NameList {
  readonly from: string;
  readonly names: readonly string[];
  readonly isExport: boolean;
}

/**
 * What a file imports and exports again name by name; the names of a namespace are those it uses.
 */
function listsOf(code: string): NameList[] {
  const lists = [
    ...code.matchAll(/^(import|export) (?:type )?(?:\{([^}]*)\}|\* as (\w+)) from "([^"]+)"/gm),
  ];
  return lists.map(([, word, list = "", space, from = ""]) => {
    const used = [...code.matchAll(new RegExp(`(?<![\\w/])${space}\\.(\\w+)`, "g"))].map(
      ([, name = ""]) => name,
    );
    return { from, names: space === undefined ? namesIn(list) : used, isExport: word === "export" };
  });
}

function namesIn(list: string): string[] {
  return list.split(",").flatMap((name) => /^\s*(?:type )?(\w+)/.exec(name)?.[1] ?? []);
}
