/** Runs the programs in docs/postgres.md, and compares the page with the options. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { chatText, loopback } from "../../../test/support/loopback.ts";
import { startProgram } from "../../../test/support/start-program.ts";
import { skip, startRig } from "./support.ts";

const rig = await startRig();
const root = join(import.meta.dirname, "../../..");
const folder = join(import.meta.dirname, "examples");
const page = await readFile(join(root, "docs/postgres.md"), "utf8");

describe("the page about PostgreSQL", () => {
  for (const name of ["start", "engine", "cluster"]) {
    it(`shows the program ${name} with its output`, { skip }, async () => {
      const code = await readFile(join(folder, `${name}.ts`), "utf8");
      assert.ok(
        page.includes(`\`\`\`ts\n${code}\`\`\``),
        `docs/postgres.md does not show ${name}.ts`,
      );
      await using server = await loopback(chatText("Take one."));
      const { code: status, stdout, stderr } = await run(`${name}.ts`, server.baseUrl);
      assert.equal(status, 0, stderr);
      const [, printed] = /\/\* Prints:\n([^]*?)\*\//.exec(code) ?? [];
      assert.equal(stdout, printed);
    });
  }

  it("lists each option with its default", async () => {
    const source = await readFile(join(root, "packages/postgres/src/options.ts"), "utf8");
    const [, body = ""] = /interface PostgresStoreOptions \{([^]*?)\n\}/.exec(source) ?? [];
    const names = [...body.matchAll(/readonly (\w+)\?/g)].map(([, name]) => name);
    const listed = [...page.matchAll(/^\| `(\w+)` +\| (.*?) +\|/gm)];
    for (const name of names) {
      const [, , value = ""] = listed.find(([, one]) => one === name) ?? [];
      const [, docstring = ""] =
        new RegExp(`/\\*\\*((?:(?!\\*/)[^])*)\\*/\\s+readonly ${name}\\?`).exec(body) ?? [];
      const [, stated] =
        /Default:? (?:`(\w+)`|([\d,]+)|the system's)/.exec(
          docstring.replaceAll(/\s+\*\s+/g, " "),
        ) ?? [];
      assert.ok(
        listed.some(([, one]) => one === name),
        `${name} is not listed`,
      );
      if (stated !== undefined) assert.equal(value.replaceAll("`", ""), stated, name);
    }
    assert.equal(names.length, 9);
  });

  it("grants what the test of few rights grants", async () => {
    const test = await readFile(join(import.meta.dirname, "failures.test.ts"), "utf8");
    const [, sql = ""] = /```sql\n([^]*?)```/.exec(page) ?? [];
    for (const line of sql.trim().split("\n"))
      assert.ok(test.includes(line.replaceAll("bowline", "manual").replace(/;$/, "")), line);
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
  const env = {
    ...process.env,
    NO_COLOR: "1",
    OPENROUTER_API_KEY: "sk-test",
    DATABASE_URL: rig.url,
  };
  return startProgram(process.execPath, [...options, file], { cwd: folder, env, timeout: 60_000 });
}
