// npm run smoke: runs scenario.js against the built core on the installed runtimes, and files.js on
// those with a file system. `npm run smoke -- --all` first installs Node 20 (the oldest supported),
// 22, 24 and 26, Bun, Deno and workerd in this folder.
import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { findChromium, runInChromium } from "./chromium.mjs";
import { startModelServer } from "./model-server.mjs";
import { runInWorkerd } from "./workerd.mjs";

const execute = promisify(execFile);
const here = import.meta.dirname;
const scenario = join(here, "scenario.js");
const all = process.argv.includes("--all");
const timeLimitMs = 30_000;

if (!existsSync(join(here, "../packages/core/dist/index.js"))) {
  console.error("packages/core is not built: run `npm run build` first");
  process.exit(1);
}

const { createSession } = await import("@bowline/core/session");
const { createJsonlStore } = await import("@bowline/core/session/node");
const server = await startModelServer();
const sessions = realpathSync(mkdtempSync(join(tmpdir(), "bowline-smoke-")));
const held = await createSession(createJsonlStore(sessions), { id: "held" });

const runtimes = [
  program("node", process.execPath),
  ...systemNode(),
  ...(all ? installedRuntimes() : []),
  ...chromium(),
];
let failed = false;
for (const runtime of runtimes) {
  const started = performance.now();
  const problem = await runtime.run().then(
    (output) => (output.trim() === "ok" ? undefined : `printed: ${output}`),
    (error) => error.stderr || error.message,
  );
  const ms = (performance.now() - started).toFixed(0);
  console.log(`${problem === undefined ? "ok  " : "FAIL"} ${runtime.name} ${ms} ms`);
  if (problem !== undefined) {
    failed = true;
    console.log(problem);
  }
}
await held.close();
server.close();
rmSync(sessions, { recursive: true });
process.exitCode = failed ? 1 : 0;

/** A runtime that is a command. Each file must print "ok". */
function program(name, path, args = []) {
  const run = async (file) =>
    (
      await execute(path, [...args, file, server.origin, sessions], {
        timeout: timeLimitMs,
        env: plainEnvironment(),
      })
    ).stdout;
  return {
    name: `${name} ${versionOf(path)}`,
    run: async () => {
      const output = await run(scenario);
      return output.trim() === "ok" ? run(join(here, "files.js")) : output;
    },
  };
}

function worker(path) {
  const options = { origin: server.origin, timeout: timeLimitMs };
  return {
    name: `workerd ${versionOf(path)}`,
    run: () => runInWorkerd(path, { scenario: join(here, "worker.js") }, options),
  };
}

function versionOf(path) {
  const { stdout } = spawnSync(path, ["--version"], { encoding: "utf8" });
  return stdout?.match(/\d+[.-]\d+[.-]\d+/)?.[0] ?? "(no version)";
}

/** Finds the Node of the machine, if it is not the one of node_modules. */
function systemNode() {
  const folders = (process.env.PATH ?? "")
    .split(delimiter)
    .filter((folder) => !folder.includes("node_modules"));
  const path = folders.map((folder) => join(folder, "node")).find((file) => existsSync(file));
  return path === undefined || realpathSync(path) === realpathSync(process.execPath)
    ? []
    : [program("system node", path)];
}

function installedRuntimes() {
  const manifest = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
  const pins = Object.entries(manifest.devDependencies);
  const isInstalled = ([name, pin]) => {
    const file = join(here, "node_modules", name, "package.json");
    return existsSync(file) && pin.endsWith(JSON.parse(readFileSync(file, "utf8")).version);
  };
  if (!pins.every(isInstalled)) {
    console.log("installing the runtimes of runtime-tests/package.json");
    // No lockfile: a registry that lacks a foreign platform's binary would make it incomplete. The
    // pins are exact.
    const install = ["install", "--no-package-lock", "--no-audit", "--no-fund"];
    const { status } = spawnSync("npm", install, { cwd: here, stdio: "inherit" });
    if (status !== 0) process.exit(1);
  }
  const bin = join(here, "node_modules");
  const may = ["env", "read", `write=${sessions}`, "net=127.0.0.1", "sys=hostname"].map(
    (what) => `--allow-${what}`,
  );
  return [
    ...["node20", "node22", "node24", "node26"].map((name) =>
      program(name, join(bin, name, "bin/node")),
    ),
    program("bun", join(bin, ".bin/bun")),
    program("deno", join(bin, ".bin/deno"), [
      "run",
      "--no-prompt",
      ...may,
      "--node-modules-dir=manual",
    ]),
    worker(join(bin, ".bin/workerd")),
  ];
}

function chromium() {
  const path = findChromium();
  if (path === undefined) {
    console.log("skip chromium: not installed");
    return [];
  }
  return [
    { name: "chromium", run: () => runInChromium(path, scenario, server.origin, timeLimitMs) },
  ];
}

/** Returns an environment without the options of npm and of a test runner. */
function plainEnvironment() {
  return { PATH: process.env.PATH, HOME: process.env.HOME, NO_COLOR: "1" };
}
