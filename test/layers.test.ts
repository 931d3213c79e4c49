import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import {
  findViolations,
  type ImportGraph,
  importsOf,
  isNodeFile,
  layers,
  reachableNodeImports,
} from "../scripts/layers.ts";

const root = join(import.meta.dirname, "..");
const coreManifest = readManifest("packages/core/package.json");
const { dependencies = {}, peerDependencies = {} } = coreManifest;
const rules = { layers, dependencies: Object.keys({ ...dependencies, ...peerDependencies }) };

describe("the built graph of core", () => {
  const graph = readGraph("packages/core/dist");

  it("has files", () => assert.ok(graph.size > 0));

  it("keeps the direction of imports", () => assert.deepEqual(findViolations(graph, rules), []));

  for (const [key, target] of Object.entries(coreManifest.exports)) {
    if (typeof target === "string") continue;
    const entry = target.default.replace("./dist/", "");
    if (isNodeFile(entry)) continue;
    it(`reaches no node: module from the entry ${key}`, () => {
      assert.ok(graph.has(entry), `${entry} was not built`);
      assert.deepEqual(reachableNodeImports(graph, entry), []);
    });
  }
});

describe("the built graph of bowline", () => {
  const graph = readGraph("packages/bowline/dist");
  const entries = Object.keys(coreManifest.exports).map((key) => `@bowline/core${key.slice(1)}`);

  it("imports core by its entries only", () => {
    const wrong = [...graph].flatMap(([file, specifiers]) =>
      specifiers
        .filter((specifier) => specifier.startsWith("@bowline/") && !entries.includes(specifier))
        .map((specifier) => `${file}: ${specifier}`),
    );
    assert.deepEqual(wrong, []);
  });

  it("stays inside its own folder", () => {
    const outside = [...graph].flatMap(([file, specifiers]) =>
      specifiers
        .filter(
          (specifier) =>
            specifier.startsWith(".") &&
            !existsSync(join(root, "packages/bowline/dist", file, "..", specifier)),
        )
        .map((specifier) => `${file}: ${specifier}`),
    );
    assert.deepEqual(outside, []);
  });
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
    findViolations(new Map(Object.entries({ ...clean, ...changes })), {
      layers,
      dependencies: ["@scope/declared"],
    });

  it("pass a clean graph", () => assert.deepEqual(check({}), []));

  const breaches: [string, Record<string, string[]>][] = [
    ["agent imports a provider", { "agent/loop.js": ["../providers/openai-chat/index.js"] }],
    ["agent imports a session", { "agent/loop.js": ["../session/store.js"] }],
    ["agent imports transport", { "agent/loop.js": ["../transport/sse.js"] }],
    ["agent imports Node", { "agent/loop.js": ["node:fs"] }],
    [
      "session imports compat",
      { "session/store.js": ["../compat/karl/index.js"], "compat/karl/index.js": [] },
    ],
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

  it("read every form of import and no comment", () => {
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
});

function readGraph(folder: string): ImportGraph {
  const files = globSync("**/*.js", { cwd: join(root, folder) });
  return new Map(
    files.map((file) => [file, importsOf(readFileSync(join(root, folder, file), "utf8"))]),
  );
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
}

function readManifest(file: string): Manifest {
  return JSON.parse(readFileSync(join(root, file), "utf8")) as Manifest;
}
