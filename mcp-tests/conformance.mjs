// The client scenarios of the conformance suite, one process each, two at a time: the suite itself would
// start all at once and then run out of time.
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const suite = join(import.meta.dirname, "node_modules/@modelcontextprotocol/conformance");
const revisions = ["2025-11-25", "2026-07-28"];
const AT_ONCE = 2;
const STEP_MS = 60_000;

/** What is to be known of a result. */
const reasons = {
  "auth/enterprise-managed-authorization":
    "needs an identity provider's token, which a program's own provider may fetch",
  "auth/wif-jwt-bearer": "needs a workload's token, which a program's own provider may fetch",
  "sep-2640-client-no-prefetch": "skills are not supported: nothing of them is fetched",
  "sep-2640-client-verify-digest": "skills are not supported: nothing of them is fetched",
  "sep-2640-client-verify-size": "skills are not supported: nothing of them is fetched",
  "sep-2640-client-verify-frontmatter": "skills are not supported: nothing of them is fetched",
};

/** Runs all. Returns the page, and how many required scenarios failed. */
export async function runConformance() {
  const required = new Map(revisions.map((revision) => [revision, readRequired(revision)]));
  const names = [...new Set([...required.values()].flat())].toSorted();
  const runs = names.flatMap((name) =>
    revisions.filter((of) => required.get(of).includes(name)).map((of) => ({ name, of })),
  );
  const others = readOthers();
  const results = await pool([...runs, ...others.map((name) => ({ name }))], runScenario);
  const failed = results.filter(({ of, isPassed }) => of && !isPassed);
  for (const { name, of, output } of failed) console.log(`${name} ${of}:\n${output.slice(-3_000)}`);
  return { text: toPage(names, others, results), failed: failed.length };
}

function readRequired(revision) {
  const text = readFileSync(join(suite, "requirements", `${revision}.yaml`), "utf8");
  const [, client = ""] = /^client:\n((?:(?:  .*|#.*)?\n)*)/m.exec(text) ?? [];
  return Array.from(client.matchAll(/^  - (\S+)/gm), ([, name]) => name);
}

/** The client scenarios that a set runs without requiring them. */
function readOthers() {
  const found = revisions.flatMap((revision) => {
    const text = readFileSync(join(suite, "requirements", `${revision}.yaml`), "utf8");
    return Array.from(text.matchAll(/- scenario: (\S+)\n    leg: client/g), ([, name]) => name);
  });
  return [...new Set([...found, ...Object.keys(reasons)])].toSorted();
}

function runScenario({ name, of }) {
  const folder = mkdtempSync(join(tmpdir(), "bowline-mcp-conformance-"));
  const command = `"${process.execPath}" "${join(import.meta.dirname, "probe.mjs")}"`;
  const args = ["client", "--command", command, "--scenario", name, "-o", folder];
  if (of !== undefined) args.push("--spec-version", of);
  const options = { cwd: folder, timeout: STEP_MS, maxBuffer: 64 * 1024 * 1024 };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [join(suite, "dist/index.js"), ...args],
      options,
      (error, ...out) => {
        rmSync(folder, { recursive: true, force: true });
        const isPassed = error === null;
        console.log(`${isPassed ? "ok  " : "FAIL"} ${name} ${of ?? ""}`);
        resolve({ name, of, isPassed, output: out.join("\n") });
      },
    );
  });
}

async function pool(jobs, run) {
  const results = [];
  const rest = jobs.values();
  const work = async () => {
    for (const job of rest) results.push(await run(job));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return results;
}

function toPage(names, others, results) {
  const cell = (name, of) => {
    const result = results.find((one) => one.name === name && one.of === of);
    return result === undefined ? "" : result.isPassed ? "passed" : "**failed**";
  };
  const passed = results.filter(({ of, isPassed }) => of && isPassed).length;
  const total = results.filter(({ of }) => of).length;
  const { version } = JSON.parse(readFileSync(join(suite, "package.json"), "utf8"));
  return `# Conformance of the MCP client

The client scenarios of \`@modelcontextprotocol/conformance\` ${version}, run with an agent over \`@bowline/mcp\`, each by itself:
\`npm run mcp\`, which writes this page with \`-- --write\`. Required by a version of the protocol: ${total} runs, ${passed} of them passed.

| Scenario | ${revisions.join(" | ")} |
| --- | --- | --- |
${names.map((name) => `| \`${name}\` | ${revisions.map((of) => cell(name, of)).join(" | ")} |`).join("\n")}

Not required: extensions, and scenarios that were added after a version.

| Scenario | Result | Reason |
| --- | --- | --- |
${others.map((name) => `| \`${name}\` | ${cell(name, undefined).replaceAll("*", "")} | ${reasons[name] ?? ""} |`).join("\n")}
`;
}
