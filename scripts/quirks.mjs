// npm run check -- quirks: checks that every Q number of the repository has one entry in
// docs/project/quirks, and that each entry names the conformance files with its fixtures.
import { globSync, readFileSync } from "node:fs";
import { basename } from "node:path";

const problems = [];
const entries = readEntries();

for (const [id, files] of readMentions()) {
  const entry = entries.get(id);
  if (entry === undefined) problems.push(`${files[0]}: ${id} has no entry in docs/project/quirks`);
}
for (const file of globSync("conformance/cases/*.ts"))
  for (const id of numbersIn(readFileSync(file, "utf8").matchAll(/(?<=\bid: ")Q\d+/g)))
    if (!entries.get(id)?.text.includes(`cases/${basename(file)}`))
      problems.push(
        `${entries.get(id)?.file}: ${id} does not name ${file}, which has its fixtures`,
      );

for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;

/** Returns the entries by number: a second-level heading and the text below it. */
function readEntries() {
  const found = new Map();
  for (const file of globSync("docs/project/quirks/*.md").toSorted()) {
    const sections = readFileSync(file, "utf8").split(/^## /m);
    for (const text of sections) {
      const [id] = /^Q\d+/.exec(text) ?? [];
      if (id === undefined) continue;
      if (found.has(id)) problems.push(`${file}: ${id} is in ${found.get(id).file}, too`);
      found.set(id, { file, text });
    }
  }
  return found;
}

/** Returns the files that mention each number. */
function readMentions() {
  const found = new Map();
  const files = globSync("**/*.{ts,js,mjs,md}", {
    exclude: (path) => /(?:^|\/)(?:node_modules|dist|fixtures)(?:\/|$)/.test(path),
  });
  for (const file of files.toSorted())
    for (const id of numbersIn(readFileSync(file, "utf8").matchAll(/\bQ\d{3}\b/g)))
      found.set(id, [...(found.get(id) ?? []), file]);
  return found;
}

function numbersIn(matches) {
  return new Set([...matches].map(([id]) => id));
}
