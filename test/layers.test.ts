import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { arrowsOfFiles, arrowsOfRooms, drawHouse } from "../scripts/floors.ts";
import {
  findViolations,
  type ImportGraph,
  importsOf,
  isNodeFile,
  reachable,
  reachableNodeImports,
  readGraph,
} from "../scripts/import-graph.ts";
import { packages } from "../scripts/layers.ts";

const root = join(import.meta.dirname, "..");
const core = packages.core as (typeof packages)[string];
/** The entries of all packages, as import specifiers. */
const entries = new Set(
  Object.keys(packages).flatMap((folder) => {
    const { name, exports } = readManifest(folder);
    return Object.keys(exports).map((key) => `${name}${key.slice(1)}`);
  }),
);

for (const [name, rules] of Object.entries(packages)) {
  describe(`the built files of ${name}`, () => {
    const manifest = readManifest(name);
    const graph = readGraph(join(root, "packages", name, "dist"), "js");
    const dependencies = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });

    it("exist", () => assert.ok(graph.size > 0));

    it("follow the direction of imports", () =>
      assert.deepEqual(findViolations(graph, rules, dependencies), []));

    it("contain no import cycle", () =>
      assert.deepEqual(drawHouse(arrowsOfFiles(graph)).circles, []));

    it("import other packages through their entries", () => {
      const wrong = [...graph].flatMap(([file, specifiers]) =>
        specifiers
          .filter((specifier) => specifier.startsWith("@bowline/") && !entries.has(specifier))
          .map((specifier) => `${file}: ${specifier}`),
      );
      assert.deepEqual(wrong, []);
    });
  });
}

describe("the built files of core", () => {
  const graph = readGraph(join(root, "packages/core/dist"), "js");
  for (const [key, target] of Object.entries(readManifest("core").exports)) {
    if (typeof target === "string") continue;
    const entry = target.default.replace("./dist/", "");
    if (isNodeFile(entry)) continue;
    it(`reach no node: module from the entry ${key}`, () => {
      assert.ok(graph.has(entry), `${entry} was not built`);
      assert.deepEqual(reachableNodeImports(graph, entry), []);
    });
  }
});

describe("the built files of bowline", () => {
  const graph = readGraph(join(root, "packages/bowline/dist"), "js");
  for (const entry of ["gateway/client/client.js", "page/main.js"]) {
    it(`reach no server code from ${entry}`, () => {
      const files = [...reachable(graph, entry)];
      const ofBrowser = /^(?:gateway\/(?:client|protocol)\/|page\/(?!node\/)|escape\.js$)/;
      assert.deepEqual(
        files.filter((file) => !ofBrowser.test(file)),
        [],
      );
    });
  }
});

describe("the layer rules", () => {
  const clean: Record<string, string[]> = {
    "index.js": ["./agent/loop.js", "./providers/openai-chat/index.js"],
    "errors.js": [],
    "transport/sse.js": ["../errors.js"],
    "llm/message.js": ["@scope/declared/path"],
    "agent/loop.js": ["../llm/message.js", "../errors.js"],
    "session/store.js": ["../llm/message.js"],
    "session/node/jsonl.js": ["node:fs", "../store.js"],
    "providers/openai-chat/index.js": ["../../transport/sse.js"],
    "testing/scripted-model.js": ["../agent/loop.js", "../session/store.js"],
  };
  const check = (changes: Record<string, string[]>): string[] =>
    findViolations(new Map(Object.entries({ ...clean, ...changes })), core, ["@scope/declared"]);

  it("accept a clean graph", () => assert.deepEqual(check({}), []));

  const breaches: [string, Record<string, string[]>][] = [
    ["agent imports a provider", { "agent/loop.js": ["../providers/openai-chat/index.js"] }],
    ["agent imports a session", { "agent/loop.js": ["../session/store.js"] }],
    ["agent imports transport", { "agent/loop.js": ["../transport/sse.js"] }],
    ["agent imports Node", { "agent/loop.js": ["node:fs"] }],
    ["session imports a provider", { "session/store.js": ["../providers/openai-chat/index.js"] }],
    ["transport imports llm", { "transport/sse.js": ["../llm/message.js"] }],
    ["llm imports a provider", { "llm/message.js": ["../providers/openai-chat/index.js"] }],
    ["a provider imports agent", { "providers/openai-chat/index.js": ["../../agent/loop.js"] }],
    ["the main entry imports testing", { "index.js": ["./testing/scripted-model.js"] }],
    ["the bottom imports transport", { "errors.js": ["./transport/sse.js"] }],
    ["a folder imports the main entry", { "agent/loop.js": ["../index.js"] }],
    ["a package is no dependency", { "llm/message.js": ["@scope/other/path"] }],
    ["an import was not built", { "llm/message.js": ["./gone.js"] }],
    ["a file has no layer", { "helpers.js": [] }],
    ["an import is computed", { "index.js": importsOf("await import(name);") }],
  ];
  for (const [name, changes] of breaches) {
    it(`fail when ${name}`, () => assert.equal(check(changes).length, 1));
  }

  it("follow a node: import through other files", () => {
    const graph: ImportGraph = new Map([
      ["index.js", ["./a.js"]],
      ["a.js", ["./node/b.js"]],
      ["node/b.js", ["node:fs"]],
    ]);
    assert.deepEqual(reachableNodeImports(graph, "index.js"), ["node/b.js: node:fs"]);
  });

  it("read every form of import and ignore comments", () => {
    const code = [
      'import a, { b } from "./a.js";',
      'import "./side-effect.js";',
      'export * from "./b.js";',
      "export {\n  c,\n  d as e\n} from './c.js';",
      'const later = () => import("./d.js");',
      'export const text = "from ./not-this.js";',
      ' * import { x } from "node:fs";',
      '// import("node:path")',
    ].join("\n");
    assert.deepEqual(importsOf(code), ["./a.js", "./side-effect.js", "./b.js", "./c.js", "./d.js"]);
  });

  it("read type-only imports", () =>
    assert.deepEqual(importsOf('import type { A } from "./a.ts";'), ["./a.ts"]));
});

describe("the folder order", () => {
  const graph: ImportGraph = new Map([
    ["top.ts", ["./left/a.ts", "./right/b.ts"]],
    ["left/a.ts", ["../right/b.ts", "../left/c.ts"]],
    ["left/c.ts", []],
    ["right/b.ts", ["../ground.ts"]],
    ["ground.ts", ["node:fs"]],
  ]);

  it("puts a folder above all that it imports", () =>
    assert.deepEqual(drawHouse(arrowsOfRooms(graph, "")), {
      floors: [["ground.ts"], ["right/"], ["left/"], ["top.ts"]],
      circles: [],
    }));

  it("names folders that import each other through different files", () => {
    const both = new Map([...graph, ["right/d.ts", ["../left/c.ts"]]]);
    assert.deepEqual(drawHouse(arrowsOfFiles(both)).circles, []);
    const [circle = []] = drawHouse(arrowsOfRooms(both, "")).circles;
    assert.deepEqual(circle.toSorted(), ["left/", "right/"]);
  });

  it("names the files of a cycle of three", () => {
    const round = new Map([...graph, ["ground.ts", ["./top.ts"]]]);
    const [circle = []] = drawHouse(arrowsOfFiles(round)).circles;
    assert.deepEqual(circle.toSorted(), ["ground.ts", "left/a.ts", "right/b.ts", "top.ts"]);
  });
});

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
}

function readManifest(folder: string): Manifest {
  return JSON.parse(
    readFileSync(join(root, "packages", folder, "package.json"), "utf8"),
  ) as Manifest;
}
