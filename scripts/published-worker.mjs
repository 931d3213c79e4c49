// Tests the packed packages in Cloudflare's runtime, bundled as a user's Worker. Every entry that
// is not for Node must load at the top level of a module. An agent makes a tool call over each
// wire, against a model server on loopback. `node scripts/published-worker.mjs <core.tgz>
// <bowline.tgz>`.
//
// The pinned workerd is older than that of `npm run smoke -- --all`, since a project's `wrangler
// dev` uses the workerd of its lockfile. Up to August 2026 workerd refused an `AbortController` at
// the top level of a module.
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LLMock } from "@copilotkit/aimock";
import workerd from "workerd";
import { runInWorkerd } from "../runtime-tests/workerd.mjs";
import { createFolder, isForNode, link, unpack } from "./unpack.mjs";

const TIME_LIMIT_MS = 120_000;
const TURNS = 8; // four wires, each by two entries

const folder = createFolder("worker");
const mock = await startModelServer();
try {
  const tarballs = process.argv.slice(2);
  const entries = await Promise.all(tarballs.map((tarball) => unpack(tarball, folder.path)));
  link("@pydantic/genai-prices", folder.path);
  const workers = Object.fromEntries(
    entries
      .flat()
      .filter((entry) => !isForNode(entry))
      .map((entry, at) => [entry, writeImport(entry, at)]),
  );
  const turns = join(folder.path, "turns.js");
  copyFileSync("runtime-tests/turns.js", turns);
  const options = { origin: mock.url, timeout: TIME_LIMIT_MS };
  // The types say that the module's default export is its path. When Node imports it, it is an
  // object that contains the path.
  const output = await runInWorkerd(workerd.default, { ...workers, turns }, options);
  const done = output.match(/^a turn over /gm)?.length;
  if (done !== TURNS) throw new Error(`${done} turns were done, not ${TURNS}: ${output}`);
} catch (error) {
  console.error(error.stderr || error);
  process.exitCode = 1;
} finally {
  await mock.stop();
  folder.remove();
}

/**
 * Writes a Worker that contains a whole entry. Bundlers do not tree-shake a namespace object that
 * is used as a value.
 */
function writeImport(entry, at) {
  const file = join(folder.path, `entry-${at}.js`);
  const code = `import * as entry from "${entry}";
export default { test() { if (Object.keys(entry).length === 0) throw new Error("no exports"); } };`;
  writeFileSync(file, code);
  return file;
}

/**
 * Starts a model server that requests a tool call, then answers from its result. All other requests
 * fail.
 */
async function startModelServer() {
  const server = new LLMock({ port: 0, strict: true });
  const asks = { userMessage: "weather in Oslo" };
  const toolCalls = [{ name: "weather", arguments: { city: "Oslo" } }];
  server.on({ ...asks, hasToolResult: false }, { content: "I will look.", toolCalls });
  const shown = { hasToolResult: true, toolResultContains: "snow in Oslo" };
  server.on({ ...asks, ...shown }, { content: "Snow in Oslo." });
  await server.start();
  return server;
}
