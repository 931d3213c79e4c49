// Copies the repository's markdown into site/.pages/, as VitePress wants it: links to what is no page
// become text, and the examples that the guide links to become pages.
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { linksOf, mapLinks } from "../scripts/markdown.mjs";

const root = join(import.meta.dirname, "..");
const target = join(import.meta.dirname, ".pages");

/** Files of the repository by the page that shows them, without `.md`. */
const fixed = new Map([
  ["README.md", "start"],
  ["CHANGELOG.md", "changelog"],
  ["SECURITY.md", "security-policy"],
]);

function stage() {
  rmSync(target, { recursive: true, force: true });
  const pages = new Map(
    globSync("docs/**/*.md", { cwd: root }).map((file) => [file, pageOf(file)]),
  );
  for (const [file, page] of fixed) if (existsSync(join(root, file))) pages.set(file, page);
  for (const file of linkedSources()) pages.set(file, `source/${file.replace(/\.\w+$/, "")}`);
  for (const [file, page] of pages) {
    if (file === "README.md") continue; // the home page has its place
    const text = file.endsWith(".md") ? withLinks(file, page, pages) : sourcePage(file);
    write(page, page.startsWith("reference/") ? `---\npageClass: reference\n---\n\n${text}` : text);
  }
  write("index", readFileSync(join(import.meta.dirname, "home.md"), "utf8"));
}

function pageOf(file) {
  return file
    .replace(/^docs\//, "")
    .replace(/\.md$/, "")
    .replace(/(^|\/)README$/, "$1index");
}

/** Programs and types that the guide links to; links of the project's pages to tests are text. */
function linkedSources() {
  const found = new Set();
  for (const page of globSync("docs/*.md", { cwd: root }))
    for (const { path } of linksOf(readFileSync(join(root, page), "utf8")))
      if (/\.m?ts$/.test(path)) found.add(join(dirname(page), path));
  return found;
}

function sourcePage(file) {
  const code = readFileSync(join(root, file), "utf8");
  return `---\nsearch: false\n---\n\n# ${file}\n\n\`\`\`\`ts\n${code}\`\`\`\`\n`;
}

function withLinks(file, page, pages) {
  const text = readFileSync(join(root, file), "utf8").replaceAll(/^<!--.*?-->\n/gms, "");
  return mapLinks(text, ({ isImage, label, path, anchor }) => {
    const linked = join(dirname(file), path);
    const place = pages.get(linked);
    if (isImage) return copyImage(linked, page, label);
    if (place === undefined) return label;
    const from = relative(dirname(page), `${place}.md`);
    return `[${label}](./${from}${anchor && !fixed.has(linked) ? `#${anchor}` : ""})`;
  });
}

function copyImage(file, page, label) {
  const name = relative("docs", file);
  mkdirSync(dirname(join(target, name)), { recursive: true });
  writeFileSync(join(target, name), readFileSync(join(root, file)));
  return `![${label}](./${relative(dirname(page), name)})`;
}

function write(page, text) {
  const path = join(target, `${page}.md`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

stage();
