// Copies the changelog, the user documentation and the reference into the package in the current
// folder, before it is packed. Users read them in node_modules. Links to files outside the package
// become plain text.
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { mapLinks } from "./markdown.mjs";

const root = join(import.meta.dirname, "..");
const pages = globSync("docs/{,reference/}*.md", { cwd: root });
const copied = new Set(["CHANGELOG.md", ...pages]);

rmSync("docs", { recursive: true, force: true });
mkdirSync("docs/reference", { recursive: true });
for (const page of copied) writeFileSync(page, withOwnLinks(page));

function withOwnLinks(page) {
  const text = readFileSync(join(root, page), "utf8");
  return mapLinks(text, ({ whole, isImage, label, path }) => {
    const linked = join(dirname(page), path);
    if (copied.has(linked)) return whole;
    return isImage ? `(${label || basename(linked)})` : label;
  });
}
