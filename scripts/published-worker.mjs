// The packed packages in Cloudflare's runtime, bundled as a user's Worker is: every entry that is
// not for Node loads at the top of a module, and an agent does a tool turn over each wire, against
// a model server on loopback. `node scripts/published-worker.mjs <core.tgz> <bowline.tgz>`.
//
// The pinned workerd is older than the one of `npm run smoke -- --all`. Up to August 2026 workerd
// refused an `AbortController` at the top of a module, and a project's `wrangler dev` runs the
// workerd of its lockfile.
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
  // Its module is its path in the types, and an object with the path when Node imports it.
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

/** A worker that has one entry whole: a namespace that is read by name is not shaken. */
function writeImport(entry, at) {
  const file = join(folder.path, `entry-${at}.js`);
  const code = `import * as entry from "${entry}";
export default { test() { if (Object.keys(entry).length === 0) throw new Error("no exports"); } };`;
  writeFileSync(file, code);
  return file;
}

/** Asks for a tool, then answers from its result; anything else is an error. */
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
