/** Runs the programs in docs/mcp.md against a loopback model server. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { startProgram } from "../../../test/support/start-program.ts";
import { chatText, loopback, streamed } from "../../../test/support/loopback.ts";

const root = join(import.meta.dirname, "../../..");
const folder = join(import.meta.dirname, "examples");
const page = await readFile(join(root, "docs/mcp.md"), "utf8");
const noteCall = {
  index: 0,
  id: "c1",
  type: "function",
  function: { name: "notes__add_note", arguments: '{"text":"The boat is moored."}' },
};

describe("the page about MCP", () => {
  for (const name of ["start", "approval"]) {
    it(`shows the program ${name} with its output`, async () => {
      const code = await readFile(join(folder, `${name}.ts`), "utf8");
      assert.ok(page.includes(`\`\`\`ts\n${code}\`\`\``), `docs/mcp.md does not show ${name}.ts`);
      await using server = await loopback(
        streamed(
          {
            choices: [{ index: 0, delta: { tool_calls: [noteCall] }, finish_reason: "tool_calls" }],
          },
          "[DONE]",
        ),
        chatText("Noted."),
      );
      const { code: status, stdout, stderr } = await run(`${name}.ts`, server.baseUrl);
      assert.equal(status, 0, stderr);
      const [, printed] = /\/\* Prints:\n([^]*?)\*\//.exec(code) ?? [];
      assert.equal(stdout.replaceAll(/ +$/gm, ""), printed);
    });
  }

  it("lists each limit with the default of its docstring", async () => {
    const source = await readFile(join(root, "packages/mcp/src/options.ts"), "utf8");
    const listed = [...page.matchAll(/^\| `(\w+)` +\| ([\d,]+) +\|/gm)];
    assert.equal(listed.length, 8);
    for (const [, name = "", value = ""] of listed) {
      const [, docstring = ""] =
        new RegExp(`/\\*\\*((?:(?!\\*/)[^])*)\\*/\\s+readonly ${name}\\?`).exec(source) ?? [];
      assert.ok(docstring.replaceAll(/\s+\*\s+/g, " ").includes(`Default ${value}`), name);
    }
  });
});

/** Runs a program with requests to every host redirected to the test's server. */
function run(file: string, baseUrl: string): ReturnType<typeof startProgram> {
  const { origin } = new URL(baseUrl);
  const redirect = `const real = fetch;
globalThis.fetch = (url, init) => real("${origin}" + new URL(url).pathname.replace("/api/v1", "/v1"), init);`;
  const options = [
    "--conditions=@bowline/source",
    "--import",
    `data:text/javascript,${encodeURIComponent(redirect)}`,
  ];
  const env = { ...process.env, NO_COLOR: "1", OPENROUTER_API_KEY: "sk-test" };
  return startProgram(process.execPath, [...options, file], { cwd: folder, env, timeout: 30_000 });
}
