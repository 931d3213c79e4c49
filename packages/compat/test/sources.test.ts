/**
 * The formats of other libraries are thin: few executable lines, and no import from core that a
 * user could not make.
 */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { importsOf } from "../../../scripts/import-graph.ts";

const root = join(import.meta.dirname, "../src");
const core = join(import.meta.dirname, "../../core");
const files = globSync("**/*.ts", { cwd: root });

const { exports } = JSON.parse(readFileSync(join(core, "package.json"), "utf8")) as {
  exports: Record<string, string | { "@bowline/source": string }>;
};
/** The names that a user can import from core, as `specifier#name`. */
const publicNames = new Set(
  Object.entries(exports).flatMap(([entry, target]) => {
    if (typeof target === "string" || entry === "./testing") return [];
    const code = readFileSync(join(core, target["@bowline/source"]), "utf8");
    return exportedNames(code).map((name) => `@bowline/core${entry.slice(1)}#${name}`);
  }),
);
const read = (file: string): string => readFileSync(join(root, file), "utf8");

describe("the sources of the formats", () => {
  // Requirements: K5
  it("have under 300 executable lines each, and so does their shared code", () => {
    const folders = { karl: 0, codelet: 0, gai: 0, ".": 0 };
    for (const file of files) {
      // karl's runner is separate from the loop (seed 000, K6), and the seed keeps it in separate
      // files, too.
      if (/^karl\/(?:run-task|task-\w+)\.ts$/.test(file)) continue;
      // Seed 003 asks for providers and a runner besides the loop.
      if (file.startsWith("gateway/")) continue;
      folders[(file.split("/").at(-2) ?? ".") as keyof typeof folders] += linesThatRun(read(file));
    }
    for (const [folder, lines] of Object.entries(folders))
      assert.ok(lines > 50 && lines < 300, `${folder}: ${lines}`);
  });

  // Requirements: K5, G1
  it("import only names that core's entries export", () => {
    assert.ok(
      publicNames.has("@bowline/core/agent#agentLoopContinue") &&
        publicNames.has("@bowline/core#Message"),
    );
    assert.deepEqual(
      files.flatMap((file) => notPublic(file, read(file)).map((name) => `${file}: ${name}`)),
      [],
    );
  });
});

describe("the rules for these sources", () => {
  it("count every line of a statement except imports, export lists and types", () => {
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

  it("reject a name that its entry does not export, files of core, a package and imports that hide names", () => {
    const code = `import { isRecord, type JsonSchema } from "@bowline/core/json-value";
import type { Message, NotThere } from "@bowline/core";
import * as core from "@bowline/core";
import { AgentEvent, own } from "./own.ts";
import { shared } from "../parts.ts";
import { inner } from "../../../core/src/clock.ts";
import clock, { systemClock } from "@bowline/core";
import "@bowline/core/agent";
import { createScriptedModel } from "@bowline/core/testing";
import { z } from "zod";
export * from "@bowline/core/session";
export { emptyMessage } from "@bowline/core";
core.addUsage; core.noSuchThing;`;
    assert.deepEqual(notPublic("gai/file.ts", code), [
      "@bowline/core/agent",
      "@bowline/core/session",
      "@bowline/core",
      "@bowline/core/json-value#isRecord",
      "@bowline/core/json-value#JsonSchema",
      "@bowline/core#NotThere",
      "@bowline/core#noSuchThing",
      "../../../core/src/clock.ts",
      "@bowline/core/testing#createScriptedModel",
      "zod#z",
      "@bowline/core#emptyMessage",
    ]);
  });
});

/** Counts the lines without comments, blank lines, imports, export lists and types. */
function linesThatRun(code: string): number {
  const withoutComments = code.replaceAll(/^\s*(?:\/\*[^]*?\*\/|\/\/.*)\n/gm, "");
  return withoutComments
    .split(/\n(?=\w)/) // a statement begins at the margin
    .filter((statement) => !/^(?:export )?(?:import |interface |type |[{*])/.test(statement))
    .flatMap((statement) => statement.split("\n"))
    .filter((line) => line.trim() !== "").length;
}

/**
 * The imports of a file that no user of core could make: imports that hide names, files of other
 * packages, and names that are not exported.
 */
function notPublic(file: string, code: string): string[] {
  const lists = listsOf(code);
  const unread = importsOf(code);
  for (const { from } of lists) unread.splice(unread.indexOf(from), 1);
  const wrong = lists.flatMap(({ from, names }) => {
    if (from.startsWith(".")) return join(file, "..", from).startsWith("..") ? [from] : [];
    return names.map((name) => `${from}#${name}`).filter((name) => !publicNames.has(name));
  });
  return [...unread, ...wrong];
}

/** The names in an entry's export lists and exported declarations. */
function exportedNames(code: string): string[] {
  const declared = [
    ...code.matchAll(/^export (?:function|class|const|interface|type) (\w+)/gm),
  ].map(([, name = ""]) => name);
  const own = [...code.matchAll(/^export \{([^}]*)\};/gm)].flatMap(([, names = ""]) =>
    namesIn(names),
  );
  const listed = listsOf(code).flatMap(({ names, isExport }) => (isExport ? names : []));
  return [...declared, ...own, ...listed];
}

interface NameList {
  readonly from: string;
  readonly names: readonly string[];
  readonly isExport: boolean;
}

/** The names that a file imports or re-exports; of a namespace, the names it uses. */
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
