// Checks the prose: the targets of links exist, and the file map of AGENTS.md is correct and short.
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { anchorOf, linksOf } from "./markdown.mjs";

const problems = [];
const files = globSync("**/*.md", {
  exclude: (path) =>
    /(?:^|\/)(?:node_modules|dist|fixtures)(?:\/|$)|^packages\/[^/]+\/docs/.test(path),
});

for (const file of files) {
  for (const { target, path, anchor } of linksOf(readFileSync(file, "utf8"))) {
    const linked = path === "" ? file : join(dirname(file), path);
    if (!existsSync(linked)) problems.push(`${file}: ${target} leads nowhere`);
    else if (anchor && linked.endsWith(".md") && !anchorsOf(linked).includes(anchor)) {
      problems.push(`${file}: ${target} names no heading`);
    }
  }
}

// A line of the file map has the form "- `path` what it is" or "- `path`, `path` what they are".
const agents = readFileSync("AGENTS.md", "utf8");
if (agents.split("\n").length > 120) problems.push("AGENTS.md is longer than 120 lines");
for (const [, line = ""] of agents.matchAll(/^\s*- (`[^`]+`(?:, `[^`]+`)*)/gm)) {
  for (const [, path = ""] of line.matchAll(/`([^`]+)`/g)) {
    if (path.includes("/") && !/[\s<*]/.test(path) && !existsSync(path))
      problems.push(`AGENTS.md: no ${path}`);
  }
}

// The page for contributors quotes the titles of tests, at least their beginnings. Each must exist.
const tests = globSync("{packages/*/,}test/**/*.ts").map((file) => readFileSync(file, "utf8"));
const guide = readFileSync("docs/project/contributing.md", "utf8");
for (const [, title = ""] of guide.matchAll(/"([a-z][^"\n]{12,}?)[,;:]? ?…?"/g)) {
  if (title.includes(" ") && !tests.some((text) => text.includes(title)))
    problems.push(`docs/project/contributing.md: no test is titled "${title}"`);
}

// .ci/run executes the line between these marks.
if (
  !/<!-- test-line -->\n+```sh\n[^\n]+\n```\n+<!-- \/test-line -->/.test(
    readFileSync("README.md", "utf8"),
  )
) {
  problems.push("README.md: the test line between its markers is one line of sh");
}

// npm finds the project's own packages nowhere else, so all that the command needs have to be packed.
const packed = /^npm ci && npm pack (.+)$/m.exec(readFileSync("README.md", "utf8"))?.[1] ?? "";
const { dependencies } = JSON.parse(readFileSync("packages/bowline/package.json", "utf8"));
for (const name of Object.keys(dependencies)) {
  if (!name.startsWith("@bowline/")) continue;
  const folder = name.replace("@bowline/", "packages/");
  if (!packed.split(" ").includes(folder))
    problems.push(`README.md: the line that packs has no ${folder}, which bowline needs`);
}

for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;

function anchorsOf(file) {
  const headings = readFileSync(file, "utf8").matchAll(/^#+ (.+)$/gm);
  return Array.from(headings, ([, heading = ""]) => anchorOf(heading));
}
