// Generates docs/reference/ from the published types. `node scripts/reference.mjs --write` writes
// it. Without `--write` the script fails if a page is stale. It reads packages/*/dist, so build
// first.
import { globSync, mkdirSync, rmSync } from "node:fs";
import { basename } from "node:path";
import { keepMade } from "./made-file.mjs";
import { renderCodes, renderVendors } from "./reference/tables.mjs";
import { pages } from "./reference/pages.mjs";
import { compare, readDeclarations } from "./reference/read.mjs";
import { renderDeclaration } from "./reference/render.mjs";
import { linkTo } from "./reference/words.mjs";

const folder = "docs/reference";
const tables = { errors: renderCodes, models: renderVendors };
const note =
  "Made from the published types by `npm run docs -- --reference`; `npm run check` compares.";
const site = readDeclarations();

const made = new Map([["README.md", renderIndex()]]);
for (const page of pages) made.set(`${page.file}.md`, renderPage(page));

const stale = globSync(`${folder}/*.md`)
  .map((file) => basename(file))
  .filter((file) => !made.has(file));

const command = "npm run docs -- --reference";
mkdirSync(folder, { recursive: true });
for (const file of stale) {
  if (process.argv.includes("--write")) {
    rmSync(`${folder}/${file}`);
    continue;
  }
  console.error(`${folder}/${file} is no page of the reference. Run ${command}`);
  process.exitCode = 1;
}
for (const [file, text] of made) keepMade(`${folder}/${file}`, text, command);

function renderPage({ file, title, about, first }) {
  const here = [...site.declarations.values()].filter(({ page }) => page === file);
  const rank = ({ name, symbol }) => {
    const place = first.indexOf(name);
    if (place !== -1) return place;
    return symbol.valueDeclaration === undefined ? first.length + 1 : first.length;
  };
  const parts = here
    .toSorted((a, b) => rank(a) - rank(b) || compare(a.name, b.name))
    .map((declaration) => ({
      declaration,
      text: renderDeclaration({ ...site, page: file }, declaration),
    }));
  const isExported = ({ declaration }) => declaration.entries.length > 0;
  const others = parts.filter((part) => !isExported(part));
  const names = parts
    .filter(isExported)
    .map(
      ({ declaration }) => `[\`${declaration.heading}\`](${linkTo({ page: file }, declaration)})`,
    );
  return join([
    `<!-- ${note} -->`,
    `# ${title}`,
    about,
    `${names.join(", ")}.`,
    tables[file]?.() ?? "",
    ...parts.filter(isExported).map(({ text }) => text),
    ...(others.length === 0
      ? []
      : ["## Types that are not exported", ...others.map(({ text }) => text)]),
  ]);
}

function renderIndex() {
  const here = { page: "README" };
  const list = pages.map(({ file, title, about }) => `- [${title}](${file}.md): ${about}`);
  const entries = site.entries.map(({ name, symbols }) => {
    const links = symbols.map((symbol) => {
      const declaration = site.declarations.get(symbol);
      return `[\`${declaration.name}\`](${linkTo(here, declaration)})`;
    });
    return `## ${name}\n\n${links.join(", ")}.`;
  });
  return join([
    `<!-- ${note} -->`,
    "# Reference",
    "Every public entry of the packages: what it exports, every option with its default, every event, every error code.",
    list.join("\n"),
    ...entries,
  ]);
}

function join(parts) {
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}
