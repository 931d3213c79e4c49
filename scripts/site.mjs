// npm run docs: builds the reference and the documentation site, in site/dist. `--reference` builds
// only the reference, `--serve` shows the site on 127.0.0.1, `--test` opens it in Chromium.
import { spawn } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { foreignLoads } from "../site/check-hosts.mjs";
import { serveSite } from "../site/server.mjs";

const known = ["--reference", "--serve", "--test"];
const args = process.argv.slice(2);
const unknown = args.find((arg) => !known.includes(arg));
if (unknown !== undefined) {
  console.error(`npm run docs does not know ${unknown}. It takes ${known.join(", ")}.`);
  process.exit(1);
}

const started = performance.now();
const site = "site";
const dist = join(site, "dist");

await step("Building the packages", "npm", ["run", "build"]);
await step("Making the reference", "node", ["scripts/reference.mjs", "--write"]);
if (!args.includes("--reference")) {
  if (!isInstalled())
    await step("Installing VitePress", "npm", ["--prefix", site, "ci", "--no-audit", "--no-fund"]);
  await step("Copying the pages", "node", [join(site, "stage.mjs")]);
  await step("Building the site", "node", [vitepress(), "build", site]);
  checkHosts();
  if (args.includes("--test"))
    console.log(
      await step("Opening it in Chromium", "node", ["--test", join(site, "test", "site.test.mjs")]),
    );
  await report();
}

/**
 * Runs a command and prints its start and duration. Returns its output. Exits with 1 if it fails.
 */
async function step(title, program, parameters) {
  process.stdout.write(`${title} …`);
  const from = performance.now();
  const { code, output } = await run(program, parameters);
  console.log(` ${((performance.now() - from) / 1000).toFixed(1)} s`);
  if (code === 0) return output.trimEnd();
  console.error(output.trimEnd());
  console.error(`${title} failed: ${program} ${parameters.join(" ")}`);
  process.exit(1);
}

function run(program, parameters) {
  return new Promise((resolve) => {
    const child = spawn(program, parameters, { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text) => (output += text));
    child.stderr.setEncoding("utf8").on("data", (text) => (output += text));
    child.on("error", (error) => resolve({ code: 1, output: error.message }));
    child.on("close", (code) => resolve({ code, output }));
  });
}

/** npm writes a lockfile into node_modules at the end of an install. */
function isInstalled() {
  const done = join(site, "node_modules", ".package-lock.json");
  return (
    existsSync(done) && statSync(done).mtimeMs >= statSync(join(site, "package-lock.json")).mtimeMs
  );
}

function vitepress() {
  return join(site, "node_modules", "vitepress", "bin", "vitepress.js");
}

function checkHosts() {
  const found = foreignLoads(dist);
  if (found.length === 0) return;
  console.error(`The pages load from other hosts:\n${found.join("\n")}`);
  process.exit(1);
}

async function report() {
  const pages = readdirSync(dist, { recursive: true }).filter((file) => file.endsWith(".html"));
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  const made = `${pages.length} pages in ${dist} after ${seconds} s.`;
  if (!args.includes("--serve")) {
    console.log(`${made} Look at them with: npm run docs -- --serve`);
    return;
  }
  const { url } = await serveSite(dist, 4173).catch(() => serveSite(dist));
  console.log(`${made} Open ${url} (Ctrl-C stops it).`);
}
