/** An editor's completions for a model name, according to TypeScript's language service. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import ts from "typescript-5.4";
import { getModel, vendors } from "../../src/index.ts";

const folder = import.meta.dirname;
const name = join(folder, "completed.ts");

/** The completions at the mark `|` of a program that calls `getModel`. */
function completionsOf(call: string): string[] {
  const text = `import { getModel } from "../../src/providers/vendors.ts";\n${call.replace("|", "")}`;
  const service = ts.createLanguageService({
    getScriptFileNames: () => [name],
    getScriptVersion: () => "1",
    getScriptSnapshot: (file) => {
      const content = file === name ? text : ts.sys.readFile(file);
      return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content);
    },
    getCurrentDirectory: () => folder,
    getCompilationSettings: () => ({
      strict: true,
      module: ts.ModuleKind.NodeNext,
      target: ts.ScriptTarget.ES2022,
      allowImportingTsExtensions: true,
      noEmit: true,
    }),
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: (file) => ts.sys.fileExists(file),
    readFile: (file) => ts.sys.readFile(file),
  });
  const at = text.length - call.length + 1 + call.indexOf("|");
  const { entries = [] } = service.getCompletionsAtPosition(name, at, {}) ?? {};
  return entries.map((entry) => entry.name);
}

describe("an editor's completion for getModel()", () => {
  it("offers the vendors", () => {
    const offered = completionsOf('getModel("|", "x");');
    for (const { id } of vendors) assert.ok(offered.includes(id), id);
  });

  it("offers only the models of the named vendor", () => {
    const offered = completionsOf('getModel("anthropic", "|");');
    assert.ok(offered.includes("claude-sonnet-5"));
    assert.ok(!offered.some((id) => id.startsWith("gpt-")));
  });

  it("offers the default model of a vendor, listed elsewhere or not", () => {
    assert.ok(completionsOf('getModel("mistral", "|");').includes("mistral-large-latest"));
  });
});

describe("getModel()", () => {
  it("accepts unlisted ids and vendors", () => {
    assert.equal(getModel("openai", "gpt-99").id, "gpt-99");
    const own = getModel("harbour", "tide-1", { baseUrl: "http://127.0.0.1:1/v1" });
    assert.equal(own.provider, "harbour");
  });
});
