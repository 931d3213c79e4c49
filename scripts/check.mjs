// npm run check: runs all checks except the unit tests. Prints one line per step, and the output of
// failed steps. `npm run check -- lint types` runs the named steps and their prerequisites.
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";

if (Number(process.versions.node.split(".")[0]) < 24) {
  console.error(`check needs Node 24 or later and runs on ${process.version}.`);
  console.error(
    "node_modules/.bin/node is missing or stale: run `npm ci` with install scripts on, then `npm run check`.",
  );
  process.exit(1);
}

const tarballs = mkdtempSync(join(tmpdir(), "bowline-pack-"));
const packed = (name) => () =>
  join(
    tarballs,
    readdirSync(tarballs).find((file) => file.startsWith(name)),
  );
const allPacked = [
  "bowline-core",
  "bowline-compat",
  "bowline-mcp",
  "bowline-postgres",
  "bowline-restate",
  "bowline-cluster",
  "bowline-0",
].map(packed);

/**
 * `after` names the steps whose output a step needs. A function in `command` is called when the
 * step starts.
 */
const steps = [
  { name: "format", command: ["oxfmt", "--check"] },
  { name: "docs", command: ["node", "scripts/docs.mjs"] },
  { name: "pairs as documented", command: ["node", "coming-from/run.mjs"] },
  { name: "seeds", command: ["node", "scripts/seeds.mjs"] },
  { name: "quirks", command: ["node", "scripts/quirks.mjs"] },
  // One run of `tsc -b` builds the packages, then checks the tests, examples, benchmarks and
  // scripts against them.
  { name: "build and types", command: ["node", "scripts/build.mjs"] },
  { name: "lint", command: ["oxlint", "--deny-warnings"] },
  { name: "dead code", command: ["knip", "--no-progress"] },
  { name: "layers", command: ["node", "scripts/print-layers.ts"] },
  {
    name: "layers as built",
    command: ["node", "--test", "test/layers.test.ts"],
    after: ["build and types"],
  },
  { name: "size", command: ["size-limit"], after: ["build and types"] },
  {
    name: "pack",
    command: ["npm", "pack", "--workspaces", "--silent", "--pack-destination", tarballs],
    after: ["build and types"],
  },
  {
    name: "publint core",
    command: ["publint", "run", packed("bowline-core"), "--strict"],
    after: ["pack"],
  },
  {
    name: "publint compat",
    command: ["publint", "run", packed("bowline-compat"), "--strict"],
    after: ["pack"],
  },
  {
    name: "publint mcp",
    command: ["publint", "run", packed("bowline-mcp"), "--strict"],
    after: ["pack"],
  },
  {
    name: "publint postgres",
    command: ["publint", "run", packed("bowline-postgres"), "--strict"],
    after: ["pack"],
  },
  {
    name: "publint restate",
    command: ["publint", "run", packed("bowline-restate"), "--strict"],
    after: ["pack"],
  },
  {
    name: "publint cluster",
    command: ["publint", "run", packed("bowline-cluster"), "--strict"],
    after: ["pack"],
  },
  {
    name: "publint bowline",
    command: ["publint", "run", packed("bowline-0"), "--strict"],
    after: ["pack"],
  },
  {
    name: "attw core",
    command: ["attw", packed("bowline-core"), "--profile", "esm-only"],
    after: ["pack"],
  },
  {
    name: "attw compat",
    command: ["attw", packed("bowline-compat"), "--profile", "esm-only"],
    after: ["pack"],
  },
  {
    name: "attw mcp",
    command: ["attw", packed("bowline-mcp"), "--profile", "esm-only"],
    after: ["pack"],
  },
  {
    name: "attw postgres",
    command: ["attw", packed("bowline-postgres"), "--profile", "esm-only"],
    after: ["pack"],
  },
  {
    name: "attw restate",
    command: ["attw", packed("bowline-restate"), "--profile", "esm-only"],
    after: ["pack"],
  },
  {
    name: "attw cluster",
    command: ["attw", packed("bowline-cluster"), "--profile", "esm-only"],
    after: ["pack"],
  },
  {
    name: "attw bowline",
    command: ["attw", packed("bowline-0"), "--profile", "esm-only"],
    after: ["pack"],
  },
  {
    name: "docs as published",
    command: ["node", "scripts/published-docs.mjs", ...allPacked],
    after: ["pack"],
  },
  {
    name: "types as published",
    command: ["node", "scripts/published-types.mjs", "typescript", ...allPacked],
    after: ["pack"],
  },
  // The oldest supported version.
  {
    name: "types as published, TypeScript 5.4",
    command: ["node", "scripts/published-types.mjs", "typescript-5.4", ...allPacked],
    after: ["pack"],
  },
  {
    name: "examples as published, TypeScript 5.4, 5.9 and 7",
    command: ["node", "scripts/published-examples.mjs", ...allPacked],
    after: ["pack"],
  },
  {
    name: "worker as published",
    command: ["node", "scripts/published-worker.mjs", ...allPacked],
    after: ["pack"],
  },
  {
    name: "command as published",
    command: ["node", "scripts/published-command.mjs", packed("bowline-core"), packed("bowline-0")],
    after: ["pack"],
  },
  {
    name: "command's documentation",
    command: ["node", "scripts/cli-docs.mjs"],
    after: ["build and types"],
  },
  {
    name: "settings' documentation",
    command: ["node", "scripts/settings-docs.mjs"],
    after: ["build and types"],
  },
  {
    name: "cluster file's documentation",
    command: ["node", "scripts/cluster-docs.mjs"],
    after: ["build and types"],
  },
  {
    name: "reference",
    command: ["node", "scripts/reference.mjs"],
    after: ["build and types"],
  },
  {
    name: "private numbers",
    command: ["node", "scripts/private-numbers.mjs"],
    after: ["build and types"],
  },
  {
    name: "model ids",
    command: ["node", "scripts/model-ids.mjs"],
    after: ["build and types"],
  },
  {
    name: "conformance",
    command: ["node", "--conditions=@bowline/source", "conformance/run.ts", "--ours"],
  },
  {
    name: "mutated streams",
    command: ["node", "--conditions=@bowline/source", "mutate/run.ts", "--quick"],
  },
  {
    name: "official clients",
    command: ["node", "--conditions=@bowline/source", "peer-tests/run.mjs"],
    after: ["build and types"],
  },
  {
    name: "reference MCP servers",
    command: ["node", "mcp-tests/run.mjs", "--servers"],
    after: ["build and types"],
  },
  { name: "smoke", command: ["node", "runtime-tests/run.mjs"], after: ["build and types"] },
  // It says so where the packages of ui-tests/ or a browser are missing.
  { name: "useChat of the AI SDK", command: ["node", "ui-tests/run.mjs"] },
  { name: "the page in a browser", command: ["node", "scripts/test.mjs", "test/browser"] },
  {
    name: "drill",
    command: ["node", "--conditions=@bowline/source", "scripts/drill.mjs", "--seconds=6"],
  },
  {
    name: "fuzz",
    command: ["node", "--conditions=@bowline/source", "scripts/fuzz.mjs", "--frames=3000"],
  },
  // Last, since it measures and other steps would disturb it.
  {
    name: "load",
    command: ["node", "--conditions=@bowline/source", "scripts/load.mjs", "--quick"],
    after: ["fuzz", "the page in a browser"],
  },
];

