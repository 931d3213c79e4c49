/**
 * Entries with optional peer dependencies that core cannot resolve, as when core is installed
 * globally beside the command. The programs run a copy of the source outside the repository.
 */
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { chatText, loopback } from "../../../test/support/loopback.ts";
import { startProgram } from "../../../test/support/start-program.ts";

const core = join(import.meta.dirname, "..");
const folder = realpathSync(mkdtempSync(join(tmpdir(), "bowline-peers-")));

/**
 * Runs an ES module and returns the JSON that it prints. The module can import entries of the
 * copied source with `entry(path)`.
 */
async function run(code: string, ...args: readonly string[]): Promise<unknown> {
  const entry = `const entry = (path) => import(${JSON.stringify(pathToFileURL(`${folder}/src/`).href)} + path);`;
  const flags = ["--input-type=module", "-e", `${entry}\n${code}`];
  const { stdout, stderr } = await startProgram(process.execPath, [...flags, ...args], {
    cwd: folder,
    timeout: 60_000,
  });
  assert.notEqual(stdout, "", stderr);
  return JSON.parse(stdout);
}

const undici = pathToFileURL(join(core, "../../node_modules/undici/index.js")).href;

describe("an entry whose optional peer is not installed", () => {
  before(() => {
    cpSync(join(core, "src"), join(folder, "src"), { recursive: true });
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it("of undici rejects every request with a typed error that says what to install", async () => {
    const code = `
      const { createUndiciFetch } = await entry("transport/node/undici.ts");
      const { isBowlineError } = await entry("errors.ts");
      const fetch = createUndiciFetch();
      const told = async (init) => {
        const error = await fetch("http://127.0.0.1:1/", init).catch((error) => error);
        return [isBowlineError(error), error.code, error.retryable, error.cause?.code, error.message];
      };
      const post = { method: "POST", headers: {}, body: "", redirect: "manual" };
      console.log(JSON.stringify([await told(post), await told({})]));`;
    const errors = (await run(code)) as unknown[][];
    for (const error of errors) {
      assert.deepEqual(
        error.slice(0, 4),
        [true, "invalid_argument", false, "ERR_MODULE_NOT_FOUND"],
        String(error[4]),
      );
      assert.match(String(error[4]), /`npm install undici`.*`dispatcher` and `fetch`/);
    }
    assert.equal(errors.length, 2);
  });

  it("of undici ends a model call with that error, without a retry", async () => {
    const code = `
      const { createUndiciFetch } = await entry("transport/node/undici.ts");
      const { complete, getModel } = await entry("index.ts");
      const model = getModel("custom", "m", { baseUrl: "http://127.0.0.1:1/v1" });
      const context = { messages: [{ role: "user", content: "hi", timestamp: 1 }] };
      let asked = 0;
      const ask = createUndiciFetch();
      const fetch = (...request) => (asked++, ask(...request));
      const error = await complete(model, context, { fetch }).catch((reason) => reason);
      console.log(JSON.stringify([error.code, asked]));`;
    assert.deepEqual(await run(code), ["invalid_argument", 1]);
  });

  it("of undici works with the caller's dispatcher and fetch", async () => {
    await using server = await loopback(chatText("Posted."), (response) => response.end("got"));
    const code = `
      const { Agent, fetch } = await import(${JSON.stringify(undici)});
      const { createUndiciFetch } = await entry("transport/node/undici.ts");
      const dispatcher = new Agent();
      const ask = createUndiciFetch({ dispatcher, fetch });
      const post = { method: "POST", headers: {}, body: "", redirect: "manual" };
      const texts = [];
      for (const init of [post, {}]) texts.push(await (await ask(process.argv[1], init)).text());
      await dispatcher.close();
      console.log(JSON.stringify(texts));`;
    const [posted, got] = (await run(code, server.baseUrl)) as string[];
    assert.match(posted ?? "", /Posted\./);
    assert.equal(got, "got");
  });

  it("of genai-prices does not load, and names the package, while custom prices need none", async () => {
    const code = `
      const { withPrices } = await entry("custom-prices.ts");
      const price = { input_price: 0.001, output_price: 0.002, total_price: 0.003, model: {} };
      const { cost } = withPrices({ id: "m", provider: "p" }, () => price);
      const { code, message } = await entry("prices.ts").catch((error) => error);
      console.log(JSON.stringify([cost.input, code, message]));`;
    const [input, errorCode, message] = (await run(code)) as [number, string, string];
    assert.deepEqual([input, errorCode], [1, "ERR_MODULE_NOT_FOUND"]);
    assert.match(message, /'@pydantic\/genai-prices'/);
  });
});
