// Fails if text for users contains an internal number: of a quirk, a requirement or a document.
// Users read published types, docstrings and the pages in docs/. Such numbers belong in line
// comments, tests and docs/project/.
import { globSync, readFileSync } from "node:fs";

const number = /\b(?:Q\d{3}|[KCPJGX]\d{1,2}|[sS]eed 00\d)\b/;
const docstring = /\/\*\*.*?\*\//gs;

const sources = globSync("packages/*/src/**/*.{ts,mts}").flatMap((file) =>
  Array.from(readFileSync(file, "utf8").matchAll(docstring), ({ 0: text }) => ({ file, text })),
);
const pages = [
  ...globSync("packages/*/dist/**/*.d.ts"),
  ...globSync("docs/{,reference/}*.md"),
  ...globSync("packages/*/README.md"),
  "README.md",
].map((file) => ({ file, text: readFileSync(file, "utf8") }));

for (const { file, text } of [...sources, ...pages]) {
  const [found] = number.exec(text) ?? [];
  if (found === undefined) continue;
  console.error(`${file}: ${found} means nothing to a user. Say what it stands for.`);
  process.exitCode = 1;
}