/** A longer step counts as hanging, even on a busy machine. */
const STEP_MS = 40 * 60_000;

const wanted = selectSteps(process.argv.slice(2));
const results = new Map();
const started = performance.now();
let free = Math.max(2, availableParallelism());
const waiting = [];

try {
  await Promise.all(wanted.map((step) => (results.get(step.name) ?? schedule(step)).then(report)));
} finally {
  rmSync(tarballs, { recursive: true, force: true });
}
const failed = (await Promise.all(results.values())).filter((result) => !result.ok);
const seconds = ((performance.now() - started) / 1000).toFixed(1);
console.log(failed.length === 0 ? `ok in ${seconds} s` : `${failed.length} failed in ${seconds} s`);
process.exitCode = failed.length === 0 ? 0 : 1;

function schedule(step) {
  const result = runStep(step);
  results.set(step.name, result);
  return result;
}

async function runStep(step) {
  const needed = await Promise.all((step.after ?? []).map((name) => results.get(name)));
  const broken = needed.find((result) => !result.ok);
  if (broken !== undefined)
    return { name: step.name, ok: false, ms: 0, output: `not run: ${broken.name} failed\n` };
  await acquire();
  const from = performance.now();
  try {
    const { ok, output } = await run(
      step.command.map((part) => (typeof part === "function" ? part() : part)),
    );
    return { name: step.name, ok, ms: performance.now() - from, output };
  } finally {
    release();
  }
}

function run([program, ...args]) {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, NO_COLOR: "1" },
    });
    let output = "";
    setTimeout(() => {
      child.kill("SIGKILL");
      for (const open of [child.stdout, child.stderr]) open.destroy();
      const why = `it hangs: stopped after ${STEP_MS / 60_000} minutes`;
      resolve({ ok: false, output: `${output}\n${why}\n` });
    }, STEP_MS).unref();
    child.stdout.setEncoding("utf8").on("data", (text) => (output += text));
    child.stderr.setEncoding("utf8").on("data", (text) => (output += text));
    child.on("error", (error) => resolve({ ok: false, output: `${error.message}\n` }));
    child.on("close", (code) => resolve({ ok: code === 0, output }));
  });
}

function report({ name, ok, ms, output }) {
  console.log(`${ok ? "ok  " : "FAIL"} ${name} ${(ms / 1000).toFixed(1)} s`);
  if (!ok) console.log(output.trimEnd().replaceAll(/^/gm, "     "));
}

async function acquire() {
  if (free > 0) free -= 1;
  else await new Promise((resolve) => waiting.push(resolve));
}

function release() {
  const next = waiting.shift();
  if (next === undefined) free += 1;
  else next();
}

/**
 * Returns the named steps with their prerequisites, in table order. In the table, a step follows
 * its prerequisites.
 */
function selectSteps(names) {
  if (names.length === 0) return steps;
  const chosen = new Set();
  const choose = (step) => {
    chosen.add(step);
    for (const name of step.after ?? []) choose(steps.find((other) => other.name === name));
  };
  for (const name of names) {
    const matches = steps.filter((step) => step.name.includes(name));
    if (matches.length === 0) {
      console.error(
        `no step is named ${name}; there are: ${steps.map((step) => step.name).join(", ")}`,
      );
      process.exit(1);
    }
    for (const step of matches) choose(step);
  }
  return steps.filter((step) => chosen.has(step));
}
