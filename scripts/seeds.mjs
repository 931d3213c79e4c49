// Generates docs/project/seeds.md: each item of the seeds and its tests, which name it in a comment
// above their title: "// Requirements: P12, X17". `node scripts/seeds.mjs --write` writes it.
// Without `--write` the script fails if the file is stale. It also fails for an item without a
// test.
import { existsSync, globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { keepMade } from "./made-file.mjs";

const { seeds, items, notTestable } = JSON.parse(readFileSync("scripts/seed-items.json", "utf8"));
const problems = [];

// The checklist is outside the repository. Where it exists, the list in this repository must be
// complete.
const checklist = "../shared/seeds/checklist.md";
if (existsSync(checklist)) {
  const text = readFileSync(checklist, "utf8");
  const named = new Set(
    [...text.matchAll(/^(?:- |\| )([CGJKPX]\d+)(?:\.| \|)/gm)].map(([, id]) => id),
  );
  for (const id of named)
    if (!(id in items)) problems.push(`${id} is not in scripts/seed-items.json`);
  for (const id of Object.keys(items))
    if (!named.has(id)) problems.push(`${id} is not in ${checklist}`);
}

/** The tests of each item, by id. */
const tests = new Map(Object.keys(items).map((id) => [id, []]));
const titleWithIds =
  /\/\/ Requirements: ([CGJKPX]\d+(?:, [CGJKPX]\d+)*)\n[^"'`]*(["'`])((?:(?!\2)[^\\\n]|\\.)+?)\2/g;
for (const file of globSync("packages/*/test/**/*.ts").toSorted()) {
  for (const [, ids, , text] of readFileSync(file, "utf8").matchAll(titleWithIds)) {
    for (const id of ids.split(", ")) {
      if (tests.has(id)) tests.get(id).push({ file, text });
      else problems.push(`${file}: "${text}" names ${id}, which is no item`);
    }
  }
}

function statusOf(id) {
  if (notTestable.includes(id)) return "not testable: a plan, a size, a place or a means";
  return undefined;
}

const untested = Object.keys(items).filter(
  (id) => tests.get(id).length === 0 && statusOf(id) === undefined,
);
if (untested.length > 0) problems.push(`no test names ${untested.join(", ")}`);

const sections = Object.entries(seeds).map(([letter, heading]) => {
  const ids = Object.keys(items).filter((id) => id.startsWith(letter));
  return `## ${heading}\n\n${ids.map((id) => `- **${id}** ${items[id]}: ${testsOf(id)}`).join("\n")}\n`;
});
const text = `# The seeds, item by item

Made by \`node scripts/seeds.mjs --write\` from the tests that name an item above their title. Those of the two files named
\`…-programs\` are the seeds' own code, type-checked and run; they are skipped where the seeds are not at hand.

${sections.join("\n")}`;

for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
keepMade("docs/project/seeds.md", text, "node scripts/seeds.mjs --write");

/** Formats the tests of an item, by file. */
function testsOf(id) {
  const found = tests.get(id);
  if (found.length === 0) return statusOf(id) ?? "none";
  const files = [...new Set(found.map(({ file }) => file))];
  return files
    .map((file) => {
      const titles = found
        .filter((test) => test.file === file)
        .map((test) => `“${inProse(test.text)}”`);
      return `[${basename(file, ".ts")}](../../${file}) ${titles.join(", ")}`;
    })
    .join("; ");
}

/** Formats a title as Markdown. Placeholders of a table test become "…". */
function inProse(title) {
  return title
    .replaceAll(/\$\{[^}]*\}/g, "…")
    .replaceAll(/\\(.)/g, "$1")
    .replaceAll("<", "&lt;");
}
