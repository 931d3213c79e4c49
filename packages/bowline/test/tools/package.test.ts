/**
 * `bowline/tools` as a package: the programs in docs/tools.md and docs/other-shapes.md are
 * type-checked and run as a user does.
 */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { toJsonSchema } from "@bowline/core";
import { createTools } from "bowline/tools";
import { loopback, type Handler } from "../../../../test/support/loopback.ts";
import { install, type Installed } from "./installed.ts";

const root = join(import.meta.dirname, "../../../..");
const page = readFileSync(join(root, "docs/tools.md"), "utf8");
const shapes = readFileSync(join(root, "docs/other-shapes.md"), "utf8");
const example = readFileSync(join(root, "examples/12-workspace-tools.ts"), "utf8");
const blocksOf = (text: string): string[] =>
  [...text.matchAll(/^```ts\n(.*?)^```/gms)].map(([, code = ""]) => code);
const printedBy = (code: string): string | undefined =>
  /\/\* Prints:\n(.*)\*\/\n$/s.exec(code)?.[1];

/** Imports one entry and prints the loaded files, as paths below `node_modules`. */
const loader = `import { registerHooks } from "node:module";
const loaded: string[] = [];
registerHooks({
  load(url, context, next) {
    loaded.push(url);
    return next(url, context);
  },
});
await import("bowline/tools");
console.log(JSON.stringify(loaded));
`;

/** The search worker is a separate file, which must exist in the build. */
const searcher = `import { createTools } from "bowline/tools";
const patterns = ["^import", "*.ts"];
for (const [index, tool] of createTools({ root: ".", only: ["grep", "glob"] }).entries()) {
  const { content } = await tool.execute("call", { pattern: patterns[index] });
  console.log(content?.map((part) => (part.type === "text" ? part.text : part.type)).join());
}
`;

/** A non-streaming answer of the Messages API. */
const answer = (content: object[], stop_reason: string): Handler => {
  const about = { id: "m", type: "message", role: "assistant", model: "claude-sonnet-4-5" };
  return (response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(
      JSON.stringify({
        ...about,
        content,
        stop_reason,
        usage: { input_tokens: 5, output_tokens: 1 },
      }),
    );
  };
};
const use = (name: string, input: object): object => ({
  type: "tool_use",
  id: `use_${name}`,
  name,
  input,
});

describe("bowline/tools as a package", () => {
  let installed: Installed;
  const [first = "", options = ""] = blocksOf(page);
  const codelet = blocksOf(shapes).find((code) => code.includes("bowline/tools")) ?? "";

  before(async () => {
    installed = await install();
    installed.add("example", first);
    installed.add("options", options);
    installed.add("codelet", codelet);
    installed.add("loader", loader);
    installed.add("searcher", searcher);
    writeFileSync(join(installed.path, "options/notes.txt"), "a colour\n");
  });
  after(() => installed[Symbol.dispose]());

  it("has types that compile in a strict program", async () => {
    assert.equal(await installed.check(), "");
  });

  it("runs the example in docs/tools.md with the output shown there", async () => {
    assert.equal(first, example);
    const { code, stdout, stderr } = await installed.run("example");
    assert.equal(stdout, printedBy(example), stderr);
    assert.equal(code, 0);
  });

  it("accepts the options shown in docs/tools.md", async () => {
    const { stdout, stderr } = await installed.run("options");
    assert.equal(stdout, printedBy(options), stderr);
  });

  it("searches with its declared dependencies only", async () => {
    const { stdout, stderr } = await installed.run("searcher");
    const hit = 'main.ts:1:import { createTools } from "bowline/tools";';
    assert.equal(stdout, `${hit}\nmain.ts\n`, stderr);
  });

  it("is shown in docs/tools.md by these programs alone, with each tool and its arguments", () => {
    assert.deepEqual(blocksOf(page), [first, options]);
    const rows = [...page.matchAll(/^\| `([a-z]+)` +\| ((?:`\w+`(?:, )?)+) +\|/gm)].map(
      ([, name, args = ""]) => [name, args.match(/\w+/g)],
    );
    const tools = createTools({ root: "." }).map(({ name, parameters }) => {
      const { properties = {} } = toJsonSchema(parameters, name) as { properties?: object };
      return [name, Object.keys(properties)];
    });
    assert.deepEqual(rows, tools);
  });

  // Requirements: C26
  it("gives codelet's runner Read, Write and Bash, which a model uses", async () => {
    await using server = await loopback(
      answer([use("Bash", { command: "ls | wc -l" })], "tool_use"),
      answer(
        [use("Write", { path: "count.txt", content: "1\n" }), use("Read", { path: "count.txt" })],
        "tool_use",
      ),
      answer([{ type: "text", text: "There was one." }], "end_turn"),
    );
    const { origin } = new URL(server.baseUrl);
    const redirect = `const real = fetch; globalThis.fetch = (url, init) => real("${origin}" + new URL(url).pathname, init);`;
    const args = ["--import", `data:text/javascript,${encodeURIComponent(redirect)}`];
    const { stdout, stderr } = await installed.run("codelet", {
      args,
      env: { ANTHROPIC_API_KEY: "sk-test" },
    });
    assert.match(
      stdout,
      /^\[ 'Read', 'Write', 'Bash' \] \[ \{ type: 'text', text: 'There was one\.' \} \]\n$/,
      stderr,
    );
    assert.equal(readFileSync(join(installed.path, "codelet/count.txt"), "utf8"), "1\n");
    const bodies = server.requests.map(
      ({ body }) => JSON.parse(body) as { tools: { name: string }[]; messages: unknown },
    );
    assert.deepEqual(
      bodies[0]?.tools.map(({ name }) => name),
      ["Read", "Write", "Bash"],
    );
    const said = JSON.stringify(bodies[2]?.messages);
    for (const result of ['"1\\n"', '"Created count.txt (2 bytes)"'])
      assert.ok(said.includes(result), said);
  });

  it("loads the tools and the core, and no code of the command, the gateway or the page", async () => {
    const { stdout, stderr } = await installed.run("loader");
    const loaded = (JSON.parse(stdout || "[]") as string[]).filter(
      (url) => !url.startsWith("node:"),
    );
    const paths = loaded.map((url) => url.replace(/^.*\/node_modules\/(?=@?bowline)/, ""));
    assert.ok(paths.includes("bowline/dist/tools/index.js"), stderr);
    const others = paths.filter(
      // Files directly in dist, except the gateway, are shared by all parts.
      (path) =>
        !/^(?:bowline\/dist\/tools|@bowline\/core\/dist)\/|^bowline\/dist\/(?!gateway)[\w-]+\.js$/.test(
          path,
        ),
    );
    assert.deepEqual(others, []);
  });
});
